#include "tests/wire/samples_util.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "ir/graph_walk.h"
#include "ir/ssa_builder.h"

namespace vyre {
namespace {

void add_buffers(Program& p) {
  p.buffers.push_back(
      {.name = "a", .role = Role::Scalar, .element = Type::F32, .count = p.formulas.constant(1)});
  p.buffers.push_back({.name = "x", .role = Role::In, .element = Type::F16});
  p.buffers.push_back({.name = "y", .role = Role::InOut, .element = Type::U32});
  // Named in order: the evaluation order of arguments is unspecified.
  const FormulaId size = p.formulas.constant(256);
  const FormulaId blocks = p.formulas.binary(FormulaOp::CeilDiv, p.formulas.len(1), size);
  p.buffers.push_back({.name = "sums", .role = Role::Out, .element = Type::U32, .count = blocks});
  p.buffers.push_back({.name = "tile",
                       .role = Role::Shared,
                       .element = Type::U32,
                       .count = p.formulas.constant(256)});
  p.buffers.push_back(
      {.name = "t", .role = Role::Table, .element = Type::U16, .count = p.formulas.constant(4)});
  for (int i = 0; i < 8; ++i) p.table_bytes.push_back(std::byte(i * 17));
  p.workgroup = {64, 2, 1};
  p.subgroup = 32;
  p.grid_dims = 2;
  p.grid = {p.formulas.len(2),
            p.formulas.binary(FormulaOp::Add, blocks, p.formulas.constant(1, true)), no_formula};
}

void add_locations(SsaBuilder& b) {
  Program& p = b.program;
  const StringId main = p.add_string("main.vyre"), lib = p.add_string("lib.vyre");
  p.loc = p.add_location({.file = main, .line = 1, .column = 8, .length = 4});
  const LocId call = p.add_location({.file = main, .line = 3, .column = 5, .length = 9});
  const LocId outer =
      p.add_location({.file = lib, .line = 10, .column = 2, .length = 3, .inlined_at = call});
  b.loc = p.add_location({.file = lib, .line = 20, .column = 4, .length = 1, .inlined_at = outer});
  p.buffers[1].loc = p.add_location({.file = main, .line = 1, .column = 20, .length = 1});
}

}  // namespace

Program rich_program() {
  SsaBuilder b("rich");
  add_buffers(b.program);
  add_locations(b);
  b.program.op_id = "rich.v1";
  b.program.requires_forward_progress = true;

  const ValueId i = b.op(Opcode::GlobalId, Type::Void, {}, 0);
  const ValueId n = b.op(Opcode::Len, Type::Void, {}, 2);
  const ValueId a = b.op(Opcode::Scalar, Type::F32, {}, 0);
  const ValueId nan = b.constant(Type::F32, 0x7f800001);
  const ValueId x =
      b.op(Opcode::Load, Type::F32, {i},
           MemoryRef{.buffer = BufferId(1), .in_bounds = true, .read_only = true, .align_log2 = 2}
               .pack());
  const VarId sum = b.declare(b.op(Opcode::Fma, Type::F32, {a, x, nan}));
  b.loc = none;
  const VarId stride = b.declare(b.constant_u32(128));
  b.begin_region("count");
  const ValueId zero = b.constant_u32(0), one = b.constant_u32(1);
  const ValueId j = b.begin_for(zero, n, one);
  b.set(sum, b.op(Opcode::Add, Type::F32, {b.get(sum), b.op(Opcode::Cast, Type::F32, {j})}));
  b.begin_if(b.op(Opcode::IsNan, Type::F32, {b.get(sum)}));
  b.break_loop();
  b.end_if();
  b.end_for();
  b.end_region();
  b.begin_while();
  b.begin_body(b.op(Opcode::Gt, Type::U32, {b.get(stride), zero}));
  b.effect(Opcode::Barrier, Type::Void, {}, uint64_t(Scope::Workgroup));
  b.set(stride, b.op(Opcode::Shr, Type::U32, {b.get(stride), one}));
  b.end_while();
  b.begin_region("count");
  const ValueId old =
      b.op(Opcode::AtomicAdd, Type::U32, {i, one},
           MemoryRef{.buffer = BufferId(2), .acq_rel = true, .scope = Scope::Workgroup}.pack());
  const ValueId entry =
      b.op(Opcode::Load, Type::U16, {old}, MemoryRef{.buffer = BufferId(5)}.pack());
  b.end_region();
  b.effect(Opcode::Store, Type::U32, {i, b.op(Opcode::Cast, Type::U32, {entry})},
           MemoryRef{.buffer = BufferId(3)}.pack());
  b.effect(Opcode::Store, Type::U32, {i, b.op(Opcode::Cast, Type::U32, {b.get(sum)})},
           MemoryRef{.buffer = BufferId(2)}.pack());
  return b.finish();
}

Program small_program() {
  SsaBuilder b("k");
  Program& p = b.program;
  p.buffers.push_back({.name = "y", .role = Role::InOut, .element = Type::U32});
  p.workgroup = {64, 1, 1};
  p.grid_dims = 1;
  p.grid[0] = p.formulas.len(0);
  const ValueId i = b.op(Opcode::GlobalId, Type::Void, {}, 0);
  b.begin_if(b.op(Opcode::Lt, Type::U32, {i, b.constant_u32(7)}));
  b.effect(Opcode::Store, Type::U32, {i, i}, MemoryRef{.buffer = BufferId(0)}.pack());
  b.end_if();
  return b.finish();
}

Module rich_module() {
  Module m;
  m.kernels.push_back(rich_program());
  m.kernels.push_back(small_program());
  Graph g;
  g.name = "pipeline";
  g.place = {"main.vyre", 30, 7, 8};
  g.buffers.push_back(
      {.name = "v", .role = Role::InOut, .element = Type::U32, .place = {"main.vyre", 30, 16, 1}});
  g.buffers.push_back({.name = "t",
                       .role = Role::Scratch,
                       .element = Type::U32,
                       .count = g.formulas.len(0),
                       .parameter = false,
                       .place = {"lib.vyre", 2, 1, 1}});
  const FormulaId least = g.formulas.constant(3);
  const FormulaId times = g.formulas.binary(FormulaOp::Max, g.formulas.len(0), least);
  GraphAppender nodes(g);
  nodes.add({.kind = GraphNodeKind::Repeat, .count = times, .place = {"main.vyre", 31, 3, 6}});
  nodes.add({.kind = GraphNodeKind::Call,
             .kernel = 1,
             .args = {{.buffer = GraphBufferId(1)}},
             .grid = {{GraphBufferId(0), 5}}});
  nodes.close();
  nodes.add({.kind = GraphNodeKind::While,
             .count = times,
             .flag = {GraphBufferId(0), 1},
             .compare = Opcode::Gt,
             .bits = 9});
  nodes.add(
      {.kind = GraphNodeKind::Call,
       .kernel = 0,
       .args = {{none, 0x3f800000}, {.buffer = GraphBufferId(1)}, {.buffer = GraphBufferId(0)}}});
  nodes.close();
  m.graphs.push_back(std::move(g));
  return m;
}

Program random_program(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t n) { return random() % n; };
  Program p;
  p.name = "random";
  p.buffers.resize(1 + below(3));
  for (Buffer& b : p.buffers) {
    const char letter = char('a' + below(26));
    b.name = std::string(1 + below(4), letter);
  }
  p.blocks.emplace_back();
  const auto op_codes = all_ops();
  std::vector<ValueId> known;
  std::vector<std::pair<BlockId, uint32_t>> stack = {{body_block, 1 + uint32_t(below(8))}};
  while (!stack.empty()) {
    auto& [block, left] = stack.back();
    if (left == 0) {
      stack.pop_back();
      continue;
    }
    --left;
    const auto code = below(6) == 0 ? Opcode::Region : Opcode(below(op_codes.size()));
    std::vector<ValueId> operands(known.empty() ? 0 : below(4));
    for (ValueId& v : operands) v = known[below(known.size())];
    const auto result = Type(1 + below(11));
    std::vector<Type> results(below(3), result);
    uint64_t attr = 0;
    switch (info(code).attribute) {
      case AttrKind::Bits: attr = random(); break;
      case AttrKind::Dim: attr = below(3); break;
      case AttrKind::Scope: attr = below(3); break;
      case AttrKind::Buffer: attr = below(p.buffers.size()); break;
      case AttrKind::Memory:
        attr =
            MemoryRef{.buffer = BufferId(below(p.buffers.size())), .scope = Scope(below(3))}.pack();
        break;
      case AttrKind::Name: attr = p.add_string(std::to_string(below(5))); break;
      case AttrKind::None: break;
    }
    const LocId loc = below(3) ? none : p.add_location({.line = uint32_t(below(99))});
    const OpId id = p.add_op(code, Type(below(type_count)), operands, results, attr, loc);
    p.append(block, id);
    const uint32_t n_blocks = is_control(code) && p.ops.size() < 100 ? uint32_t(1 + below(3)) : 0;
    if (n_blocks == 0) {
      for (ValueId v : p.results(id)) known.push_back(v);
      continue;
    }
    p.ops[id].n_blocks = uint8_t(n_blocks);
    p.ops[id].first_block = BlockId(p.blocks.size());
    for (uint32_t k = 0; k < n_blocks; ++k) {
      const BlockId child = p.add_block(id);
      for (uint64_t a = below(3); a > 0; --a) p.add_argument(child, Type(1 + below(11)));
    }
    // One block gets ops at once, the others stay empty: definitions come in the order of a walk.
    stack.push_back({p.ops[id].first_block + uint32_t(below(n_blocks)), uint32_t(below(12))});
  }
  compact(p);
  return p;
}

Program renumbered(const Program& p, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto permutation = [&](size_t n, bool keep_first) {
    std::vector<uint32_t> to(n);
    std::iota(to.begin(), to.end(), 0u);
    if (n > 1) std::shuffle(to.begin() + (keep_first ? 1 : 0), to.end(), random);
    return to;
  };
  // Twice the room: every other id is garbage. Blocks of an op stay neighbours, so they keep order.
  const auto ops = permutation(p.ops.size(), false);
  const auto values = permutation(p.values.size(), false);
  const auto op_id = [&](OpId id) { return id == none ? id : OpId(2 * ops[id.value()]); };
  const auto value_id = [&](ValueId id) { return ValueId(2 * values[id.value()]); };
  const auto block_id = [](BlockId id) { return id == none || id == body_block ? id : id + 3; };

  Program out = p;
  out.ops.assign(2 * p.ops.size(), {});
  out.values.assign(2 * p.values.size(), {});
  out.blocks.assign(p.blocks.size() + 3, {});
  out.ids.assign(5, ValueId(77));
  const auto list = [&](Range r) {
    std::vector<ValueId> ids;
    for (uint32_t i = 0; i < r.count; ++i) ids.push_back(value_id(p.ids[r.begin + i]));
    out.ids.push_back(ValueId(99));
    return out.add_list(ids);
  };
  for (const OpId id : p.ops.ids() | std::views::reverse) {
    Op o = p.ops[id];
    o.operands = list(o.operands);
    o.results = list(o.results);
    o.first_block = block_id(o.first_block);
    o.parent = block_id(o.parent);
    o.prev = op_id(o.prev);
    o.next = op_id(o.next);
    out.ops[op_id(id)] = o;
  }
  for (const ValueId v : p.values.ids()) {
    Value value = p.values[v];
    value.def = op_id(value.def);
    value.block = block_id(value.block);
    out.values[value_id(v)] = value;
  }
  for (const BlockId b : p.blocks.ids()) {
    Block block = p.blocks[b];
    block.parent = op_id(block.parent);
    block.first = op_id(block.first);
    block.last = op_id(block.last);
    block.args = list(block.args);
    out.blocks[block_id(b)] = block;
  }
  out.strings.insert(out.strings.begin(), "unused");
  for (Op& o : out.ops)
    if (info(o.code).attribute == AttrKind::Name) ++o.attr;
  for (Location& l : out.locations)
    if (l.file != none) ++l.file;
  return out;
}

bool same_arrays(const Program& a, const Program& b) {
  const auto equal = [](Range x, Range y) { return x.begin == y.begin && x.count == y.count; };
  if (a.ops.size() != b.ops.size() || a.values.size() != b.values.size() ||
      a.blocks.size() != b.blocks.size())
    return false;
  for (const OpId i : a.ops.ids()) {
    const Op &x = a.ops[i], &y = b.ops[i];
    if (x.code != y.code || x.type != y.type || x.n_blocks != y.n_blocks ||
        x.first_block != y.first_block || !equal(x.operands, y.operands) ||
        !equal(x.results, y.results) || x.attr != y.attr || x.loc != y.loc ||
        x.parent != y.parent || x.prev != y.prev || x.next != y.next)
      return false;
  }
  for (const ValueId i : a.values.ids()) {
    const Value &x = a.values[i], &y = b.values[i];
    if (x.type != y.type || x.def != y.def || x.block != y.block || x.index != y.index)
      return false;
  }
  for (const BlockId i : a.blocks.ids()) {
    const Block &x = a.blocks[i], &y = b.blocks[i];
    if (x.parent != y.parent || x.first != y.first || x.last != y.last || !equal(x.args, y.args))
      return false;
  }
  return a.ids == b.ids && a.locations == b.locations && a.strings == b.strings && a.loc == b.loc;
}

}  // namespace vyre
