#include "opt/passes/forward_stores.h"

#include "opt/analysis/analysis_cache.h"
#include "opt/analysis/bounds.h"
#include "opt/rewriter.h"

namespace vyre::opt {
namespace {

constexpr size_t most_stores = 8;

struct Stored {
  BufferId buffer{0};
  ValueId index = none;
  ValueId value = none;
  bool in_bounds = false;
};

struct State {
  Program& p;
  PassContext& context;
  Rewriter r;
  const Effects& effects;
  const AffineForms& affine;
  const BoundsFacts bounds;
  std::vector<Stored> known;
  std::vector<std::vector<Stored>> saved;  // at the beginning of the ifs around

  State(Program& program, PassContext& c)
      : p(program),
        context(c),
        r(program),
        effects(c.facts.effects()),
        affine(c.facts.affine()),
        bounds(program, c.facts.ranges()) {}

  bool keeps_value(BufferId buffer) const {
    const Type e = p.buffers[buffer].element;
    return e != Type::F16 && e != Type::BF16;
  }

  /// Forgets the stores that the op may change.
  void clobber(OpId op) {
    std::erase_if(known, [&](const Stored& s) { return effects.may_change(op, s.buffer); });
  }

  /// True if two indices are never equal. Sums that hold modulo 2^width of one type differ if their
  /// constants do.
  bool differ(ValueId a, ValueId b) const {
    if (const auto distance = affine.distance(a, b)) return *distance != 0;
    const AffineForm &x = affine.of(a), &y = affine.of(b);
    const uint64_t apart = uint64_t(x.offset) - uint64_t(y.offset);
    return p.type(a) == p.type(b) && x.terms == y.terms &&
           (apart & low_mask(width_of(p.type(a)))) != 0;
  }

  void store(OpId op) {
    const MemoryRef m = p.memory(op);
    const ValueId index = p.operand(op, 0);
    std::erase_if(known, [&](const Stored& s) {
      if (s.buffer != m.buffer) return false;
      return !differ(s.index, index);
    });
    if (known.size() >= most_stores) known.erase(known.begin());
    known.push_back({m.buffer, index, p.operand(op, 1), m.in_bounds});
  }

  /// The value if the index is in bounds, else 0.
  ValueId value_in_bounds(OpId load, ValueId index, ValueId value) {
    const BufferId buffer = p.memory(load).buffer;
    uint64_t count = 0;
    const ValueId length =
        p.buffers[buffer].count != no_formula &&
                p.formulas.is_constant(p.buffers[buffer].count, &count)
            ? r.insert_constant(load, Type::U64, count)
            : r.insert(load, Opcode::Len64, Type::Void, {}, Type::U64, buffer.value());
    // A negative index is a number above any length.
    const ValueId cast[] = {index};
    const ValueId wide = p.type(index) == Type::U64
                             ? index
                             : r.insert(load, Opcode::Cast, Type::U64, cast, Type::U64);
    const ValueId compared[] = {wide, length};
    const ValueId inside = r.insert(load, Opcode::Lt, Type::U64, compared, Type::Bool);
    const Type t = p.type(value);
    const ValueId chosen[] = {inside, value, r.insert_constant(load, t, 0)};
    return r.insert(load, Opcode::Select, t, chosen, t);
  }

  void load(OpId op) {
    const MemoryRef m = p.memory(op);
    const ValueId index = p.operand(op, 0);
    for (const Stored& s : known) {
      if (s.buffer != m.buffer || r.resolve(s.index) != r.resolve(index)) continue;
      if (!keeps_value(m.buffer)) return context.refuse(op, "the element rounds what is stored");
      if (p.type(p.result(op)) != p.type(s.value)) return;
      const bool in_bounds = s.in_bounds || m.in_bounds || bounds.proves_access(op);
      r.replace(p.result(op), in_bounds ? s.value : value_in_bounds(op, index, s.value));
      r.remove(op);
      return;
    }
  }

  void visit(OpId op) {
    const Opcode code = p.op(op).code;
    if (code == Opcode::Store) return store(op);
    if (code == Opcode::Load) return load(op);
    if (!is_control(code)) clobber(op);
  }

  void enter(BlockId block) {
    const OpId owner = p.blocks[block].parent;
    if (owner == none) return;
    const Opcode code = p.op(owner).code;
    if (is_loop(code)) {
      if (block == p.op(owner).first_block) saved.push_back(known);
      known.clear();
    } else {
      if (block == p.op(owner).first_block)
        saved.push_back(known);
      else
        known = saved.back();
    }
  }

  void leave(BlockId block) {
    const OpId owner = p.blocks[block].parent;
    if (owner == none) return;
    if (block + 1 != p.op(owner).first_block + p.op(owner).n_blocks) return;
    known = std::move(saved.back());
    saved.pop_back();
    clobber(owner);
  }
};

}  // namespace

Result<bool> forward_stores(Program& program, PassContext& context) {
  State s(program, context);
  walk_events(program, s);
  return s.r.finish();
}

}  // namespace vyre::opt
