// Bytes that the host receives, where printed values would not show them: NaNs and bools.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "interp/interp.h"
#include "tools/vyre/program_file.h"

namespace vyre {
namespace {

using Bytes = std::vector<std::byte>;

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Runs the only kernel of the source; `inputs` by parameter. Gives all buffers.
std::vector<Bytes> run(const std::string& source, std::vector<std::optional<Bytes>> inputs = {}) {
  const auto loaded = cli::load_module_bytes(source, "stored_bytes.vyre", {});
  if (!loaded.module) {
    ADD_FAILURE() << loaded.diagnostics[0].message;
    return {};
  }
  const Program& kernel = loaded.module->kernels[0];
  LaunchInputs launch;
  launch.data = std::move(inputs);
  launch.data.resize(kernel.buffers.size());
  launch.lengths.resize(kernel.buffers.size());
  auto outcome = interp::run(kernel, launch);
  if (!outcome) {
    ADD_FAILURE() << outcome.errors()[0].message;
    return {};
  }
  return std::move(outcome->buffers);
}

// An invocation for each way to a NaN: a literal with a payload, one with a sign, an input, an
// operation, its negation, and a value that went through shared memory.
const std::string nan_source = R"(
kernel k(x: in f32[], a: out f32[6], b: out f64[6], c: out f16[6], d: out bf16[6], e: inout f32[]) workgroup(6) grid(6) {
  shared t: f32[6]
  let i = global_id.x
  t[i] = bits(0xff812345)
  barrier workgroup
  var v: f32 = bits(0x7f800001)
  if i == 1 { v = bits(0xffffffff) }
  if i == 2 { v = x[0] }
  if i == 3 { v = x[1] / x[1] }
  if i == 4 { v = -(x[1] / x[1]) }
  if i == 5 { v = t[0] }
  a[i] = v
  b[i] = f64(v)
  c[i] = v
  d[i] = v
  e[i] = v
}
)";

TEST(StoredBytes, a_stored_nan_is_the_canonical_one_of_its_type) {
  const auto out = run(
      nan_source,
      {bytes_of<uint32_t>({0xffabcdef, 0}), {}, {}, {}, {}, bytes_of(std::vector<uint32_t>(6, 1))});
  ASSERT_EQ(out.size(), 7u);  // with the shared array
  EXPECT_EQ(out[1], bytes_of(std::vector<uint32_t>(6, 0x7fc00000)));
  EXPECT_EQ(out[2], bytes_of(std::vector<uint64_t>(6, 0x7ff8000000000000)));
  EXPECT_EQ(out[3], bytes_of(std::vector<uint16_t>(6, 0x7e00)));
  EXPECT_EQ(out[4], bytes_of(std::vector<uint16_t>(6, 0x7fc0)));
  EXPECT_EQ(out[5], bytes_of(std::vector<uint32_t>(6, 0x7fc00000)));
}

TEST(StoredBytes, an_inout_nan_that_is_not_stored_keeps_its_bits) {
  const Bytes given = bytes_of<uint32_t>({0xffabcdef, 0x7f800001, 5});
  const auto out =
      run("kernel k(x: inout f32[]) workgroup(1) grid(1) { x[2] = x[2] + x[7] }", {given});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0], given);
}

TEST(StoredBytes, an_atomic_add_that_gives_nan_stores_the_canonical_one) {
  const auto out =
      run("kernel k(x: inout f32[]) workgroup(1) grid(1) { atomic_add(x[0], 1.0); atomic_add(x[1], "
          "-inf) }",
          {bytes_of<uint32_t>({0xffabcdef, 0x7f800000})});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0], bytes_of<uint32_t>({0x7fc00000, 0x7fc00000}));
}

TEST(StoredBytes, a_stored_bool_is_the_byte_0_or_1) {
  const auto out =
      run(R"(
kernel k(x: in bool[], y: out bool[6], z: inout bool[]) workgroup(6) grid(6) {
  let i = global_id.x
  y[i] = x[i]
  if i < 2 { z[i] = x[i + 2] }
})",
          {bytes_of<uint8_t>({0, 1, 2, 128, 255, 0}), {}, bytes_of<uint8_t>({7, 7, 7, 7})});
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[1], bytes_of<uint8_t>({0, 1, 1, 1, 1, 0}));
  EXPECT_EQ(out[2], bytes_of<uint8_t>({1, 1, 7, 7}));  // what is not stored keeps its byte
}

TEST(StoredBytes, half_elements_keep_subnormals_and_signs) {
  const auto out =
      run(R"(
kernel k(x: in f32[], y: out f16[5], z: out bf16[5]) workgroup(5) grid(5) {
  y[global_id.x] = x[global_id.x]
  z[global_id.x] = x[global_id.x]
})",
          // 2^-24, 2^-25 (a tie to zero), -0, the largest below 65520, 2^-133
          {bytes_of<uint32_t>({0x33800000, 0x33000000, 0x80000000, 0x477fefff, 0x00010000})});
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[1], bytes_of<uint16_t>({0x0001, 0x0000, 0x8000, 0x7bff, 0x0000}));
  EXPECT_EQ(out[2], bytes_of<uint16_t>({0x3380, 0x3300, 0x8000, 0x4780, 0x0001}));
}

}  // namespace
}  // namespace vyre
