#include "check/update_by_all.h"

#include <fmt/format.h>

#include "check/check_limits.h"

namespace vyre {
namespace {

class UpdateByAll {
 public:
  UpdateByAll(const Program& p, const UniformityInfo& u) : p_(p), u_(u) {
    for (const uint32_t n : p.workgroup) many_in_group_ |= n > 1;
    many_in_grid_ = many_in_group_;
    uint64_t wanted = 0;
    for (uint32_t d = 0; d < p.grid_dims; ++d)
      many_in_grid_ |= p.formulas.is_constant(p.grid[d], &wanted) && wanted > 1;
  }

  bool is_race(OpId store) const {
    if (p_.op(store).code != Opcode::Store) return false;
    const Role role = p_.buffer_of(store).role;
    const bool shared = role == Role::Shared;
    if ((!shared && !is_host_output(role)) || !u_.reachable(store)) return false;
    const Uniformity needed = shared ? Uniformity::Workgroup : Uniformity::Grid;
    return (shared ? many_in_group_ : many_in_grid_) && u_.flow(store) >= needed &&
           u_.value(p_.operand(store, 0)) >= needed && reads_element(store);
  }

 private:
  /// Returns whether the stored value is computed from a load of the element.
  bool reads_element(OpId store) const {
    std::vector<ValueId> todo = {p_.operand(store, 1)};
    for (uint32_t visits = 0; !todo.empty() && visits < max_visits; ++visits) {
      const OpId def = p_.values[todo.back()].def;
      todo.pop_back();
      if (def == none) continue;
      const Op& o = p_.op(def);
      if (o.code == Opcode::Load && p_.memory(def).buffer == p_.memory(store).buffer &&
          same(p_.operand(def, 0), p_.operand(store, 0)) && u_.flow(def) >= u_.flow(store))
        return true;
      if (info(o.code).effect == Effect::Pure)
        for (const ValueId v : p_.operands(def)) todo.push_back(v);
    }
    return false;
  }
  bool same(ValueId a, ValueId b) const {
    if (a == b) return true;
    const OpId x = p_.values[a].def, y = p_.values[b].def;
    return x != none && y != none && p_.op(x).code == Opcode::Const &&
           p_.op(y).code == Opcode::Const && p_.op(x).attr == p_.op(y).attr;
  }

  static constexpr uint32_t max_visits = 16;
  const Program& p_;
  const UniformityInfo& u_;
  bool many_in_group_ = false, many_in_grid_ = false;
};

}  // namespace

void check_update_by_all(const Program& program, const UniformityInfo& uniformity,
                         Reporter& report) {
  bool ordered = false;  // possibly, for example by a lock
  walk(program,
       [&](OpId op) { ordered |= is_atomic(program.op(op).code) && program.memory(op).acq_rel; });
  if (ordered) return;
  const UpdateByAll updates(program, uniformity);
  walk(program, [&](OpId op) {
    if (!updates.is_race(op)) return;
    const Buffer& b = program.buffer_of(op);
    report
        .at_op(
            Code::UpdateByAll, op,
            fmt::format("all invocations of the {} update one element of {} at once: a data race",
                        b.role == Role::Shared ? "workgroup" : "grid", quoted(b.name)))
        .with_fix(fmt::format("write `atomic_add({}[i], v)`, or let one invocation do it: `if "
                              "global_id.x == 0 {{ … }}`",
                              b.name));
  });
}

}  // namespace vyre
