#include <gtest/gtest.h>

#include "ir/graph_walk.h"
#include "support/file.h"
#include "tests/wire/samples_util.h"
#include "wire/fingerprint.h"
#include "wire/wire.h"

namespace vyre {
namespace {

constexpr DecodeOptions trusted = {.trusted = true};

TEST(WireRoundTrip, program_comes_back_array_for_array) {
  const Program p = rich_program();
  const auto back = decode_program(encode(p), trusted);
  ASSERT_TRUE(back) << back.errors()[0].message;
  EXPECT_TRUE(same_arrays(p, *back));
  EXPECT_EQ(back->name, "rich");
  EXPECT_EQ(back->op_id, "rich.v1");
  EXPECT_EQ(back->workgroup, p.workgroup);
  EXPECT_EQ(back->subgroup, 32u);
  EXPECT_EQ(back->grid_dims, 2u);
  EXPECT_TRUE(back->requires_forward_progress);
  EXPECT_EQ(back->table_bytes, p.table_bytes);
  ASSERT_EQ(back->buffers.size(), p.buffers.size());
  const auto name = [](uint32_t i) { return "p" + std::to_string(i); };
  for (size_t i = 0; i < p.buffers.size(); ++i) {
    const Buffer &x = p.buffers[i], &y = back->buffers[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.role, y.role);
    EXPECT_EQ(x.element, y.element);
    EXPECT_EQ(x.loc, y.loc);
    ASSERT_EQ(x.count == no_formula, y.count == no_formula);
    if (x.count == no_formula) continue;
    EXPECT_EQ(print(p.formulas, x.count, name), print(back->formulas, y.count, name));
  }
  for (uint32_t d = 0; d < 2; ++d)
    EXPECT_EQ(print(p.formulas, p.grid[d], name), print(back->formulas, back->grid[d], name));
}

TEST(WireRoundTrip, module_comes_back) {
  const Module m = rich_module();
  const auto bytes = encode(m);
  const auto back = decode_module(bytes, trusted);
  ASSERT_TRUE(back) << back.errors()[0].message;
  EXPECT_EQ(encode(*back), bytes);
  ASSERT_EQ(back->kernels.size(), 2u);
  EXPECT_TRUE(same_arrays(back->kernels[0], m.kernels[0]));
  ASSERT_EQ(back->graphs.size(), 1u);
  const Graph& g = back->graphs[0];
  EXPECT_EQ(g.name, "pipeline");
  const GraphSteps steps = flatten(g);
  ASSERT_EQ(steps.size(), 6u);
  EXPECT_EQ(steps[1].node->kernel, 1u);
  EXPECT_EQ(steps[1].node->grid.at(0).index, 5u);
  EXPECT_EQ(steps[3].node->compare, Opcode::Gt);
  EXPECT_EQ(steps[3].node->bits, 9u);
  EXPECT_EQ(steps[4].node->args.at(0).bits, 0x3f800000u);
  EXPECT_EQ(steps[4].node->args.at(2).buffer, GraphBufferId(0));
  EXPECT_EQ(g.buffers[1].place.file, "lib.vyre");
  EXPECT_FALSE(g.buffers[1].parameter);
}

TEST(WireRoundTrip, empty_module_comes_back) {
  const auto back = decode_module(encode(Module{}));
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->kernels.empty());
}

TEST(WireRoundTrip, random_programs_come_back) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const Program p = random_program(seed);
    const auto bytes = encode(p);
    const auto back = decode_program(bytes, trusted);
    ASSERT_TRUE(back) << seed << ": " << back.errors()[0].message;
    ASSERT_TRUE(same_arrays(p, *back)) << seed;
    ASSERT_EQ(encode(*back), bytes) << seed;
  }
}

TEST(WireRoundTrip, float_bits_are_kept) {
  const auto back = decode_program(encode(rich_program()));
  ASSERT_TRUE(back);
  bool found = false;
  for (const Op& o : back->ops) found |= o.code == Opcode::Const && o.attr == 0x7f800001;
  EXPECT_TRUE(found);
}

TEST(WireRoundTrip, numbering_of_ids_does_not_change_the_bytes) {
  const Program p = rich_program();
  for (uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(encode(renumbered(p, seed)), encode(p)) << seed;
}

TEST(WireRoundTrip, order_and_repetition_of_formulas_do_not_change_the_bytes) {
  Program a = small_program(), b = small_program();
  const auto build = [](Program& p, bool other_way) {
    FormulaPool& f = p.formulas;
    if (other_way) f.constant(12345);  // unused
    const FormulaId first = f.len(0);
    const FormulaId second = other_way ? f.len(0) : first;  // the same twice
    const FormulaId two = f.constant(2);
    p.grid[0] = f.binary(FormulaOp::Add, f.binary(FormulaOp::Mul, second, two), first);
  };
  build(a, false);
  build(b, true);
  EXPECT_EQ(encode(a), encode(b));
}

TEST(WireRoundTrip, place_of_tables_does_not_change_the_bytes) {
  Program p = rich_program();
  const auto bytes = encode(p);
  p.table_bytes.insert(p.table_bytes.begin(), 3, std::byte{0xee});
  p.buffers[5].table_offset = 3;
  p.table_bytes.push_back(std::byte{0xee});
  EXPECT_EQ(encode(p), bytes);
}

TEST(WireRoundTrip, facts_are_dropped_unless_trusted) {
  const auto bytes = encode(rich_program());
  const auto loads = [&](DecodeOptions options) {
    const auto p = decode_program(bytes, options);
    for (const OpId id : p->ops.ids())
      if (p->ops[id].code == Opcode::Load) return p->memory(id);
    return MemoryRef{};
  };
  EXPECT_TRUE(loads(trusted).in_bounds);
  EXPECT_TRUE(loads(trusted).read_only);
  EXPECT_EQ(loads(trusted).align_log2, 2);
  EXPECT_FALSE(loads({}).in_bounds);
  EXPECT_FALSE(loads({}).read_only);
  EXPECT_EQ(loads({}).align_log2, 0);
  EXPECT_EQ(loads({}).buffer, BufferId(1));
}

TEST(WireRoundTrip, locations_can_be_left_out) {
  const Program p = rich_program();
  const auto bytes = encode(p, {.locations = false});
  EXPECT_LT(bytes.size(), encode(p).size());
  const auto back = decode_program(bytes, trusted);
  ASSERT_TRUE(back) << back.errors()[0].message;
  EXPECT_TRUE(back->locations.empty());
  EXPECT_EQ(back->strings, std::vector<std::string>{"count"});
  for (const Op& o : back->ops) EXPECT_EQ(o.loc, none);
  EXPECT_EQ(encode(*back), bytes);
  EXPECT_EQ(fingerprint(*back), fingerprint(p));

  const auto module = encode(rich_module(), {.locations = false});
  const auto back_module = decode_module(module, trusted);
  ASSERT_TRUE(back_module);
  EXPECT_EQ(back_module->graphs[0].place.file, "");
  EXPECT_EQ(encode(*back_module), module);
}

TEST(WireRoundTrip, deep_nesting_takes_no_stack) {
  Program p;
  p.blocks.emplace_back();
  BlockId block = body_block;
  for (int i = 0; i < 100'000; ++i) {
    const OpId id = p.add_op(Opcode::Region, Type::Void, {}, {}, p.add_string("r"), none);
    p.append(block, id);
    p.ops[id].n_blocks = 1;
    p.ops[id].first_block = p.add_block(id);
    block = p.ops[id].first_block;
  }
  const auto bytes = encode(p);
  const auto back = decode_program(bytes);
  ASSERT_TRUE(back) << back.errors()[0].message;
  EXPECT_EQ(back->ops.size(), 100'000u);
  EXPECT_EQ(encode(*back), bytes);
  EXPECT_EQ(fingerprint(*back), fingerprint(p));
}

TEST(WireRoundTrip, kind_can_be_asked_for) {
  EXPECT_EQ(wire_kind(encode(small_program())), WireKind::Program);
  EXPECT_EQ(wire_kind(encode(rich_module())), WireKind::Module);
  EXPECT_FALSE(wire_kind(std::as_bytes(std::span("kernel k() workgroup(1) grid(1) { }"))));
  EXPECT_FALSE(is_wire({}));
}

// A file that version 1.0 wrote. It is never written again: a later version that cannot read it, or
// encodes it otherwise, broke its promise (README.md).
TEST(WireGolden, version_1_0_is_read_and_written_the_same) {
  const FileContents file = read_file(VYRE_SOURCE_DIR "/tests/wire/golden/module_1_0.bin");
  ASSERT_TRUE(file) << file.error->what;
  const auto bytes = std::as_bytes(std::span(file.bytes));
  const auto module = decode_module(bytes, {.trusted = true});
  ASSERT_TRUE(module) << module.errors()[0].message;
  EXPECT_EQ(encode(*module), std::vector(bytes.begin(), bytes.end()));
  ASSERT_EQ(module->graphs.size(), 1u);
  EXPECT_EQ(module->graphs[0].name, "pipeline");
  // Keys of caches in files: a change makes every cache miss.
  EXPECT_EQ(fingerprint(*module).to_hex(), "5ae84c08f1d10a76e2403cdafa233406");
}

}  // namespace
}  // namespace vyre
