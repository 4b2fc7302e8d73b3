#include "codegen/llvm/interchange.h"

#include <optional>

#include "ir/ir_builder.h"

namespace vyre::emit_llvm {
namespace {

constexpr uint32_t most_carried = 4;  // each costs a load and a store per trip
constexpr int most_depth = 16;        // of the search through an index

class Finder {
 public:
  explicit Finder(const Program& p) : p_(p) {}

  /// Loops that are made for it, whether or not the workgroup takes their trips together.
  std::vector<OpId> run() {
    std::vector<OpId> found;
    bool possible = true;
    std::vector<OpId> loops;
    walk(p_, [&](OpId id) {
      const Op& o = p_.op(id);
      if (o.code == Opcode::Trap || o.code == Opcode::Assert) possible = false;
      if (o.code == Opcode::For) loops.push_back(id);
    });
    // Private arrays of all subgroups at once would not stay in the cache, and lanes that trap are
    // kept account of across barriers.
    for (const Buffer& b : p_.buffers) possible = possible && b.role != Role::Private;
    if (!possible) return found;
    for (const OpId loop : loops)
      if (strides(loop)) found.push_back(loop);
    return found;
  }

 private:
  /// True if the body is short and accesses memory with a stride over the counter of at least the
  /// number of elements that a workgroup accesses together.
  bool strides(OpId loop) {
    const Op& o = p_.op(loop);
    counter_ = p_.args(o.first_block)[0];
    if (o.results.count > most_carried || !is_integer(p_.type(counter_))) return false;
    bool plain = true, strided = false;
    uint32_t ops = 0;
    walk(p_, o.first_block, [&](OpId id) {
      const Op& inner = p_.op(id);
      const Effect effect = info(inner.code).effect;
      if (++ops > 64) plain = false;
      if (is_loop(inner.code) || effect == Effect::Sync || effect == Effect::Convergent ||
          effect == Effect::Atomic || (effect == Effect::Exit && inner.code != Opcode::Yield))
        plain = false;
      if (!plain || (effect != Effect::Read && effect != Effect::Write)) return;
      if (!is_parameter(p_.buffer_of(id).role)) return;
      const std::optional<int64_t> by = factor(p_.operand(id, 0), counter_, 0);
      const std::optional<int64_t> lanes = lane_factor(p_.operand(id, 0), 0);
      const int64_t size = p_.workgroup[0] * p_.workgroup[1] * p_.workgroup[2];
      strided = strided || (by && lanes == 1 && *by >= size && *by < (1 << 20));
    });
    return plain && strided;
  }

  std::optional<int64_t> constant(ValueId v) const {
    const OpId def = p_.values[v].def;
    if (def == none || p_.op(def).code != Opcode::Const || p_.op(def).attr > (1u << 20))
      return std::nullopt;
    return static_cast<int64_t>(p_.op(def).attr);
  }

  /// The change of the value when the counter increases by one; none where it is not recognized.
  std::optional<int64_t> factor(ValueId v, ValueId of, int depth) const {
    if (v == of) return 1;
    return combine(v, depth, [&](ValueId u) { return factor(u, of, depth + 1); });
  }

  /// … from one invocation to the next in x.
  std::optional<int64_t> lane_factor(ValueId v, int depth) const {
    const OpId def = p_.values[v].def;
    if (def != none) {
      const Op& o = p_.op(def);
      if (o.code == Opcode::LocalId || o.code == Opcode::GlobalId) return o.attr == 0 ? 1 : 0;
    }
    return combine(v, depth, [&](ValueId u) { return lane_factor(u, depth + 1); });
  }

  template <class Of>
  std::optional<int64_t> combine(ValueId v, int depth, Of&& of) const {
    const OpId def = p_.values[v].def;
    if (def == none) return 0;  // carried, or a counter
    const Op& o = p_.op(def);
    if (depth > most_depth) return std::nullopt;
    if (o.operands.count == 0) return 0;
    const auto a = of(p_.operand(def, 0));
    if (o.code == Opcode::Cast && is_integer(p_.type(p_.operand(def, 0)))) return a;
    if (o.operands.count != 2)
      return a == 0 && info(o.code).effect == Effect::Pure ? a : std::nullopt;
    const auto b = of(p_.operand(def, 1));
    if (!a || !b) return std::nullopt;
    if (*a == 0 && *b == 0) return 0;
    const auto left = constant(p_.operand(def, 0)), right = constant(p_.operand(def, 1));
    switch (o.code) {
      case Opcode::Add: return *a + *b;
      case Opcode::Sub: return *a - *b;
      case Opcode::Mul:
        if (right && *a < (1 << 20)) return *a * *right;
        if (left && *b < (1 << 20)) return *b * *left;
        return std::nullopt;
      case Opcode::Shl:
        if (right && *right < 20 && *a < (1 << 20)) return *a << *right;
        return std::nullopt;
      default: return std::nullopt;
    }
  }

  const Program& p_;
  ValueId counter_ = none;
};

}  // namespace

void interchange_strided_loops(Prepared& k) {
  if (k.subgroups == 1) return;
  Program& p = k.program;
  const std::vector<OpId> loops = Finder(p).run();
  if (loops.empty()) return;
  const UniformityInfo uniformity = analyze_uniformity(p, {.rows = k.rows, .lockstep = true});
  for (const OpId loop : loops) {
    const OpId first = p.blocks[p.op(loop).first_block].first;
    if (uniformity.flow(first) < Uniformity::Workgroup) continue;
    IrBuilder b(p);
    b.loc = p.op(loop).loc;
    b.next = first;
    b.effect(Opcode::Barrier, Type::Void, {}, static_cast<uint64_t>(Scope::Workgroup));
  }
}

}  // namespace vyre::emit_llvm
