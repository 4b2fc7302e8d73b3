// Analyses compared with the interpreter, on programs with many sources of information: counters,
// comparisons in every combination, loops of all kinds, early exits, lengths, and indices near
// them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <optional>

#include "check/check.h"
#include "generate/random.h"
#include "ir/kernel.h"
#include "tests/opt/analysis/facts_judge_util.h"
#include "text/print.h"

namespace vyre::opt {
namespace {

class Writer {
 public:
  explicit Writer(uint64_t seed) : r_(seed), k_("k") {
    x_ = k_.in(Type::I32, "x");
    y_ = k_.inout(Type::U32, "y", k_.len(*x_));
    z_ = k_.out(Type::U32, "z", max(k_.len(*x_), Size(5)));
    w_ = k_.out(Type::U32, "w", ceil_div(k_.len(*x_), Size(4)));
    n_ = k_.scalar(Type::U32, "n");
    t_ = k_.array(Type::U32, 8);
    k_.workgroup(8).grid(Size(8));
  }

  Result<Program> write() {
    values_ = {k_.global_id(), k_.local_id(), x_->len(), w_->len(), *n_, k_.constant(Type::U32, 3)};
    for (const uint32_t first : {0u, 7u, 200u}) vars_.push_back(k_.var(Type::U32, first));
    block(4);
    store();
    return k_.finish();
  }

 private:
  Val constant() {
    return k_.constant(Type::U32, uint32_t(r_.chance(85) ? r_.below(20) : r_.next()));
  }
  Val any() {
    if (r_.chance(25)) return constant();
    if (r_.chance(50)) return vars_[r_.below(vars_.size())];
    return values_[r_.below(values_.size())];
  }
  Val expression() {
    const Val a = any();
    const Val b = r_.chance(60) ? constant() : any();
    switch (r_.below(18)) {
      case 0:
      case 1:
      case 2: return a + b;
      case 3:
      case 4: return a - b;
      case 5: return a * b;
      case 6: return a / b;
      case 7: return a % b;
      case 8: return a & b;
      case 9: return a | b;
      case 10: return a >> b;
      case 11: return a << b;
      case 12: return min(a, b);
      case 13: return max(a, b);
      case 14: return k_.apply(Opcode::SatSub, {a, b});
      case 15: return k_.apply(Opcode::CeilDiv, {a, b});
      case 16:
        return k_.cast(Type::U32,
                       k_.cast(r_.pick({Type::U8, Type::I16, Type::U64, Type::I64, Type::I32}), a));
      default: return select(comparison(), a, b);
    }
  }
  Val comparison() {
    Val a = any();
    Val b = r_.chance(70) ? any() : constant();
    if (r_.chance(30)) {  // in another type, after the same or another conversion
      const Type t = r_.pick({Type::I32, Type::U64, Type::U8, Type::I64});
      a = k_.cast(t, a);
      b = k_.cast(t, b);
    }
    return k_.apply(r_.pick({Opcode::Lt, Opcode::Le, Opcode::Gt, Opcode::Ge, Opcode::Eq, Opcode::Ne,
                             Opcode::Lt}),
                    {a, b});
  }
  Val condition(int depth = 2) {
    if (depth == 0 || r_.chance(55)) return comparison();
    const Val a = condition(depth - 1);
    switch (r_.below(5)) {
      case 0: return !a;
      case 1: return a & condition(depth - 1);
      case 2: return a | condition(depth - 1);
      default: {  // && and || as the language makes them
        const bool both = r_.chance(50);
        const Var c = k_.var(Type::Bool, !both);
        if (both)
          k_.if_(a, [&] { c = condition(depth - 1); });
        else
          k_.if_(a, [] {}, [&] { c = condition(depth - 1); });
        return c;
      }
    }
  }

  void store() {
    const Val i = r_.chance(50) ? any() : expression();
    const uint64_t which = r_.below(5);
    const Buf& b = **std::array{&x_, &y_, &z_, &w_, &t_}[which];
    if (which == 0 || r_.chance(40))
      values_.push_back(k_.cast(Type::U32, Val(b[i])) & 31u);
    else
      b[i] = any();
  }

  /// An access near a length, under a condition that may or may not be enough.
  void guarded() {
    const uint64_t which = r_.below(4);
    const Buf& b = **std::array{&x_, &y_, &z_, &w_}[which];
    Val n = (r_.chance(60) ? b : *x_).len();
    switch (r_.below(6)) {
      case 0: n = min(n, any()); break;
      case 1: n = n - uint32_t(r_.below(3)); break;
      case 2: n = n / uint32_t(1 + r_.below(4)); break;
      case 3: n = k_.apply(Opcode::CeilDiv, {x_->len(), k_.constant(Type::U32, 4)}); break;
      default: break;
    }
    const Val i = any();
    const uint32_t before = uint32_t(r_.below(3)), after = uint32_t(r_.below(3));
    const auto touch = [&](const Val& at) {
      Val index = at + after;
      if (r_.chance(20)) index = at - after;
      if (r_.chance(20)) index = at * uint32_t(1 + r_.below(4)) + after;
      if (r_.chance(15)) index = at % (b.len() + uint32_t(r_.below(2)));
      values_.push_back(k_.cast(Type::U32, Val(b[index])) & 15u);
    };
    const size_t known = values_.size();
    switch (r_.below(5)) {
      case 0:
        k_.for_(before, min(n, k_.constant(Type::U32, 40)), [&](const Val& c) { touch(c); });
        break;
      case 1:
        k_.if_(k_.cast(Type::U64, i) + uint64_t(before) < b.len64(), [&] { touch(i); });
        break;
      case 2: k_.if_(i < b.len(), [&] { k_.if_(i + before < n, [&] { touch(i); }); }); break;
      case 3: k_.if_(!(i >= n), [&] { touch(i); }); break;
      default: k_.if_(i + before < n, [&] { touch(i); });
    }
    values_.resize(known);
  }

  void block(int depth) {
    const size_t known = values_.size();
    const uint64_t n = 1 + r_.below(4);
    for (uint64_t i = 0; i < n; ++i) statement(depth);
    values_.resize(known);  // values of a block are seen in it only
  }
  void scope(int depth) {
    const size_t known = values_.size(), vars = vars_.size();
    block(depth);
    values_.resize(known);
    vars_.resize(vars, vars_[0]);
  }

  void statement(int depth) {
    switch (r_.below(depth > 0 ? 12 : 4)) {
      case 0: vars_[r_.below(vars_.size())] = expression(); break;
      case 1: values_.push_back(expression()); break;
      case 2: store(); break;
      case 3: guarded(); break;
      case 4:
      case 5:
        if (r_.chance(50))
          k_.if_(condition(), [&] { scope(depth - 1); });
        else
          k_.if_(condition(), [&] { scope(depth - 1); }, [&] { scope(depth - 1); });
        break;
      case 6:
        k_.if_(condition(), [&] {
          if (loops_ && r_.chance(80))
            r_.chance(50) ? k_.break_() : k_.continue_();
          else
            k_.return_();
        });
        break;
      case 7: k_.assert_(k_.apply(Opcode::Or, {condition(), condition()}), 9); break;
      case 8:
      case 9: {
        const Val lo = r_.chance(60) ? constant() : any();
        // Named in order: the evaluation order of arguments is unspecified.
        const Val most = k_.constant(Type::U32, 12);
        const Val hi = min(r_.chance(60) ? any() : expression(), most);
        k_.for_(lo, hi, [&](const Val& i) {
          const size_t known = values_.size();
          values_.push_back(i);
          values_.push_back(i);
          body(depth);
          values_.resize(known);
        });
        break;
      }
      case 10: guarded(); break;
      default: {  // a while with its own limit, so that it ends
        const Var limit = k_.var(Type::U32, 0u);
        k_.while_([&] { return k_.apply(Opcode::And, {condition(1), Val(limit) < 9u}); },
                  [&] {
                    limit += 1u;
                    body(depth);
                  });
      }
    }
  }
  void body(int depth) {
    ++loops_;
    if (r_.chance(60)) {  // something that counts
      const Var& v = vars_[r_.below(vars_.size())];
      r_.chance(60) ? v = Val(v) + constant() : v = Val(v) - constant();
    }
    scope(depth - 1);
    --loops_;
  }

  lab::Random r_;
  Kernel k_;
  std::optional<Buf> x_, y_, z_, w_, t_;
  std::optional<Val> n_;
  std::vector<Val> values_;
  std::vector<Var> vars_;
  int loops_ = 0;
};

LaunchInputs inputs_of(const Program& p, uint64_t seed) {
  lab::Random r(seed ^ 0x55);
  LaunchInputs in;
  in.data.resize(p.buffers.size());
  const uint64_t length = r.below(20);
  const auto fill = [&](size_t elements) {
    std::vector<std::byte> bytes;
    for (size_t i = 0; i < elements; ++i) {
      const uint32_t v = uint32_t(r.chance(80) ? r.below(24) : r.next());
      for (int b = 0; b < 4; ++b) bytes.push_back(std::byte(v >> (8 * b)));
    }
    return bytes;
  };
  in.data[0] = fill(length);
  in.data[1] = fill(length);
  in.data[4] = fill(1);
  in.grid = {{8 * (1 + r.below(3)), 1, 1}};
  return in;
}

TEST(ConditionsFuzz, nothing_happens_that_conditions_exclude) {
  const char* wish = std::getenv("VYRE_FACTS_PROGRAMS");
  const uint64_t count = wish ? std::strtoull(wish, nullptr, 10) : 2000;
  Judgement all;
  for (uint64_t seed = 1; seed <= count; ++seed) {
    const Result<Program> p = Writer(seed).write();
    ASSERT_TRUE(p) << "seed " << seed << ": " << p.errors()[0].message;
    if (seed <= 50) {
      for (const Diagnostic& d : check(*p)) ASSERT_NE(d.severity, Severity::Error) << d.message;
    }
    const Judgement j = judge_facts(*p, inputs_of(*p, seed));
    ASSERT_EQ(j.wrong, "") << "seed " << seed << "\n" << print(*p);
    all.checks += j.checks;
    all.narrowed += j.narrowed;
    all.bounds += j.bounds;
    all.relations += j.relations;
    all.known += j.known;
    all.values += j.values;
  }
  fmt::print("{} checks; {} narrowed, {} in bounds, {} relations; {} of {} values known\n",
             all.checks, all.narrowed, all.bounds, all.relations, all.known, all.values);
  for (const uint64_t n : {all.narrowed, all.bounds, all.relations}) EXPECT_GT(n, 10 * count);
}

}  // namespace
}  // namespace vyre::opt
