// Every allocation fails once: nothing crashes, no lock stays held, and the error has a code.

#include <gtest/gtest.h>

#include <functional>

#include "check/check.h"
#include "codegen/ptx/ptx_emit.h"
#include "codegen/spirv/spirv_emit.h"
#include "interp/launch_kernel.h"
#include "ir/graph_launch.h"
#include "runtime/cpu_component.h"
#include "runtime/device.h"
#include "runtime/run_graph.h"
#include "runtime/run_kernel.h"
#include "sanitizer/sanitizer.h"
#include "tests/memory/failing_allocation.h"
#include "text/format.h"
#include "text/parse.h"
#include "text/print.h"
#include "wire/wire.h"

namespace vyre {
namespace {

constexpr std::string_view source = R"(
const N = 4 * 4
const T: u8[4] = [1, 2, 3, 4]
fn twice(x: f32) -> f32 { return x + x }
kernel sum(x: in u32[], y: out u32[ceil_div(len(x), 64)]) workgroup(64) grid(len(x)) {
  shared t: u32[64]
  t[local_id.x] = x[global_id.x] + u32(T[local_id.x & 3])
  barrier workgroup
  var s: u32 = 0
  if local_id.x == 0 { for i in 0..64 { s = s + t[i] } y[workgroup_id.x] = s }
}
kernel grow(x: inout u32[], z: scratch u32[N]) workgroup(64) grid(len(x)) {
  var w: u32[4]
  w[x[global_id.x] & 3] = 7
  z[global_id.x % N] = w[0]
  barrier grid
  x[global_id.x] = u32(twice(f32(x[global_id.x] + z[0]))) + w[1]
}
graph both(x: inout u32[], y: out u32[ceil_div(len(x), 64)]) {
  buffer a: u32[ceil_div(len(x), 64)]
  call sum(x, a)
  repeat 2 { call grow(x) }
  call sum(x, y)
}
)";

Module parsed() {
  ParseOutcome outcome = parse(std::string(source));
  EXPECT_TRUE(outcome.module) << render(outcome.diagnostics, outcome.sources);
  return std::move(*outcome.module);
}

std::vector<std::byte> elements(size_t count) {
  std::vector<uint32_t> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = uint32_t(i);
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

/// How an attempt ended: "" if it succeeded, else the code of its first error.
template <class T>
std::string end_of(const Result<T>& result) {
  return result ? "" : to_string(result.errors().at(0).code);
}

/// Runs `attempt` with its first allocation failing, then with its second, and so on, in steps. An
/// attempt may succeed, throw bad_alloc where `may_throw`, or end with V0521; after each,
/// `is_intact` must hold.
void fail_each(const std::function<std::string()>& attempt, uint64_t step = 1,
               bool may_throw = false, const std::function<bool()>& is_intact = nullptr) {
  ASSERT_EQ(attempt(), "");  // what is kept for later attempts is made
  uint64_t allocations = 0;
  {
    const FailingAllocation none(0);
    ASSERT_EQ(attempt(), "");
    allocations = none.count();
  }
  ASSERT_GT(allocations, 0u);
  uint64_t failed = 0;
  for (uint64_t n = 1; n <= allocations; n += step) {
    std::string end;
    try {
      const FailingAllocation one(n);
      end = attempt();
    } catch (const std::bad_alloc&) {
      end = may_throw ? "V0521" : "bad_alloc";
    }
    failed += !end.empty();
    ASSERT_TRUE(end.empty() || end == "V0521") << end << " after allocation " << n;
    if (is_intact) {
      ASSERT_TRUE(is_intact()) << "after allocation " << n;
    }
  }
  EXPECT_GT(failed, 0u);
  EXPECT_EQ(attempt(), "");
}

TEST(allocations, of_parse_check_and_print_may_fail) {
  fail_each(
      [] {
        const ParseOutcome outcome = parse(std::string(source));
        if (!outcome.module) return to_string(outcome.diagnostics.at(0).code);
        if (const Diagnostics wrong = check(*outcome.module); has_errors(wrong))
          return to_string(wrong[0].code);
        return std::string(print(*outcome.module).empty() ? "nothing printed" : "");
      },
      1, true);
}

TEST(allocations, of_errors_in_text_may_fail) {
  fail_each(
      [] {
        const ParseOutcome outcome =
            parse("kernel k(y: out u32[4]) workgroup(64) grid(4) { y[0] = x + \n z[1] = 1.5 }");
        return std::string(!outcome.diagnostics.empty() &&
                                   !render(outcome.diagnostics, outcome.sources).empty()
                               ? ""
                               : "no errors");
      },
      1, true);
}

TEST(allocations, of_the_wire_form_may_fail) {
  const Module module = parsed();
  fail_each(
      [&] {
        const std::vector<std::byte> bytes = encode(module);
        return end_of(decode_module(bytes));
      },
      1, true);
}

TEST(allocations, of_ptx_and_spirv_may_fail) {
  const Module module = parsed();
  fail_each([&] { return end_of(emit_ptx::emit(module.kernels[0], {})); }, 1, true);
  fail_each([&] { return end_of(emit_spirv::emit(module.kernels[0], {})); }, 1, true);
}

LaunchInputs inputs_of_sum() {
  LaunchInputs inputs;
  inputs.data = {elements(200), std::nullopt};
  inputs.lengths.resize(2);
  return inputs;
}

TEST(allocations, of_the_interpreter_may_fail) {
  const Module module = parsed();
  const LaunchInputs inputs = inputs_of_sum();
  fail_each([&] { return end_of(interp::run(module.kernels[0], inputs)); });
  const interp::GraphInputs of_graph{{elements(200), std::nullopt}, {std::nullopt, std::nullopt}};
  fail_each([&] { return end_of(interp::run(module, module.graphs[0], of_graph)); });
}

TEST(allocations, of_the_sanitizer_may_fail) {
  const Module module = parsed();
  const LaunchInputs inputs = inputs_of_sum();
  fail_each(
      [&] {
        const interp::Sanitized s = interp::sanitize(module.kernels[0], inputs);
        return s.errors.empty() ? "" : to_string(s.errors[0].code);
      },
      1, true);
}

class DeviceAllocations : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    driver::OpenOptions options;
    options.use_cache = false;
    auto opened = driver::Device::open(GetParam(), options);
    ASSERT_TRUE(opened) << opened.errors()[0].message;
    device_ = *opened;
    is_cpu_ = std::string_view(GetParam()) == "cpu";
  }

  /// Nothing is allocated any more, and a launch still runs.
  bool is_intact() {
    device_.finish();
    if (device_.memory_used() != 0) return false;
    auto buffer = device_.allocate(64);
    if (!buffer) return false;
    std::vector<std::byte> bytes(64);
    auto ticket = device_.submit({driver::Fill{*buffer, 7}, driver::Readback{*buffer, bytes}});
    if (!ticket || !ticket->wait()) return false;
    return device_.free(*buffer) && bytes[63] == std::byte{7};
  }

  void fail_compiling(uint64_t step) {
    const Module module = parsed();
    for (const Program& kernel : module.kernels)
      fail_each([&] { return end_of(device_.compile(kernel)); }, step, false,
                [&] { return is_intact(); });
    if (!is_cpu_) return;
    const FailingAllocation none(0);
    ASSERT_TRUE(device_.compile(module.kernels[0]));
    EXPECT_GT(none.count_in_component(), 100u);  // code generation is among what fails
  }

  /// On the CPU in the compiler process, whose own allocations do not fail.
  void fail_compiling_with_limits(uint64_t step) {
    const Module module = parsed();
    fail_each(
        [&] {
          driver::CompileOptions options;
          options.limits = driver::CompileLimits(600, 1 << 30);
          return end_of(device_.compile(module.kernels[0], options));
        },
        step, false, [&] { return is_intact(); });
  }

  /// Listings, which `vyre run --report` shows.
  void fail_listing(uint64_t step) {
    const auto compiled = device_.compile(parsed().kernels[0]);
    ASSERT_TRUE(compiled);
    fail_each([&] { return end_of(device_.list_code(*compiled)); }, step, false,
              [&] { return is_intact(); });
  }

  void fail_running(uint64_t step) {
    const Module module = parsed();
    const LaunchInputs inputs = inputs_of_sum();
    const auto intact = [&] { return is_intact(); };
    fail_each([&] { return end_of(driver::run(device_, module.kernels[0], inputs)); }, step, false,
              intact);
    const interp::GraphInputs of_graph{{elements(200), std::nullopt}, {std::nullopt, std::nullopt}};
    for (const bool planned : {true, false}) {
      driver::RunOptions options;
      options.fuse = options.reuse = planned;
      options.time_limit = 60;
      fail_each(
          [&] {
            return end_of(driver::run_graph(device_, module, module.graphs[0], of_graph, options));
          },
          step, false, intact);
    }
  }

  driver::Device device_;
  bool is_cpu_ = false;
};

// Compiling for the CPU takes milliseconds: the core tier takes some of the allocations.
constexpr uint64_t some = 61;

TEST_P(DeviceAllocations, of_compiling_may_fail) { fail_compiling(is_cpu_ ? some : 1); }

// labels: slow
TEST_P(DeviceAllocations, of_compiling_may_fail_each) { fail_compiling(1); }

TEST_P(DeviceAllocations, of_compiling_with_limits_may_fail) {
  fail_compiling_with_limits(is_cpu_ ? some : 1);
}

// labels: slow
TEST_P(DeviceAllocations, of_compiling_with_limits_may_fail_each) { fail_compiling_with_limits(1); }

TEST_P(DeviceAllocations, of_destroying_a_kernel_may_fail) {
  const Module module = parsed();
  for (uint64_t n = 1, allocations = n; n <= allocations; ++n) {
    auto compiled = device_.compile(module.kernels[0]);
    ASSERT_TRUE(compiled);
    const FailingAllocation one(n);
    *compiled = driver::Executable();
    allocations = one.count();
  }
  EXPECT_TRUE(is_intact());
}

TEST_P(DeviceAllocations, of_listings_may_fail) { fail_listing(is_cpu_ ? some : 1); }

// labels: slow
TEST_P(DeviceAllocations, of_listings_may_fail_each) { fail_listing(1); }

TEST_P(DeviceAllocations, of_submissions_may_fail) {
  const Module module = parsed();
  auto compiled = device_.compile(module.kernels[0]);
  auto split = device_.compile(module.kernels[1]);
  ASSERT_TRUE(compiled && split);
  const std::vector<std::byte> given = elements(200);
  const auto attempt = [&]() -> std::string {
    std::vector<driver::Buffer> buffers;
    const auto run = [&]() -> Result<> {
      for (const uint64_t bytes : {800, 16}) {
        buffers.reserve(2);
        auto made = device_.allocate(bytes);
        if (!made) return made.errors();
        buffers.push_back(*made);
      }
      std::vector<std::byte> sums(16);
      driver::Launch launch;
      launch.executable = *compiled;
      launch.arguments = {buffers[0], buffers[1]};
      driver::Launch grow;
      grow.executable = *split;
      grow.arguments = {buffers[0]};
      driver::SubmitOptions second;
      second.stream = 1;
      second.time_limit = 60;
      auto up = device_.submit({driver::Upload{buffers[0], given}});
      if (!up) return up.errors();
      auto ran = device_.submit({launch, grow, driver::Readback{buffers[1], sums}}, second);
      if (!ran) return ran.errors();
      if (auto done = ran->wait(); !done) {
        // A failed submission leaves the buffers of later ones undefined.
        if (done.errors()[0].code != Code::UndefinedBuffer) return done.errors();
        auto first = up->wait();
        return first ? Result<>(done.errors()) : Result<>(first.errors());
      }
      return Ok{};
    };
    std::string end;
    try {
      end = end_of(run());
    } catch (const std::bad_alloc&) {  // thrown by this test
      end = "V0521";
    }
    device_.finish();
    for (const driver::Buffer& b : buffers)
      if (!device_.free(b)) (void)bool(device_.free(b));
    return end;
  };
  fail_each(attempt, 1, true, [&] { return is_intact(); });
}

TEST_P(DeviceAllocations, of_runs_may_fail) { fail_running(is_cpu_ ? some : 1); }

// labels: slow
TEST_P(DeviceAllocations, of_runs_may_fail_often) { fail_running(is_cpu_ ? 7 : 1); }

TEST_P(DeviceAllocations, of_opening_a_device_may_fail) {
  fail_each([&] { return end_of(driver::Device::open(GetParam())); });
}

INSTANTIATE_TEST_SUITE_P(interp, DeviceAllocations, testing::Values("interp"));
#ifdef VYRE_HAVE_CPU
INSTANTIATE_TEST_SUITE_P(cpu, DeviceAllocations, testing::Values("cpu"));

using Form = driver::CpuEmitRequest::Form;

/// The code of `vyre emit`.
class EmitAllocations : public testing::TestWithParam<Form> {
 protected:
  static void fail_emitting(uint64_t step) {
    std::string why;
    const driver::CpuComponent* const component = driver::cpu_component(&why);
    ASSERT_TRUE(component) << why;
    const Module module = parsed();
    driver::CpuEmitRequest request;
    request.form = GetParam();
    request.arch = "x86-64-v2";
    fail_each([&] { return end_of(component->emit(module.kernels[0], request)); }, step, true);
  }
};

TEST_P(EmitAllocations, may_fail) { fail_emitting(some); }

// labels: slow
TEST_P(EmitAllocations, may_fail_each) { fail_emitting(1); }

INSTANTIATE_TEST_SUITE_P(form, EmitAllocations,
                         testing::Values(Form::LlvmIr, Form::Assembly, Form::Object));
#endif

}  // namespace
}  // namespace vyre
