// The number of ops of each expansion is at most the number in README.md.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <optional>

#include "legalize/expand.h"
#include "support/file.h"
#include "tests/legalize/judge_util.h"

namespace vyre::emit_exact {
namespace {

using enum Opcode;
using enum Type;

/// Ops without constants and without what an op_program has around its op.
size_t ops_of(const Program& p, size_t operands) {
  size_t n = 0;
  walk(p, [&](OpId id) { n += p.op(id).code != Const; });
  return n - operands - 3;  // loads, id, store, return
}

struct Row {
  Opcode code;
  Type type;
  std::vector<Type> operands;
  const char* words;
  std::optional<double> against = {};  // the last operand, an f32 that is a constant
};

const std::vector<Row>& rows() {
  static const std::vector<Row> list = {
      {Neg, F64, {F64}, "-compare64"},
      {IsNan, F32, {F32}, "-compare32"},
      {Eq, F32, {F32, F32}, "-compare32"},
      {Lt, F32, {F32, F32}, "-compare32"},
      {Lt, F32, {F32}, "-compare32", 4.0},
      {Lt, F32, {F32}, "-compare32 -compare_normal32", 4.0},
      {Gt, F32, {F32}, "-compare32 -compare_normal32", 4.0},
      {Eq, F32, {F32}, "-compare32", 4.0},
      {Lt, F32, {F32}, "-compare32", 0.0},
      {Le, F32, {F32}, "-compare32", 0.0},
      {Ge, F32, {F32}, "-compare32", 0.0},
      {Eq, F32, {F32}, "-compare32", 0.0},
      {Min, F32, {F32, F32}, "-min_max32"},
      {Min, F32, {F32, F32}, "-min_max32 -compare32"},
      {Add, F32, {F32, F32}, "-add32"},
      {Add, F32, {F32, F32}, "-add32 -mul32 -normal32"},
      {Mul, F32, {F32, F32}, "-mul32"},
      {Mul, F32, {F32, F32}, "-add32 -mul32 -normal32"},
      {Div, F32, {F32, F32}, "-div32"},
      {Div, F32, {F32, F32}, "-div32 -float64"},
      {Sqrt, F32, {F32}, "-sqrt32"},
      {Sqrt, F32, {F32}, "-sqrt32 -float64"},
      {Fma, F32, {F32, F32, F32}, "-fma32"},
      {Fma, F32, {F32, F32, F32}, "-fma32 -widen"},
      {Fma, F32, {F32, F32, F32}, "-fma32 -fused32"},
      {Fma, F32, {F32, F32, F32}, "-fma32 -fused32 -widen -narrow"},
      {Fma, F32, {F32, F32, F32}, "-fma32 -fused32 -float64"},
      {Floor, F32, {F32}, "-round32"},
      {Round, F32, {F32}, "-round32"},
      {Cast, I32, {F32}, "-convert32"},
      {Cast, U32, {F32}, "-convert32"},
      {Cast, F32, {I32}, "-convert32"},
      {Cast, F64, {F32}, "-widen"},
      {Cast, F32, {F64}, "-narrow"},
      {Add, F64, {F64, F64}, "-add64"},
      {Mul, F64, {F64, F64}, "-mul64"},
      {Div, F64, {F64, F64}, "-div64"},
      {Sqrt, F64, {F64}, "-sqrt64"},
      {Fma, F64, {F64, F64, F64}, "-fma64"},
      {Min, F64, {F64, F64}, "-min_max64"},
      {Add, U64, {U64, U64}, "-int64"},
      {Mul, U64, {U64, U64}, "-int64"},
      {MulHi, U64, {U64, U64}, "-int64"},
      {Shl, U64, {U64, U64}, "-int64"},
      {Lt, U64, {U64, U64}, "-int64"},
      {Div, U64, {U64, U64}, "-int64"},
      {Div, I64, {I64, I64}, "-int64"},
      {Cast, F32, {I64}, "-int64"},
      {Cast, I64, {F32}, "-int64"},
      {PopCount, U32, {U32}, "-bits"},
      {Clz, U32, {U32}, "-bits"},
      {Ctz, U32, {U32}, "-bits"},
      {ReverseBits, U32, {U32}, "-bits"},
      {Div, U32, {U32, U32}, "full"},
      {Div, I32, {I32, I32}, "full"},
      {Rem, I32, {I32, I32}, "full"},
      {CeilDiv, U32, {U32, U32}, "full"},
      {SatAdd, U32, {U32, U32}, "full"},
      {SatAdd, I32, {I32, I32}, "full"},
      {RotL, U32, {U32, U32}, "full"},
      {Clz, U64, {U64}, "full"},
      {Extract, U32, {U32, U32, U32}, "full"},
      {Insert, U32, {U32, U32, U32, U32}, "full"},
      {Add, U8, {U8, U8}, "full"},
      {Div, I8, {I8, I8}, "full"},
      {Clz, U8, {U8}, "full"},
      {Cast, I8, {F32}, "full"},
  };
  return list;
}

TEST(exact_growth, is_what_the_readme_says) {
  const auto readme = read_file(VYRE_SOURCE_DIR "/src/legalize/README.md");
  ASSERT_TRUE(readme);
  std::string table;
  for (const Row& r : rows()) {
    std::optional<Fixed> fixed;
    if (r.against) fixed = Fixed{std::bit_cast<uint32_t>(static_cast<float>(*r.against))};
    const Program p = op_program(r.code, r.type, r.operands, fixed);
    const auto expanded = expand(p, profile_of(r.words));
    ASSERT_TRUE(expanded);
    // 64-bit operands and results cost their own loads and stores, which are counted.
    std::string what(name(r.type));
    if (r.code == Cast) what += fmt::format(" from {}", name(r.operands[0]));
    if (r.against) what += fmt::format(" with {:.1f}", *r.against);
    const std::string line = fmt::format("| {} {} | `{}` | {} |", mnemonic(r.code), what, r.words,
                                         ops_of(*expanded, r.operands.size()));
    table += line + "\n";
    EXPECT_NE(readme.bytes.find(line), std::string::npos) << line;
  }
  if (HasFailure()) fmt::print("{}", table);
}

}  // namespace
}  // namespace vyre::emit_exact
