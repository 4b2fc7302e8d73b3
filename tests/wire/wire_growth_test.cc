// Encoding and decoding take time linear in the module: four times the kernels cost about four
// times the CPU time. The limit has room for a busy machine.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/cpu_time.h"
#include "text/parse.h"
#include "wire/wire.h"

namespace vyre {
namespace {

/// CPU seconds of encoding and decoding a module of n kernels: the least of two.
double seconds_of(size_t n) {
  const ParseOutcome one = parse("kernel k(y: out u32[4]) workgroup(1) grid(1) { y[0] = 1 }\n");
  const Module module{std::vector<Program>(n, one.module->kernels[0]), {}};
  double least = 1e9;
  for (int round = 0; round < 2; ++round) {
    const double begin = cpu_seconds();
    EXPECT_TRUE(decode_module(encode(module)));
    least = std::min(least, cpu_seconds() - begin);
  }
  return least;
}

TEST(WireGrowth, is_linear_in_the_number_of_kernels) {
  const double quarter = seconds_of(3000);
  const double all = seconds_of(12000);
  EXPECT_LT(all, 8 * quarter + 0.05);
}

TEST(WireLimits, end_decoding) {
  const ParseOutcome small = parse("kernel k(y: out u32[4]) workgroup(1) grid(1) { y[0] = 1 }\n");
  const Module module{std::vector<Program>(1000, small.module->kernels[0]), {}};
  const auto code = [&](const DecodeOptions& options) {
    const auto decoded = decode_module(encode(module), options);
    return decoded ? "" : to_string(decoded.errors()[0].code);
  };
  EXPECT_EQ(code({}), "");
  EXPECT_EQ(code({.time_limit = 100, .memory_limit = 1u << 30}), "");
  EXPECT_EQ(code({.time_limit = 1e-6}), "V0502");
  EXPECT_EQ(code({.memory_limit = 100000}), "V0503");
  EXPECT_EQ(code({.time_limit = -1}), "V0607");
  const auto program = [&](const DecodeOptions& options) {
    const auto decoded = decode_program(encode(module.kernels[0]), options);
    return decoded ? "" : to_string(decoded.errors()[0].code);
  };
  EXPECT_EQ(program({}), "");
  EXPECT_EQ(program({.time_limit = 1e-9}), "V0502");
  EXPECT_EQ(program({.memory_limit = 10}), "V0503");
}

}  // namespace
}  // namespace vyre
