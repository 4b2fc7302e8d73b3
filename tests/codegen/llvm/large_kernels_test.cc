// Kernels at the specified limits: 100,000 ops, and nesting of 1,000 levels. They compile in about
// linear time and on any stack, and give the interpreter's bytes.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "runtime/cpu/cpu_backend.h"
#include "tests/runtime/driver_util.h"
#include "tests/support/cpu_time.h"

namespace vyre::driver {
namespace {

constexpr int deepest = 998;  // the body is a level, and the limit is 1,000

std::string with_body(const std::string& body) {
  return "kernel k(x: in u32[], y: out u32[64]) workgroup(64) grid(64) {\n"
         " let i = global_id.x\n var s = x[i]\n" +
         body + " y[i] += s\n}\n";
}

std::string nested(const std::string& open, int levels) {
  std::string body;
  for (int k = 0; k < levels; ++k) body += fmt::format(fmt::runtime(open), k);
  return with_body(body + std::string(levels, '}') + "\n");
}

std::string lines(int n) {
  const char* const kinds[] = {" s = s ^ (s >> 7)\n", " s = rotl(s, 5) - i\n",
                               " s = max(s, i) + {}\n"};
  std::string body;
  for (int k = 0; k < n; ++k)
    body += k % 16 == 0 ? " s = s * 3 + x[i]\n" : fmt::format(fmt::runtime(kinds[k % 3]), k);
  return with_body(body);
}

size_t count_ops(const Program& p) {
  size_t n = 0;
  walk(p, [&](OpId) { ++n; });
  return n;
}

/// Runs without vyre's optimizer; returns the seconds of compilation.
double expect_same(const std::string& source, const std::vector<uint32_t>& x) {
  const Program p = kernel(source);
  OpenOptions open;
  open.use_cache = false;
  Result<Device> cpu = Device::open(*cpu_backend(), 0, open);
  EXPECT_TRUE(cpu);
  LaunchInputs inputs;
  inputs.data = {bytes(x), std::nullopt};
  inputs.lengths.resize(2);
  const auto wanted = interp::run(p, inputs, {.subgroup_size = 16});
  EXPECT_TRUE(wanted);
  RunOptions options;
  options.compile.subgroup_size = 16;
  options.compile.optimize.passes.emplace();
  const double begin = cpu_seconds();
  const auto got = run(*cpu, p, inputs, options);
  const double took = cpu_seconds() - begin;
  EXPECT_TRUE(got);
  if (got && wanted) {
    EXPECT_TRUE(got->buffers[1] == wanted->buffers[1]);
  }
  return took;
}

/// Numbers that most loops run once for, some twice or never.
std::vector<uint32_t> trips() {
  std::vector<uint32_t> x(2000, 1);
  for (uint32_t i = 100; i < x.size(); i += 311) x[i] = 2;
  for (uint32_t i = 990; i < x.size(); i += 7) x[i] = 0;
  return x;
}

TEST(LargeKernels, a_hundred_thousand_ops_in_a_row) {
  std::vector<uint32_t> x(64);
  for (uint32_t i = 0; i < x.size(); ++i) x[i] = i * 2654435761u;
  ASSERT_GE(count_ops(kernel(lines(40'000))), 100'000u);
  const double tenth = expect_same(lines(4'000), x);
  const double all = expect_same(lines(40'000), x);
  EXPECT_LT(all, 25 * tenth + 1);  // about ten times; a square would be a hundred
}

TEST(LargeKernels, ifs_within_ifs) {
  std::vector<uint32_t> x(64);
  for (uint32_t i = 0; i < x.size(); ++i) x[i] = i * 16;
  x[0] = 2000;
  expect_same(nested("if x[i] > {0} {{ s = s * 3 + {0}\n y[i] += s\n", deepest), x);
  expect_same(nested("if x[0] > {0} {{ s = s * 3 + x[i + {0}]\n", deepest), x);
}

TEST(LargeKernels, loops_within_loops) {
  expect_same(nested("for k{0} in 0..x[{0}] {{ s = s * 3 + {0}\n", deepest), trips());
  expect_same(nested("for k{0} in 0..x[i + {0}] {{ s = s * 3 + {0}\n", deepest), trips());
}

// Lanes leave the loops at different times, and values pass through loops that do not change them.
TEST(LargeKernels, values_carried_through_nested_loops) {
  constexpr int n = 60;
  std::string body;
  for (int k = 0; k < n; ++k) body += fmt::format(" var v{0} = x[i + {0}] % 3\n", k);
  for (int k = 0; k < n; ++k) {
    body += fmt::format(" while v{0} < 3 {{ v{0} += 1\n", k);
    if (k % 4 == 0)  // as many trips in each active lane
      body += fmt::format(" for j{0} in 0..x[{0}] % 3 {{ v{1} += j{0} + 1 }}\n", k, n - 1 - k);
    if (k % 4 == 1) body += fmt::format(" if (v{0} + i) % 5 == {1} {{ continue }}\n", k, k % 5);
    if (k % 4 == 2) body += fmt::format(" if (v{0} * 7 + i) % 11 == 3 {{ break }}\n", k);
    if (k % 4 == 3)
      body += fmt::format(" for j{0} in 0..x[i + {0}] % 2 {{ v{1} += j{0} }}\n", k, n - k);
  }
  for (int k = n; k-- > 0;) body += fmt::format(" v{} += i % 2\n }}\n", (k * 7) % n);
  for (int k = 0; k < n; ++k) body += fmt::format(" s = s * 3 + v{}\n", k);
  std::vector<uint32_t> x(200);
  for (uint32_t i = 0; i < x.size(); ++i) x[i] = i * 2654435761u >> 7;
  expect_same(with_body(body), x);
}

/// Calls fn on a thread with 256 KiB of stack: the threads of a pool may have little.
void on_small_stack(const std::function<void()>& fn) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 256 << 10), 0);
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void* f) -> void* {
                  (*static_cast<const std::function<void()>*>(f))();
                  return nullptr;
                },
                const_cast<std::function<void()>*>(&fn)),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(LargeKernels, compile_on_a_small_stack) {
  on_small_stack(
      [] { expect_same(nested("for k{0} in 0..x[i + {0}] {{ s = s * 3 + {0}\n", 300), trips()); });
}

TEST(LargeKernels, frames_larger_than_the_stack_of_the_caller) {
  constexpr int n = 6000;
  std::string body;
  for (int k = 0; k < n; ++k) body += fmt::format(" let v{0} = x[i + {0}] ^ {0}\n", k);
  for (int k = n; k-- > 0;) body += fmt::format(" s = s * 3 + v{}\n", k);
  std::vector<uint32_t> x(n);
  for (uint32_t i = 0; i < x.size(); ++i) x[i] = i * 2654435761u;
  on_small_stack([&] { expect_same(with_body(body), x); });
}

}  // namespace
}  // namespace vyre::driver
