#include "check/update_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "check/check_limits.h"
#include "check/flow_segments.h"
#include "ir/eval/atomic_update.h"

namespace vyre {
namespace {

/// Whether a value differs between the invocations of a workgroup, or between all of the grid.
enum class Own : uint8_t { No, InGroup, InGrid };

/// The knowledge of the checker about the index of an update.
enum class Index : uint8_t {
  Uniform,  // the same for all invocations of the scope
  Own,      // computed from the invocation's id: presumed to differ
  Any
};

/// The identity of a value, to recognize two ops that have the same one.
struct SameAs {
  enum class Kind : uint8_t { Varying, Constant, Scalar, Uniform } kind = Kind::Varying;
  uint64_t of = 0;  // bits, buffer or ValueId
  bool operator==(const SameAs&) const = default;
  /// Varying values are not known to be equal, not even those of one op.
  bool equals(const SameAs& other) const { return kind != Kind::Varying && *this == other; }
};

struct Update {
  OpId op = none;
  AtomicUpdate kind = AtomicUpdate::None;
  BufferId buffer{0};
  Index index = Index::Any;
  SameAs element;          // for Index::Uniform
  SameAs value, expected;  // the written value; for a cas also the compared one
  uint32_t segment = 0;    // of the buffer's scope
  bool by_all = false;     // flow is uniform over the scope
  bool by_one = false;     // in `if id == uniform`

  bool same_values(const Update& o) const {
    return value.equals(o.value) && (kind != AtomicUpdate::Cas || expected.equals(o.expected));
  }
  bool commutes_with(const Update& o) const { return commute(kind, o.kind, same_values(o)); }
};

/// The first updates of one element, or of all, in one segment: enough to find one that does not
/// commute with another. Two are kept per kind, to have different values, and separately for
/// updates by many invocations and by one.
class Firsts {
 public:
  /// The first update that does not commute with `u` and that another invocation can make.
  const Update* find(const Update& u, const std::vector<Update>& all) const {
    for (const auto& of_kind : firsts_)
      for (size_t by_one = 0; by_one < (u.by_one ? 1 : 2); ++by_one)
        for (const uint32_t i : of_kind[by_one])
          if (i != none && !all[i].commutes_with(u)) return &all[i];
    return nullptr;
  }
  void add(uint32_t i, const std::vector<Update>& all) {
    auto& [first, second] = firsts_[static_cast<size_t>(all[i].kind)][all[i].by_one];
    if (first == none)
      first = i;
    else if (second == none && !all[first].same_values(all[i]))
      second = i;
  }

 private:
  using Two = std::array<uint32_t, 2>;
  static constexpr Two nothing = {none, none};
  std::array<std::array<Two, 2>, num_atomic_updates> firsts_ = [] {
    std::array<std::array<Two, 2>, num_atomic_updates> empty;
    empty.fill({nothing, nothing});
    return empty;
  }();
};

class UpdateOrder {
 public:
  UpdateOrder(const Program& p, const UniformityInfo& u, bool exact, Reporter& r)
      : p_(p),
        u_(u),
        exact_(exact),
        r_(r),
        in_grid_(p, Scope::Grid),
        in_group_(p, Scope::Workgroup) {
    uint64_t group = 1;
    for (const uint32_t n : p.workgroup) group *= n;
    many_in_group_ = group > 1;
    uint64_t grid = 0;
    many_in_grid_ = many_in_group_ || p.grid_dims != 1 || p.grid[0] == no_formula ||
                    !p.formulas.is_constant(p.grid[0], &grid) || grid > 1;
  }

  void run() {
    own_.resize(p_.values.size());
    walk_blocks(p_, body_block, [&](Visit event, OpId op, BlockId block) {
      in_grid_.visit(event, op, block);
      in_group_.visit(event, op, block);
      if (event == Visit::Op)
        visit(op);
      else
        count_singles(block, event == Visit::EnterBlock ? 1 : -1);
    });
    for (uint32_t i = 0; i < updates_.size(); ++i) judge(i);
    for (const OpId store : stores_) judge_stored(store);
  }

 private:
  bool is_shared(BufferId buffer) const { return p_.buffers[buffer].role == Role::Shared; }
  Uniformity needed(BufferId buffer) const {
    return is_shared(buffer) ? Uniformity::Workgroup : Uniformity::Grid;
  }
  FlowSegments& segments(BufferId buffer) { return is_shared(buffer) ? in_group_ : in_grid_; }

  // ---- The walk.

  void visit(OpId id) {
    const Op& o = p_.op(id);
    for (const ValueId v : p_.results(id)) own_[v] = own_of(o, id);
    if (o.code == Opcode::For)  // its counter begins with `lo`
      own_[p_.args(o.first_block)[0]] = own_[p_.operand(id, 0)];
    if (exact_ && o.code == Opcode::Store && is_host_output(p_.buffer_of(id).role))
      stores_.push_back(id);
    if (!is_atomic(o.code) || !u_.reachable(id)) return;
    has_acq_rel_ |= p_.memory(id).acq_rel;
    const AtomicUpdate kind = update_of(o.code, o.type);
    const BufferId buffer = p_.memory(id).buffer;
    // check_order() reports float additions.
    if (kind == AtomicUpdate::None || kind == AtomicUpdate::FloatAdd) return;
    if (!(is_shared(buffer) ? many_in_group_ : many_in_grid_)) return;
    Update u;
    u.op = id;
    u.kind = kind;
    u.buffer = buffer;
    const ValueId index = p_.operand(id, 0);
    u.index = u_.value(index) >= needed(buffer) ? Index::Uniform
              : has_own_element(index, buffer)  ? Index::Own
                                                : Index::Any;
    if (u.index == Index::Own) return;
    if (u.index == Index::Uniform) u.element = same_as(index, buffer);
    const bool cas = kind == AtomicUpdate::Cas;
    if (cas) u.expected = same_as(p_.operand(id, 1), buffer);
    u.value = same_as(p_.operand(id, cas ? 2 : 1), buffer);
    u.segment = segments(buffer).current();
    u.by_all = u_.flow(id) >= needed(buffer);
    u.by_one = singles_[is_shared(buffer)] > 0;
    update_of_[id] = static_cast<uint32_t>(updates_.size());
    updates_.push_back(u);
  }

  /// Classifies a result that is computed from ids of the invocation so that different ids stay
  /// different. A value that differs between workgroups, added to an id of the workgroup, is
  /// presumed to be an id of the grid.
  Own own_of(const Op& o, OpId id) const {
    switch (o.code) {
      case Opcode::GlobalId: return Own::InGrid;
      case Opcode::LocalId: return Own::InGroup;
      case Opcode::Add:
      case Opcode::Sub:
      case Opcode::Mul:
      case Opcode::Xor:
      case Opcode::Shl:
      case Opcode::Cast: {
        Own own = Own::No;
        bool by_group = false;
        for (const ValueId v : p_.operands(id)) {
          own = std::max(own, own_[v]);
          by_group |= u_.value(v) == Uniformity::Workgroup;
        }
        return own == Own::InGroup && by_group ? Own::InGrid : own;
      }
      default: return Own::No;
    }
  }

  bool has_own_element(ValueId index, BufferId buffer) const {
    if (is_shared(buffer)) return own_[index] != Own::No;
    const bool of_group = u_.value(index) == Uniformity::Workgroup && singles_[1] > 0;
    return own_[index] == Own::InGrid || of_group;
  }

  SameAs same_as(ValueId v, BufferId buffer) const {
    const OpId def = p_.values[v].def;
    if (def != none && p_.op(def).code == Opcode::Const)
      return {SameAs::Kind::Constant, p_.op(def).attr};
    if (def != none && p_.op(def).code == Opcode::Scalar)
      return {SameAs::Kind::Scalar, p_.op(def).buffer().value()};
    if (u_.value(v) >= needed(buffer)) return {SameAs::Kind::Uniform, v.value()};
    return {};
  }

  /// Counts the enclosing blocks that one invocation runs: of the grid, and of each workgroup.
  void count_singles(BlockId block, int by) {
    const OpId parent = p_.blocks[block].parent;
    if (parent == none || p_.op(parent).code != Opcode::If || block != p_.op(parent).first_block)
      return;
    const OpId test = p_.values[p_.operand(parent, 0)].def;
    if (test == none || p_.op(test).code != Opcode::Eq) return;
    for (uint32_t i = 0; i < 2; ++i) {
      const Uniformity other = u_.value(p_.operand(test, 1 - i));
      const OpId id = p_.values[p_.operand(test, i)].def;
      if (id == none) continue;
      const bool global = p_.op(id).code == Opcode::GlobalId;
      if ((!global && p_.op(id).code != Opcode::LocalId) || !is_only_dimension(p_.op(id).attr))
        continue;
      if (global && other >= Uniformity::Grid) singles_[0] += by;
      if (other >= Uniformity::Workgroup) singles_[1] += by;
      return;
    }
  }
  /// True if, as far as the program states, the workgroup and the grid extend in this dimension
  /// only.
  bool is_only_dimension(uint64_t dimension) const {
    for (uint64_t d = 0; d < 3; ++d)
      if (d != dimension && (p_.workgroup[d] != 1 || p_.grid_dims > d)) return false;
    return true;
  }

  // ---- Pairs.

  void judge(uint32_t i) {
    const Update& u = updates_[i];
    const uint32_t segment = segments(u.buffer).merged(u.segment);
    const uint64_t place = uint64_t{u.buffer.value()} << 32 | segment;
    Groups& g = groups_[place];
    const Update* other = !u.by_one && !u.commutes_with(u) ? &u : nullptr;
    if (u.index == Index::Any) {
      if (!other) other = g.all.find(u, updates_);
      g.any.add(i, updates_);
    } else {
      Firsts& same = g.by_element[static_cast<uint64_t>(u.element.kind) << 60 ^ u.element.of];
      if (!other) other = same.find(u, updates_);
      if (!other) other = g.any.find(u, updates_);
      same.add(i, updates_);
    }
    g.all.add(i, updates_);
    if (other) report(u, *other);
  }

  bool is_proved(const Update& a, const Update& b) const {
    return a.by_all && b.by_all && a.index == Index::Uniform && b.index == Index::Uniform &&
           a.element == b.element && a.segment == b.segment && !has_acq_rel_;
  }

  void report(const Update& u, const Update& other) {
    const bool proved = is_proved(u, other);
    const std::string_view name = mnemonic(p_.op(u.op).code);
    const std::string element = element_text(u);
    const std::string why =
        u.op == other.op ? fmt::format("invocations of this `{}` may write different values", name)
                         : fmt::format("this `{}` and the `{}`{} do not commute", name,
                                       mnemonic(p_.op(other.op).code), line_of(other.op));
    const bool error = exact_ && proved;
    Diagnostic& d = r_.at_op(error ? Code::OrderNotExact : Code::FinalValueOrder, u.op,
                             fmt::format("the final value of {} {} on the order of execution: {}{}",
                                         element, proved ? "depends" : "may depend", why,
                                         error ? ", and exact results were asked for" : ""));
    if (u.op != other.op)
      if (const Place at = r_.place_of(other.op); at.line != 0)
        d.note(fmt::format("the other one, `{}`", mnemonic(p_.op(other.op).code)), at);
    if (error) d.with_fix(fix);
  }

  /// With --exact: an old value that differs between invocations and that the host reads back.
  void judge_stored(OpId store) {
    const OpId def = p_.values[p_.operand(store, 1)].def;
    const auto at = def == none || !exact_ ? update_of_.end() : update_of_.find(def);
    if (at == update_of_.end()) return;
    const Update& u = updates_[at->second];
    if (!u.by_all || u.index != Index::Uniform) return;
    r_.at_op(Code::OrderNotExact, store,
             fmt::format("{} gets the value that `{}` on {} gives{}, which depends on the order of "
                         "execution, and exact results were asked for",
                         quoted(p_.buffer_of(store).name), mnemonic(p_.op(def).code),
                         element_text(u), line_of(def)))
        .with_fix(fix);
  }

  std::string element_text(const Update& u) const {
    const std::string& name = p_.buffers[u.buffer].name;
    return u.element.kind == SameAs::Kind::Constant
               ? quoted(fmt::format("{}[{}]", name, u.element.of))
               : fmt::format("an element of {}", quoted(name));
  }
  std::string line_of(OpId op) const {
    const Place at = r_.place_of(op);
    return at.line == 0 ? "" : fmt::format(" in line {}", at.line);
  }

  static constexpr const char* fix =
      "let one invocation write the element, use atomics that commute (only add and sub, or only "
      "min, max, and, or or xor), or run without `--exact`";

  struct Groups {
    Firsts all, any;
    std::unordered_map<uint64_t, Firsts> by_element;
  };

  const Program& p_;
  const UniformityInfo& u_;
  const bool exact_;
  Reporter& r_;
  FlowSegments in_grid_, in_group_;
  bool many_in_grid_ = true, many_in_group_ = true, has_acq_rel_ = false;
  IdMap<ValueId, Own> own_;              // by value
  std::array<int, 2> singles_ = {0, 0};  // of the grid, of the workgroup
  std::vector<Update> updates_;
  std::unordered_map<OpId, uint32_t> update_of_;
  std::vector<OpId> stores_;
  std::unordered_map<uint64_t, Groups> groups_;  // by buffer and segment
};

}  // namespace

void check_update_order(const Program& program, const UniformityInfo& uniformity, bool exact,
                        Reporter& report) {
  bool changes = false;
  walk(program, [&](OpId op) {
    const Op& o = program.ops[op];
    changes |= is_atomic(o.code) && o.code != Opcode::AtomicLoad;
  });
  if (changes) UpdateOrder(program, uniformity, exact, report).run();
}

}  // namespace vyre
