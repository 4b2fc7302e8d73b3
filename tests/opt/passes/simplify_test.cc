// simplify on programs: what it does, what it must not do. The rules themselves are proved in
// simplify_proof_test.cc and simplify_cases_test.cc.
#include "opt/passes/simplify.h"

#include <gtest/gtest.h>

#include "opt/passes/fold_constants.h"
#include "opt/passes/number_values.h"
#include "opt/passes/remove_dead_code.h"
#include "tests/opt/pass_util.h"
#include "tests/support/cpu_time.h"

namespace vyre::opt {
namespace {

std::string kernel(const std::string& body) {
  return "kernel k(x: in u32[], n: u32, m: i32, f: f32, b: inout u32[], y: out u32[], z: out "
         "i32[], g: out f32[])"
         " workgroup(64) grid(len(x)) {\n" +
         body + "\n}\n";
}

PassResult simplified(const std::string& body) { return run_pass(simplify, kernel(body)); }

/// Ops between the first and the stores, once dead code is gone: "add shl", in program order.
std::string ops_of(const Program& p) {
  const PassResult clean = run_once(remove_dead_code, p);
  std::string text;
  walk(clean.program, [&](OpId op) {
    const Opcode code = clean.program.op(op).code;
    if (code == Opcode::Const || code == Opcode::Scalar || code == Opcode::Store ||
        code == Opcode::Return)
      return;
    text += (text.empty() ? "" : " ") + std::string(mnemonic(code));
  });
  return text;
}
std::string after(const std::string& body) { return ops_of(simplified(body).program); }

TEST(Simplify, identities_and_absorbing_elements) {
  EXPECT_EQ(after("y[0] = n + 0"), "");
  EXPECT_EQ(after("y[0] = 0 + n"), "");
  EXPECT_EQ(after("y[0] = (n * 1) | 0"), "");
  EXPECT_EQ(after("y[0] = n * 0"), "");
  EXPECT_EQ(after("let v = n\ny[0] = (v ^ v) + (v - v)"), "");
  EXPECT_EQ(after("z[0] = -(-m)"), "");
}

TEST(Simplify, chains_with_constants_become_one_op) {
  EXPECT_EQ(after("y[0] = ((n + 1) + 2) + 3"), "add");
  EXPECT_EQ(after("y[0] = (n + 5) - 3"), "add");
  EXPECT_EQ(after("y[0] = (n + 3) - 5"), "sub");
  EXPECT_EQ(after("y[0] = (n + 3) - 3"), "");
  EXPECT_EQ(after("y[0] = ((n & 255) & 15) | 0"), "and");
  EXPECT_EQ(after("y[0] = (n << 3) << 4"), "shl");
  EXPECT_EQ(after("z[0] = 7 - (m - 3)"), "sub");
}

TEST(Simplify, terms_that_are_added_and_subtracted_cancel) {
  const auto of = [](const std::string& sum) {
    return after(
        "let a = n\nlet b = x[0]\nlet c = x[1]\nlet d = i32(b)\nlet e = m\nlet f = u16(a)\ny[0] "
        "= " +
        sum);
  };
  // Whichever operand of a sum it is.
  for (const char* sum :
       {"(a + b) - a", "(b + a) - a", "a - (a - b)", "(b - a) + a", "a + (b - a)"})
    EXPECT_EQ(of(sum), "load") << sum;
  for (const char* sum :
       {"((a + b) + c) - a", "((b + a) + c) - a", "(c + (b + a)) - a", "(a + b) - (a - c)",
        "a - ((a - b) - c)", "(c + a) + (b - a)", "((b - a) + c) + a"})
    EXPECT_EQ(of(sum), "load load add") << sum;
  for (const char* sum :
       {"((a - b) + c) - a", "((a + c) - b) - a", "(a + c) - (a + b)", "(b + a) - (c + a)",
        "(a - b) - (a - c)", "(b - a) - (c - a)", "(b - a) + (a - c)", "a - ((a + b) - c)",
        "a - ((b - c) + a)", "a - ((a - b) + c)"})
    EXPECT_EQ(of(sum), "load load sub") << sum;
  EXPECT_EQ(of("a - (b + a)"), "load sub");
  EXPECT_EQ(of("(a - b) - a"), "load sub");
  EXPECT_EQ(of("u32((e + d) - e)"), "load");
  EXPECT_EQ(of("u32((f + u16(b)) - f)"), "load cast cast");
  // Floats round.
  EXPECT_EQ(after("g[0] = (f + g[1]) - f"), "load add sub");
}

TEST(Simplify, row_and_column_make_the_place_again) {
  EXPECT_EQ(after("let v = x[0]\ny[0] = v / 16 * 16 + v % 16"), "load");
  EXPECT_EQ(after("let v = x[0]\ny[0] = v % 12 + 12 * (v / 12)"), "load");
  EXPECT_EQ(after("let v = x[0]\ny[0] = n * 8 + v / 16 * 16 + v % 16"), "load shl add");
  EXPECT_EQ(after("let v = x[0]\ny[0] = v / 16 * 16 + v % 8"), "load and");
  EXPECT_EQ(after("let v = x[0]\ny[0] = v / 16 * 16 + v % 32"), "load and and add");
  EXPECT_EQ(after("let v = x[0]\ny[0] = v / 12 * 16 + v % 12"), "load div shl rem add");
}

TEST(Simplify, ids_of_one_dimension_are_one_sum) {
  EXPECT_EQ(after("y[0] = global_id.x - workgroup_id.x * 64"), "local_id");
  EXPECT_EQ(after("y[0] = global_id.x - workgroup_size.x * workgroup_id.x"), "local_id");
  EXPECT_EQ(after("y[0] = global_id.x - (workgroup_id.x << 6)"), "local_id");
  EXPECT_EQ(after("y[0] = workgroup_id.x * 64 + local_id.x"), "global_id");
  EXPECT_EQ(after("y[0] = local_id.x + workgroup_id.x * workgroup_size.x"), "global_id");
  EXPECT_EQ(after("y[0] = global_id.x - local_id.x"), "workgroup_id shl");
  EXPECT_EQ(after("y[0] = global_id.x / 64 * 100 + global_id.x % 64"),
            "workgroup_id mul local_id add");
  EXPECT_EQ(after("y[0] = (global_id.x + n) - workgroup_id.x * 64"), "local_id add");
  EXPECT_EQ(after("y[0] = (n + global_id.x) - workgroup_id.x * 64"), "local_id add");
  EXPECT_EQ(after("y[0] = (global_id.x - n) - workgroup_id.x * 64"), "local_id sub");
  EXPECT_EQ(after("y[0] = (n - global_id.x) - workgroup_id.x * 64"),
            "global_id sub workgroup_id shl sub");
  // Another size, another dimension.
  EXPECT_EQ(after("y[0] = global_id.x - workgroup_id.x * 32"), "global_id workgroup_id shl sub");
  EXPECT_EQ(after("y[0] = workgroup_id.x * 128 + local_id.x"), "workgroup_id shl local_id add");
  EXPECT_EQ(after("y[0] = global_id.x % 32"), "global_id and");
  EXPECT_EQ(after("y[0] = global_id.x / 128"), "global_id shr");

  const auto in_2d = [](const std::string& value) {
    return ops_of(
        run_pass(simplify, "kernel k(y: out u32[]) workgroup(12, 5, 3) grid(12, 5, 3) {\ny[0] = " +
                               value + "\n}\n")
            .program);
  };
  EXPECT_EQ(in_2d("global_id.y - workgroup_id.y * 5"), "local_id");
  EXPECT_EQ(in_2d("global_id.z - 3 * workgroup_id.z"), "local_id");
  EXPECT_EQ(in_2d("workgroup_id.x * 12 + local_id.x"), "global_id");
  EXPECT_EQ(in_2d("global_id.x - local_id.x"), "workgroup_id mul");
  EXPECT_EQ(in_2d("global_id.x / 12 + global_id.z % 3"), "workgroup_id local_id add");
  EXPECT_EQ(in_2d("global_id.y - workgroup_id.x * 5"), "global_id workgroup_id mul sub");
  EXPECT_EQ(in_2d("workgroup_id.x * 12 + local_id.y"), "workgroup_id mul local_id add");
  // One invocation per workgroup: the place in it is 0.
  EXPECT_EQ(
      ops_of(run_once(simplify, program_of("kernel k(y: out u32[]) workgroup(1) grid(9) {\n"
                                           "y[global_id.x] = global_id.x - workgroup_id.x\n}\n"))
                 .program),
      "global_id local_id");
}

TEST(Simplify, products_by_powers_of_two_are_shifts) {
  EXPECT_EQ(after("y[0] = n * 8"), "shl");
  EXPECT_EQ(after("y[0] = 8 * n"), "shl");
  EXPECT_EQ(after("y[0] = n * 3"), "mul");
  EXPECT_EQ(after("y[0] = (n * 3) * 8"), "mul");
  EXPECT_EQ(after("y[0] = (n * 8) * 3"), "mul");
  EXPECT_EQ(after("y[0] = n / 8 + n % 8"), "shr and add");
}

TEST(Simplify, choices) {
  EXPECT_EQ(after("let v = n\ny[0] = select(v < 7, v, v)"), "");
  EXPECT_EQ(after("let v = n\nlet w = x[1]\ny[0] = select(v < w, v, w)"), "load min");
  EXPECT_EQ(after("let v = n\ny[0] = select(!(v < 7), 1, 2)"), "ge select");
  EXPECT_EQ(after("let v = n\ny[0] = u32(select(v < 7, true, false))"), "lt cast");
}

TEST(Simplify, conversions) {
  EXPECT_EQ(after("y[0] = u32(u64(n))"), "");
  EXPECT_EQ(after("y[0] = u32(u8(u64(n)))"), "cast cast");
  EXPECT_EQ(after("z[0] = i32(u32(m))"), "");
  EXPECT_EQ(after("y[0] = bitcast<u32>(bitcast<i32>(n))"), "");
  EXPECT_EQ(after("y[0] = bitcast<u32>(bitcast<f32>(n))"), "bitcast bitcast");  // NaN
}

TEST(Simplify, uses_what_ranges_know) {
  EXPECT_EQ(after("y[0] = local_id.x & 63"), "local_id");
  EXPECT_EQ(after("y[0] = local_id.x & 31"), "local_id and");
  EXPECT_EQ(after("y[0] = min(local_id.x, 100)"), "local_id");
  EXPECT_EQ(after("y[0] = local_id.x % 64"), "local_id");
  EXPECT_EQ(after("y[0] = u32(local_id.x < 64)"), "");
  EXPECT_EQ(after("y[0] = u32(u8(local_id.x))"), "local_id");
  EXPECT_EQ(after("y[0] = workgroup_size.x"), "");
}

TEST(Simplify, what_holds_in_an_arm_is_not_used_outside_of_it) {
  // v + 0 inside is v itself; what the arm knows of it must not stick to v.
  const PassResult r = simplified(
      "let v = n * 4\n"
      "if v < 16 {\n  y[0] = (v + 0) & 15\n}\n"
      "y[1] = v & 15\n");
  EXPECT_EQ(count(r.program, Opcode::And), 1u) << print(r.program);
  EXPECT_EQ(count(r.program, Opcode::Shl), 1u);
}

TEST(Simplify, known_conditions_of_ifs_and_asserts) {
  const PassResult r = simplified(
      "let v = x[0]\nlet c = v < 10\n"
      "if c {\n  if c {\n    y[0] = 1\n  } else {\n    y[0] = 2\n  }\n  assert(v < 11, 3)\n}\n");
  EXPECT_EQ(count(r.program, Opcode::Assert), 0u);
  const PassResult folded = run_once(fold_constants, r.program);
  EXPECT_EQ(count(folded.program, Opcode::If), 1u) << print(folded.program);
  EXPECT_EQ(count(simplified("assert(x[0] < 11, 3)").program, Opcode::Assert), 1u);
}

// ---- The known wrong rewrites.

size_t atomics_left(const std::string& body) {
  Program p = program_of(kernel(body));
  // The whole of what could take it away.
  for (int round = 0; round < 3; ++round)
    for (const PassFunction pass : {PassFunction(fold_constants), PassFunction(simplify),
                                    PassFunction(number_values), PassFunction(remove_dead_code)})
      p = run_once(pass, p).program;
  size_t n = 0;
  walk(p, [&](OpId op) { n += is_atomic(p.op(op).code); });
  return n;
}

TEST(Simplify, keeps_an_atomic_whose_result_is_dropped) {
  EXPECT_EQ(atomics_left("y[0] = atomic_add(b[0], 1) * 0"), 1u);
  EXPECT_EQ(atomics_left("y[0] = select(atomic_add(b[0], 1) < 5, 7, 7)"), 1u);
  EXPECT_EQ(atomics_left("if atomic_add(b[0], 1) < 5 && false {\n  y[0] = 1\n}"), 1u);
  EXPECT_EQ(atomics_left("let a = atomic_add(b[0], 1)\ny[0] = a ^ a"), 1u);
}

TEST(Simplify, never_runs_an_atomic_twice) {
  EXPECT_EQ(atomics_left("y[0] = atomic_add(b[0], 1) * 3"), 1u);
  EXPECT_EQ(atomics_left("y[0] = atomic_add(b[0], 1) * 2"), 1u);
}

TEST(Simplify, two_atomics_stay_two) {
  EXPECT_EQ(atomics_left("y[0] = atomic_add(b[0], 1) - atomic_add(b[0], 1)"), 2u);
}

TEST(Simplify, shifts_that_add_up_to_the_width_give_zero) {
  const PassResult r =
      simplified("y[0] = (n << 20) << 12\ny[1] = (n >> 16) >> 16\nz[0] = (m >> 20) >> 20");
  EXPECT_EQ(ops_of(r.program), "shr");  // of m: by 31
  EXPECT_NE(print(r.program).find("31"), std::string::npos) << print(r.program);
}

TEST(Simplify, leaves_floats_that_only_look_equal) {
  EXPECT_EQ(after("g[0] = f + 0.0"), "add");
  EXPECT_EQ(after("let v = f\ng[0] = v - v"), "sub");
  EXPECT_EQ(after("g[0] = f * 0.0"), "mul");
  EXPECT_EQ(after("let v = f\ng[0] = -(v - g[1])"), "load sub neg");
  EXPECT_EQ(after("g[0] = f / 3.0"), "div");
  EXPECT_EQ(after("g[0] = f * 2.0 + 1.0"), "mul add");
  EXPECT_EQ(after("let v = f\ny[0] = u32(v == v)"), "eq cast");
  EXPECT_EQ(after("let v = f\ny[0] = u32(!(v < 1.0))"), "lt not cast");
  EXPECT_EQ(after("g[0] = f / 1.0e-45"), "div");  // the reciprocal is not finite
}

TEST(Simplify, floats_that_are_equal) {
  EXPECT_EQ(after("g[0] = f * 1.0"), "");
  EXPECT_EQ(after("g[0] = f / 1.0"), "");
  EXPECT_EQ(after("g[0] = f / 4.0"), "mul");
  EXPECT_EQ(after("g[0] = -(-f)"), "");
  EXPECT_EQ(after("let v = f\ng[0] = min(v, v)"), "");
}

// ---- Time.

TEST(Simplify, is_linear_and_fast) {
  const auto milliseconds = [](int lines) {
    std::string body = "var v = n\n";
    for (int i = 0; i < lines; ++i)
      body += "v = ((v + " + std::to_string(i) + ") * 8 ^ x[v]) & (v | 7)\n";
    const Program p = program_of(kernel(body + "y[0] = v"));
    double best = 1e9;
    for (int round = 0; round < 5; ++round) {
      Program copy = p;
      Facts facts(copy);
      const Target target;
      PassContext context{facts, target, {}, 0, false};
      facts.ranges();
      const double begin = cpu_seconds();
      EXPECT_TRUE(*simplify(copy, context));
      best = std::min(best, (cpu_seconds() - begin) * 1e3);
    }
    std::printf("%zu ops: %.3f ms\n", count_ops(p), best);
    return best;
  };
  milliseconds(10);  // the table is parsed
  EXPECT_LT(milliseconds(100), 3.0 * 10) << "a machine that is busy gets ten times as long";
  const double large = milliseconds(800), larger = milliseconds(3200);
  EXPECT_LT(larger, large * 4 * 4);
}

}  // namespace
}  // namespace vyre::opt
