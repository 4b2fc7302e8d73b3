#include "codegen/llvm/phases.h"

namespace vyre::emit_llvm {
namespace {

constexpr int most_again = 4;  // ops that are cheaper than a load and a store

class Partition {
 public:
  Partition(const Prepared& k, Stretches& to) : k_(k), p_(k.program), to_(to) {}

  void run() {
    to_.of_op.assign(p_.ops.size(), 0);
    to_.home.assign(p_.values.size(), {});
    own_block(body_block);
    while (!blocks_.empty()) {
      const BlockId b = blocks_.back();
      blocks_.pop_back();
      own_block(b);
    }
    spread();
    find_homes();
  }

 private:
  bool holds_barrier(OpId op) const { return k_.phased && k_.holds_barrier[op]; }

  bool is_wait(OpId op) const {
    const Op& o = p_.op(op);
    if (!k_.phased || info(o.code).effect != Effect::Sync) return false;
    return (o.code == Opcode::Barrier ? Scope(o.attr) : p_.memory(op).scope) == Scope::Workgroup;
  }

  /// A block that the workgroup executes once.
  void own_block(BlockId block) {
    uint32_t current = 0;
    for (OpId at = p_.blocks[block].first; at != none; at = p_.op(at).next) {
      const Op& op = p_.op(at);
      if (is_wait(at) || holds_barrier(at)) {
        current = 0;
        for (uint32_t i = 0; i < op.n_blocks; ++i) blocks_.push_back(op.first_block + i);
        continue;
      }
      if (op.code == Opcode::Return || op.code == Opcode::Test) continue;
      if (is_on_demand(op.code) || is_own(at, current)) continue;
      if (current == 0) current = ++count_;
      to_.of_op[at] = current;
    }
  }

  bool is_own(OpId id, uint32_t current) const {
    const Op& op = p_.op(id);
    const Effect effect = info(op.code).effect;
    if (effect != Effect::Pure) {
      if (op.code != Opcode::Load && op.code != Opcode::LoadAs) return false;
      const Role role = p_.buffer_of(id).role;
      if (role != Role::In && role != Role::Uniform && role != Role::Table) return false;
    }
    const Uniformity needed = k_.abreast ? Uniformity::Grid : Uniformity::Workgroup;
    for (const ValueId v : p_.results(id))
      if (k_.uniformity.value(v) < needed) return false;
    for (const ValueId v : p_.operands(id)) {
      const OpId def = p_.values[v].def;
      if (def != none && current != 0 && to_.of_op[def] == current) return false;
    }
    return true;
  }

  /// Assigns ops in nested blocks to the parallel region of their parent.
  void spread() {
    walk(p_, [&](OpId op) {
      const OpId parent = p_.blocks[p_.op(op).parent].parent;
      if (parent != none && to_.of_op[parent] != 0) to_.of_op[op] = to_.of_op[parent];
    });
  }

  uint32_t stretch_of(ValueId v) const {
    const Value& value = p_.values[v];
    const OpId op = value.def != none ? value.def : p_.blocks[value.block].parent;
    return to_.of_op[op];
  }

  void find_homes() {
    walk(p_, [&](OpId op) {
      for (const ValueId v : p_.operands(op)) {
        const OpId def = p_.values[v].def;
        if (def != none && is_on_demand(p_.op(def).code)) continue;
        const uint32_t made = stretch_of(v);
        if (made == 0) continue;
        // Scalars that the end of such a block yields are copied after its last parallel region.
        const OpId owner = p_.blocks[p_.op(op).parent].parent;
        const bool passes_on = is_exit(p_.op(op).code) && owner != none && holds_barrier(owner) &&
                               k_.uniformity.value(v) >= Uniformity::Workgroup;
        if (made != to_.of_op[op] || passes_on) give_home(v);
      }
      if (!holds_barrier(op)) return;
      // Results of ifs and loops that the workgroup executes once, and the carried values of these
      // loops.
      if (p_.op(op).code == Opcode::While) {
        const auto args = p_.args(p_.op(op).first_block);
        for (uint32_t i = 0; i < args.size(); ++i) {
          give_home(args[i]);
          // A result is the last value of the argument, and shares its home.
          const ValueId r = p_.result(op, i);
          if (k_.uniformity.value(r) == k_.uniformity.value(args[i]))
            to_.home[r] = to_.home[args[i]];
        }
      }
      for (const ValueId v : p_.results(op)) give_home(v);
    });
  }

  /// True for ids, workgroup-uniform values, and short sums and products of these.
  bool is_made_again(ValueId v, int& budget) const {
    if (k_.uniformity.value(v) >= Uniformity::Workgroup) return true;
    const OpId def = p_.values[v].def;
    if (def == none) return false;
    const Op& op = p_.op(def);
    if (is_on_demand(op.code)) return true;
    if (--budget < 0 || !is_integer(p_.type(v))) return false;
    switch (op.code) {
      case Opcode::Cast:
        if (!is_integer(p_.type(p_.operand(def, 0)))) return false;
        break;
      case Opcode::Add:
      case Opcode::Sub:
      case Opcode::Mul:
      case Opcode::And:
      case Opcode::Or:
      case Opcode::Xor:
      case Opcode::Shl:
      case Opcode::Shr: break;
      default: return false;
    }
    for (const ValueId u : p_.operands(def))
      if (!is_made_again(u, budget)) return false;
    return true;
  }

  void give_home(ValueId v) {
    Home& h = to_.home[v];
    if (h.kind != Home::Kind::Nowhere) return;
    const Uniformity level = k_.uniformity.value(v);
    int budget = most_again;
    if (level < Uniformity::Workgroup && is_made_again(v, budget)) {
      h.kind = Home::Kind::Again;
      for (const ValueId u : p_.operands(p_.values[v].def)) {
        const OpId def = p_.values[u].def;
        if (def != none && is_on_demand(p_.op(def).code)) continue;
        if (stretch_of(u) != 0) give_home(u);
      }
      return;
    }
    if (level >= Uniformity::Workgroup) {
      h.kind = Home::Kind::Scalar;
      return;
    }
    h.kind = Home::Kind::Arena;
    const uint32_t lanes = level >= Uniformity::Subgroup ? 1 : k_.lanes;
    h.bytes = size_of(p_.type(v)) * lanes;
    const uint64_t align = h.bytes >= 64 ? 64 : h.bytes;
    to_.arena_bytes = (to_.arena_bytes + align - 1) / align * align;
    h.offset = to_.arena_bytes;
    to_.arena_bytes += uint64_t{h.bytes} * k_.subgroups;
  }

  const Prepared& k_;
  const Program& p_;
  Stretches& to_;
  uint32_t count_ = 0;
  std::vector<BlockId> blocks_;
};

}  // namespace

bool is_on_demand(Opcode code) {
  const OpInfo& i = info(code);
  return i.effect == Effect::Pure && i.operands.empty();
}

Stretches::Stretches(const Prepared& kernel) { Partition(kernel, *this).run(); }

}  // namespace vyre::emit_llvm
