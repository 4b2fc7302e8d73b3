// Reads the words of every kernel of the repository: they have no instruction with inexact results,
// and no access that may be out of bounds.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <spirv/unified1/GLSL.std.450.h>

#include "ir/expand_functions.h"
#include "tests/codegen/spirv/audit_util.h"
#include "tests/codegen/spirv/spirv_util.h"

namespace vyre::emit_spirv {
namespace {

size_t fma_ops(Program program) {
  expand_functions(program);
  size_t n = 0;
  walk(program, [&](OpId op) { n += program.op(op).code == Opcode::Fma; });
  return n;
}

size_t fma_instructions(const std::vector<uint32_t>& words) {
  size_t n = 0;
  for (const Instruction& i : instructions(words))
    n += i.op == spv::OpExtInst && i.operands[3] == GLSLstd450Fma;
  return n;
}

TEST(SpirvAudit, every_kernel_is_exact) {
  size_t n = 0, kernels = 0;
  for (const char* words : {"full", "nvidia", "lavapipe", "swiftshader", "weak"}) {
    EmitOptions options;
    options.profile = device(words).profile;
    for (const Case& c : all_cases()) {
      if (n++ % 2 == 1 && options.profile != emit_exact::Profile{}) continue;
      const Result<Kernel> kernel = emit(*c.program, options);
      if (!kernel) continue;
      ++kernels;
      for (const std::string& what : mistakes(kernel->words, *c.program, options.profile))
        ADD_FAILURE() << c.name << " on " << words << ": " << what;
      EXPECT_FALSE(kernel->info.uses_control && kernel->info.uses_zeros)  // one place for both
          << c.name << " on " << words;
      const size_t fma = options.profile.fused32 ? fma_ops(*c.program) : 0;
      EXPECT_LE(fma_instructions(kernel->words), fma + (fma > 0))  // the long form has one

          << c.name << " on " << words << ": a product and a sum were contracted";
    }
  }
  EXPECT_GT(kernels, 1500u);
}

/// Proofs are dropped, so that every access must be kept inside by the code.
Program without_proofs(Program p) {
  walk(p, [&](OpId op) {
    if (info(p.op(op).code).attribute != AttrKind::Memory) return;
    MemoryRef ref = p.memory(op);
    ref.in_bounds = false;
    p.ops[op].attr = ref.pack();
  });
  return p;
}

std::vector<std::string> unguarded_in(const Program& program, const EmitOptions& options) {
  const Result<Kernel> kernel = emit(program, options);
  return kernel ? unguarded(kernel->words, program) : std::vector<std::string>{};
}

TEST(SpirvAudit, every_access_is_kept_inside) {
  for (const char* words : {"full", "-int64 -float64", "-storage8 -storage16 -shared_bytes"}) {
    EmitOptions options;
    options.profile = device(std::string(words) + " push_constant_bytes=65536").profile;
    options.debug = true;
    for (const Case& c : all_cases())
      for (const std::string& what : unguarded_in(without_proofs(*c.program), options))
        ADD_FAILURE() << c.name << " on " << words << ": " << what;
  }
}

// ---- The audit itself can fail.

/// The words without, or with another, instruction.
template <class Fn>
std::vector<uint32_t> changed(const std::vector<uint32_t>& words, Fn&& change) {
  std::vector<uint32_t> made(words.begin(), words.begin() + 5);
  for (Instruction i : instructions(words)) {
    if (!change(i)) continue;
    made.push_back(static_cast<uint32_t>(i.operands.size() + 1) << 16 | i.op);
    made.insert(made.end(), i.operands.begin(), i.operands.end());
  }
  return made;
}

const char* const busy_text =
    "kernel k(x: inout f32[], n: inout u32[]) workgroup(32) grid(len(x)) {\n"
    "  shared t: f32[32]\n"
    "  t[local_id.x] = x[global_id.x] * 2.0 + 1.0\n"
    "  barrier workgroup\n"
    "  x[global_id.x] = t[global_id.x]\n"
    "  atomic_add(n[0], 1, acq_rel)\n"
    "}\n";

TEST(SpirvAudit, finds_what_is_inexact) {
  const Program p = emit_ptx::program_of(busy_text);
  const std::vector<uint32_t> words = emit_or_fail(p, {}, "busy").words;
  const auto wrong = [&](const std::vector<uint32_t>& w) { return mistakes(w, p, {}).size(); };
  EXPECT_EQ(wrong(words), 0u);
  EXPECT_EQ(wrong(changed(words,
                          [](Instruction& i) {
                            return i.op != spv::OpDecorate ||
                                   i.operands[1] != spv::DecorationNoContraction;
                          })),
            2u);
  EXPECT_EQ(wrong(changed(words,
                          [](Instruction& i) {
                            return i.op != spv::OpExecutionMode ||
                                   i.operands[1] == spv::ExecutionModeLocalSize;
                          })),
            6u);  // three modes, three unneeded capabilities
  EXPECT_EQ(wrong(changed(words,
                          [](Instruction& i) {
                            if (i.op == spv::OpAtomicIAdd)
                              i.operands[4] = i.operands[3];  // the order is the scope
                            return true;
                          })),
            1u);
  EXPECT_EQ(wrong(changed(words,
                          [](Instruction& i) {
                            if (i.op == spv::OpControlBarrier) i.operands[1] = i.operands[2];
                            return true;
                          })),
            1u);
  EXPECT_EQ(wrong(changed(words,
                          [](Instruction& i) {
                            if (i.op == spv::OpCapability && i.operands[0] == spv::CapabilityInt64)
                              i.operands[0] = spv::CapabilityInt8;
                            return true;
                          })),
            2u);
  emit_exact::Profile without;
  without.rte32 = false;
  EXPECT_EQ(mistakes(words, p, without).size(), 1u);
}

TEST(SpirvAudit, finds_accesses_that_nothing_keeps_inside) {
  EmitOptions options;
  options.profile = device("push_constant_bytes=65536").profile;
  options.debug = true;
  const Program p = emit_ptx::program_of(busy_text);
  EXPECT_EQ(unguarded_in(p, options).size(), 0u);
  size_t n = 0;
  walk(p, [&](OpId op) {
    if (info(p.op(op).code).attribute != AttrKind::Memory) return;
    Program proved = p;
    MemoryRef ref = proved.memory(op);
    ref.in_bounds = true;
    proved.ops[op].attr = ref.pack();
    EXPECT_EQ(unguarded_in(proved, options).size(), 1u) << mnemonic(p.op(op).code);
    ++n;
  });
  EXPECT_EQ(n, 5u);
}

}  // namespace
}  // namespace vyre::emit_spirv
