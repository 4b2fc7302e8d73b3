#include "opt/analysis/escape.h"

namespace vyre::opt {
namespace {

bool is_used(const Program& p, OpId op, const IdMap<ValueId, uint32_t>& uses) {
  for (const ValueId r : p.results(op))
    if (uses[r]) return true;
  return false;
}

}  // namespace

Escape::Escape(const Program& p) : reach_(p.buffers.size()), observed_(p.buffers.size(), false) {
  const bool alone = uint64_t{p.workgroup[0]} * p.workgroup[1] * p.workgroup[2] == 1;
  for (const BufferId i : p.buffers.ids()) {
    const Role role = p.buffers[i].role;
    switch (role) {
      case Role::Private: reach_[i] = Reach::Invocation; break;
      case Role::Shared: reach_[i] = alone ? Reach::Invocation : Reach::Workgroup; break;
      case Role::Scratch:
      case Role::Table: reach_[i] = Reach::Grid; break;
      default: reach_[i] = Reach::Host;
    }
    observed_[i] = is_host_output(role);
  }
  const IdMap<ValueId, uint32_t> uses = count_uses(p);
  walk(p, [&](OpId op) {
    const Opcode code = p.op(op).code;
    switch (info(code).effect) {
      case Effect::Read: observed_[p.memory(op).buffer] = true; break;
      case Effect::Atomic:
        if (is_used(p, op, uses)) observed_[p.memory(op).buffer] = true;
        break;
      case Effect::Sync:
        if (code == Opcode::UniformLoad) observed_[p.memory(op).buffer] = true;
        break;
      default: break;
    }
  });
}

}  // namespace vyre::opt
