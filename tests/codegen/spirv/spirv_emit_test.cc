// The information that a driver gets about a kernel, refused kernels, and code that a device does
// not need.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "generate/generate.h"
#include "tests/codegen/spirv/module_util.h"
#include "tests/codegen/spirv/spirv_util.h"

namespace vyre::emit_spirv {
namespace {

EmitOptions on(std::string_view words) {
  EmitOptions options;
  options.profile = device(words).profile;
  return options;
}

Kernel kernel_of(std::string_view text, const EmitOptions& options = {}) {
  return emit_or_fail(emit_ptx::program_of(text), options, std::string(text));
}

size_t count(const Kernel& kernel, spv::Op op) {
  size_t n = 0;
  for (const Instruction& i : instructions(kernel.words)) n += i.op == op;
  return n;
}

Code refusal(std::string_view text, const EmitOptions& options) {
  const Result<Kernel> kernel = emit(emit_ptx::program_of(text), options);
  EXPECT_FALSE(kernel);
  return kernel ? Code{} : kernel.errors()[0].code;
}

TEST(SpirvEmit, says_how_parameters_are_given) {
  const char* text =
      "kernel k(a: f64, x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {\n"
      "  y[global_id.x] = x[global_id.x] + u32(a)\n}\n";
  const Kernel pushed = kernel_of(text);
  EXPECT_EQ(pushed.info.parameter_bytes, 32u + 8 + 16 + 16);
  EXPECT_FALSE(pushed.info.block_in_memory);
  EXPECT_FALSE(pushed.info.uses_control);
  EXPECT_FALSE(pushed.info.uses_stop);
  EXPECT_TRUE(kernel_of(text, on("push_constant_bytes=64")).info.block_in_memory);
}

TEST(SpirvEmit, halves_of_scalars_are_where_the_scalar_is) {
  const char* text =
      "kernel k(a: u64, y: out u32[]) workgroup(64) grid(len(y)) { y[global_id.x] = u32(a >> 32) "
      "}\n";
  const Kernel kernel = kernel_of(text, on("-int64 -float64"));
  EXPECT_EQ(kernel.info.parameter_bytes, 32u + 8 + 16);
  const ModuleTable m(kernel.words);
  bool reads_upper_half = false;
  for (const Instruction& i : m.all)
    if (i.op == spv::OpAccessChain && m.storage(i.operands[1]) == spv::StorageClassPushConstant)
      reads_upper_half |= m.constant(i.operands[4]) == (32 + 4) / 4;
  EXPECT_TRUE(reads_upper_half);
}

TEST(SpirvEmit, buffers_of_pairs_have_their_own_length) {
  // Both have as many words, and a launch gives other counts for them.
  const Kernel kernel = kernel_of(
      "kernel k(n: u32, a: in u32[n * 2], b: in u64[n], y: out u32[]) workgroup(64) grid(n) {\n"
      "  y[global_id.x] = u32(b[global_id.x])\n}\n",
      on("-int64 -float64"));
  const ModuleTable m(kernel.words);
  const uint32_t count_of_a = (32 + 8 + 8) / 4;
  for (const Instruction& i : m.all) {
    if (i.op != spv::OpShiftLeftLogical) continue;
    const Instruction* load = m.find(i.operands[2]);
    if (!load || load->op != spv::OpLoad) continue;
    const Instruction* chain = m.find(load->operands[2]);
    if (chain && chain->op == spv::OpAccessChain && chain->operands.size() > 4) {
      EXPECT_NE(m.constant(chain->operands[4]), count_of_a) << "twice the count of `a`";
    }
  }
}

TEST(SpirvEmit, choices_that_flush_are_not_to_be_seen) {
  const char* text =
      "kernel k(x: in f32[], y: out f32[len(x)]) workgroup(64) grid(len(x)) {\n"
      "  let v = x[global_id.x]\n  y[global_id.x] = select(v < 2.0, v, 2.0)\n}\n";
  const auto limit_of = [&](const char* words) {
    const ModuleTable m(kernel_of(text, on(words)).words);
    spv::Op limit = spv::OpNop;
    for (const Instruction& i : m.all)
      if (i.op == spv::OpFOrdLessThan) limit = m.op(i.operands[3]);
    return limit;
  };
  for (const char* words : {"full", "-compare32"})
    EXPECT_EQ(limit_of(words), spv::OpConstant) << words;
  for (const char* words : {"-choose32", "-compare32 -choose32", "nvidia"})
    EXPECT_EQ(limit_of(words), spv::OpBitcast) << words << ": its compiler knows the constant";
  EXPECT_EQ(limit_of("-compare32 -compare_normal32"), spv::OpNop) << "by integers";
  // Hidden once is enough; the other one is v.
  EXPECT_EQ(count(kernel_of(text, on("-choose32 -zero_operands")), spv::OpBitwiseOr), 1u);
}

TEST(SpirvEmit, masks_of_signs_are_not_to_be_seen) {
  for (const char* mask : {"bits ^ 0x80000000", "bits | 0x80000000", "bits & 0x7fffffff",
                           "bits + 0x80000000", "bits - 0x80000000", "bitcast<u32>(-x[0])"}) {
    const std::string text = fmt::format(
        "kernel k(x: in f32[], y: out u32[1]) workgroup(1) grid(1) {{\n"
        "  let bits = bitcast<u32>(x[0])\n  y[0] = {}\n}}\n",
        mask);
    const auto seen = [&](const char* words) {
      const ModuleTable m(kernel_of(text, on(words)).words);
      return std::ranges::count_if(m.all, [&](const Instruction& i) {
        const bool masks = i.op == spv::OpBitwiseXor || i.op == spv::OpBitwiseOr ||
                           i.op == spv::OpBitwiseAnd || i.op == spv::OpIAdd || i.op == spv::OpISub;
        return masks && std::ranges::any_of(sources(i), [&](uint32_t id) {
                 return m.constant(id) == 0x80000000 || m.constant(id) == 0x7fffffff;
               });
      });
    };
    EXPECT_GT(seen("full"), 0) << mask;
    EXPECT_EQ(seen("-signs32"), 0) << mask;
  }
}

TEST(SpirvEmit, sums_that_saturate_are_not_to_be_seen) {
  const auto hidden = [&](std::string_view expression, const char* words) {
    const std::string text = fmt::format(
        "kernel k(x: in u64[2], y: out u64[1]) workgroup(1) grid(1) {{\n"
        "  let a = x[0]\n  let b = x[1]\n  y[0] = {}\n}}\n",
        expression);
    // Its other operand is the zero of the parameters, twice.
    const ModuleTable m(kernel_of(text, on(words)).words);
    return std::ranges::count_if(m.all, [&](const Instruction& i) {
      const Instruction* zero = i.op == spv::OpBitwiseOr ? m.find(i.operands[3]) : nullptr;
      return zero && zero->op == spv::OpBitcast &&
             m.op(zero->operands[2]) == spv::OpCompositeConstruct;
    });
  };
  for (const char* e : {"max(a, b) - b", "max(a, 3) - 3", "select(a < b, 0, a - b)",
                        "(a - 3) & ~((a - 3) >> 63)", "min(a, ~b) + b",
                        "select(a + b < a, 0xffffffffffffffff, a + b)", "min(a - b, 0xffffffff)"}) {
    EXPECT_EQ(hidden(e, "full"), 0) << e;
    EXPECT_EQ(hidden(e, "-saturate64"), 1) << e;
  }
  for (const char* e : {"a + b", "(a - b) * 3", "a - (b ^ 7)"})
    EXPECT_EQ(hidden(e, "-saturate64"), 0) << e << " does not saturate";
  const Kernel branched = kernel_of(
      "kernel k(x: in u64[2], y: out u64[1]) workgroup(1) grid(1) {\n  var s: u64 = 0\n"
      "  if x[0] >= x[1] { s = x[0] - x[1] }\n  y[0] = s\n}\n",
      on("-saturate64"));
  EXPECT_EQ(count(branched, spv::OpBitwiseOr), 1u);
  EXPECT_EQ(count(kernel_of("kernel k(x: in u32[2], y: out u32[1]) workgroup(1) grid(1) {\n"
                            "  y[0] = max(x[0], x[1]) - x[1]\n}\n",
                            on("-saturate64")),
                  spv::OpBitwiseOr),
            0u);
}

TEST(SpirvEmit, loads_in_unrolled_loops_are_of_zeros_outside) {
  const auto text = [](const char* more) {
    return fmt::format(
        "kernel k(n: u32, x: in u32[], y: out u32[]) workgroup(64) grid(len(y)) {{\n"
        "  var s: u32 = 0\n  for i in 0..8 {{ s += x[global_id.x + i * 64] }}\n"
        "  {}\n  y[global_id.x] = s\n}}\n",
        more);
  };
  EmitOptions unrolled, branching;
  unrolled.unroll = true;
  branching.unroll = false;
  EXPECT_TRUE(kernel_of(text(""), unrolled).info.uses_zeros);
  EXPECT_FALSE(kernel_of(text(""), branching).info.uses_zeros);
  // Their address is where that of the control block would be.
  for (const char* more : {"assert(s != 7, 3)", "for i in 0..n { s = s * 3 + i }"}) {
    const KernelInfo info = kernel_of(text(more), unrolled).info;
    EXPECT_FALSE(info.uses_zeros) << more;
    EXPECT_TRUE(info.uses_control) << more;
  }
  EmitOptions cut = on("-long_loops");
  cut.unroll = true;
  EXPECT_FALSE(kernel_of(text(""), cut).info.uses_zeros);
}

TEST(SpirvEmit, loops_with_few_trips_do_not_poll) {
  const char* few =
      "kernel k(y: out u32[]) workgroup(64) grid(len(y)) {\n  var s: u32 = 0\n"
      "  for i in 0..100 { s += i * s }\n  y[global_id.x] = s\n}\n";
  const char* many =
      "kernel k(n: u32, y: out u32[]) workgroup(64) grid(len(y)) {\n  var s: u32 = 0\n"
      "  for i in 0..n { s += i * s }\n  y[global_id.x] = s\n}\n";
  EXPECT_FALSE(kernel_of(few).info.uses_stop);
  EXPECT_TRUE(kernel_of(many).info.uses_stop);
  EmitOptions options;
  options.stoppable = false;
  EXPECT_FALSE(kernel_of(many, options).info.uses_stop);
}

TEST(SpirvEmit, trips_from_below_zero_are_not_to_be_counted) {
  const auto text = [](const char* range) {
    return fmt::format(
        "kernel k(y: out u32[]) workgroup(64) grid(len(y)) {{\n  var s: u32 = 9\n"
        "  for i in {} {{ s = s * 5 + u32(i) }}\n  y[global_id.x] = s\n}}\n",
        range);
  };
  // Where the first phi, the counter, comes from before the loop.
  const auto start_of = [&](const char* range, bool stoppable) {
    EmitOptions options;
    options.stoppable = stoppable;
    const ModuleTable m(kernel_of(text(range), options).words);
    for (const Instruction& i : m.all)
      if (i.op == spv::OpPhi) return m.op(i.operands[2]);
    return spv::OpNop;
  };
  for (const char* range : {"-5i64..1i64", "-1i32..2i32", "-9i8..100i8 step 7"}) {
    EXPECT_TRUE(kernel_of(text(range)).info.uses_stop) << range;  // a loop with two ends
    EXPECT_EQ(start_of(range, true), spv::OpConstant) << range;
    EXPECT_NE(start_of(range, false), spv::OpConstant) << range;
  }
  // The start of a narrow one is extended, as every narrow number is.
  EmitOptions unpolled;
  unpolled.stoppable = false;
  const ModuleTable m(kernel_of(text("-9i8..100i8 step 7"), unpolled).words);
  EXPECT_TRUE(std::ranges::any_of(m.all, [&](const Instruction& i) {
    return i.op == spv::OpShiftRightLogical && m.constant(i.operands[2]) == uint32_t(-9);
  }));
  EXPECT_FALSE(kernel_of(text("5i64..11i64")).info.uses_stop);
  EXPECT_EQ(start_of("5i64..11i64", false), spv::OpConstant);
}

TEST(SpirvEmit, addresses_begin_with_something_that_differs_between_lanes) {
  Program vectors = emit_ptx::program_of(R"(
kernel k(s: u32, x: inout u32[]) workgroup(1) grid(1) {
  %0 = scalar s : u32
  %1, %2 = load_n x[%0] : u32
  %3 = xor %0, %2 : u32
  store_n x[%3], %1, %0
})");
  for (Op& o : vectors.ops) {
    if (o.code != Opcode::LoadN && o.code != Opcode::StoreN) continue;
    MemoryRef ref = MemoryRef::unpack(o.attr);
    ref.align_log2 = 3;
    o.attr = ref.pack();
  }
  const Program others = emit_ptx::program_of(R"(
kernel k(s: u32, x: inout u32[], b: inout u8[], y: out f32[64]) workgroup(64) grid(64) {
  shared t: u32[64]
  t[s * 3] = x[s]
  barrier workgroup
  atomic_add(x[s + 1], t[s])
  b[s * 5] = b[s ^ 7]
  x[2] += load_as<u32>(b, s)
  y[s * 2] = y[s * 2 + 1] + y[s * 2 + 2]
})");
  // Those that do, and all.
  const auto counted = [](const Program& p, const char* words) {
    const ModuleTable m(emit_or_fail(p, on(words), words).words);
    const auto differs = [&](spv::Id v) {
      const Instruction* sum = m.find(v);
      if (!sum || sum->op != spv::OpIAdd) return false;
      const Instruction* zero = m.find(sum->operands[2]);
      if (zero && zero->op == spv::OpUConvert) zero = m.find(zero->operands[2]);
      return zero && zero->op == spv::OpBitwiseAnd && m.op(zero->operands[2]) == spv::OpLoad;
    };
    std::pair<size_t, size_t> found;
    for (const Instruction& i : m.all) {
      spv::Id at = 0;
      if (i.op == spv::OpConvertUToPtr) at = i.operands[2];
      if (i.op == spv::OpAccessChain && m.op(i.operands[2]) == spv::OpVariable &&
          m.find(i.operands[2])->operands[2] == spv::StorageClassWorkgroup)
        at = i.operands[3];
      if (!at) continue;
      found.first += differs(at);
      ++found.second;
    }
    return found;
  };
  for (const char* words : {"-uniform_addresses", "-uniform_addresses -storage8"})
    for (const Program* p : std::initializer_list<const Program*>{&vectors, &others}) {
      const auto [differ, all] = counted(*p, words);
      EXPECT_GE(all, p == &vectors ? 6u : 10u) << words;  // vectors: also one after the other
      EXPECT_EQ(differ, all) << words;
    }
  EXPECT_EQ(counted(others, "full").first, 0u);
}

TEST(SpirvEmit, says_which_subgroups_it_needs) {
  const char* text =
      "kernel k(y: out u32[]) workgroup(64) subgroup(8) grid(len(y)) {\n"
      "  y[global_id.x] = subgroup_add(global_id.x)\n}\n";
  const KernelInfo info = kernel_of(text).info;
  EXPECT_EQ(info.subgroup_size, 8u);
  EXPECT_EQ(info.native_subgroup, 32u);
  EXPECT_TRUE(info.full_subgroups);
  const KernelInfo larger = kernel_of(text, on("subgroup_size=4")).info;
  EXPECT_EQ(larger.subgroup_size, 8u);
  EXPECT_EQ(larger.native_subgroup, 0u);
  EXPECT_GT(larger.shared_bytes, 0u) << "they meet in shared memory";
}

TEST(SpirvEmit, what_it_refuses) {
  EXPECT_EQ(refusal("kernel k(y: inout u32[]) workgroup(64) grid(len(y)) {\n"
                    "  y[0] = 1\n  barrier grid\n  y[1] = y[0]\n}\n",
                    {}),
            Code::KernelTooLarge);
  EmitOptions odd;
  odd.subgroup_size = 3;
  EXPECT_EQ(refusal("kernel k(y: out u32[]) workgroup(64) grid(1) { y[0] = subgroup_size }\n", odd),
            Code::BadSubgroupSize);
}

TEST(SpirvEmit, a_long_form_is_written_once) {
  const char* text =
      "kernel k(x: inout f32[]) workgroup(64) grid(len(x)) {\n"
      "  let a = x[global_id.x]\n"
      "  x[global_id.x] = fma(fma(sqrt(a), a, sqrt(a + 1.0)), a, fma(a, a, 2.0))\n}\n";
  EmitOptions options = on("nvidia");
  options.debug = true;
  const Kernel kernel = kernel_of(text, options);
  options.functions = false;
  const Kernel written = kernel_of(text, options);
  EXPECT_EQ(count(written, spv::OpFunction), 1u);
  EXPECT_GT(written.words.size(), kernel.words.size());
}

/// Barriers that order accesses to buffers, of all.
std::pair<int, int> ordering_barriers(const std::string& body) {
  const Kernel kernel = kernel_of(
      "kernel k(x: inout u32[], y: in u32[]) workgroup(64) grid(len(x)) "
      "{\n shared t: u32[64]\n let l = local_id.x\n t[l] = y[l]\n" +
      body + "}\n");
  const ModuleTable m(kernel.words);
  int orders = 0, all = 0;
  for (const Instruction& i : instructions(kernel.words)) {
    if (i.op != spv::OpControlBarrier) continue;
    ++all;
    orders += (m.constant(i.operands[2]) & spv::MemorySemanticsUniformMemoryMask) != 0;
  }
  return {orders, all};
}

TEST(SpirvEmit, barriers_order_buffers_that_were_written_before) {
  using Pair = std::pair<int, int>;
  EXPECT_EQ(ordering_barriers("barrier workgroup\n x[global_id.x] = t[63 - l]\n"), Pair(0, 1));
  EXPECT_EQ(ordering_barriers("for k in 0..3 { barrier workgroup\n t[l] += y[k]\n barrier "
                              "workgroup }\n x[global_id.x] = t[63 - l]\n"),
            Pair(0, 3));  // with zeros
  EXPECT_EQ(ordering_barriers("x[l] = 1\n barrier workgroup\n x[global_id.x] = t[63 - l]\n"),
            Pair(1, 1));
  EXPECT_EQ(ordering_barriers("t[l] = x[l]\n barrier workgroup\n x[global_id.x] = t[63 - l]\n"),
            Pair(1, 1));
  EXPECT_EQ(ordering_barriers("for k in 0..3 { barrier workgroup\n x[l] += t[63 - l] }\n"),
            Pair(1, 1));
  EXPECT_EQ(ordering_barriers("x[l] = 1\n x[l] = uniform_load(t[3])\n"), Pair(2, 2));
}

TEST(SpirvEmit, words_that_are_no_module_are_not_shown) {
  for (const std::vector<uint32_t>& words : {std::vector<uint32_t>{},
                                             {1, 2, 3, 4, 5},
                                             {spv::MagicNumber, 0x10500, 0, 9, 0, 7u << 16 | 19}}) {
    const auto text = disassemble(words);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.errors()[0].code, Code::CodeRejected);
  }
  const auto text =
      disassemble(std::vector<uint32_t>{spv::MagicNumber, 0x10500, 0, 9, 0, 2u << 16 | 4999, 7});
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("Op#4999 7"), std::string::npos);
}

TEST(SpirvEmit, random_programs_are_valid) {
  if (!can_validate()) GTEST_SKIP() << "SPIRV-Tools is not on this machine: nothing was validated";
  const char* given = std::getenv("VYRE_SPIRV_PROGRAMS");
  const uint64_t programs = given ? std::strtoull(given, nullptr, 10) : 150;
  const lab::GenerateOptions options{.graphs = false, .grid_barriers = false};
  size_t valid = 0;
  for (const char* words : {"full", "lavapipe", "weak"})
    for (uint64_t seed = 1; seed <= programs; ++seed) {
      const lab::Generated g = lab::generate(seed, options);
      const Result<Kernel> kernel = emit(g.module.kernels[0], on(words));
      if (!kernel) {
        EXPECT_EQ(kernel.errors()[0].code, Code::MissingFeature) << words << ", seed " << seed;
        continue;
      }
      EXPECT_EQ(validate(kernel->words), "") << words << ", seed " << seed;
      ++valid;
    }
  EXPECT_GT(valid, programs);
}

}  // namespace
}  // namespace vyre::emit_spirv
