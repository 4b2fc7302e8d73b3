#pragma once

// Internals of certify: the list that cases are reported to, and the groups of cases.

#include <chrono>
#include <string>

#include "conformance/certify.h"
#include "differential/device_subject.h"

namespace vyre::lab {

/// One certification in progress.
class Certification {
 public:
  Certification(driver::Device device, const CertifyOptions& options, CertifyReport& report)
      : device(std::move(device)), options(options), report_(report) {}

  driver::Device device;
  const CertifyOptions& options;

  void begin_group(std::string name);
  void end_group();
  bool stopped() const { return options.stop && options.stop->load(std::memory_order_relaxed); }

  /// Begins a case; returns whether it is selected.
  bool begins(const std::string& name);
  void passed();
  void failed(std::string what, std::string repeat = "");
  void refused(const Diagnostic& why, std::string repeat = "");
  void skipped(std::string why);

  /// Cases that `--only` and `--except` select, of all parts.
  uint64_t selected() const { return begun_; }

  uint32_t subgroup_size() const { return subgroup_size_on(device, options.spec.compile); }

 private:
  void add(CaseResult result, std::string what, std::string repeat);

  CertifyReport& report_;
  std::string name_;
  uint64_t begun_ = 0;  // selected cases, for this process or another
  std::chrono::steady_clock::time_point group_begin_;
};

/// The difference between how the device and the interpreter ended a launch. "" if they agree.
std::string disagreement(const Observation& wanted, const Observation& got);

/// Diagnostics with codes, one per line.
std::string codes_and_messages(const Diagnostics& errors);

/// Compares the result of the device with that of the interpreter and reports it as the current
/// case.
void compare_case(Certification& c, const PreparedRun& run, const std::string& repeat,
                  const RunBlock* block = nullptr);

/// Compiles text into a module; an error in it is a failure of the case.
std::shared_ptr<const Module> parse_case(Certification& c, const std::string& source);

// ---- Groups, one file each.

/// Text tests and examples below `root`.
void certify_text(Certification& c, const std::string& root);
/// Every pure operation with every type it takes, at edge-case values.
void certify_operations(Certification& c);
/// Cases that text tests cannot express: compiled programs that must not be confused with each
/// other, buffers above 4 GiB.
void certify_programs(Certification& c);
/// Memory, submissions and streams as runtime/device.h promises them.
void certify_memory(Certification& c);
/// Traps, time limits, and launches that the device refuses: each leaves it usable.
void certify_faults(Certification& c);
void certify_fuzz(Certification& c);

}  // namespace vyre::lab
