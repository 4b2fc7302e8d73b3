#include "codegen/llvm/lane_strides.h"

#include <algorithm>

namespace vyre::emit_llvm {

class ShapeFinder {
 public:
  ShapeFinder(const Prepared& k, IdMap<ValueId, Shapes::Shape>& shapes)
      : k_(k), p_(k.program), of_(shapes), general_(p_.values.size(), false) {}

  /// Assumes first that a carried value has the stride of its initial value. Where that does not
  /// hold, the assumption is removed and the analysis runs again.
  void run() {
    constexpr int rounds = 6;
    for (int round = 0;; ++round) {
      of_.assign(p_.values.size(), {});
      again_ = false;
      last_ = round >= rounds;
      walk_blocks(p_, body_block, [this](Visit what, OpId op, BlockId block) {
        if (what == Visit::Op) visit(op);
        if (what == Visit::LeaveBlock) leave(block);
      });
      if (!again_ || last_) return;
    }
  }

 private:
  using Shape = Shapes::Shape;

  static uint64_t largest(Type t) {
    return is_signed(t) ? low_mask(width_of(t) - 1) : low_mask(width_of(t));
  }

  void visit(OpId id) {
    const Op& op = p_.op(id);
    if (op.code == Opcode::For || op.code == Opcode::While) return begin_loop(id);
    for (const ValueId v : p_.results(id))
      if (is_integer(p_.type(v)) && k_.uniform(v)) of_[v].stride = 0;
    if (!is_pure(op.code) || !is_integer(p_.type(p_.result(id)))) return;
    const ValueId v = p_.result(id);
    Shape s = pure(id);
    if (k_.uniform(v)) s.stride = 0;
    if (s.stride == 0) s.exact = true;
    of_[v] = s;
  }

  std::optional<uint64_t> constant(ValueId v) const {
    const OpId def = p_.values[v].def;
    if (def == none || p_.op(def).code != Opcode::Const) return std::nullopt;
    return p_.op(def).attr;
  }

  Shape pure(OpId id) const {
    const Op& op = p_.op(id);
    const Type t = p_.type(p_.result(id));
    const auto in = [&](uint32_t i) -> const Shape& { return of_[p_.operand(id, i)]; };
    Shape s;
    switch (op.code) {
      case Opcode::Const:
        if (op.attr <= largest(t)) s.limit = op.attr;
        break;
      case Opcode::LaneId: return {1, k_.lanes - 1, true};
      case Opcode::SubgroupSize: s.limit = k_.lanes; break;
      case Opcode::WorkgroupSize: s.limit = p_.workgroup[op.attr]; break;
      case Opcode::LocalId: s.limit = p_.workgroup[op.attr] - 1; [[fallthrough]];
      case Opcode::GlobalId:
        if (op.attr == 0 && k_.rows) s.stride = 1, s.exact = true;
        break;
      case Opcode::Add:
        if (in(0).stride && in(1).stride) s.stride = *in(0).stride + *in(1).stride;
        if (in(0).limit && in(1).limit) bound(s, t, *in(0).limit, *in(1).limit, 1, in(0), in(1));
        break;
      case Opcode::Sub:
        if (in(0).stride && in(1).stride) s.stride = *in(0).stride - *in(1).stride;
        break;
      case Opcode::Mul:
        for (uint32_t i = 0; i < 2; ++i)
          if (const auto c = constant(p_.operand(id, i)); c && in(1 - i).stride && *c < (1u << 20))
            s.stride = *in(1 - i).stride * static_cast<int64_t>(*c);
        if (in(0).limit && in(1).limit) bound(s, t, 0, *in(0).limit, *in(1).limit, in(0), in(1));
        break;
      case Opcode::Shl:
        if (const auto c = constant(p_.operand(id, 1)); c && *c < std::min(20u, width_of(t))) {
          if (in(0).stride) s.stride = *in(0).stride << *c;
          if (in(0).limit) bound(s, t, 0, *in(0).limit, uint64_t{1} << *c, in(0), in(0));
        }
        break;
      case Opcode::And:
        for (uint32_t i = 0; i < 2; ++i)
          if (in(i).limit) s.limit = std::min(s.limit.value_or(~0ull), *in(i).limit);
        break;
      case Opcode::Rem:
        if (in(0).limit) s.limit = in(0).limit;
        if (is_unsigned(t) || in(0).limit)
          if (const auto c = constant(p_.operand(id, 1)); c && *c > 0 && *c <= largest(t))
            s.limit = std::min(s.limit.value_or(~0ull), *c - 1);
        break;
      case Opcode::Min:
        if (is_unsigned(t) || (in(0).limit && in(1).limit))
          for (uint32_t i = 0; i < 2; ++i)
            if (in(i).limit) s.limit = std::min(s.limit.value_or(~0ull), *in(i).limit);
        break;
      case Opcode::Shr:
        if (in(0).limit) {
          const auto c = constant(p_.operand(id, 1));
          s.limit = *in(0).limit >> (c ? *c % width_of(t) : 0);
        }
        break;
      case Opcode::Div:
        if (const auto c = constant(p_.operand(id, 1));
            in(0).limit && c && *c > 0 && *c <= largest(t))
          s.limit = *in(0).limit / *c;
        break;
      case Opcode::Select:
        if (in(1).limit && in(2).limit) s.limit = std::max(*in(1).limit, *in(2).limit);
        if (k_.uniform(p_.operand(id, 0)) && in(1).stride && in(1).stride == in(2).stride)
          s.stride = in(1).stride, s.exact = in(1).exact && in(2).exact;
        break;
      case Opcode::Cast: return cast(t, p_.type(p_.operand(id, 0)), in(0));
      default: break;
    }
    return s;
  }

  /// The limit plus + a * b, if it fits the type.
  static void bound(Shape& s, Type t, uint64_t plus, uint64_t a, uint64_t b, const Shape& x,
                    const Shape& y) {
    const unsigned __int128 most = static_cast<unsigned __int128>(a) * b + plus;
    if (most > largest(t)) return;
    s.limit = static_cast<uint64_t>(most);
    s.exact = x.exact && y.exact;
  }

  static Shape cast(Type to, Type from, const Shape& in) {
    Shape s;
    if (!is_integer(from)) return s;
    const bool fits = in.limit && *in.limit <= largest(to);
    if (fits) s.limit = in.limit;
    const bool widens = width_of(to) > width_of(from);
    if (in.stride && (!widens || (in.exact && (is_unsigned(from) || in.limit))))
      s.stride = in.stride;
    s.exact = in.exact && (fits || (widens && is_unsigned(from)));
    return s;
  }

  void begin_loop(OpId id) {
    const Op& op = p_.op(id);
    const bool is_for = op.code == Opcode::For;
    const auto args = p_.args(op.first_block);
    if (is_for) {
      const Shape lo = of_[p_.operand(id, 0)], hi = of_[p_.operand(id, 1)];
      Shape& i = of_[args[0]];
      if (of_[p_.operand(id, 2)].stride == 0) i.stride = lo.stride;
      if (k_.uniform(args[0])) i.stride = 0;
      if (hi.limit && *hi.limit > 0 && (lo.limit || is_unsigned(p_.type(args[0]))))
        i.limit = *hi.limit - 1;
      // Below the limit of its type in every lane that is on, so it does not wrap from lane to lane
      // if it steps up; but lanes that are off may have.
      i.exact = i.stride == 0;
    }
    for (uint32_t k = is_for; k < args.size(); ++k) {
      const ValueId a = args[k];
      if (!is_integer(p_.type(a))) continue;
      if (k_.uniform(a)) {
        of_[a].stride = 0;
        of_[a].exact = true;
      } else if (!general_[a] && !last_) {
        of_[a].stride = of_[p_.operand(id, k - is_for + (is_for ? 3 : 0))].stride;
      }
    }
    for (const ValueId v : p_.results(id))
      if (is_integer(p_.type(v)) && k_.uniform(v)) of_[v].stride = 0, of_[v].exact = true;
  }

  /// Checks the carried values at exits that lead back to the header.
  void leave(BlockId block) {
    const OpId exit = p_.blocks[block].last;
    const Opcode code = p_.op(exit).code;
    if (code != Opcode::Yield && code != Opcode::Continue) return;
    OpId loop = p_.blocks[block].parent;
    if (code == Opcode::Yield && (loop == none || !is_loop(p_.op(loop).code))) return;
    while (!is_loop(p_.op(loop).code)) loop = p_.blocks[p_.op(loop).parent].parent;
    const bool is_for = p_.op(loop).code == Opcode::For;
    const auto args = p_.args(p_.op(loop).first_block).subspan(is_for ? 1 : 0);
    const bool several = code == Opcode::Continue && k_.masked[loop];
    for (uint32_t k = 0; k < args.size(); ++k) {
      const ValueId a = args[k];
      if (!is_integer(p_.type(a)) || k_.uniform(a) || !of_[a].stride) continue;
      // Lanes from different back-edges have different bases.
      if (!several && of_[p_.operand(exit, k)].stride == of_[a].stride) continue;
      general_[a] = true;
      again_ = true;
    }
  }

  const Prepared& k_;
  const Program& p_;
  IdMap<ValueId, Shape>& of_;
  IdMap<ValueId, bool> general_;
  bool again_ = false, last_ = false;
};

Shapes::Shapes(const Prepared& kernel) { ShapeFinder(kernel, of_).run(); }

}  // namespace vyre::emit_llvm
