#include "transform/returning_loop.h"

#include <utility>

namespace vyre::plan {
namespace {

class LoopCopy {
 public:
  LoopCopy(const Program& from, IrBuilder& writer, Cloner& copier,
           const std::function<bool(OpId)>& returns)
      : p_(from), w_(writer), to_(writer.p), copier_(copier), returns_(returns) {}

  /// Copies a loop; returns the flag.
  ValueId copy_loop(OpId id) {
    const Op& o = p_.op(id);
    // A test cannot be left, so one with a return in it moves into the body.
    const bool test_inside = o.code == Opcode::While && holds_return(o.first_block);
    std::vector<ValueId> init = mapped(p_.operands(id));
    init.push_back(w_.boolean(false));
    const OpId op = w_.open(o.code, init, o.n_blocks);
    plain_loops_.push_back({id, {}});
    for (const ValueId v : p_.results(id)) plain_loops_.back().types.push_back(p_.type(v));
    for (const ValueId v : p_.args(o.first_block))
      copier_.map[v] = to_.add_argument(to_.op(op).first_block, p_.type(v));
    to_.add_argument(to_.op(op).first_block, Type::Bool);

    const BlockId before = w_.block;
    const BlockId first = to_.op(op).first_block;
    if (o.code == Opcode::For) {
      w_.block = first;
      copy_leaving(o.first_block);
    } else if (!test_inside) {
      w_.block = first;
      copy_leaving(o.first_block);
      w_.block = first + 1;
      copy_leaving(o.first_block + 1);
    } else {
      w_.block = first;
      const ValueId yes = w_.boolean(true);
      w_.exit(Opcode::Test, {&yes, 1});
      w_.block = first + 1;
      if (const ValueId condition = copy_leaving(o.first_block); condition != none) {
        const OpId guard = w_.open(Opcode::If, {&condition, 1}, 2);
        const BlockId body = std::exchange(w_.block, to_.op(guard).first_block);
        w_.exit(Opcode::Yield, {});
        w_.block = to_.op(guard).first_block + 1;
        std::vector<ValueId> values = mapped(p_.args(o.first_block));
        values.push_back(w_.boolean(false));
        w_.exit(Opcode::Break, values);
        w_.block = body;
        copy_leaving(o.first_block + 1);
      }
    }
    w_.block = before;
    std::vector<Type> types = std::move(plain_loops_.back().types);
    plain_loops_.pop_back();
    types.push_back(Type::Bool);
    const std::vector<ValueId> results = w_.set_results(op, types);
    for (uint32_t i = 0; i < o.results.count; ++i) copier_.map[p_.result(id, i)] = results[i];
    return results.back();
  }

 private:
  void break_returning() {
    std::vector<ValueId> values;
    for (const Type t : plain_loops_.back().types) values.push_back(w_.constant(t, 0));
    values.push_back(w_.boolean(true));
    w_.exit(Opcode::Break, values);
  }

  /// Copies a block of a plain loop or of something inside one. Gives the condition where it ends
  /// with `test` in a body.
  ValueId copy_leaving(BlockId block) {
    for (OpId at = p_.blocks[block].first; at != none; at = p_.op(at).next) {
      const Op& o = p_.op(at);
      w_.loc = o.loc;
      if (is_exit(o.code)) return leave(at);
      if (!returns_(at)) {
        if (holds_own_exits(at))
          copy_control(at);
        else
          copier_.copy(at);
      } else if (is_loop(o.code)) {
        const ValueId flag = copy_loop(at);
        const OpId guard = w_.open(Opcode::If, {&flag, 1}, 2);
        const BlockId here = std::exchange(w_.block, to_.op(guard).first_block);
        break_returning();
        w_.block = to_.op(guard).first_block + 1;
        w_.exit(Opcode::Yield, {});
        w_.block = here;
      } else {
        copy_control(at);
      }
    }
    return none;
  }

  /// An `if` or region may contain a break of the loop that got a flag.
  bool holds_own_exits(OpId op) const {
    return p_.op(op).code == Opcode::If || p_.op(op).code == Opcode::Region;
  }

  void copy_control(OpId at) {
    const Op& o = p_.op(at);
    const OpId op = w_.open(o.code, mapped(p_.operands(at)), o.n_blocks, o.attr);
    const BlockId here = w_.block;
    for (uint32_t i = 0; i < o.n_blocks; ++i) {
      w_.block = to_.op(op).first_block + i;
      copy_leaving(o.first_block + i);
    }
    w_.block = here;
    std::vector<Type> types;
    for (const ValueId v : p_.results(at)) types.push_back(p_.type(v));
    const std::vector<ValueId> results = w_.set_results(op, types);
    for (uint32_t i = 0; i < o.results.count; ++i) copier_.map[p_.result(at, i)] = results[i];
  }

  ValueId leave(OpId at) {
    const Op& o = p_.op(at);
    std::vector<ValueId> values = mapped(p_.operands(at));
    const OpId owner = parent(at);
    switch (o.code) {
      case Opcode::Return: break_returning(); return none;
      case Opcode::Test:
        if (to_.blocks[w_.block].parent != none && is_test_block(w_.block)) {
          w_.exit(Opcode::Test, values);
          return none;
        }
        return values[0];
      case Opcode::Yield:
        if (is_loop(p_.op(owner).code)) values.push_back(w_.boolean(false));
        break;
      case Opcode::Break:
      case Opcode::Continue: values.push_back(w_.boolean(false)); break;
      default: break;
    }
    w_.exit(o.code, values);
    return none;
  }

  bool is_test_block(BlockId block) const {
    const Op& owner = to_.op(to_.blocks[block].parent);
    return owner.code == Opcode::While && block == owner.first_block;
  }

  bool holds_return(BlockId block) const {
    for (OpId at = p_.blocks[block].first; at != none; at = p_.op(at).next)
      if (returns_(at)) return true;
    return false;
  }

  OpId parent(OpId op) const { return p_.blocks[p_.op(op).parent].parent; }

  std::vector<ValueId> mapped(std::span<const ValueId> values) const {
    std::vector<ValueId> list;
    for (const ValueId v : values) list.push_back(copier_.map[v]);
    return list;
  }

  struct PlainLoop {
    OpId from = none;
    std::vector<Type> types;
  };

  const Program& p_;
  IrBuilder& w_;
  Program& to_;
  Cloner& copier_;
  const std::function<bool(OpId)>& returns_;
  std::vector<PlainLoop> plain_loops_;
};

}  // namespace

ValueId copy_returning_loop(OpId loop, const Program& from, IrBuilder& writer, Cloner& copier,
                            const std::function<bool(OpId)>& returns) {
  return LoopCopy(from, writer, copier, returns).copy_loop(loop);
}

}  // namespace vyre::plan
