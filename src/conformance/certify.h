#pragma once

// The conformance suite: checks that a device follows the specification. Every program runs on the
// device and on the interpreter, at the device's subgroup size, and must give the same bytes, the
// same trap or the same codes. docs/conformance.md tells writers of backends the requirements and
// their order.
//
// The programs are the run-mode tests of tests/text and tests/conformance and those of examples/;
// they are part of the library, so that one binary certifies a machine without a source tree.

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "differential/device_spec.h"
#include "differential/text_test.h"
#include "interp/interp.h"
#include "runtime/device.h"

namespace vyre::lab {

/// A `// run:` line whose flags have been parsed.
struct PreparedRun {
  std::shared_ptr<const Module> module;
  const Program* kernel = nullptr;  // one of the two is set, and is in the module
  const Graph* graph = nullptr;
  LaunchInputs inputs;
  interp::Options options;
  bool fixes_subgroup = false;  // `--subgroup-size` was passed
  std::string only_interp;      // why the block does not apply to devices; "" if it does
};

/// The command line's parser of the words of a `// run:` line; only the command line knows its
/// flags. An error (a misspelt parameter, a program that is refused) is reported before any device
/// is used.
using PrepareRun =
    std::function<Result<PreparedRun>(const TextTest& test, const std::vector<std::string>& words)>;

enum class CaseResult : uint8_t { Passed, Failed, Refused, Skipped };

/// One case that did not pass.
struct CaseReport {
  std::string group;
  std::string name;  // "tests/text/features/f13_traps.vyre:14"
  CaseResult result = CaseResult::Failed;
  std::string what;    // the difference, or why it was refused or skipped
  std::string repeat;  // the command that reproduces it; "" if only `vyre certify` does
};

struct GroupReport {
  std::string name;
  uint64_t passed = 0, failed = 0, refused = 0, skipped = 0;
  double seconds = 0;
};

struct CertifyOptions {
  DeviceSpec spec;               // for messages and commands; `compile` is used
  std::string folder;            // a source tree; "": the programs in this binary
  bool quick = false;            // three types of each operation, no test marked `// slow`
  bool large = false;            // with buffers above 4 GiB, if the device has the memory
  std::string only;              // cases whose "group/name" contains this; "": all
  std::string except;            // skips cases that contain this; "": none
  uint64_t part = 0, parts = 1;  // every parts-th case, from this one on: for several processes
  uint64_t fuzz = 200;           // generated programs
  uint64_t seed = 1;             // the first of them
  PrepareRun prepare;
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const std::string& group, const std::string& name)> progress;  // before each
  std::function<void(const CaseReport&)> report;  // as soon as it is known; not for passed cases
};

struct CertifyReport {
  std::vector<GroupReport> groups;
  std::vector<CaseReport> cases;  // all cases that did not pass
  std::string folder;             // folder of the failed programs; "" if there are none
  double seconds = 0;
  bool stopped = false;

  /// True if the device returned the right result of at least one case, and no wrong one.
  bool conforms() const;
  uint64_t count(uint64_t GroupReport::* what) const;
};

/// Returns an error only if the suite cannot run (no folder, no matching case).
Result<CertifyReport> certify(driver::Device device, const CertifyOptions& options);

}  // namespace vyre::lab
