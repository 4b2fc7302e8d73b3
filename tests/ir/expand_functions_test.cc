// The expansion of exp … atan2 against the ops themselves: the interpreter runs both programs on
// the same inputs and the bytes must be equal.
#include "ir/expand_functions.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "check/check.h"
#include "interp/interp.h"
#include "ir/ssa_builder.h"
#include "text/parse.h"
#include "text/print.h"
#include "wire/fingerprint.h"

namespace vyre {
namespace {

std::vector<Opcode> function_ops() {
  std::vector<Opcode> ops;
  for (const OpInfo& row : all_ops())
    if (row.types == TypeSet::F32) ops.push_back(*find_op(row.mnemonic));
  return ops;
}

bool has_function(const Program& p) {
  bool found = false;
  walk(p, [&](OpId id) { found |= info(p.op(id).code).types == TypeSet::F32; });
  return found;
}

Program parse_one(const std::string& source) {
  ParseOutcome r = parse(source);
  EXPECT_TRUE(r.module) << render(r.diagnostics, r.sources);
  return r.module ? std::move(r.module->kernels[0]) : Program{};
}

/// z[i] = f(x[i]) or f(x[i], y[i]).
Program kernel_of(Opcode code) {
  const std::string_view f = mnemonic(code);
  const bool binary = info(code).operands.size() == 2;
  return parse_one(
      "kernel k(x: in f32[], y: in f32[], z: out f32[len(x)]) workgroup(256) "
      "grid(len(x)) {\n  let i = global_id.x\n  z[i] = " +
      std::string(f) + (binary ? "(x[i], y[i])" : "(x[i])") + "\n}\n");
}

Program expanded(Program p) {
  EXPECT_TRUE(expand_functions(p));
  return p;
}

std::vector<std::byte> run(const Program& p, const std::vector<uint32_t>& x,
                           const std::vector<uint32_t>& y) {
  const auto bytes = [](const std::vector<uint32_t>& v) {
    std::vector<std::byte> b(v.size() * 4);
    std::memcpy(b.data(), v.data(), b.size());
    return b;
  };
  LaunchInputs in;
  in.data = {bytes(x), bytes(y), std::nullopt};
  auto r = interp::run(p, in);
  EXPECT_TRUE(r) << render(r.errors(), {});
  return r ? r->buffers[2] : std::vector<std::byte>();
}

void expect_equal_bytes(Opcode code, const std::vector<uint32_t>& x,
                        const std::vector<uint32_t>& y) {
  const Program whole = kernel_of(code);
  const std::vector<std::byte> ours = run(whole, x, y);
  const std::vector<std::byte> theirs = run(expanded(whole), x, y);
  ASSERT_EQ(ours.size(), x.size() * 4);
  ASSERT_EQ(theirs.size(), ours.size());
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(std::memcmp(&ours[i * 4], &theirs[i * 4], 4), 0)
        << mnemonic(code) << std::hex << " of 0x" << x[i] << ", 0x" << y[i];
}

/// Zeros, subnormals, the ends of every binade, small integers and halves, where the functions
/// change their course, infinities and NaNs of several payloads; both signs.
std::vector<uint32_t> special_bits() {
  std::vector<uint32_t> bits = {0, 1, 2, 0x7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff};
  for (uint32_t e = 1; e < 255; ++e)
    for (uint32_t m : {0u, 1u, 0x7fffffu}) bits.push_back(e << 23 | m);
  for (float v : {3.0f, 5.0f, 1.5f, 2.5f, 0.75f, 10.0f, 88.0f, 89.0f, 103.0f, 104.0f, 105.0f,
                  127.0f, 149.0f, 150.0f, 151.0f, 152.0f, 0x1.921fb6p+0f, 0x1.921fb6p+1f})
    for (uint32_t off : {-1u, 0u, 1u}) bits.push_back(std::bit_cast<uint32_t>(v) + off);
  for (size_t i = 0, n = bits.size(); i < n; ++i) bits.push_back(bits[i] | 0x80000000u);
  return bits;
}

TEST(expand_functions, keeps_every_byte_on_a_dense_sample_of_one_operand) {
  std::vector<uint32_t> x = special_bits();
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 997) x.push_back(uint32_t(bits));
  for (Opcode code : function_ops())
    if (info(code).operands.size() == 1) expect_equal_bytes(code, x, x);
}

TEST(expand_functions, keeps_every_byte_on_pairs) {
  std::vector<uint32_t> x, y;
  for (uint32_t a : special_bits())
    for (uint32_t b : special_bits())
      if ((a ^ b) % 5 == 0 || a % 64 == 0 || b % 64 == 0) {
        x.push_back(a);
        y.push_back(b);
      }
  uint64_t state = 1;
  for (int i = 0; i < 1'000'000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const uint32_t a = uint32_t(state >> 32), b = uint32_t(state >> 13);
    // Half of them of moderate size, where pow is finite.
    x.push_back(i % 2 ? a : (a & 0x03ffffff) | 0x3e000000);
    y.push_back(i % 4 < 2 ? b : (b & 0x83ffffff) | 0x40000000);
  }
  for (Opcode code : function_ops())
    if (info(code).operands.size() == 2) expect_equal_bytes(code, x, y);
}

TEST(expand_functions, gives_legal_programs_of_exact_ops) {
  for (Opcode code : function_ops()) {
    const Program p = expanded(kernel_of(code));
    EXPECT_FALSE(has_function(p)) << mnemonic(code);
    walk(p, [&](OpId id) {
      EXPECT_NE(p.op(id).type, Type::F64);
      EXPECT_NE(info(p.op(id).code).exactness, Exactness::Ordered);
      EXPECT_FALSE(is_control(p.op(id).code));
      for (ValueId v : p.results(id)) EXPECT_NE(p.type(v), Type::F64);
    });
    EXPECT_TRUE(check(p).empty()) << render(check(p), {});
    const std::string text = print(p);
    const Program again = parse_one(text);
    EXPECT_EQ(print(again), text);
    EXPECT_EQ(fingerprint(again), fingerprint(p));
    EXPECT_LE(p.ops.size(), kernel_of(code).ops.size() + 200);  // the header's promise
  }
}

const char* nested = R"(
fn soft(v: f32) -> f32 { return log(1.0 + exp(v)) }
kernel k(x: in f32[], y: in f32[], z: out f32[len(x)]) workgroup(64) grid(len(x)) {
  let i = global_id.x
  var s: f32 = x[i]
  for j in 0..3 {
    if y[i] > 0.5 { s = sin(cos(s)) } else { s = pow(soft(s), y[i]) }
  }
  var n: u32 = 0
  while tanh(s) < 0.9 { s = s + exp2(s)
    n += 1
    if n > 5 { break } }
  z[i] = atan2(s, tan(log2(x[i])))
}
)";

TEST(expand_functions, reaches_functions_of_functions_in_control_flow) {
  const Program whole = parse_one(nested);
  const Program p = expanded(whole);
  EXPECT_FALSE(has_function(p));
  EXPECT_FALSE(has_errors(check(p)));
  std::vector<uint32_t> x, y;
  for (float v = -4; v < 4; v += 0x1p-6f) {
    x.push_back(std::bit_cast<uint32_t>(v));
    y.push_back(std::bit_cast<uint32_t>(v * 0.75f));
  }
  EXPECT_EQ(run(p, x, y), run(whole, x, y));
}

TEST(expand_functions, gives_the_new_ops_the_place_of_the_old) {
  const Program p = expanded(parse_one(nested));
  bool inlined = false;
  walk(p, [&](OpId id) {
    const LocId loc = p.op(id).loc;
    if (p.op(id).code != Opcode::Fma) return;  // no fma but of ours
    ASSERT_NE(loc, none);
    EXPECT_GT(p.place(loc).line, 0u);
    inlined |= p.locations[loc].inlined_at != none;
  });
  EXPECT_TRUE(inlined);
}

TEST(expand_functions, expands_only_what_is_asked_for) {
  Program p = parse_one(nested);
  OpMask which;
  which.set(size_t(Opcode::Exp)).set(size_t(Opcode::Add));  // ops other than functions are ignored
  ASSERT_TRUE(expand_functions(p, which));
  std::vector<bool> left(256);
  walk(p, [&](OpId id) { left[size_t(p.op(id).code)] = true; });
  for (Opcode code : function_ops())
    EXPECT_EQ(left[size_t(code)], code != Opcode::Exp) << mnemonic(code);
  const Hash128 once = fingerprint(p);
  EXPECT_FALSE(expand_functions(p, which));
  EXPECT_EQ(fingerprint(p), once);
}

TEST(expand_functions, leaves_other_programs_alone) {
  Program p = parse_one(
      "kernel k(x: inout f32[]) workgroup(64) grid(len(x)) {\n"
      "  let dead = 1.0 + 2.0\n  x[global_id.x] = sqrt(x[global_id.x])\n}\n");
  const std::string text = print(p);
  const Hash128 before = fingerprint(p);
  EXPECT_FALSE(expand_functions(p));
  EXPECT_EQ(fingerprint(p), before);
  EXPECT_EQ(print(p), text);
  Program with = kernel_of(Opcode::Sin);
  const Hash128 unexpanded = fingerprint(with);
  EXPECT_FALSE(expand_functions(with, OpMask()));
  EXPECT_EQ(fingerprint(with), unexpanded);
}

TEST(expand_functions, shows_what_becomes_of_exp2) {
  const std::string text = print(expanded(kernel_of(Opcode::Exp2)));
  EXPECT_NE(text.find(R"(  %1 = load x[%0] : f32
  %2 = const -152.0 : f32
  %3 = lt %1, %2 : f32
  %4 = select %3, %2, %1 : f32
  %5 = const 0.5 : f32
  %6 = const 12582912.0 : f32
  %7 = fma %4, %5, %6 : f32
  %8 = const 12582977.0 : f32
  %9 = min %7, %8 : f32
  %10 = sub %9, %6 : f32
  %11 = const -2.0 : f32
  %12 = fma %10, %11, %4 : f32
  %13 = const 1.5096442e-05 : f32
  %14 = const 0.00015631996 : f32
  %15 = fma %13, %12, %14 : f32
  %16 = const 0.001333781 : f32
  %17 = fma %15, %12, %16 : f32
  %18 = const 0.009616981 : f32
  %19 = fma %17, %12, %18 : f32
  %20 = const 0.055503864 : f32
  %21 = fma %19, %12, %20 : f32
  %22 = const 0.24022667 : f32
  %23 = fma %21, %12, %22 : f32
  %24 = const 0.69314724 : f32
  %25 = fma %23, %12, %24 : f32
  %26 = const 1.0 : f32
  %27 = fma %25, %12, %26 : f32
  %28 = bitcast %9 : u32
  %29 = const 23 : u32
  %30 = shl %28, %29 : u32
  %31 = const 1065353216 : u32
  %32 = add %30, %31 : u32
  %33 = bitcast %32 : f32
  %34 = mul %27, %33 : f32
  %35 = mul %34, %33 : f32
  store z[%0], %35
)"),
            text.npos)
      << text;
}

// Not what the order is counts, but that g++ and clang build the same one: caches go by it. A
// change of functions.h changes these, and its fingerprints are printed here by any compiler.
TEST(expand_functions, has_one_order_whatever_compiler_built_us) {
  Hasher all;
  for (Opcode code : function_ops()) add_program(all, expanded(kernel_of(code)));
  EXPECT_EQ(all.digest128().to_hex(), "a6d529e583dc110380226c01337b3af7");
}

}  // namespace
}  // namespace vyre
