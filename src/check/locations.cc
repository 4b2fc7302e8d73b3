// Locations refer to the location of the call they were inlined at; diagnostics follow those
// chains. A location refers to earlier ones only, so chains end, and one pass computes their
// length.

#include <fmt/format.h>

#include <vector>

#include "check/check_limits.h"
#include "check/check_structure.h"

namespace vyre {

bool check_locations(const Program& p, Reporter& report) {
  std::vector<uint32_t> calls(p.locations.size(), 0);  // in the chain that starts at each location
  for (LocId id = 0; id < p.locations.size(); ++id) {
    const Location& l = p.locations[id];
    const char* fault = nullptr;
    if (l.file != none && l.file >= p.strings.size()) fault = "names a file that does not exist";
    if (l.inlined_at != none) {
      if (l.inlined_at >= id)
        fault = "was inlined at a place that does not come before it";
      else if ((calls[id] = calls[l.inlined_at] + 1) > limits::nesting)
        fault = "has a chain of calls above the nesting limit";
    }
    if (!fault) continue;
    report.at_kernel(Code::BrokenProgram, fmt::format("location {} {}", id, fault));
    return false;
  }
  report.trust_locations();
  return true;
}

}  // namespace vyre
