// Sizes of launches: lengths, grids, and every mistake that is found before a launch begins.

#include "ir/launch.h"

#include <gtest/gtest.h>

#include "diagnostics/failure.h"
#include "ir/ssa_builder.h"

namespace vyre {
namespace {

/// kernel k(n: i32, x: in u32[], u: uniform u32[], y: out u32[len(x) - n], z: out u8[], t: scratch
/// u64[len(y) * 2])
///   workgroup(64, 2) grid(len(x), n)
Program sample(bool uses_len = false) {
  SsaBuilder b("k");
  FormulaPool& f = b.program.formulas;
  b.program.workgroup = {64, 2, 1};
  b.program.buffers = {{"n", Role::Scalar, Type::I32},  {"x", Role::In, Type::U32},
                       {"u", Role::Uniform, Type::U32}, {"y", Role::Out, Type::U32},
                       {"z", Role::Out, Type::U8},      {"t", Role::Scratch, Type::U64},
                       {"s", Role::Shared, Type::U32}};
  b.program.buffers[3].count = f.binary(FormulaOp::Sub, f.len(1), f.scalar(0));
  b.program.buffers[5].count = f.binary(FormulaOp::Mul, f.len(3), f.constant(2));
  b.program.buffers[6].count = f.constant(16);
  b.program.grid_dims = 2;
  b.program.grid[0] = f.len(1);
  b.program.grid[1] = f.scalar(0);
  if (uses_len) b.op(Opcode::Len, Type::Void, {}, 4);
  return b.finish();
}

std::vector<std::byte> bytes(size_t n, uint8_t first = 0) {
  std::vector<std::byte> b(n);
  if (n > 0) b[0] = std::byte{first};
  return b;
}

LaunchInputs good() {
  LaunchInputs in;
  in.data.resize(7);
  in.lengths.resize(7);
  in.data[0] = bytes(4, 3);
  in.data[1] = bytes(400);
  in.data[2] = bytes(16);
  in.lengths[4] = 9;
  return in;
}

Diagnostics errors_of(const Program& p, const LaunchInputs& in) {
  Result<LaunchShape> r = resolve_launch(p, in);
  return r ? Diagnostics{} : r.errors();
}
void expect_only(const LaunchInputs& in, Code code, std::initializer_list<const char*> words,
                 bool uses_len = false) {
  const Diagnostics e = errors_of(sample(uses_len), in);
  ASSERT_EQ(e.size(), 1u) << render(e, {});
  EXPECT_EQ(e[0].code, code) << render(e, {});
  EXPECT_FALSE(e[0].fix.empty());
  EXPECT_EQ(classify(code), Failure::BadInput);
  for (const char* w : words)
    EXPECT_NE(e[0].message.find(w), std::string::npos) << w << " in: " << e[0].message;
}

TEST(Launch, computes_lengths_and_workgroups) {
  const Result<LaunchShape> r = resolve_launch(sample(), good());
  ASSERT_TRUE(r);
  EXPECT_EQ(r->counts, (std::vector<uint64_t>{1, 100, 4, 97, 9, 194, 16}));
  EXPECT_EQ(r->invocations_wanted, (std::array<uint64_t, 3>{100, 3, 1}));
  EXPECT_EQ(r->num_workgroups, (std::array<uint64_t, 3>{2, 2, 1}));
}

TEST(Launch, a_given_grid_replaces_the_kernels) {
  LaunchInputs in = good();
  in.grid = {65, 1, 0};
  const Result<LaunchShape> r = resolve_launch(sample(), in);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->num_workgroups, (std::array<uint64_t, 3>{2, 1, 0}));
  EXPECT_EQ(r->workgroups(), 0u);
}

TEST(Launch, more_workgroups_than_can_be_counted_are_not_none) {
  LaunchShape s;
  s.num_workgroups = {0xffffffff, 0xffffffff, 1};
  EXPECT_EQ(s.workgroups(), uint64_t{0xffffffff} * 0xffffffff);
  s.num_workgroups = {1u << 31, 1u << 31, 4};  // 2^64
  EXPECT_EQ(s.workgroups(), ~uint64_t{0});
  s.num_workgroups[2] = 0;
  EXPECT_EQ(s.workgroups(), 0u);
}

TEST(Launch, missing_input) {
  LaunchInputs in = good();
  in.data[2].reset();
  expect_only(in, Code::MissingInput, {"`u`"});
  in = good();
  in.data[0].reset();  // and what depends on it is not reported again
  expect_only(in, Code::MissingInput, {"`n`"});
}

TEST(Launch, bytes_for_an_out_buffer) {
  LaunchInputs in = good();
  in.data[3] = bytes(8);
  expect_only(in, Code::UnwantedInput, {"`y`", "8"});
}

TEST(Launch, missing_length) {
  LaunchInputs in = good();
  in.lengths[4].reset();
  expect_only(in, Code::MissingLength, {"`z`"});
}

TEST(Launch, bytes_that_are_no_whole_elements) {
  LaunchInputs in = good();
  in.data[1] = bytes(10);
  expect_only(in, Code::NotWholeElements, {"`x`", "10", "4"});
}

TEST(Launch, length_that_differs_from_its_formula) {
  LaunchInputs in = good();
  in.lengths[3] = 98;
  expect_only(in, Code::LengthDiffers, {"`y`", "98", "len(x) - n", "97"});
  in = good();
  in.lengths[1] = 99;
  expect_only(in, Code::LengthDiffers, {"`x`", "100", "99"});
}

TEST(Launch, formula_that_fails) {
  LaunchInputs in = good();
  in.data[1] = bytes(8);
  const Diagnostics e = errors_of(sample(), in);
  ASSERT_EQ(e.size(), 1u) << render(e, {});
  EXPECT_EQ(e[0].code, Code::FormulaFails);
  EXPECT_NE(e[0].message.find("len(x) - n"), std::string::npos);
}

TEST(Launch, negative_scalars_are_negative_numbers) {
  LaunchInputs in = good();
  in.data[0] = std::vector<std::byte>(4, std::byte{0xff});  // -1: len(x) + 1, but a grid of -1
  const Diagnostics e = errors_of(sample(), in);
  ASSERT_EQ(e.size(), 1u);
  EXPECT_NE(e[0].message.find("grid"), std::string::npos) << e[0].message;
  in.grid = {1, 1, 1};
  EXPECT_EQ(resolve_launch(sample(), in)->counts[3], 101u);
}

TEST(Launch, uniform_above_64_kib) {
  LaunchInputs in = good();
  in.data[2] = bytes(65536);
  EXPECT_TRUE(errors_of(sample(), in).empty());
  in.data[2] = bytes(65540);
  expect_only(in, Code::UniformTooLarge, {"`u`", "65540", "65536"});
}

TEST(Launch, buffer_above_2_to_the_48_bytes) {
  LaunchInputs in = good();
  in.lengths[4] = (1ull << 48) + 1;
  expect_only(in, Code::BufferTooLarge, {"`z`", "2^48"});
  in.lengths[4] = ~0ull;
  expect_only(in, Code::BufferTooLarge, {"`z`"});
  in.lengths[4] = 1ull << 48;  // with the others it is too much
  expect_only(in, Code::BufferTooLarge, {"together"});
}

TEST(Launch, long_buffer_whose_len_is_used) {
  LaunchInputs in = good();
  in.lengths[4] = 1ull << 32;
  EXPECT_TRUE(errors_of(sample(false), in).empty());
  expect_only(in, Code::LengthExceedsLen, {"`z`", "4294967296"}, true);
  in.lengths[4] = (1ull << 32) - 1;
  EXPECT_TRUE(errors_of(sample(true), in).empty());
}

TEST(Launch, too_many_invocations) {
  LaunchInputs in = good();
  in.grid = {0xffffffc0, 1, 1};
  EXPECT_TRUE(errors_of(sample(), in).empty());
  in.grid = {0xffffffc1, 1, 1};  // rounds up to 2^32
  expect_only(in, Code::TooManyInvocations, {"4294967233", " x", "64"});
  in.grid = {1, ~0ull, 1};
  expect_only(in, Code::TooManyInvocations, {" y"});
}

TEST(Launch, missing_grid) {
  Program p = sample();
  p.grid_dims = 0;
  const Diagnostics e = errors_of(p, good());
  ASSERT_EQ(e.size(), 1u);
  EXPECT_EQ(e[0].code, Code::MissingGrid);
}

TEST(Launch, scalar_of_the_wrong_size) {
  LaunchInputs in = good();
  in.data[0] = bytes(8);
  expect_only(in, Code::ScalarSize, {"`n`", "4", "8"});
}

TEST(Launch, length_for_a_scalar_or_a_shared_array) {
  LaunchInputs in = good();
  in.lengths[0] = 1;
  expect_only(in, Code::LengthOfNothing, {"`n`"});
  in = good();
  in.lengths[6] = 16;
  expect_only(in, Code::LengthOfNothing, {"`s`"});
}

TEST(Launch, reports_all_mistakes_at_once) {
  LaunchInputs in;
  EXPECT_EQ(errors_of(sample(), in).size(), 4u);  // n, x, u and the length of z
}

TEST(Launch, from_known_lengths) {
  std::vector<std::optional<uint64_t>> counts(7), scalars(7);
  counts[1] = 100;
  counts[2] = 4;
  counts[3] = 97;
  counts[4] = 9;
  scalars[0] = 3;
  EXPECT_TRUE(resolve_launch(sample(), counts, scalars, std::nullopt));
  counts[3] = 96;
  counts[2].reset();
  const auto r = resolve_launch(sample(), counts, scalars, std::nullopt);
  ASSERT_FALSE(r);
  ASSERT_EQ(r.errors().size(), 2u);
  EXPECT_EQ(r.errors()[0].code, Code::MissingInput);
  EXPECT_EQ(r.errors()[1].code, Code::LengthDiffers);
}

}  // namespace
}  // namespace vyre
