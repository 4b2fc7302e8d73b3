// The number of lanes of a subgroup follows from the accesses and loops of a program.

#include <gtest/gtest.h>

#include "codegen/llvm/llvm_lower.h"
#include "tests/runtime/driver_util.h"

namespace vyre::driver {
namespace {

uint32_t lanes_of(const std::string& body, const std::string& workgroup = "256",
                  emit_llvm::Isa isa = emit_llvm::Isa::X86_64_V4) {
  const Program p = kernel("kernel k(n: u32, x: in u32[], t: in u8[], y: inout u32[]) workgroup(" +
                           workgroup + ") grid(len(y)) {\n let i = global_id.x\n" + body + "\n}\n");
  emit_llvm::EmitOptions options;
  options.isa = isa;
  return emit_llvm::lower(p, options).lanes;
}

const char* short_loop = "var s: u32 = i\nfor k in 0..n { s = s * 1664525 + k }\ny[i] = s";
const char* loading_loop = "var s: u32 = i\nfor k in 0..n { s += x[k] }\ny[i] = s";

TEST(lanes, fill_two_registers_where_nothing_says_otherwise) {
  EXPECT_EQ(lanes_of("y[i] = x[i] + 1"), 32u);
  EXPECT_EQ(lanes_of("y[i] = x[i] + 1", "256", emit_llvm::Isa::X86_64_V3), 16u);
  EXPECT_EQ(lanes_of("y[i] = x[i] + 1", "16"), 16u);
}

TEST(lanes, fill_four_registers_in_short_loops) {
  EXPECT_EQ(lanes_of(short_loop), 64u);
  EXPECT_EQ(lanes_of(loading_loop), 64u);
  EXPECT_EQ(lanes_of("for j in 0..n { for k in 0..n { y[i] ^= k } }"), 64u);
  EXPECT_EQ(lanes_of(short_loop, "256", emit_llvm::Isa::X86_64_V3), 16u);  // it has 16 registers
  std::string long_loop = "var s: u32 = i\nfor k in 0..n {\n";
  for (int op = 0; op < 20; ++op) long_loop += "s = s * 3 + k\n";
  EXPECT_EQ(lanes_of(long_loop + "}\ny[i] = s"), 32u);
}

TEST(lanes, do_not_depend_on_loops_with_barriers) {
  const std::string barriers = "\nfor k in 0..n { y[i] += 1\nbarrier workgroup }";
  EXPECT_EQ(lanes_of(barriers), 32u);
  EXPECT_EQ(lanes_of(short_loop + barriers), 64u);
}

TEST(lanes, keep_to_a_row_where_loops_access_memory) {
  EXPECT_EQ(lanes_of("y[i] = x[i] + 1", "16, 16"), 16u);
  EXPECT_EQ(lanes_of(loading_loop, "16, 16"), 16u);
  EXPECT_EQ(lanes_of(short_loop, "16, 16"), 64u);
}

TEST(lanes, fill_registers_with_narrow_elements_unless_they_are_gathered) {
  EXPECT_EQ(lanes_of("if t[i] == 7 || t[i + 1] == 8 || t[i + 2] == 9 { y[0] = 1 }"), 64u);
  EXPECT_EQ(
      lanes_of("var s: u32 = i\nwhile s < n { s += u32(t[s * 7 & 255]) + u32(t[s]) }\ny[i] = s"),
      32u);
}

}  // namespace
}  // namespace vyre::driver
