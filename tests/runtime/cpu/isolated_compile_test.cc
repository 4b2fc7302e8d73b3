// labels: threads
// Compilation with limits, in the compiler process.

#include "runtime/cpu/isolated_compile.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

#include "runtime/cpu/cpu_backend.h"
#include "tests/runtime/driver_util.h"
#include "tests/support/instrumented.h"

namespace vyre::driver {
namespace {

using emit_llvm::Isa;

/// Takes LLVM seconds, and hundreds of megabytes.
std::string endless_text() {
  std::string body;
  for (int k = 0; k < 6000; ++k)
    body += fmt::format("  if x[i+{0}] == {0} {{ y[i] += x[i*{0}] }}\n", k);
  return "kernel endless(x: in u32[], y: inout u32[len(x)]) workgroup(64) grid(len(x)) {\n"
         "  let i = global_id.x\n" +
         body + "}\n";
}

const char* const small_text =
    "kernel small(x: in u32[], y: inout u32[len(x)]) workgroup(64) grid(len(x)) {\n"
    "  y[global_id.x] += x[global_id.x] * 3\n}\n";

/// Tables, arrays, barriers, traps, loops.
const char* const varied_text =
    "const T: u32[] = [3, 1, 4, 1, 5, 9, 2, 6]\n"
    "kernel varied(x: in u32[], y: inout u32[len(x)]) workgroup(64) grid(len(x)) {\n"
    "  shared s: u32[64]\n"
    "  var t: u32[8]\n"
    "  let i = global_id.x\n"
    "  assert(x[i] < 100000, 7)\n"
    "  s[local_id.x] = x[i] + T[i % 8]\n"
    "  barrier workgroup\n"
    "  for k in 0..x[i] % 8 { t[k] = s[63 - local_id.x] + k }\n"
    "  y[i] = t[x[i] % 8] + subgroup_add(x[i])\n"
    "}\n";

CpuOptions host() {
  CpuOptions cpu;
  cpu.isa = emit_llvm::host_isa();
  return cpu;
}

CompileOptions within(double seconds, uint64_t bytes = 0) {
  CompileOptions options;
  options.limits = CompileLimits(seconds, bytes);
  return options;
}

Device open_cpu(bool use_cache = false) {
  OpenOptions open;
  open.use_cache = use_cache;
  Result<Device> cpu = Device::open(*cpu_backend(), 0, open);
  EXPECT_TRUE(cpu);
  return *cpu;
}

TEST(IsolatedCompile, gives_the_code_of_compiling_in_the_process) {
  for (const char* text : {small_text, varied_text}) {
    const Program p = kernel(text);
    for (const uint32_t lanes : {0u, 8u}) {
      CompileOptions options = within(100);
      options.subgroup_size = lanes;
      const auto here = compile_object(p, options, host());
      const auto there = compile_isolated(p, options, host());
      ASSERT_TRUE(here && there) << there.errors()[0].message;
      EXPECT_EQ((*there)->serialize(), (*here)->serialize());
      EXPECT_EQ((*there)->subgroup_size, (*here)->subgroup_size);
      EXPECT_GT((*there)->emit_ns, 0u);
      EXPECT_TRUE((*there)->code);
    }
  }
}

TEST(IsolatedCompile, ends_at_the_deadline) {
  const Program endless = kernel(endless_text()), small = kernel(small_text);
  const auto stopped = compile_isolated(endless, within(0.2), host());
  EXPECT_EQ(code_of(stopped), Code::TimeLimitExceeded);
  EXPECT_NE(message_of(stopped).find("kernel `endless` was still being compiled after 0.2 seconds"),
            std::string::npos);
  EXPECT_TRUE(compile_isolated(small, within(100), host()));
}

TEST(IsolatedCompile, ends_at_the_memory_limit) {
  if (is_instrumented) GTEST_SKIP() << "the runtime of the sanitizer takes no limit";
  const Program endless = kernel(endless_text()), small = kernel(small_text);
  const auto stopped = compile_isolated(endless, within(100, 1), host());
  EXPECT_EQ(code_of(stopped), Code::MemoryLimitExceeded);
  EXPECT_NE(message_of(stopped).find("compiling kernel `endless` takes more than 1 byte"),
            std::string::npos);
  EXPECT_TRUE(compile_isolated(small, within(0, 1), host()));
}

TEST(IsolatedCompile, reports_errors_of_the_emitter) {
  Program p = kernel(small_text);
  CompileOptions options = within(100);
  options.subgroup_size = 3;
  EXPECT_EQ(code_of(compile_isolated(p, options, host())), Code::BadSubgroupSize);
}

TEST(IsolatedCompile, serves_many_threads) {
  std::vector<std::thread> threads;
  const Program small = kernel(small_text), endless = kernel(endless_text());
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 4; ++i) {
        if (t % 3 == 0)
          EXPECT_EQ(code_of(compile_isolated(endless, within(0.05), host())),
                    Code::TimeLimitExceeded);
        else
          EXPECT_TRUE(compile_isolated(small, within(100), host()));
      }
    });
  for (std::thread& t : threads) t.join();
}

TEST(IsolatedCompile, limits_of_a_device_compile) {
  Device cpu = open_cpu();
  EXPECT_EQ(code_of(cpu.compile(kernel(endless_text()), within(0.1))), Code::TimeLimitExceeded);
  EXPECT_EQ(code_of(cpu.compile(kernel(small_text), within(-1))), Code::BadOptionValue);
  EXPECT_TRUE(cpu.compile(kernel(small_text), within(100, 1 << 20)));
}

TEST(IsolatedCompile, limits_of_a_run_hold_for_its_compilation) {
  Device cpu = open_cpu();
  LaunchInputs inputs;
  inputs.data = {bytes(std::vector<uint32_t>(64, 2)), bytes(std::vector<uint32_t>(64, 1))};
  inputs.lengths.resize(2);
  RunOptions options;
  options.time_limit = 0.1;
  EXPECT_EQ(code_of(run(cpu, kernel(endless_text()), inputs, options)), Code::TimeLimitExceeded);
  options.time_limit = 100;
  options.memory_limit = 1 << 20;
  const auto done = run(cpu, kernel(small_text), inputs, options);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->buffers[1], bytes(std::vector<uint32_t>(64, 7)));
}

}  // namespace
}  // namespace vyre::driver
