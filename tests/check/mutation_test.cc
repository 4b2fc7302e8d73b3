// Hostile programs: legal ones with random fields damaged. The checker must neither crash nor hang,
// and programs that it accepts must be safe to walk, compact and print.
#include <gtest/gtest.h>

#include <random>

#include "check/uniformity.h"
#include "ir/stats.h"
#include "tests/check/check_kernel_util.h"
#include "text/print.h"

namespace vyre::test {
namespace {

// Control of every kind, carried values, all ways to leave.
Program control_kernel() {
  Kernel k;
  const VarId v = k.declare(k.u32(1));
  const VarId w = k.declare(k.constant(Type::F32, 0));
  k.begin_region("part");
  k.begin_if(k.varying());
  k.set(v, k.u32(2));
  k.begin_else();
  k.begin_if(k.uniform());
  k.return_();
  k.end_if();
  k.end_if();
  k.end_region();
  k.begin_for(k.u32(0), k.op(Opcode::Scalar, Type::U32, {}, k.n), k.u32(1));
  k.set(v, k.binary(Opcode::Add, k.get(v), k.u32(1)));
  k.begin_if(k.varying());
  k.break_loop();
  k.begin_else();
  k.begin_if(k.varying());
  k.continue_loop();
  k.end_if();
  k.end_if();
  k.set(w, k.binary(Opcode::Mul, k.get(w), k.get(w)));
  k.end_for();
  k.begin_while();
  k.begin_body(k.less(k.get(v), k.u32(100)));
  k.begin_if(k.varying());
  k.trap(k.u32(3));
  k.end_if();
  k.set(v, k.binary(Opcode::Mul, k.get(v), k.u32(2)));
  k.end_while();
  k.store(k.out, k.id(Opcode::GlobalId), k.get(v));
  k.store(k.inout, k.op(Opcode::Cast, Type::I64, {k.get(w)}), k.get(v));
  return k.finish();
}

// Memory, atomics, subgroups, barriers, tables and formulas.
Program memory_kernel() {
  Kernel k;
  FormulaPool& f = k.program.formulas;
  const uint32_t half = k.add_buffer("half", Role::Scratch, Type::F16,
                                     f.binary(FormulaOp::CeilDiv, f.len(k.in), f.scalar(k.n)));
  const uint32_t table = k.add_buffer("table", Role::Table, Type::U8, k.constant_size(8));
  const uint32_t own = k.add_buffer("own", Role::Private, Type::F64, k.constant_size(3));
  k.program.table_bytes.resize(8);
  const ValueId i = k.id(Opcode::LocalId);
  k.store(half, i, k.load(half, k.u32(1)));
  k.store(own, i, k.constant(Type::F64, 5));
  k.store(k.tile, i, k.atomic(Opcode::AtomicAdd, k.inout, i, k.u32(1)));
  k.atomic(Opcode::AtomicMax, k.tile, i, i, Scope::Workgroup);
  k.barrier();
  const ValueId flag = k.uniform_load(k.tile, k.u32(0));
  k.begin_if(k.less(flag, k.u32(7)));
  k.barrier();
  const ValueId sum = k.op(Opcode::SubgroupAdd, Type::U32, {k.load(k.tile, i)});
  k.store(k.out, i, k.op(Opcode::SubgroupBroadcast, Type::U32, {sum, k.u32(0)}));
  k.end_if();
  k.barrier(Scope::Grid);
  const auto four = k.load_n(Type::U32, i, 4, MemoryRef{BufferId(k.in)}.pack());
  k.store_n(Type::U32, i, four, MemoryRef{BufferId(k.out)}.pack());
  k.op(Opcode::LoadAs, Type::F32, {i}, MemoryRef{BufferId(table)}.pack());
  k.effect(Opcode::Assert, Type::Void, {k.varying(), k.u32(3)});
  return k.finish();
}

// Damages one field in a way that a careless reader would trip over.
class Mutator {
 public:
  explicit Mutator(uint64_t seed) : random_(seed) {}

  void damage(Program& p) {
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
      case 3: damage_op(p.ops[OpId(below(p.ops.size()))]); break;
      case 4: damage_block(p.blocks[BlockId(below(p.blocks.size()))]); break;
      case 5:
      case 6: damage_value(p.values[ValueId(below(p.values.size()))]); break;
      case 7:
      case 8: change(p.ids[below(p.ids.size())]); break;
      case 9: damage_buffer(p.buffers[below(p.buffers.size())]); break;
      case 10: damage_formula(p.formulas.nodes[below(p.formulas.nodes.size())]); break;
      default: damage_program(p); break;
    }
  }

 private:
  uint64_t below(uint64_t n) { return random_() % n; }

  template <class Tag>
  void change(Id<Tag>& field) {
    uint32_t raw = field.value();
    change(raw);
    field = Id<Tag>(raw);
  }
  template <class T>
  void change(T& field) {
    switch (below(5)) {
      case 0: field = static_cast<T>(field + 1); break;
      case 1: field = static_cast<T>(field - 1); break;
      case 2: field = static_cast<T>(below(80)); break;
      case 3: field = static_cast<T>(field ^ (1ull << below(8 * sizeof(T)))); break;
      default: field = static_cast<T>(~0ull >> below(3)); break;
    }
  }
  template <class E>
  void change_enum(E& field) {
    auto raw = static_cast<uint8_t>(field);
    change(raw);
    field = static_cast<E>(raw);
  }
  void change_list(Range& r) { below(2) ? change(r.begin) : change(r.count); }

  void damage_op(Op& op) {
    switch (below(11)) {
      case 0: change_enum(op.code); break;
      case 1: change_enum(op.type); break;
      case 2: change(op.n_blocks); break;
      case 3: change(op.first_block); break;
      case 4: change_list(op.operands); break;
      case 5: change_list(op.results); break;
      case 6: change(op.attr); break;
      case 7: change(op.loc); break;
      case 8: change(op.parent); break;
      case 9: change(op.prev); break;
      default: change(op.next); break;
    }
  }
  void damage_block(Block& b) {
    switch (below(4)) {
      case 0: change(b.parent); break;
      case 1: change(b.first); break;
      case 2: change(b.last); break;
      default: change_list(b.args); break;
    }
  }
  void damage_value(Value& v) {
    switch (below(4)) {
      case 0: change_enum(v.type); break;
      case 1: change(v.def); break;
      case 2: change(v.block); break;
      default: change(v.index); break;
    }
  }
  void damage_buffer(Buffer& b) {
    switch (below(6)) {
      case 0: change_enum(b.role); break;
      case 1: change_enum(b.element); break;
      case 2: change(b.count); break;
      case 3: change(b.table_offset); break;
      case 4: change(b.loc); break;
      default: {
        // Named in order: the evaluation order of arguments is unspecified.
        const auto letter = static_cast<char>(below(256));
        b.name.assign(below(400), letter);
        break;
      }
    }
  }
  void damage_formula(FormulaNode& n) {
    switch (below(5)) {
      case 0: change_enum(n.op); break;
      case 1: change(n.a); break;
      case 2: change(n.b); break;
      case 3: change(n.value); break;
      default: n.negative = !n.negative; break;
    }
  }
  void damage_program(Program& p) {
    switch (below(8)) {
      case 0: change(p.workgroup[below(3)]); break;
      case 1: change(p.subgroup); break;
      case 2: change(p.grid[below(3)]); break;
      case 3: change(p.grid_dims); break;
      case 4: change(p.locations[below(p.locations.size())].inlined_at); break;
      case 5: change(p.locations[below(p.locations.size())].file); break;
      case 6: p.ids.resize(1 + below(p.ids.size())); break;
      default: p.strings.resize(below(p.strings.size() + 1)); break;
    }
  }

  std::mt19937_64 random_;
};

// Walks, compacts and prints an accepted program.
void use(Program p) {
  uint64_t ops = 0;
  walk(p, [&](OpId) { ++ops; });
  EXPECT_EQ(ops, p.ops.size());
  EXPECT_EQ(count_uses(p).size(), p.values.size());
  EXPECT_EQ(stats(p).ops, ops);
  const UniformityInfo info = analyze_uniformity(p);
  EXPECT_FALSE(print(p).empty());
  compact(p);
  EXPECT_EQ(p.ops.size(), ops);
  EXPECT_FALSE(has_errors(check(p))) << "legal before compact()";
}

TEST(Mutation, twenty_thousand_damaged_programs) {
  const Program originals[] = {control_kernel(), memory_kernel()};
  for (const Program& p : originals) expect_legal(p);
  int accepted = 0;
  for (uint64_t seed = 0; seed < 20'000; ++seed) {
    Program p = originals[seed % 2];
    Mutator mutator(seed);
    for (uint64_t n = 0; n <= seed % 3; ++n) mutator.damage(p);
    const Diagnostics found = check(p);
    if (has_errors(found)) continue;
    ++accepted;
    use(std::move(p));
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  // Some damage is harmless: another constant, another location. All or nothing would mean that the
  // test looks at the wrong thing.
  EXPECT_GT(accepted, 200);
  EXPECT_LT(accepted, 10'000);
}

}  // namespace
}  // namespace vyre::test
