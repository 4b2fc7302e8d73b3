// Reads the PTX of every kernel of the repository: it has no instruction with inexact results.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/expand_functions.h"
#include "tests/codegen/ptx/ptx_util.h"

namespace vyre::emit_ptx {
namespace {

bool has(std::string_view line, std::string_view piece) { return line.find(piece) != line.npos; }

/// The instruction of a line, without its predicate and operands; "" if there is none.
std::string_view instruction(std::string_view line) {
  if (!line.starts_with('\t')) return "";
  line.remove_prefix(1);
  if (line.starts_with('@')) line.remove_prefix(std::min(line.find(' ') + 1, line.size()));
  return line.substr(0, line.find_first_of(" ;"));
}

bool is_float_op(std::string_view i) { return i.ends_with(".f32") || i.ends_with(".f64"); }

/// Returns the mistake in an instruction, or "".
std::string mistake_in(std::string_view i) {
  if (has(i, ".approx") || has(i, ".full")) return "not exact";
  if (has(i, ".ftz")) return "flushes subnormals";
  if (is_float_op(i)) {
    if (i.starts_with("mad")) return "contracted";
    for (const std::string_view op : {"add", "sub", "mul", "div", "sqrt", "fma"})
      if (i.starts_with(op) && !has(i, ".rn.")) return "no rounding";
    if (i.starts_with("rcp") || i.starts_with("rsqrt") || i.starts_with("ex2")) return "not exact";
  }
  if (i.starts_with("cvt.f32.f64") || i.starts_with("cvt.f32.s") || i.starts_with("cvt.f32.u"))
    return "no rounding";
  const bool ordered = i.starts_with("ld.relaxed") || i.starts_with("ld.acquire") ||
                       i.starts_with("st.relaxed") || i.starts_with("st.release");
  if (i.starts_with("atom") || i.starts_with("red") || ordered) {
    if (!has(i, ".relaxed") && !has(i, ".acquire") && !has(i, ".release") && !has(i, ".acq_rel"))
      return "no order";
    if (!has(i, ".cta") && !has(i, ".gpu") && !has(i, ".sys")) return "no scope";
    const bool is_wide = i.ends_with("64") || i.ends_with("f32");
    if (has(i, ".shared.") && is_wide && i.starts_with("atom") && !has(i, ".cas.") &&
        !has(i, ".exch."))
      return "ptxas makes a loop of it, too late to count the trips of loops around it right";
  }
  if (i.starts_with("fence") && !has(i, ".cta") && !has(i, ".gpu")) return "no scope";
  return "";
}

struct Count {
  size_t instructions = 0, fma = 0;
};

Count audit(const std::string& text, const std::string& name) {
  Count count;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    const std::string_view i = instruction(line);
    ++count.instructions;
    if (i.starts_with("fma")) ++count.fma;
    if (const std::string wrong = mistake_in(i); !wrong.empty())
      ADD_FAILURE() << name << ": " << line << ": " << wrong;
    at = end + 1;
  }
  return count;
}

size_t fma_ops(Program program) {
  expand_functions(program);
  size_t n = 0;
  walk(program, [&](OpId op) { n += program.op(op).code == Opcode::Fma; });
  return n;
}

TEST(PtxAudit, every_kernel_is_exact) {
  size_t instructions = 0;
  for (const Case& c : all_cases())
    for (const Arch arch : {Arch::Sm75, Arch::Sm90}) {
      EmitOptions options{.arch = arch, .native_grid_barrier = c.native_grid_barrier};
      const Count count = audit(emit_or_fail(c.program, options, c.name).text, c.name);
      instructions += count.instructions;
      EXPECT_LE(count.fma, fma_ops(c.program)) << c.name << ": a product and a sum were contracted";
    }
  EXPECT_GT(instructions, 50'000u);
}

TEST(PtxAudit, finds_what_is_wrong) {
  for (const char* line :
       {"add.f32", "mul.f64", "div.full.f32", "sqrt.approx.f32", "add.rn.ftz.f32", "mad.rn.f32",
        "atom.global.add.u32", "atom.relaxed.global.add.u32", "ld.acquire.global.u32",
        "fence.acq_rel", "cvt.f32.s32", "rcp.rn.f32", "atom.relaxed.cta.shared.add.u64",
        "atom.relaxed.cta.shared.add.f32", "atom.acq_rel.cta.shared.min.s64"})
    EXPECT_NE(mistake_in(line), "") << line;
  for (const char* line : {"add.rn.f32", "add.u32", "mad.lo.u32", "atom.acq_rel.gpu.global.add.u32",
                           "ld.global.nc.f32", "cvt.rn.f32.s32", "cvt.f64.f32", "fma.rn.f64",
                           "atom.relaxed.cta.shared.add.u32", "atom.relaxed.cta.shared.cas.b64",
                           "atom.relaxed.cta.shared.exch.b64"})
    EXPECT_EQ(mistake_in(line), "") << line;
  EXPECT_EQ(instruction("\t@!%p1 ld.global.u32 %r1, [%l0+0];"), "ld.global.u32");
}

}  // namespace
}  // namespace vyre::emit_ptx
