// Names of the enumerations of this folder, for reports.

#include <algorithm>
#include <array>

#include "opt/opt_report.h"
#include "opt/pass.h"

namespace vyre::opt {
namespace {

constexpr std::array<std::string_view, 6> phases = {"canonical", "scalar", "memory",
                                                    "loop",      "sync",   "cleanup"};
constexpr std::array<std::string_view, 8> families = {"Loop",       "Memory", "Fusion", "Dataflow",
                                                      "Megakernel", "Scalar", "Sync",   "Unknown"};
constexpr std::array<std::string_view, fact_count> facts = {
    "def_use", "uniformity", "ranges", "affine", "effects", "liveness", "escape", "pressure"};
constexpr std::array<std::string_view, 5> decisions = {"not_dirty", "nothing_to_do", "unchanged",
                                                       "changed", "refused"};

}  // namespace

std::string_view name(Phase phase) { return phases[size_t(phase)]; }
std::string_view name(CostFamily family) { return families[size_t(family)]; }
std::string_view name(Fact fact) { return facts[size_t(fact)]; }
std::string_view name(PassDecision decision) { return decisions[size_t(decision)]; }

uint64_t RunReport::reduction_by(std::string_view pass) const {
  uint64_t most = 0;
  for (const PassRun& run : runs)
    if (run.pass == pass && run.decision == PassDecision::Changed)
      most = std::max(most, largest_reduction(run.before, run.after));
  return most;
}

}  // namespace vyre::opt
