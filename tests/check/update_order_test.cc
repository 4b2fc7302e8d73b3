// Which atomics the checker says may leave a final value that depends on the order, and which not.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "check/check.h"
#include "tests/support/cpu_time.h"
#include "text/parse.h"

namespace vyre {
namespace {

struct Found {
  std::vector<uint32_t> proved, possible;  // lines of the body, from 1
};

/// Checks a kernel with this body over `x: in u32[]`, `y: inout u32[]` and `n: u32`.
Found check_body(const std::string& body, const std::string& shape = "workgroup(64) grid(len(x))",
                 bool exact = false) {
  const ParseOutcome parsed =
      parse("kernel k(x: in u32[], y: inout u32[], n: u32) " + shape +
            " {\n let i = global_id.x; let l = local_id.x\n" + body + "\n}\n");
  EXPECT_TRUE(parsed.module) << render(parsed.diagnostics, parsed.sources);
  Found found;
  if (!parsed.module) return found;
  for (const Diagnostic& d : check(*parsed.module, {.exact = exact})) {
    if (d.code != Code::FinalValueOrder && d.code != Code::OrderNotExact) {
      EXPECT_NE(d.severity, Severity::Error) << d.message;
      continue;
    }
    const bool may = d.message.find("may depend") != std::string::npos;
    (may ? found.possible : found.proved).push_back(d.place.line - 2);
  }
  return found;
}

using Lines = std::vector<uint32_t>;

TEST(UpdateOrder, one_element_for_all_is_proved) {
  EXPECT_EQ(check_body("atomic_store(y[0], i)").proved, Lines{1});
  EXPECT_EQ(check_body("atomic_store(y[n], x[i])").proved, Lines{1});
  EXPECT_EQ(check_body("atomic_exchange(y[len(x)], x[i])").proved, Lines{1});
  EXPECT_EQ(check_body("atomic_cas(y[0], 0, i)").proved, Lines{1});
  EXPECT_EQ(check_body("atomic_cas(y[0], i, 0)").proved, Lines{1});
  EXPECT_EQ(check_body("atomic_store(y[0], 1)\natomic_store(y[0], 2)").proved, Lines{2});
  EXPECT_EQ(check_body("atomic_add(y[0], 1)\natomic_max(y[0], 1)").proved, Lines{2});
  EXPECT_EQ(check_body("for k in 0..n {\natomic_add(y[0], 1)\natomic_and(y[0], 1)\n}").proved,
            Lines{3});
  EXPECT_EQ(check_body("shared t: u32[1]\natomic_store(t[0], l)").proved, Lines{2});
}

TEST(UpdateOrder, what_some_invocations_do_or_where_is_possible) {
  const auto possible = [](const std::string& body) {
    const Found f = check_body(body);
    EXPECT_TRUE(f.proved.empty()) << body;
    return f.possible;
  };
  EXPECT_EQ(possible("if x[i] > 2 { atomic_store(y[0], i) }"), Lines{1});
  EXPECT_EQ(possible("atomic_store(y[x[i]], i)"), Lines{1});
  EXPECT_EQ(possible("atomic_store(y[i / 2], i)"), Lines{1});
  EXPECT_EQ(possible("atomic_store(y[l], i)"), Lines{1}) << "each workgroup has the same ids";
  EXPECT_EQ(possible("atomic_store(y[workgroup_id.x], i)"), Lines{1});
  EXPECT_EQ(possible("atomic_add(y[x[i]], 1)\natomic_or(y[0], 1)"), Lines{2});
  EXPECT_EQ(possible("atomic_or(y[0], 1)\natomic_add(y[x[i]], 1)"), Lines{2});
  EXPECT_EQ(possible("atomic_add(y[0], 1)\nif l == 0 { atomic_store(y[0], 0) }"), Lines{2});
  EXPECT_EQ(possible("if i == 0 { atomic_store(y[0], 0) }\natomic_add(y[0], 1)"), Lines{2});
  EXPECT_EQ(possible("if l == 0 { atomic_store(y[0], i) }"), Lines{1}) << "one of each workgroup";
  EXPECT_EQ(possible("atomic_add(y[0], 1, acq_rel)\natomic_xor(y[0], 1)"), Lines{2});
}

TEST(UpdateOrder, updates_that_commute_or_have_elements_of_their_own_are_not_reported) {
  for (const char* body : {
           "atomic_add(y[0], x[i])\natomic_sub(y[0], i)",
           "atomic_max(y[0], i)\natomic_max(y[0], x[i])",
           "atomic_store(y[0], 1)\natomic_exchange(y[0], 1)",
           "atomic_store(y[0], n)\natomic_store(y[0], n)",
           "atomic_store(y[0], len(x) + 1)",
           "atomic_cas(y[0], 3, 4)",
           "atomic_add(y[0], 1)\natomic_xor(y[1], 1)",
           "atomic_store(y[i], i)\natomic_add(y[i], 1)",
           "atomic_store(y[i * 2 + 1], i)",
           "for k in i..len(x) step 64 { atomic_store(y[k], i) }",
           "if i == 0 { atomic_store(y[0], i) }",
           "atomic_store(y[workgroup_id.x * 64 + l], i)",
           "if l == 0 { atomic_store(y[workgroup_id.x], i) }",
           "shared t: u32[64]\natomic_store(t[l], i)",
           "if i == 0 { atomic_store(y[0], x[i])\natomic_add(y[0], 1) }",
           "shared t: u32[1]\nif l == 0 { atomic_store(t[0], i) }",
           "if atomic_load(y[0]) == 0 { atomic_load(y[1]) }",
       }) {
    const Found f = check_body(body);
    EXPECT_TRUE(f.proved.empty() && f.possible.empty()) << body;
  }
}

TEST(UpdateOrder, one_invocation_has_an_order) {
  EXPECT_TRUE(check_body("atomic_store(y[0], i)", "workgroup(1) grid(1)").proved.empty());
  EXPECT_EQ(check_body("atomic_store(y[0], i)", "workgroup(1) grid(2)").proved, Lines{1});
  EXPECT_EQ(check_body("atomic_store(y[0], i)", "workgroup(1)").proved, Lines{1});
  EXPECT_TRUE(check_body("shared t: u32[1]\natomic_store(t[0], i)", "workgroup(1) grid(len(x))")
                  .proved.empty());
}

TEST(UpdateOrder, barriers_divide_the_flow) {
  const auto lines = [](const std::string& body) {
    const Found f = check_body("shared t: u32[1]; " + body);
    EXPECT_TRUE(f.proved.empty()) << body;
    return f.possible;
  };
  EXPECT_EQ(lines("atomic_add(t[0], 1)\nbarrier workgroup\natomic_xor(t[0], 1)"), Lines{});
  EXPECT_EQ(lines("atomic_add(y[0], 1)\nbarrier grid\natomic_xor(y[0], 1)"), Lines{});
  EXPECT_EQ(lines("atomic_add(t[0], 1)\nlet s = uniform_load(x[0])\natomic_xor(t[0], s)"), Lines{});
  EXPECT_EQ(lines("atomic_add(t[0], 1)\nif n > 1 { barrier workgroup }\natomic_xor(t[0], 1)"),
            Lines{3});
  EXPECT_EQ(
      lines("for k in 0..n {\natomic_add(t[0], 1)\nbarrier workgroup\natomic_xor(t[0], 1)\n}"),
      Lines{4});
  EXPECT_EQ(lines("while n > 1 {\natomic_add(t[0], 1)\nif n == 7 { break }\nbarrier "
                  "workgroup\n}\natomic_xor(t[0], 1)"),
            Lines{6});
  EXPECT_EQ(lines("for k in 0..n {\natomic_add(t[0], 1)\nbarrier workgroup\n}\nbarrier "
                  "workgroup\natomic_xor(t[0], 1)"),
            Lines{});
  EXPECT_EQ(lines("atomic_add(t[0], 1)\nfor k in 0..n { barrier workgroup }\natomic_xor(t[0], 1)"),
            Lines{3});
  // A barrier of the workgroup does not order other workgroups.
  EXPECT_EQ(check_body("atomic_add(y[0], 1)\nbarrier workgroup\natomic_xor(y[0], 1)").proved,
            Lines{3});
}

TEST(UpdateOrder, exact_makes_errors_of_what_is_proved) {
  const std::string shape = "workgroup(64) grid(len(x))";
  EXPECT_EQ(check_body("atomic_store(y[0], i)", shape, true).proved, Lines{1});
  EXPECT_EQ(check_body("y[i] = atomic_add(y[len(x)], 1)", shape, true).proved, Lines{1});
  EXPECT_TRUE(check_body("y[i] = atomic_add(y[len(x)], 1)").proved.empty()) << "V0310 says so";
  EXPECT_TRUE(check_body("y[atomic_add(y[0], 1)] = 1", shape, true).proved.empty());
  EXPECT_TRUE(
      check_body("if x[i] == 0 { y[i] = atomic_add(y[len(x)], 1) }", shape, true).proved.empty());
}

TEST(UpdateOrder, grows_linearly) {
  const auto seconds = [](int n) {
    std::string body;
    for (int i = 0; i < n; ++i)
      body += "atomic_store(y[" + std::to_string(i) + "], " + std::to_string(i) +
              ")\natomic_add(y[x[i]], 1)\nbarrier grid\n";
    const ParseOutcome parsed = parse(
        "kernel k(x: in u32[], y: inout u32[]) workgroup(64) grid(len(x)) {\n let i = "
        "global_id.x\n" +
        body + "}\n");
    const double begin = cpu_seconds();
    EXPECT_FALSE(has_errors(check(*parsed.module)));
    return cpu_seconds() - begin;
  };
  seconds(1000);
  EXPECT_LT(seconds(16000), 16 * seconds(4000) + 0.5);
}

}  // namespace
}  // namespace vyre
