#include "wire/fingerprint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "ir/graph_walk.h"
#include "tests/wire/samples_util.h"
#include "wire/wire.h"

namespace vyre {
namespace {

OpId find(const Program& p, Opcode code) {
  for (const OpId id : p.ops.ids())
    if (p.ops[id].code == code) return id;
  ADD_FAILURE() << "no " << mnemonic(code);
  return OpId(0);
}

struct Change {
  const char* what;
  std::function<void(Program&)> apply;
};

void PrintTo(const Change& c, std::ostream* os) { *os << c.what; }

class FingerprintIgnores : public testing::TestWithParam<Change> {};
TEST_P(FingerprintIgnores, it) {
  const Program p = rich_program();
  Program q = p;
  GetParam().apply(q);
  EXPECT_EQ(fingerprint(p), fingerprint(q));
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(
    Fingerprint, FingerprintIgnores,
    testing::Values(
        Change{"kernel_name", [](Program& p) { p.name = "other"; }},
        Change{"buffer_name", [](Program& p) { p.buffers[2].name = "z"; }},
        Change{"region_name", [](Program& p) { p.strings[p.ops[find(p, Opcode::Region)].attr] = "other"; }},
        Change{"lines", [](Program& p) { for (Location& l : p.locations) l.line += 7; }},
        Change{"no_locations", [](Program& p) {
          p.loc = none;
          for (Buffer& b : p.buffers) b.loc = none;
          for (Op& o : p.ops) o.loc = none;
          p.locations.clear();
        }},
        Change{"ids", [](Program& p) { p = renumbered(p, 5); }},
        Change{"compact", [](Program& p) { p = renumbered(p, 6); compact(p); }},
        Change{"wire", [](Program& p) { p = *decode_program(encode(p), {.trusted = true}); }},
        Change{"unused_strings", [](Program& p) { p.strings.push_back("never"); }},
        Change{"unused_formula", [](Program& p) { p.formulas.constant(99); }},
        Change{"unused_table_bytes", [](Program& p) { p.table_bytes.push_back(std::byte{9}); }}),
    [](const auto& info) { return std::string(info.param.what); });

const std::vector<Change>& behavioural_changes() {
  static const std::vector<Change> changes = {
      {"op_id", [](Program& p) { p.op_id = "rich.v2"; }},
      {"role", [](Program& p) { p.buffers[3].role = Role::InOut; }},
      {"element", [](Program& p) { p.buffers[1].element = Type::BF16; }},
      {"count", [](Program& p) { p.buffers[2].count = p.formulas.constant(8); }},
      {"count_value", [](Program& p) { p.buffers[4].count = p.formulas.constant(257); }},
      {"buffer_order", [](Program& p) { std::swap(p.buffers[1], p.buffers[2]); }},
      {"buffer_added", [](Program& p) { p.buffers.push_back({.name = "w"}); }},
      {"workgroup", [](Program& p) { p.workgroup = {2, 64, 1}; }},
      {"subgroup", [](Program& p) { p.subgroup = 0; }},
      {"grid", [](Program& p) { std::swap(p.grid[0], p.grid[1]); }},
      {"grid_dims", [](Program& p) { p.grid_dims = 1; }},
      {"requires", [](Program& p) { p.requires_forward_progress = false; }},
      {"table", [](Program& p) { p.table_bytes[3] ^= std::byte{1}; }},
      {"constant", [](Program& p) { p.ops[find(p, Opcode::Const)].attr ^= 1; }},
      {"dimension", [](Program& p) { p.ops[find(p, Opcode::GlobalId)].attr = 1; }},
      {"scope", [](Program& p) { p.ops[find(p, Opcode::Barrier)].attr = uint64_t(Scope::Grid); }},
      {"len_of", [](Program& p) { p.ops[find(p, Opcode::Len)].attr = 3; }},
      {"memory_buffer", [](Program& p) { ++p.ops[find(p, Opcode::AtomicAdd)].attr; }},
      {"memory_order", [](Program& p) { p.ops[find(p, Opcode::AtomicAdd)].attr ^= 1ull << 32; }},
      {"memory_scope", [](Program& p) { p.ops[find(p, Opcode::AtomicAdd)].attr ^= 1ull << 33; }},
      {"in_bounds", [](Program& p) { p.ops[find(p, Opcode::Load)].attr ^= 1ull << 35; }},
      {"read_only", [](Program& p) { p.ops[find(p, Opcode::Load)].attr ^= 1ull << 36; }},
      {"alignment", [](Program& p) { p.ops[find(p, Opcode::Load)].attr ^= 1ull << 38; }},
      {"opcode", [](Program& p) { p.ops[find(p, Opcode::Shr)].code = Opcode::Shl; }},
      {"op_type", [](Program& p) { p.ops[find(p, Opcode::Shr)].type = Type::I32; }},
      {"value_type", [](Program& p) { p.values[p.result(find(p, Opcode::Shr))].type = Type::I32; }},
      {"operand", [](Program& p) { p.ids[p.ops[find(p, Opcode::Fma)].operands.begin] = p.operand(find(p, Opcode::Fma), 1); }},
      {"operand_order", [](Program& p) {
        const auto list = p.list(p.ops[find(p, Opcode::Gt)].operands);
        std::swap(list[0], list[1]);
      }},
      {"op_removed", [](Program& p) { p.unlink(find(p, Opcode::Barrier)); }},
      {"op_moved_out_of_its_block", [](Program& p) {
        const OpId barrier = find(p, Opcode::Barrier);
        p.unlink(barrier);
        p.insert_before(find(p, Opcode::While), barrier);
      }},
      {"formula_operation", [](Program& p) {
        for (FormulaNode& n : p.formulas.nodes)
          if (n.op == FormulaOp::CeilDiv) n.op = FormulaOp::Div;
      }},
      {"formula_sign", [](Program& p) {
        for (FormulaNode& n : p.formulas.nodes)
          if (n.negative) n.negative = false;
      }},
  };
  return changes;
}
// clang-format on

TEST(Fingerprint, differs_for_every_change_of_behaviour) {
  std::set<std::string> seen = {fingerprint(rich_program()).to_hex()};
  for (const Change& change : behavioural_changes()) {
    Program p = rich_program();
    change.apply(p);
    EXPECT_TRUE(seen.insert(fingerprint(p).to_hex()).second) << change.what;
  }
}

TEST(Fingerprint, sees_where_a_block_ends) {
  const auto build = [](bool inside) {
    Program p;
    p.blocks.emplace_back();
    const OpId region = p.add_op(Opcode::Region, Type::Void, {}, {}, p.add_string("r"), none);
    p.append(body_block, region);
    p.ops[region].n_blocks = 1;
    p.ops[region].first_block = p.add_block(region);
    p.append(BlockId(inside ? 1 : 0), p.add_op(Opcode::Barrier, Type::Void, {}, {}, 1, none));
    return p;
  };
  EXPECT_NE(fingerprint(build(true)), fingerprint(build(false)));
  EXPECT_NE(encode(build(true)), encode(build(false)));
}

TEST(Fingerprint, differs_between_random_programs) {
  std::set<std::string> prints;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Program p = random_program(seed);
    EXPECT_EQ(fingerprint(renumbered(p, seed)), fingerprint(p)) << seed;
    prints.insert(fingerprint(p).to_hex());
  }
  EXPECT_GT(prints.size(), 295u);
}

TEST(Fingerprint, is_added_to_a_larger_key) {
  const Program p = rich_program();
  Hasher alone, with_target;
  add_program(alone, p);
  add_program(with_target, p);
  EXPECT_EQ(alone.digest128(), fingerprint(p));
  with_target.add(std::string_view("sm_90"));
  EXPECT_NE(with_target.digest128(), fingerprint(p));
}

struct GraphChange {
  const char* what;
  bool same;
  std::function<void(Module&)> apply;
};

TEST(Fingerprint, of_graphs_depends_on_behaviour_only) {
  // clang-format off
  const std::vector<GraphChange> changes = {
      {"graph name", true, [](Module& m) { m.graphs[0].name = "g"; }},
      {"buffer name", true, [](Module& m) { m.graphs[0].buffers[0].name = "w"; }},
      {"kernel name", true, [](Module& m) { m.kernels[1].name = "w"; }},
      {"places", true, [](Module& m) { m.graphs[0].nodes.front().place.line = 77; }},
      {"order of kernels", true, [](Module& m) {
        std::swap(m.kernels[0], m.kernels[1]);
        for_each_call(m.graphs[0].nodes, [](GraphNode& n) { n.kernel = 1 - n.kernel; });
      }},
      {"what a kernel does", false, [](Module& m) { m.kernels[1].workgroup[0] = 32; }},
      {"which kernel", false, [](Module& m) { m.graphs[0].nodes.front().body.front().kernel = 0; }},
      {"role", false, [](Module& m) { m.graphs[0].buffers[0].role = Role::Out; }},
      {"element", false, [](Module& m) { m.graphs[0].buffers[1].element = Type::I32; }},
      {"parameter", false, [](Module& m) { m.graphs[0].buffers[1].parameter = true; }},
      {"argument", false, [](Module& m) { m.graphs[0].nodes.front().body.front().args[0].buffer = GraphBufferId(0); }},
      {"constant argument", false, [](Module& m) { m.graphs[0].nodes.back().body.front().args[0].bits = 1; }},
      {"grid", false, [](Module& m) { m.graphs[0].nodes.front().body.front().grid[0].index = 6; }},
      {"times", false, [](Module& m) { m.graphs[0].nodes.front().count = m.graphs[0].buffers[1].count; }},
      {"flag", false, [](Module& m) { m.graphs[0].nodes.back().flag.index = 2; }},
      {"comparison", false, [](Module& m) { m.graphs[0].nodes.back().compare = Opcode::Ge; }},
      {"compared with", false, [](Module& m) { m.graphs[0].nodes.back().bits = 10; }},
      {"order of nodes", false, [](Module& m) { std::swap(m.graphs[0].nodes.front().body.front(), m.graphs[0].nodes.back().body.front()); }},
  };
  // clang-format on
  const Module original = rich_module();
  std::set<std::string> seen = {fingerprint(original.graphs[0], original).to_hex()};
  for (const GraphChange& change : changes) {
    Module m = rich_module();
    change.apply(m);
    const bool is_new = seen.insert(fingerprint(m.graphs[0], m).to_hex()).second;
    EXPECT_EQ(is_new, !change.same) << change.what;
    EXPECT_EQ(fingerprint(m) == fingerprint(original),
              change.same && std::string(change.what) != "order of kernels")
        << change.what;
  }
}

}  // namespace
}  // namespace vyre
