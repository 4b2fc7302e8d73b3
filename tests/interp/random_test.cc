// Random structured programs against an interpreter of the simplest kind: one invocation at a time,
// recursing over blocks. It shares nothing with the real one but eval.

#include <random>

#include "ir/eval/eval.h"
#include "tests/interp/interp_kernel_util.h"

namespace vyre::interp {
namespace {

/// One invocation. Buffer 0: out u32[n], buffer 1: private u32[8].
class Simple {
 public:
  Simple(const Program& p, uint32_t id, std::vector<uint32_t>& out)
      : p_(p), id_(id), out_(out), values_(p.values.size(), 0) {}
  void run() { block(body_block); }

 private:
  enum class Flow { Next, Break, Continue, Return, TestFailed };

  void give(std::span<const ValueId> to, std::span<const ValueId> from) {
    std::vector<uint64_t> bits;
    for (const ValueId v : from) bits.push_back(values_[v]);
    for (size_t i = 0; i < to.size(); ++i) values_[to[i]] = bits[i];
  }

  Flow block(BlockId b) {
    for (OpId id = p_.blocks[b].first; id != none; id = p_.op(id).next) {
      const Flow f = step(id);
      if (f != Flow::Next) return f;
    }
    return Flow::Next;
  }

  /// Which loop is innermost, for break and continue.
  OpId loop_ = none;

  Flow step(OpId id) {
    const Op& op = p_.op(id);
    const auto in = p_.operands(id);
    switch (op.code) {
      case Opcode::Const: values_[p_.result(id)] = op.attr; return Flow::Next;
      case Opcode::GlobalId: values_[p_.result(id)] = id_; return Flow::Next;
      case Opcode::Load: {
        const uint64_t i = values_[in[0]];
        values_[p_.result(id)] = p_.op(id).buffer() == BufferId(0) ? (i == id_ ? out_[i] : 0)
                                 : i < 8                           ? private_[i]
                                                                   : 0;
        return Flow::Next;
      }
      case Opcode::Store: {
        const uint64_t i = values_[in[0]];
        const auto v = static_cast<uint32_t>(values_[in[1]]);
        if (p_.op(id).buffer() == BufferId(0)) {
          if (i < out_.size()) out_[i] = v;
        } else if (i < 8)
          private_[i] = v;
        return Flow::Next;
      }
      case Opcode::If: return block(p_.block(id, values_[in[0]] ? 0 : 1));
      case Opcode::Region: return block(p_.block(id, 0));
      case Opcode::For:
      case Opcode::While: return loop(id);
      case Opcode::Yield:
      case Opcode::Break:
      case Opcode::Continue: {
        const OpId parent = p_.blocks[op.parent].parent;
        if (op.code == Opcode::Yield && !is_loop(p_.op(parent).code)) {
          give(p_.results(parent), in);
          return Flow::Next;
        }
        const auto args =
            p_.args(p_.block(loop_, 0)).subspan(p_.op(loop_).code == Opcode::For ? 1 : 0);
        give(args, in);
        if (op.code == Opcode::Break) return Flow::Break;
        return op.code == Opcode::Continue ? Flow::Continue : Flow::Next;
      }
      case Opcode::Test: return values_[in[0]] ? Flow::Next : Flow::TestFailed;
      case Opcode::Return: return Flow::Return;
      default: {
        std::vector<uint64_t> bits;
        for (const ValueId v : in) bits.push_back(values_[v]);
        values_[p_.result(id)] =
            eval_bits(op.code, op.type, p_.type(in[0]), bits.data(), bits.size());
        return Flow::Next;
      }
    }
  }

  Flow loop(OpId id) {
    const OpId outer = loop_;
    loop_ = id;
    const bool is_for = p_.op(id).code == Opcode::For;
    const auto in = p_.operands(id);
    const auto args = p_.args(p_.block(id, 0)).subspan(is_for ? 1 : 0);
    give(args, in.subspan(is_for ? 3 : 0));
    Flow f = Flow::Next;
    if (is_for) {
      const auto lo = static_cast<unsigned __int128>(values_[in[0]]);
      const uint64_t hi = values_[in[1]], s = values_[in[2]];
      for (auto i = lo; s > 0 && i < hi && f != Flow::Break && f != Flow::Return; i += s) {
        values_[p_.args(p_.block(id, 0))[0]] = static_cast<uint64_t>(i);
        f = block(p_.block(id, 0));
      }
    } else {
      for (;;) {
        f = block(p_.block(id, 0));
        if (f != Flow::Next) break;
        f = block(p_.block(id, 1));
        if (f == Flow::Break || f == Flow::Return) break;
      }
    }
    loop_ = outer;
    if (f == Flow::Return) return f;
    give(p_.results(id), args);
    return Flow::Next;
  }

  const Program& p_;
  const uint32_t id_;
  std::vector<uint32_t>& out_;
  IdMap<ValueId, uint64_t> values_;
  uint32_t private_[8] = {};
};

class Generator {
 public:
  explicit Generator(uint32_t seed, uint32_t lanes, uint32_t n) : random_(seed), k_(lanes) {
    k_.buffer(Role::Out, Type::U32, n);
    k_.buffer(Role::Private, Type::U32, 8);
    k_.grid(n);
    for (int i = 0; i < 5; ++i) vars_.push_back(k_.declare(i == 0 ? k_.gid() : k_.u32(pick(20))));
    narrow_ = k_.declare(k_.constant(Type::U8, 3));
    wide_ = k_.declare(k_.constant(Type::I64, 5));
    statements(3);
    for (const VarId v : vars_)
      result_ = result_ == none ? k_.get(v) : k_.add(k_.mul(result_, k_.u32(31)), k_.get(v));
    result_ = k_.add(result_, k_.op(Opcode::Cast, Type::U32, {k_.get(narrow_)}));
    result_ = k_.add(result_, k_.op(Opcode::Cast, Type::U32, {k_.get(wide_)}));
    k_.store(0, k_.gid(), k_.add(k_.load(0, k_.gid()), result_));
  }
  Program finish() { return k_.finish(); }

 private:
  uint32_t pick(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  VarId var() { return vars_[pick(static_cast<uint32_t>(vars_.size()))]; }

  ValueId expression() {
    const ValueId a = k_.get(var()), b = pick(2) ? k_.get(var()) : k_.u32(pick(100));
    constexpr Opcode codes[] = {Opcode::Add, Opcode::Sub, Opcode::Mul,  Opcode::Xor,
                                Opcode::Div, Opcode::Rem, Opcode::RotL, Opcode::Min};
    switch (pick(10)) {
      case 0: return k_.load(1, k_.rem(a, k_.u32(10)));
      case 1: return k_.op(Opcode::Select, Type::U32, {condition(), a, b});
      default: return k_.op(codes[pick(8)], Type::U32, {a, b});
    }
  }
  ValueId condition() {
    constexpr Opcode codes[] = {Opcode::Lt, Opcode::Eq, Opcode::Ge, Opcode::Ne};
    const uint32_t m = 2 + pick(6);
    // Named in order: the evaluation order of arguments is unspecified.
    const ValueId bound = k_.u32(m), a = k_.rem(k_.get(var()), bound), b = k_.u32(pick(m));
    return k_.op(codes[pick(4)], Type::U32, {a, b});
  }

  void statements(int depth) {
    const uint32_t n = 1 + pick(5);
    for (uint32_t i = 0; i < n && k_.reachable(); ++i) statement(depth);
  }

  void statement(int depth) {
    switch (pick(depth > 0 ? 12 : 6)) {
      default: {
        const ValueId v = expression();
        k_.set(var(), v);
        break;
      }
      case 3: {
        const ValueId v = k_.get(var()), bound = k_.u32(10);
        k_.store(1, k_.rem(k_.get(var()), bound), v);
        break;
      }
      case 4:
        k_.set(narrow_, k_.op(Opcode::Add, Type::U8,
                              {k_.get(narrow_), k_.op(Opcode::Cast, Type::U8, {k_.get(var())})}));
        k_.set(wide_, k_.op(Opcode::Mul, Type::I64,
                            {k_.get(wide_), k_.op(Opcode::Cast, Type::I64, {k_.get(var())})}));
        break;
      case 5:
        if (k_.in_loop() && pick(2)) {
          k_.begin_if(condition());
          const uint32_t way = pick(5);
          if (way == 0)
            k_.return_();
          else if (way < 3)
            k_.break_loop();
          else
            k_.continue_loop();
          k_.end_if();
        }
        break;
      case 6:
      case 7:
      case 8:
        k_.begin_if(condition());
        statements(depth - 1);
        if (pick(2)) {
          k_.begin_else();
          statements(depth - 1);
        }
        k_.end_if();
        break;
      case 9:
      case 10: {
        const ValueId step = k_.u32(1 + pick(2)), bound = k_.u32(6);
        const ValueId hi = k_.rem(k_.get(var()), bound), lo = k_.u32(pick(3));
        const ValueId i = k_.begin_for(lo, hi, step);
        const ValueId sum = k_.add(k_.get(var()), i);
        k_.set(var(), sum);
        statements(depth - 1);
        k_.end_for();
        break;
      }
      case 11: {  // a counter bounds it, whatever the body does
        const VarId counter = k_.declare(k_.u32(0));
        k_.begin_while();
        const ValueId seen = expression();
        const ValueId c =
            k_.op(Opcode::And, Type::Bool,
                  {k_.lt(k_.get(counter), k_.u32(5)),
                   k_.op(Opcode::Ne, Type::U32, {k_.rem(seen, k_.u32(7)), k_.u32(3)})});
        k_.begin_body(c);
        k_.set(counter, k_.add(k_.get(counter), k_.u32(1)));
        k_.set(var(), k_.add(seen, k_.u32(1)));
        statements(depth - 1);
        k_.end_while();
        break;
      }
    }
  }

  std::mt19937 random_;
  Kernel k_;
  std::vector<VarId> vars_;
  VarId narrow_ = 0, wide_ = 0;
  ValueId result_ = none;
};

TEST(Random, programs_do_what_a_simple_interpreter_does) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const uint32_t lanes = seed % 3 == 0 ? 1 : seed % 3 == 1 ? 32 : 100, n = 200;
    const Program p = Generator(seed, lanes, n).finish();
    std::vector<uint32_t> expected(n, 0);
    const ExactFloats exact;
    for (uint32_t i = 0; i < n; ++i) Simple(p, i, expected).run();
    for (const Options& options : all_schedules()) {
      const auto got = from_bytes<uint32_t>(must_run(p, {}, options).buffers[0]);
      ASSERT_EQ(got, expected) << "seed " << seed << " schedule " << int(options.schedule);
    }
  }
}

}  // namespace
}  // namespace vyre::interp
