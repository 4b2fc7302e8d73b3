// labels: threads
// Submissions that a backend reports as a trap, a time-out or without a reason: the messages are
// those of the interpreter.

#include "tests/runtime/driver_util.h"

namespace vyre::driver {
namespace {

/// Runs no commands and returns the scripted outcome.
class Scripted : public Backend {
 public:
  SubmissionOutcome next;
  std::string_view name() const override { return "scripted"; }
  std::string_view summary() const override { return "says what it is told to"; }
  std::vector<DeviceInfo> probe(std::string* why) override {
    return choose("interp")->backend->probe(why);
  }
  Result<std::unique_ptr<BackendDevice>> open(uint32_t) override {
    return std::unique_ptr<BackendDevice>(std::make_unique<ScriptedDevice>(*this));
  }

 private:
  struct ScriptedDevice : BackendDevice {
    Scripted& owner;
    std::unique_ptr<BackendDevice> inner = std::move(*choose("interp")->backend->open(0));
    MemoryHandle last = 0;
    explicit ScriptedDevice(Scripted& s) : owner(s) {}
    const DeviceInfo& info() const override { return inner->info(); }
    Result<MemoryHandle> allocate(uint64_t) override { return ++last; }
    void release(MemoryHandle) override {}
    Result<std::shared_ptr<CompiledKernel>> compile(std::shared_ptr<const Program> p,
                                                    const CompileOptions& o) override {
      return inner->compile(p, o);
    }
    Result<SubmissionHandle> submit(uint32_t, std::vector<DeviceCommand>,
                                    std::span<const SubmissionHandle>,
                                    std::optional<std::chrono::steady_clock::time_point>) override {
      return 1;
    }
    bool is_done(SubmissionHandle) override { return true; }
    SubmissionOutcome wait(SubmissionHandle) override { return owner.next; }
  };
};

const char* source =
    "fn guard(i: u32) { assert(i < 70, 9) }\n"
    "kernel k(n: u32, y: out u32[100]) workgroup(64) grid(100) {\n"
    "  guard(global_id.x)\n"
    "  while n != 0 {\n"
    "    y[0] = n\n"
    "  }\n"
    "}\n";

OpId find(const Program& p, Opcode code) {
  OpId found = none;
  walk(p, [&](OpId op) {
    if (p.op(op).code == code) found = op;
  });
  EXPECT_NE(found, none);
  return found;
}

/// The launch's diagnostics when the backend says `o`.
Diagnostics told(const Program& p, SubmissionOutcome o, double limit, const OpenOptions& how = {}) {
  Scripted backend;
  Device d = *Device::open(backend, 0, how);
  const Executable e = *d.compile(p);
  const Buffer y = *d.allocate(400);
  o.command = 1;  // command 0 fills the output with zeros
  backend.next = std::move(o);
  SubmitOptions options;
  options.time_limit = limit;
  const Result<SubmitReport> r =
      d.submit({Launch{e, {scalar(1u), y}, {}, true, {}}}, options)->wait();
  EXPECT_FALSE(r);
  EXPECT_TRUE(d.is_undefined(y));
  return r.errors();
}

Diagnostics by_interp(const Program& p, uint32_t n, double limit) {
  LaunchInputs in;
  in.data = {bytes(U{n}), std::nullopt};
  interp::Options o;
  o.time_limit = limit;
  const auto r = interp::run(p, in, o);
  EXPECT_FALSE(r);
  return r.errors();
}

TEST(Outcome, a_trap_reads_like_the_interpreters) {
  const Program p = kernel(source);
  SubmissionOutcome o;
  o.kind = SubmissionOutcome::Kind::Trapped;
  o.trap = {9, {70, 0, 0}, find(p, Opcode::Assert)};
  EXPECT_EQ(to_json(told(p, o, 0)), to_json(by_interp(p, 0, 0)));
}

TEST(Outcome, a_time_out_reads_like_the_interpreters) {
  Program p = kernel(
      "kernel k(n: u32, y: out u32[100]) workgroup(64) grid(100) {\n  while n != 0 {\n    y[0] = "
      "n\n "
      " }\n}\n");
  SubmissionOutcome o;
  o.kind = SubmissionOutcome::Kind::TimedOut;
  o.stopped_at = find(p, Opcode::While);
  EXPECT_EQ(to_json(told(p, o, 0.02)), to_json(by_interp(p, 1, 0.02)));
}

TEST(Outcome, segments_are_named_whatever_happened) {
  const Program p = kernel(
      "kernel k(n: u32, y: out u32[100]) workgroup(64) grid(100) {\n  y[global_id.x] = n\n  "
      "barrier "
      "grid\n  y[global_id.x] += y[0]\n}\n");
  OpenOptions split;
  split.split_grid_barriers = true;
  for (const auto kind : {SubmissionOutcome::Kind::Trapped, SubmissionOutcome::Kind::TimedOut,
                          SubmissionOutcome::Kind::Failed}) {
    SubmissionOutcome o;
    o.kind = kind;
    if (kind == SubmissionOutcome::Kind::Failed)
      o.errors = {diagnose(Code::DeviceFailed, {}, "the device was lost")};
    const Diagnostics d = told(p, o, 1, split);
    EXPECT_EQ(d[0].message.find("segment 1 of 2: "), 0u) << d[0].message;
  }
}

TEST(Outcome, a_failure_without_a_reason_is_still_an_error) {
  SubmissionOutcome o;
  o.kind = SubmissionOutcome::Kind::Failed;
  const Diagnostics d = told(kernel(source), o, 0);
  EXPECT_EQ(to_string(d[0].code), "V0704");
  EXPECT_FALSE(d[0].fix.empty());
}

}  // namespace
}  // namespace vyre::driver
