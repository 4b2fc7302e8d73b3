#include "opt/analysis/full_writes.h"

#include <algorithm>
#include <map>
#include <optional>

#include "ir/constant_trips.h"
#include "ir/eval/eval.h"
#include "opt/analysis/effects.h"

namespace vyre::opt {

namespace {

constexpr uint32_t local_dimension = 3, loop_dimension = 6;
constexpr size_t max_terms = 12, max_stores = 256;
constexpr uint32_t max_depth = 64;

/// Numbers of the type that are not negative are below 2^this.
uint32_t positive_bits(Type t) { return width_of(t) - is_signed(t); }

}  // namespace

/// Collects the stores of a program, with their forms and guards.
class FullWriteFinder {
 public:
  FullWriteFinder(const Program& p, FullWrites& out)
      : p_(p),
        out_(out),
        effects_(p),
        node_of_(p.values.size(), unknown),
        forms_(p.values.size()) {}

  void run() {
    std::vector<uint32_t> guards;
    out_.stores_ = block(body_block, guards, 0).stores;
    Form by_invocation{{{0, p_.workgroup[0], {}}}, 0, positive_bits(Type::U32)};
    if (p_.workgroup[0] > 1) by_invocation.terms.push_back({local_dimension, 1, {}});
    for (StoreSet& s : out_.stores_)
      s.is_by_invocation = s.guards.empty() && s.form == by_invocation;
  }

 private:
  using Node = FullWrites::Node;
  using Term = FullWrites::Term;
  using Form = FullWrites::Form;
  using Guard = FullWrites::Guard;
  using StoreSet = FullWrites::StoreSet;
  static constexpr uint32_t unknown = none - 1;

  struct Found {
    std::vector<StoreSet> stores;
    bool is_open = true;  // false: an unknown set of invocations reaches the end
  };

  // ---- Launch-uniform values.

  /// The node of a value, or none if the value is not launch-uniform.
  uint32_t node(ValueId v) {
    uint32_t& known = node_of_[v];
    if (known != unknown) return known;
    known = none;  // operands are defined before their users, so cycles are impossible
    const OpId def = p_.values[v].def;
    if (def == none || !is_counted(p_.type(v))) return none;
    const Op& o = p_.op(def);
    Node n{o.code, o.type, Type::U32, p_.type(v), o.attr, {}};
    switch (o.code) {
      case Opcode::Const:
      case Opcode::Scalar:
      case Opcode::Len:
      case Opcode::Len64:
      case Opcode::NumWorkgroups:
      case Opcode::WorkgroupSize: break;
      default:
        if (!is_pure(o.code) || o.operands.count == 0 || depth_ >= max_depth) return none;
        ++depth_;
        for (const ValueId operand : p_.operands(def)) n.operands.push_back(node(operand));
        --depth_;
        if (std::count(n.operands.begin(), n.operands.end(), none)) return none;
        n.source = p_.type(p_.operand(def, 0));
        if (!find_eval(n.code, n.type, n.source)) return none;
    }
    const auto [same, is_new] = numbers_.try_emplace(n, uint32_t(out_.nodes_.size()));
    if (is_new) out_.nodes_.push_back(std::move(n));
    return node_of_[v] = same->second;
  }
  static bool is_counted(Type t) { return is_integer(t) || t == Type::Bool; }

  // ---- Forms.

  const std::optional<Form>& form(ValueId v) {
    auto& known = forms_[v];
    if (!known) {
      known.emplace();  // no form
      if (depth_ < max_depth) {
        ++depth_;
        *known = make_form(v);
        --depth_;
      }
    }
    return *forms_[v];
  }

  std::optional<Form> make_form(ValueId v) {
    const Type t = p_.type(v);
    if (!is_integer(t)) return std::nullopt;
    const uint32_t bits = positive_bits(t);
    if (const auto c = constant_bits(p_, v)) {
      if (*c & ~low_mask(bits)) return std::nullopt;
      return Form{{}, *c, bits};
    }
    if (const uint32_t n = node(v); n != none) return Form{{{none, 1, {n}}}, 0, bits};
    const OpId def = p_.values[v].def;
    if (def == none) return std::nullopt;  // variables of loops are set by loop()
    const Op& o = p_.op(def);
    const uint32_t d = uint32_t(o.attr);
    switch (o.code) {
      case Opcode::GlobalId: {
        Form f{{{d, p_.workgroup[d], {}}}, 0, bits};
        if (p_.workgroup[d] > 1) f.terms.push_back({local_dimension + d, 1, {}});
        return f;
      }
      case Opcode::WorkgroupId: return Form{{{d, 1, {}}}, 0, bits};
      case Opcode::LocalId:
        if (p_.workgroup[d] == 1) return Form{{}, 0, bits};
        return Form{{{local_dimension + d, 1, {}}}, 0, bits};
      case Opcode::Add: return sum(form(p_.operand(def, 0)), form(p_.operand(def, 1)), bits);
      case Opcode::Mul:
        if (auto f = product(p_.operand(def, 0), p_.operand(def, 1), bits)) return f;
        return product(p_.operand(def, 1), p_.operand(def, 0), bits);
      case Opcode::Shl: {
        const auto by = constant_bits(p_, p_.operand(def, 1));
        if (!by) return std::nullopt;
        return scaled(form(p_.operand(def, 0)), uint64_t{1} << (*by & (width_of(t) - 1)), bits);
      }
      case Opcode::Cast: {
        std::optional<Form> f = form(p_.operand(def, 0));
        if (f) f->bits = std::min(f->bits, bits);
        return f;
      }
      default: return std::nullopt;
    }
  }

  static std::optional<Form> sum(const std::optional<Form>& a, const std::optional<Form>& b,
                                 uint32_t bits) {
    if (!a || !b || a->terms.size() + b->terms.size() > max_terms) return std::nullopt;
    Form r = *a;
    r.bits = std::min({a->bits, b->bits, bits});
    if (__builtin_add_overflow(r.offset, b->offset, &r.offset)) return std::nullopt;
    for (const Term& t : b->terms) {
      const auto same = std::find_if(r.terms.begin(), r.terms.end(), [&](const Term& u) {
        return u.dimension == t.dimension && u.factors == t.factors;
      });
      if (same == r.terms.end())
        r.terms.push_back(t);
      else if (__builtin_add_overflow(same->coefficient, t.coefficient, &same->coefficient))
        return std::nullopt;
    }
    std::sort(r.terms.begin(), r.terms.end(), [](const Term& x, const Term& y) {
      return x.dimension != y.dimension ? x.dimension < y.dimension : x.factors < y.factors;
    });
    return r;
  }

  static std::optional<Form> scaled(std::optional<Form> f, uint64_t by, uint32_t bits) {
    if (!f) return f;
    f->bits = std::min(f->bits, bits);
    if (__builtin_mul_overflow(f->offset, by, &f->offset)) return std::nullopt;
    for (Term& t : f->terms)
      if (__builtin_mul_overflow(t.coefficient, by, &t.coefficient)) return std::nullopt;
    return f;
  }

  /// a times a launch-uniform b.
  std::optional<Form> product(ValueId a, ValueId b, uint32_t bits) {
    if (const auto c = constant_bits(p_, b)) {
      if (*c & ~low_mask(bits)) return std::nullopt;
      return scaled(form(a), *c, bits);
    }
    const uint32_t n = node(b);
    if (n == none) return std::nullopt;
    std::optional<Form> f = form(a);
    if (!f) return f;
    f->bits = std::min(f->bits, bits);
    for (Term& t : f->terms) {
      t.factors.push_back(n);
      std::sort(t.factors.begin(), t.factors.end());
    }
    if (f->offset) f->terms.insert(f->terms.begin(), {none, f->offset, {n}});
    f->offset = 0;
    return sum(f, Form{{}, 0, bits}, bits);  // sorted
  }

  // ---- Conditions.

  /// Returns guards that together express that a condition has this value; nothing if they cannot.
  std::optional<std::vector<uint32_t>> guards_of(ValueId condition, bool value) {
    std::vector<uint32_t> found;
    std::vector<std::pair<ValueId, bool>> todo = {{condition, value}};
    while (!todo.empty()) {
      const auto [v, wanted] = todo.back();
      todo.pop_back();
      if (const uint32_t n = node(v); n != none) {
        found.push_back(guard({Guard::Kind::Uniform, {}, n, wanted}));
        continue;
      }
      const OpId def = p_.values[v].def;
      if (def == none) return std::nullopt;
      const Opcode code = p_.op(def).code;
      if (code == Opcode::Not) {
        todo.push_back({p_.operand(def, 0), !wanted});
      } else if (code == (wanted ? Opcode::And : Opcode::Or)) {
        for (const ValueId part : p_.operands(def)) todo.push_back({part, wanted});
      } else if (const auto g = comparison(def, wanted)) {
        found.push_back(guard(*g));
      } else if (const auto side = chosen_side(v, wanted)) {
        todo.push_back({p_.operand(def, 0), *side == 0});
        todo.push_back({yielded(v, *side), wanted});
      } else {
        return std::nullopt;
      }
      if (found.size() + todo.size() > 16) return std::nullopt;
    }
    return found;
  }

  /// For a result of an `if`, the branch that must have been taken where it has this value: fused
  /// kernels keep an early return as a flag.
  std::optional<uint32_t> chosen_side(ValueId v, bool wanted) const {
    const OpId def = p_.values[v].def;
    if (p_.op(def).code != Opcode::If) return std::nullopt;
    for (uint32_t side = 0; side < 2; ++side) {
      const ValueId other = yielded(v, 1 - side);
      if (other == none) return std::nullopt;
      const auto bits = constant_bits(p_, other);
      if (bits ? (*bits & 1) != wanted : other == p_.operand(def, 0) && (side == 1) != wanted)
        return side;
    }
    return std::nullopt;
  }

  /// The value that a branch of an `if` yields for a result; none if it does not end in `yield`.
  ValueId yielded(ValueId v, uint32_t side) const {
    const OpId def = p_.values[v].def;
    const OpId end = p_.blocks[p_.block(def, side)].last;
    if (end == none || p_.op(end).code != Opcode::Yield) return none;
    const auto results = p_.results(def);
    return p_.operand(end,
                      uint32_t(std::find(results.begin(), results.end(), v) - results.begin()));
  }

  std::optional<Guard> comparison(OpId op, bool wanted) {
    Opcode code = p_.op(op).code;
    if (p_.op(op).operands.count != 2 || !is_integer(p_.type(p_.operand(op, 0))))
      return std::nullopt;
    ValueId a = p_.operand(op, 0), b = p_.operand(op, 1);
    const auto kind = [](Opcode c) -> std::optional<Guard::Kind> {
      switch (c) {
        case Opcode::Lt: return Guard::Kind::Below;
        case Opcode::Le: return Guard::Kind::AtMost;
        case Opcode::Ge: return Guard::Kind::AtLeast;
        case Opcode::Eq: return Guard::Kind::Equal;
        default: return std::nullopt;
      }
    };
    const auto mirrored = [](Opcode c) {
      return c == Opcode::Lt   ? Opcode::Gt
             : c == Opcode::Gt ? Opcode::Lt
             : c == Opcode::Le ? Opcode::Ge
             : c == Opcode::Ge ? Opcode::Le
                               : c;
    };
    const auto negated = [](Opcode c) {
      return c == Opcode::Lt   ? Opcode::Ge
             : c == Opcode::Ge ? Opcode::Lt
             : c == Opcode::Gt ? Opcode::Le
             : c == Opcode::Le ? Opcode::Gt
             : c == Opcode::Eq ? Opcode::Ne
             : c == Opcode::Ne ? Opcode::Eq
                               : c;
    };
    if (!wanted) code = negated(code);
    if (node(b) == none) {
      std::swap(a, b);
      code = mirrored(code);
    }
    const uint32_t bound = node(b);
    const auto k = kind(code);
    if (bound == none || !k) return std::nullopt;
    const std::optional<Form>& f = form(a);
    if (!f) return std::nullopt;
    return Guard{*k, *f, bound, true};
  }

  uint32_t guard(Guard g) {
    const auto same = std::find(out_.guards_.begin(), out_.guards_.end(), g);
    if (same != out_.guards_.end()) return uint32_t(same - out_.guards_.begin());
    out_.guards_.push_back(std::move(g));
    return uint32_t(out_.guards_.size() - 1);
  }

  // ---- Blocks.

  /// Finds the stores of a block that invocations under `guards` reach. Appends the guards that
  /// hold after the block.
  Found block(BlockId b, std::vector<uint32_t>& guards, uint32_t depth) {
    return ops_from(p_.blocks[b].first, guards, depth);
  }

  /// As block(), for the ops from one on.
  Found ops_from(OpId first, std::vector<uint32_t>& guards, uint32_t depth) {
    Found found;
    for (OpId op = first; op != none && found.is_open; op = p_.op(op).next) {
      switch (p_.op(op).code) {
        case Opcode::Store: store(op, 1, guards, found); break;
        case Opcode::StoreN: store(op, p_.op(op).operands.count - 1, guards, found); break;
        case Opcode::Region:
          if (depth < max_depth) {
            take(block(p_.block(op, 0), guards, depth + 1), found);
            continue;  // its effects are noted
          }
          found.is_open = !effects_.of(op).leaves;
          break;
        case Opcode::If:
          if (branch(op, guards, depth, found)) return found;
          break;
        case Opcode::For: for_loop(op, guards, depth, found); break;
        case Opcode::While: while_loop(op, guards, depth, found); break;
        default:
          if (p_.op(op).n_blocks && effects_.of(op).leaves) found.is_open = false;
      }
      read_ |= effects_.of(op).reads | effects_.of(op).atomics;
    }
    return found;
  }

  static void take(Found from, Found& to) {
    for (StoreSet& s : from.stores)
      if (to.stores.size() < max_stores) to.stores.push_back(std::move(s));
    to.is_open &= from.is_open;
  }

  void store(OpId op, uint32_t elements, const std::vector<uint32_t>& guards, Found& found) {
    const BufferId b = p_.memory(op).buffer;
    if (p_.buffers[b].role != Role::Out || (read_ & bit_of(b))) return;
    const std::optional<Form>& f = form(p_.operand(op, 0));
    if (!f) return;
    // Neighbours of an earlier store that has the same guards extend it.
    for (StoreSet& s : found.stores)
      if (s.buffer == b && s.guards == guards && s.form.terms == f->terms &&
          s.form.offset <= f->offset && f->offset - s.form.offset <= s.elements) {
        s.elements = std::max(s.elements, f->offset - s.form.offset + elements);
        s.form.bits = std::min(s.form.bits, f->bits);
        return;
      }
    if (found.stores.size() < max_stores) found.stores.push_back({b, *f, elements, guards});
  }

  bool leaves(BlockId b) const {
    for (OpId op = p_.blocks[b].first; op != none; op = p_.op(op).next)
      if (effects_.of(op).leaves) return true;
    return false;
  }

  /// True if a branch stores and returns: the ops after it then belong to the other branch, and
  /// were visited.
  bool branch(OpId op, std::vector<uint32_t>& guards, uint32_t depth, Found& found) {
    std::array<Found, 2> sides;
    std::array<std::vector<uint32_t>, 2> inside = {guards, guards};
    std::array<std::optional<std::vector<uint32_t>>, 2> conditions;
    std::array<bool, 2> leave;
    std::array<uint64_t, 2> read = {read_, read_};
    for (uint32_t i = 0; i < 2; ++i) {
      const BlockId b = p_.block(op, i);
      conditions[i] = guards_of(p_.operand(op, 0), i == 0);
      leave[i] = leaves(b);
      read_ = read[i];
      if (depth < max_depth) sides[i] = block(b, inside[i], depth + 1);
      read[i] = read_;
    }
    bool is_done = false;
    for (uint32_t i = 0; i < 2; ++i) {
      if (!leave[i] || leave[1 - i] || sides[i].stores.empty() || !ends_in_return(p_.block(op, i)))
        continue;
      read_ = read[1 - i];
      take(ops_from(p_.op(op).next, inside[1 - i], depth + 1), sides[1 - i]);
      read[1 - i] = read_;
      guards.insert(guards.end(), inside[1 - i].begin() + long(guards.size()), inside[1 - i].end());
      is_done = true;
    }
    read_ = read[0] | read[1];
    merge(sides, conditions, found);
    // Invocations that do not leave have the condition of the other side.
    if (leave[0] && leave[1]) found.is_open = false;
    for (uint32_t i = 0; i < 2 && found.is_open; ++i) {
      if (!leave[i]) continue;
      const auto& rest = conditions[1 - i];
      if (rest)
        guards.insert(guards.end(), rest->begin(), rest->end());
      else
        found.is_open = false;
      if (is_done) found.is_open &= sides[1 - i].is_open;
    }
    return is_done;
  }

  /// Takes the stores of both branches, without the condition where they are the same.
  static void merge(std::array<Found, 2>& sides,
                    const std::array<std::optional<std::vector<uint32_t>>, 2>& conditions,
                    Found& found) {
    for (uint32_t i = 0; i < 2; ++i)
      for (StoreSet& s : sides[i].stores) {
        const auto same = [&](const StoreSet& t) {
          return t.buffer == s.buffer && t.form == s.form && t.elements == s.elements &&
                 t.guards == s.guards;
        };
        const auto& others = sides[1 - i].stores;
        const bool in_both = std::any_of(others.begin(), others.end(), same);
        if (in_both && i == 1) continue;  // taken from the other side
        if (!in_both) {
          if (!conditions[i]) continue;
          s.guards.insert(s.guards.end(), conditions[i]->begin(), conditions[i]->end());
        }
        if (found.stores.size() < max_stores) found.stores.push_back(s);
      }
  }

  bool ends_in_return(BlockId b) const {
    const OpId last = p_.blocks[b].last;
    return last != none && p_.op(last).code == Opcode::Return;
  }

  // ---- Loops.

  /// `from` + step · the dimension of the next loop.
  Form counted(Form from, uint32_t step, ValueId step_value, Type t) const {
    Term term{uint32_t(loop_dimension + out_.loops_.size()), 1, {step}};
    if (const auto c = constant_bits(p_, step_value)) {
      term.coefficient = *c;
      term.factors.clear();
    }
    from.terms.push_back(std::move(term));  // the last dimension
    from.bits = std::min(from.bits, positive_bits(t));
    return from;
  }

  /// The body of a loop, whose dimension and variables are known.
  void body(OpId op, BlockId b, FullWrites::Loop l, std::vector<uint32_t> guards, uint32_t depth,
            Found& found) {
    guards.push_back(
        guard({Guard::Kind::Runs, {}, uint32_t(loop_dimension + out_.loops_.size()), true}));
    out_.loops_.push_back(std::move(l));
    // A read in one iteration may come before a store in the next.
    read_ |= effects_.of(op).reads | effects_.of(op).atomics;
    Found stores = block(b, guards, depth + 1);
    stores.is_open = true;  // `continue` ends at the loop
    take(std::move(stores), found);
  }

  void for_loop(OpId op, const std::vector<uint32_t>& guards, uint32_t depth, Found& found) {
    const EffectSummary& e = effects_.of(op);
    if (e.leaves) found.is_open = false;  // a return
    const BlockId b = p_.block(op, 0);
    const uint32_t step = node(p_.operand(op, 2));
    if (e.leaves || depth >= max_depth || step == none || has(b, Opcode::Break)) return;
    const ValueId lo = p_.operand(op, 0), hi = p_.operand(op, 1), i = p_.args(b)[0];
    FullWrites::Loop l{node(lo), step, {}};
    std::vector<uint32_t> inside = guards;
    const std::optional<Form> from = form(lo);
    std::optional<Form> variable;
    if (from) variable = counted(*from, step, p_.operand(op, 2), p_.type(i));
    if (const uint32_t end = node(hi); end != none && l.begin != none) {
      l.ends.push_back({{{none, 1, {end}}}, 0, 64});
    } else {
      l.begin = none;
      if (!variable || !find_ends(hi, *from, *variable, l, inside)) return;
    }
    forms_[i] = std::move(variable);
    body(op, b, std::move(l), std::move(inside), depth, found);
  }

  /// Finds bounds of the variable of a loop whose begin or end depends on the invocation: ends that
  /// are launch-uniform or at a launch-uniform distance from the begin, n - x for a launch-uniform
  /// n, and minima of these.
  bool find_ends(ValueId hi, const Form& from, const Form& variable, FullWrites::Loop& l,
                 std::vector<uint32_t>& guards) {
    const auto below = [&](const Form& f, uint32_t bound) {
      guards.push_back(guard({Guard::Kind::Below, f, bound, true}));
      l.ends.push_back({{{none, 1, {bound}}}, 0, 64});
    };
    std::vector<ValueId> todo = {hi};
    while (!todo.empty()) {
      const ValueId v = todo.back();
      todo.pop_back();
      const OpId def = p_.values[v].def;
      const Opcode code = def == none ? Opcode::Const : p_.op(def).code;
      if (const uint32_t n = node(v); n != none) {
        below(variable, n);
      } else if (code == Opcode::Min && todo.size() < 8) {
        for (const ValueId part : p_.operands(def)) todo.push_back(part);
      } else if (const std::optional<Form> end = form(v)) {
        std::optional<Form> distance = difference(*end, from);
        if (!distance) return false;
        guards.push_back(guard({Guard::Kind::Exact, *end, none, true}));
        l.ends.push_back(std::move(*distance));
      } else if (code == Opcode::Sub && node(p_.operand(def, 0)) != none) {
        // Where x is above n the difference wraps, and no x + variable is below n.
        const auto all = sum(form(p_.operand(def, 1)), variable, positive_bits(p_.type(v)));
        if (!all) return false;
        below(*all, node(p_.operand(def, 0)));
      } else {
        return false;
      }
    }
    return true;
  }

  /// a - b, if that is launch-uniform and no part of it is negative.
  static std::optional<Form> difference(Form a, const Form& b) {
    for (const Term& t : b.terms) {
      const auto same = std::find(a.terms.begin(), a.terms.end(), t);
      if (same == a.terms.end()) return std::nullopt;
      a.terms.erase(same);
    }
    if (a.offset < b.offset) return std::nullopt;
    a.offset -= b.offset;
    for (const Term& t : a.terms)
      if (t.dimension != none) return std::nullopt;
    return a;
  }

  /// A loop whose variables grow by launch-uniform steps, as long as one of them is below a bound.
  void while_loop(OpId op, const std::vector<uint32_t>& guards, uint32_t depth, Found& found) {
    const EffectSummary& e = effects_.of(op);
    if (e.leaves) found.is_open = false;
    const BlockId test = p_.block(op, 0), b = p_.block(op, 1);
    const OpId end = p_.blocks[test].last, next = p_.blocks[b].last;
    if (e.leaves || depth >= max_depth || has(b, Opcode::Break) || has(b, Opcode::Continue) ||
        next == none || end == none || p_.op(end).code != Opcode::Test ||
        p_.op(next).code != Opcode::Yield)
      return;
    const auto dimension = uint32_t(loop_dimension + out_.loops_.size());
    for (uint32_t i = 0; i < p_.args(test).size(); ++i) {
      const ValueId variable = p_.args(test)[i];
      const ValueId step = added_to(p_.operand(next, i), variable);
      const std::optional<Form> from = step == none ? std::nullopt : form(p_.operand(op, i));
      if (from && node(step) != none)
        forms_[variable] = std::optional<Form>(counted(*from, node(step), step, p_.type(variable)));
    }
    const auto conditions = guards_of(p_.operand(end, 0), true);
    if (!conditions) return;
    FullWrites::Loop l;
    for (const uint32_t id : *conditions) {
      const Guard& g = out_.guards_[id];
      if (std::none_of(g.form.terms.begin(), g.form.terms.end(),
                       [&](const Term& t) { return t.dimension == dimension; }))
        continue;
      if (g.kind == Guard::Kind::Equal) return;  // not in every iteration before
      if (g.kind == Guard::Kind::Below || g.kind == Guard::Kind::AtMost)
        l.ends.push_back({{{none, 1, {g.bound}}}, g.kind == Guard::Kind::AtMost, 64});
    }
    if (l.ends.empty()) return;
    std::vector<uint32_t> inside = guards;
    inside.insert(inside.end(), conditions->begin(), conditions->end());
    body(op, b, std::move(l), std::move(inside), depth, found);
  }

  /// Returns the step that is added to `variable`, or none.
  ValueId added_to(ValueId sum, ValueId variable) const {
    const OpId def = p_.values[sum].def;
    if (def == none || p_.op(def).code != Opcode::Add) return none;
    if (p_.operand(def, 0) == variable) return p_.operand(def, 1);
    return p_.operand(def, 1) == variable ? p_.operand(def, 0) : none;
  }

  bool has(BlockId body, Opcode code) const {
    bool found = false;
    walk(p_, body, [&](OpId op) { found |= p_.op(op).code == code; });
    return found;
  }

  const Program& p_;
  FullWrites& out_;
  Effects effects_;
  IdMap<ValueId, uint32_t> node_of_;  // by value
  std::map<Node, uint32_t> numbers_;  // equal nodes are one
  IdMap<ValueId, std::optional<std::optional<Form>>> forms_;
  uint64_t read_ = 0;  // buffers that an invocation may have read
  uint32_t depth_ = 0;
};

FullWrites::FullWrites(const Program& program) : workgroup_(program.workgroup) {
  if (program.buffers.size() <= 64) FullWriteFinder(program, *this).run();
}

}  // namespace vyre::opt
