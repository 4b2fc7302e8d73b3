#include "check/check_structure.h"

namespace vyre {

bool check_structure(const Program& program, Reporter& report) {
  // Without valid locations the other errors are still reported, but without source locations.
  const bool locations = check_locations(program, report);
  if (!check_arrays(program, report)) return false;
  if (!check_tree(program, report)) return false;
  report.trust_tree();
  return check_values(program, report) && locations;
}

}  // namespace vyre
