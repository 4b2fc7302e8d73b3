// Device::compile and the optimizer: the passes that run, the report, and unchanged results.

#include <algorithm>
#include <cstdlib>

#include "opt/pipeline.h"
#include "runtime/compile/optimizer_target.h"
#include "runtime/registry.h"
#include "tests/runtime/driver_util.h"
#include "wire/fingerprint.h"

namespace vyre::driver {
namespace {

using Passes = std::vector<const opt::PassDescriptor*>;

/// The interpreter, but programs are optimized for it.
struct Optimizing : Failing {
  Optimizing() { changed.optimizes = true; }
};

/// Sets a variable while it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

int counted = 0;
Result<bool> count_runs(Program&, opt::PassContext&) {
  ++counted;
  return false;
}
constexpr opt::PassDescriptor counting = {
    .name = "count_runs", .summary = "counts", .run = count_runs};

const char* const doubled =
    "kernel doubled(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {\n"
    "  let i = global_id.x\n"
    "  y[i] = x[i] * (3 - 1)\n"
    "}\n";

U run_doubled(Device& d, const Executable& e) {
  U x = {1, 2, 3}, y(3);
  const Buffer a = *d.allocate(12), b = *d.allocate(12);
  EXPECT_TRUE(d.submit({Upload{a, in(x)}, Launch{e, {a, b}}, Readback{b, out(y)}})->wait());
  return y;
}

bool ran(const opt::RunReport& r, std::string_view pass) {
  for (const opt::PassRun& run : r.runs)
    if (run.pass == pass && run.decision == opt::PassDecision::Changed) return true;
  return false;
}

const opt::PassChoice& choice(const opt::RunReport& r, std::string_view pass) {
  for (const opt::PassChoice& c : r.choices)
    if (c.pass == pass) return c;
  ADD_FAILURE() << pass;
  static const opt::PassChoice nothing;
  return nothing;
}

TEST(Optimize, devices_that_compile_get_the_optimized_program) {
  Optimizing backend;
  Device d = *Device::open(backend, 0);
  const Program p = kernel(doubled);
  const Executable e = *d.compile(p);
  EXPECT_EQ(fingerprint(e.program()), fingerprint(p));
  EXPECT_NE(fingerprint(e.optimized()), fingerprint(p));
  EXPECT_EQ(e.optimizer().profile, "release");
  EXPECT_TRUE(ran(e.optimizer(), "fold_constants"));
  EXPECT_GT(e.optimize_ns(), 0u);
  EXPECT_EQ(run_doubled(d, e), (U{2, 4, 6}));
}

TEST(Optimize, the_interpreter_gets_it_as_it_is_unless_passes_are_asked_for) {
  Device d = open();
  const Program p = kernel(doubled);
  const Executable plain = *d.compile(p);
  EXPECT_EQ(fingerprint(plain.optimized()), fingerprint(p));
  EXPECT_TRUE(plain.optimizer().runs.empty());
  EXPECT_EQ(plain.optimize_ns(), 0u);
  CompileOptions o;
  o.optimize.passes = Passes{opt::find_pass("fold_constants")};
  const Executable folded = *d.compile(p, o);
  EXPECT_NE(fingerprint(folded.optimized()), fingerprint(p));
  EXPECT_EQ(folded.optimizer().profile, "named");
  EXPECT_EQ(run_doubled(d, folded), (U{2, 4, 6}));
  o.optimize.passes.reset();
  o.optimize.profile = opt::Profile::Debug;
  EXPECT_EQ(d.compile(p, o)->optimizer().profile, "debug");
}

TEST(Optimize, can_be_switched_off) {
  Optimizing backend;
  const Program p = kernel(doubled);
  OpenOptions off;
  off.passes = "none";
  Device d = *Device::open(backend, 0, off);
  EXPECT_EQ(fingerprint(d.compile(p)->optimized()), fingerprint(p));
  CompileOptions on;
  on.optimize.profile = opt::Profile::Release;
  EXPECT_NE(fingerprint(d.compile(p, on)->optimized()), fingerprint(p))
      << "a compile's own word counts more";

  const Variable variable("VYRE_PASSES", "none");
  Device by_variable = *Device::open(backend, 0);
  EXPECT_EQ(fingerprint(by_variable.compile(p)->optimized()), fingerprint(p));
  OpenOptions named;
  named.passes = "fold_constants";
  Device by_option = *Device::open(backend, 0, named);
  EXPECT_NE(fingerprint(by_option.compile(p)->optimized()), fingerprint(p));
}

TEST(Optimize, unknown_and_repeated_passes_are_errors_of_opening) {
  Optimizing backend;
  OpenOptions o;
  o.passes = "fold_constant";
  EXPECT_EQ(code_of(Device::open(backend, 0, o)), Code::UnknownPass);
  o.passes = "fold_constants,fold_constants";
  EXPECT_EQ(code_of(Device::open(backend, 0, o)), Code::DuplicatePass);
  const Variable variable("VYRE_PASSES", "x");
  const auto d = Device::open(backend, 0);
  ASSERT_FALSE(d);
  EXPECT_NE(render(d.errors(), {}).find("VYRE_PASSES"), std::string::npos);
}

TEST(Optimize, programs_as_text_are_kept_on_request_and_found_again) {
  const opt::RegisterPassForTest registered(counting);
  Optimizing backend;
  Device d = *Device::open(backend, 0);
  const Program p = kernel(doubled);
  EXPECT_EQ(d.compile(p)->optimizer().text, nullptr) << "nobody asked";
  CompileOptions with;
  with.optimize.keep_texts = true;
  const Executable first = *d.compile(p, with);
  const int before = counted;
  const Executable again = *d.compile(p, with);
  EXPECT_EQ(counted, before) << "what was kept with texts is found";
  (void)*d.compile(p);
  EXPECT_EQ(counted, before) << "also by those who want none";
  for (const Executable& e : {first, again}) {
    const opt::RunReport& r = e.optimizer();
    ASSERT_NE(r.text, nullptr);
    EXPECT_EQ(r.text->lines[0].line, 1u);
    EXPECT_EQ(r.text->files.size(), 1u);
    for (const opt::PassRun& run : r.runs)
      EXPECT_EQ(run.text != nullptr, run.decision == opt::PassDecision::Changed) << run.pass;
    // The store is of the third line, whatever became of the rest.
    const Listing& last =
        *std::find_if(r.runs.rbegin(), r.runs.rend(), [](const opt::PassRun& run) {
           return run.text != nullptr;
         })->text;
    const auto store = std::find_if(last.lines.begin(), last.lines.end(), [](const ListingLine& l) {
      return l.text.find("store y[") != std::string::npos;
    });
    ASSERT_NE(store, last.lines.end());
    EXPECT_EQ(store->line, 3u);
  }
}

TEST(Optimize, compiling_again_runs_no_pass_and_still_tells_what_they_did) {
  const opt::RegisterPassForTest registered(counting);
  Optimizing backend;
  Device d = *Device::open(backend, 0);
  const Program p = kernel(doubled);
  counted = 0;
  const Executable first = *d.compile(p);
  const int once = counted;
  EXPECT_GT(once, 0);
  const Executable second = *d.compile(p);
  EXPECT_EQ(counted, once);
  EXPECT_EQ(second.optimizer().runs.size(), first.optimizer().runs.size());
  EXPECT_EQ(fingerprint(second.optimized()), fingerprint(first.optimized()));

  // Lines and names are in messages: a program that differs in them is another one.
  const Executable lower = *d.compile(kernel("\n\n" + std::string(doubled)));
  EXPECT_GT(counted, once);
  EXPECT_EQ(lower.optimized().place(lower.optimized().loc).line, 3u);
  CompileOptions other;
  other.optimize.passes = Passes{&counting};
  const int before = counted;
  (void)*d.compile(p, other);
  EXPECT_GT(counted, before) << "other passes, another program";
}

TEST(Optimize, buffers_that_go_change_nothing_for_the_host) {
  Optimizing backend;
  Device d = *Device::open(backend, 0);
  const Program p = kernel(
      "kernel k(work: scratch u32[], y: out u32[4], dead: scratch u32[100]) workgroup(4) grid(4) "
      "{\n"
      "  let i = global_id.x\n"
      "  dead[i] = i\n"
      "  work[i] = i * 2\n"
      "  barrier workgroup\n"
      "  y[i] = work[3 - i] + len(work)\n"
      "}\n");
  const Executable e = *d.compile(p);
  ASSERT_LT(e.optimized().buffers.size(), p.buffers.size()) << "the test needs a buffer that goes";
  U y(4);
  const Buffer b = *d.allocate(16);
  Launch l{e, {b}};
  l.lengths = {{"work", 8}, {"dead", 100}};
  ASSERT_TRUE(d.submit({l, Readback{b, out(y)}})->wait());
  EXPECT_EQ(y, (U{14, 12, 10, 8}));
}

TEST(Optimize, a_trap_of_the_optimized_program_names_the_line_that_was_written) {
  Optimizing backend;
  Device d = *Device::open(backend, 0);
  const Program p = kernel(
      "kernel k(x: in u32[], y: out u32[len(x)]) workgroup(4) grid(len(x)) {\n"
      "  let unused = x[0] * 5 + 1 - 1\n"
      "  let i = global_id.x * (2 - 1)\n"
      "  assert(x[i] < 4, 77)\n"
      "  y[i] = i\n"
      "}\n");
  const Executable e = *d.compile(p);
  ASSERT_LT(e.optimized().ops.size(), p.ops.size());
  U x = {1, 2, 9};
  const Buffer a = *d.allocate(12), b = *d.allocate(12);
  const auto done = d.submit({Upload{a, in(x)}, Launch{e, {a, b}}})->wait();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.errors()[0].code, Code::Trapped);
  EXPECT_EQ(done.errors()[0].place.line, 4u);
}

TEST(Optimize, grid_barriers_are_split_after_the_passes) {
  Optimizing backend;
  backend.changed.limits.native_grid_barrier = false;
  Device d = *Device::open(backend, 0);
  const Program p = kernel(
      "kernel k(y: inout u32[]) workgroup(4) grid(len(y)) {\n"
      "  let i = global_id.x\n"
      "  y[i] = y[i] + (2 - 1)\n"
      "  barrier grid\n"
      "  y[i] = y[i] + 10\n"
      "}\n");
  const Executable e = *d.compile(p);
  EXPECT_TRUE(ran(e.optimizer(), "fold_constants"));
  EXPECT_EQ(e.segments(), 2u);
  U y = {1, 2, 3};
  const Buffer b = *d.allocate(12);
  ASSERT_TRUE(d.submit({Upload{b, in(y)}, Launch{e, {b}}, Readback{b, out(y)}})->wait());
  EXPECT_EQ(y, (U{12, 13, 14}));
}

TEST(Optimize, what_was_measured_selects_passes) {
  Optimizing backend;
  Device d = *Device::open(backend, 0);
  Program p = kernel(doubled);
  p.op_id = "test.doubled";
  EXPECT_EQ(choice(d.compile(p)->optimizer(), "hoist_invariants").reason, "below_threshold");
  auto data = std::make_shared<opt::ProfileData>();
  data->hints.record("test.doubled", 200'000, 24);
  CompileOptions o;
  o.optimize.learnt = data;
  const opt::PassChoice hot = choice(d.compile(p, o)->optimizer(), "hoist_invariants");
  EXPECT_TRUE(hot.selected);
  EXPECT_EQ(hot.reason, "hot_path_telemetry");
  EXPECT_EQ(hot.priority, 500u);
}

TEST(Optimize, what_another_device_measured_selects_nothing) {
  Optimizing backend;
  Device d = *Device::open(backend, 0);
  Program p = kernel(doubled);
  p.op_id = "test.doubled";
  auto data = std::make_shared<opt::ProfileData>();
  data->hints.record("test.doubled", 200'000, 24, "cpu: another");
  CompileOptions o;
  o.optimize.learnt = data;
  EXPECT_EQ(choice(d.compile(p, o)->optimizer(), "hoist_invariants").reason, "below_threshold");
  data->hints.record("test.doubled", 200'000, 24, telemetry_key(d.info()));
  EXPECT_EQ(choice(d.compile(p, o)->optimizer(), "hoist_invariants").reason, "hot_path_telemetry");
}

TEST(Optimize, a_kernel_stops_after_a_number_of_runs_of_passes) {
  Optimizing backend;
  Device d = *Device::open(backend, 0);
  const Program p = kernel(doubled);
  EXPECT_TRUE(ran(d.compile(p)->optimizer(), "fold_constants"));
  CompileOptions o;
  o.optimize.stop_after["doubled"] = 0;
  const Executable stopped = *d.compile(p, o);
  EXPECT_TRUE(stopped.optimizer().runs.empty()) << "not what was optimized before";
  EXPECT_EQ(fingerprint(stopped.optimized()), fingerprint(p));
  EXPECT_EQ(run_doubled(d, stopped), (U{2, 4, 6}));
  o.optimize.stop_after = {{"another", 0}};
  EXPECT_TRUE(ran(d.compile(p, o)->optimizer(), "fold_constants"));
}

TEST(Optimize, capabilities_are_those_of_the_device) {
  using opt::Capability;
  const auto has = [](const DeviceInfo& info, Capability c) {
    return (optimizer_target(info, 0).capabilities & opt::capability(c)).any();
  };
  DeviceInfo bare;
  EXPECT_TRUE(optimizer_target(bare, 0).capabilities.none());
  size_t devices = 0;
  for (const Probed& probed : probe_all())
    for (const DeviceInfo& info : probed.devices) {
      ++devices;
      EXPECT_EQ(has(info, Capability::VectorAccess), info.backend != "interp") << info.backend;
      EXPECT_TRUE(has(info, Capability::SharedMemory)) << info.backend;
      EXPECT_EQ(has(info, Capability::GridBarrier), info.limits.native_grid_barrier)
          << info.backend;
    }
  EXPECT_GE(devices, 1u);
}

TEST(Optimize, run_tells_the_size_of_the_launch) {
  static constexpr opt::PassDescriptor memory = {.name = "memory_for_test",
                                                 .summary = "",
                                                 .run = count_runs,
                                                 .family = opt::CostFamily::Memory};
  const opt::RegisterPassForTest registered(memory);
  Optimizing backend;
  Device d = *Device::open(backend, 0);
  const Program p = kernel(doubled);
  const auto reason_for = [&](size_t elements) {
    RunOptions o;
    std::string reason;
    o.compiled = [&](const Executable& e) {
      reason = choice(e.optimizer(), "memory_for_test").reason;
    };
    LaunchInputs inputs;
    inputs.data = {bytes(U(elements, 1)), std::nullopt};
    EXPECT_TRUE(run(d, p, inputs, o));
    return reason;
  };
  EXPECT_EQ(reason_for(2047), "below_threshold");
  EXPECT_EQ(reason_for(2048), "program_shape");
}

#ifndef NDEBUG
Result<bool> break_it(Program& p, opt::PassContext&) {
  p.workgroup[0] = 0;
  return true;
}

TEST(Optimize, a_pass_that_breaks_a_program_is_an_error_of_compiling) {  // V0805
  static constexpr opt::PassDescriptor wrong = {.name = "break_it", .summary = "", .run = break_it};
  const opt::RegisterPassForTest registered(wrong);
  Optimizing backend;
  Device d = *Device::open(backend, 0);
  const auto e = d.compile(kernel(doubled));
  ASSERT_FALSE(e);
  EXPECT_EQ(e.errors()[0].code, Code::PassBrokeProgram);
  EXPECT_NE(render(e.errors(), {}).find("vyre-before-break_it"), std::string::npos);
}
#endif

}  // namespace
}  // namespace vyre::driver
