#include "codegen/llvm/shared_slots.h"

#include <unordered_map>

namespace vyre::emit_llvm {
namespace {

/// Kernels that carry fewer values have a slot per value: that becomes better code, and costs
/// little there.
constexpr size_t min_carried = 1000;

class Finder {
 public:
  Finder(const Prepared& kernel, const Shapes& shapes, SharedSlots& to)
      : k_(kernel), p_(kernel.program), shapes_(shapes), to_(to), passed_(p_.values.size()) {}

  void run() {
    walk(p_, [&](OpId op) {
      if (is_loop(p_.op(op).code) && !(k_.phased && k_.holds_barrier[op])) share_in(op);
    });
    for (const ValueId v : passed_.ids())
      to_.passes[v] = passed_[v] > 0 && passed_[v] == k_.uses[v];
  }

 private:
  std::span<const ValueId> arguments(OpId loop) const {
    return p_.args(p_.op(loop).first_block).subspan(p_.op(loop).code == Opcode::For ? 1 : 0);
  }
  std::span<const ValueId> initial(OpId loop) const {
    return p_.operands(loop).subspan(p_.op(loop).code == Opcode::For ? 3 : 0);
  }

  /// True if one slot holds the carried value and the result of the loop, as a vector.
  bool has_plain_slot(OpId loop, uint32_t k) const {
    const ValueId a = arguments(loop)[k], r = p_.result(loop, k);
    return !k_.uniform(a) && !k_.uniform(r) && !(is_integer(p_.type(a)) && shapes_.steps(a));
  }

  /// Follows the slots of a loop through its body, from one inner loop to the next.
  void share_in(OpId loop) {
    const Op& o = p_.op(loop);
    const auto args = arguments(loop);
    std::unordered_map<ValueId, uint32_t> slot_of;  // the value in each slot at this point
    for (uint32_t k = 0; k < args.size(); ++k)
      if (has_plain_slot(loop, k)) slot_of.emplace(args[k], k);
    if (slot_of.empty()) return;
    const BlockId body = o.first_block + (o.code == Opcode::For ? 0 : 1);
    OpId at = p_.blocks[body].first;
    for (; at != none && !is_exit(p_.op(at).code); at = p_.op(at).next)
      if (is_loop(p_.op(at).code)) share_with(at, slot_of);
    if (at == none || p_.op(at).code != Opcode::Yield) return;
    for (uint32_t k = 0; k < args.size(); ++k) {
      const auto held = slot_of.find(p_.operand(at, k));
      if (held == slot_of.end() || held->second != k) continue;
      to_.in_place[p_.op(at).operands.begin + k] = true;
      ++passed_[held->first];
    }
  }

  void share_with(OpId inner, std::unordered_map<ValueId, uint32_t>& slot_of) {
    const auto args = arguments(inner);
    const auto init = initial(inner);
    std::vector<std::pair<ValueId, uint32_t>> results;
    for (uint32_t k = 0; k < args.size(); ++k) {
      const auto held = slot_of.find(init[k]);
      if (held == slot_of.end() || !has_plain_slot(inner, k)) continue;
      to_.of_argument[args[k]] = held->second;
      ++passed_[init[k]];
      results.emplace_back(p_.result(inner, k), held->second);
      slot_of.erase(held);  // a slot has one owner, and holds something else afterwards
    }
    slot_of.insert(results.begin(), results.end());
  }

  const Prepared& k_;
  const Program& p_;
  const Shapes& shapes_;
  SharedSlots& to_;
  IdMap<ValueId, uint32_t> passed_;  // by value: uses that take it from its slot to its slot
};

size_t count_carried(const Program& p) {
  size_t n = 0;
  walk(p, [&](OpId op) {
    if (is_loop(p.op(op).code)) n += p.op(op).results.count;
  });
  return n;
}

}  // namespace

SharedSlots::SharedSlots(const Prepared& kernel, const Shapes& shapes)
    : of_argument(kernel.program.values.size(), own),
      passes(kernel.program.values.size()),
      in_place(kernel.program.ids.size()) {
  if (count_carried(kernel.program) >= min_carried) Finder(kernel, shapes, *this).run();
}

}  // namespace vyre::emit_llvm
