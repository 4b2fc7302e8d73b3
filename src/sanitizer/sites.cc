#include "sanitizer/sites.h"

#include <bit>
#include <map>
#include <tuple>

#include "interp/interp_memory.h"

namespace vyre::interp {
namespace {

using Key =
    std::tuple<BufferId, bool, bool, bool, bool, bool, AtomicUpdate, StringId, uint32_t, LocId>;

class Finder {
 public:
  explicit Finder(const Program& p) : p_(p), uses_(count_uses(p)) {
    found_.of_op.resize(p.ops.size());
    found_.written.assign(p.buffers.size(), false);
  }

  Sites run() {
    walk(p_, [&](OpId id) {
      const OpInfo& i = info(p_.op(id).code);
      const bool memory = i.effect == Effect::Read || i.effect == Effect::Write ||
                          i.effect == Effect::Atomic || p_.op(id).code == Opcode::UniformLoad;
      if (memory) visit(id, i.effect);
    });
    find_orders();
    return std::move(found_);
  }

 private:
  /// Atomics of one kind that commute, without uses of their values, need no comparison.
  void find_orders() {
    IdMap<BufferId, uint32_t> kinds(p_.buffers.size());
    found_.order_matters.assign(p_.buffers.size(), false);
    for (const Site& s : found_.sites) {
      if (!s.atomic) continue;
      if (s.update != AtomicUpdate::None) kinds[s.buffer] |= 1u << static_cast<uint32_t>(s.update);
      if (s.gives_value || !commute(s.update, s.update, false) ||
          std::popcount(kinds[s.buffer]) > 1)
        found_.order_matters[s.buffer] = true;
    }
  }

  void visit(OpId id, Effect effect) {
    const Op& op = p_.op(id);
    const MemoryRef ref = p_.memory(id);
    const bool atomic = effect == Effect::Atomic;
    const bool is_shared = p_.buffers[ref.buffer].role == Role::Shared;
    Site s;
    s.op = id;
    s.buffer = ref.buffer;
    s.atomic = atomic;
    s.writes = effect == Effect::Write || (atomic && op.code != Opcode::AtomicLoad);
    s.workgroup_scope = atomic && !is_shared && ref.scope != Scope::Grid;
    s.acq_rel = atomic && ref.acq_rel;
    s.gives_value = atomic && op.results.count != 0 && uses_[p_.result(id)] != 0;
    s.update = update_of(op.code, op.type);
    if (s.writes) found_.written[ref.buffer] = true;

    SiteOfOp& o = found_.of_op[id];
    o.index = widened(p_.type(p_.operand(id, 0)), atomic);
    o.bytes = op.code == Opcode::LoadAs ? static_cast<uint8_t>(size_of(op.type)) : 0;
    o.acq_rel = atomic && ref.acq_rel;
    o.modifies = atomic && s.writes;
    o.replaces = op.code == Opcode::AtomicStore;
    o.site = add(s);
    found_.synchronizes |= o.acq_rel;
    found_.synchronizes_groups |= o.acq_rel && s.workgroup_scope;
    if (op.code != Opcode::AtomicCas) return;
    s.writes = false;
    o.failed_site = add(s);
    found_.sites[o.failed_site].order_site = o.site;
  }

  /// As CodeWriter::index does it.
  static Type widened(Type t, bool as_64_bits) {
    if (as_64_bits) return is_signed(t) ? Type::I64 : Type::U64;
    if (is_direct_index(t)) return t;
    return is_signed(t) ? Type::I32 : Type::U32;
  }

  uint32_t add(const Site& s) {
    const LocId loc = p_.op(s.op).loc;
    const auto number = static_cast<uint32_t>(found_.sites.size());
    if (loc != none && loc < p_.locations.size()) {
      const Location& l = p_.locations[loc];
      const Key key{s.buffer, s.writes, s.atomic, s.workgroup_scope, s.acq_rel, s.gives_value,
                    s.update, l.file,   l.line,   l.inlined_at};
      const auto [at, is_new] = by_line_.try_emplace(key, number);
      if (!is_new) return at->second;
    }
    found_.sites.push_back(s);
    found_.sites.back().order_site = number;
    return number;
  }

  const Program& p_;
  const IdMap<ValueId, uint32_t> uses_;  // by value
  Sites found_;
  std::map<Key, uint32_t> by_line_;
};

}  // namespace

Sites find_sites(const Program& program) { return Finder(program).run(); }

}  // namespace vyre::interp
