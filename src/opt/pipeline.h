#pragma once

// The optimizer: lists the passes, selects those that run on a program, and runs them. pipeline.cc
// is the list, in the order in which they run.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opt/opt_report.h"
#include "opt/pass.h"
#include "opt/pass_manager.h"
#include "opt/pass_selection.h"
#include "opt/profile_file.h"

namespace vyre::opt {

std::span<const PassDescriptor* const> all_passes();
/// Returns null if there is none.
const PassDescriptor* find_pass(std::string_view name);
/// Parses "a,b,c" or "none" to passes in the order written; unknown and repeated names are errors.
Result<std::vector<const PassDescriptor*>> parse_passes(std::string_view list);

/// Adds a pass to all_passes(), after the others, while it lives. For tests that define passes; not
/// while another thread optimizes.
class RegisterPassForTest {
 public:
  explicit RegisterPassForTest(const PassDescriptor& pass);
  ~RegisterPassForTest();
  RegisterPassForTest(const RegisterPassForTest&) = delete;
  RegisterPassForTest& operator=(const RegisterPassForTest&) = delete;

 private:
  const PassDescriptor& pass_;
};

struct OptimizeOptions {
  Profile profile = Profile::Release;
  /// If set: these passes in this order, once through the scheduler, without selection.
  std::optional<std::vector<const PassDescriptor*>> passes;
  Target target;
  const ProfileData* profile_data = nullptr;  // measurements and reports of earlier runs
  ScheduleOptions schedule;
};

/// The passes that optimize() runs, in their order, and the report as far as it is known by then:
/// everything but the runs. Takes no more time than counting the program's ops.
struct ChosenPasses {
  std::vector<const PassDescriptor*> passes;
  RunReport report;
};
Result<ChosenPasses> choose_passes(const Program& program, const OptimizeOptions& options);

/// Optimizes a program that has passed the checker, and leaves one that passes it. On an error the
/// program is unchanged.
Result<RunReport> optimize(Program& program, const OptimizeOptions& options = {});

}  // namespace vyre::opt
