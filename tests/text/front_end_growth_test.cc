// Reading and checking take time linear in the source: four times the source cost about four times
// the CPU time. The limit has room for a busy machine; quadratic growth exceeds it.

#include <gtest/gtest.h>

#include <algorithm>

#include "check/check.h"
#include "tests/support/cpu_time.h"
#include "tests/text/front_end_util.h"

namespace vyre {
namespace {

/// CPU seconds of reading and checking: the least of two.
double seconds_of(const std::string& source) {
  double least = 1e9;
  for (int round = 0; round < 2; ++round) {
    const double begin = cpu_seconds();
    const ParseOutcome outcome = parse(source);
    if (outcome.module) check(*outcome.module);
    least = std::min(least, cpu_seconds() - begin);
  }
  return least;
}

struct Family {
  const char* name;
  int size;  // of the smaller source; the larger one has four times as many
  std::string (*source)(int);
};

std::string names(const char* form, int n) {
  return lines(n, [&](int i) { return fmt::format(fmt::runtime(form), i); });
}

const char* const copy =
    "kernel k(x: in u32[], z: out u32[len(x)]) workgroup(64) grid(len(x)) {\n"
    "  z[global_id.x] = x[global_id.x]\n}\n";

const Family families[] = {
    {"kernels", 10000,
     [](int n) { return lines(n, [](int i) { return kernel(fmt::format("k{}", i), ""); }); }},
    {"constants", 20000,
     [](int n) { return names("const c{0} = {0} + 1", n) + kernel("k", "  y[0] = c0"); }},
    {"constants_that_call_functions", 20000,
     [](int n) {
       return function_chain(1) + names("const c{0} = a1({0})", n) + kernel("k", "  y[0] = c0");
     }},
    {"constants_of_earlier_ones", 20000,
     [](int n) {
       return "const c0 = 1\n" +
              lines(n, [](int i) { return fmt::format("const c{} = c{} + 1", i + 1, i); }) +
              kernel("k", "  y[0] = c0");
     }},
    {"tables", 10000,
     [](int n) {
       return names("const t{0}: u32[] = [{0}, {0} + 1]", n) + kernel("k", "  y[0] = t0[0]");
     }},
    {"unknown_names", 5000,
     [](int n) {
       return lines(
           n, [](int i) { return kernel(fmt::format("k{}", i), fmt::format("  y[0] = u{}", i)); });
     }},
    {"unknown_functions", 5000,
     [](int n) {
       return names("fn known{0}(x: u32) -> u32 {{ return x }}", n) + lines(n, [](int i) {
                return kernel(fmt::format("k{}", i), fmt::format("  y[0] = knewn{}(1)", i));
              });
     }},
    {"unknown_kernels", 5000,
     [](int n) {
       return lines(n, [](int i) { return kernel(fmt::format("known{}", i), ""); }) +
              "graph g(y: out u32[4]) {\n" + names("  call knewn{}(y)", n) + "}\n";
     }},
    {"function_chain", 2000, [](int n) { return function_chain(n) + kernel("k", "  y[0] = 1"); }},
    {"called_function_chain", 2000,
     [](int n) { return function_chain(n) + kernel("k", fmt::format("  y[0] = a{}(1)", n)); }},
    {"graph_buffers", 5000,
     [](int n) {
       return copy +
              ("graph g(x: in u32[]) {\n  buffer b0: u32[len(x)]\n  call k(x, b0)\n" +
               lines(n,
                     [](int i) {
                       return fmt::format("  buffer b{0}: u32[8]\n  call k(b{1}, b{0})", i + 1, i);
                     }) +
               "}\n");
     }},
    {"graph_sizes", 800,
     [](int n) {
       return copy + ("graph g(x: in u32[], z: out u32[len(x)]) {\n" +
                      names("  buffer b{0}: u32[len(x) * {0}]", n) + "  call k(x, z)\n}\n");
     }},
    {"calls_of_many_kernels", 5000,
     [](int n) {
       return lines(n, [](int i) { return kernel(fmt::format("k{}", i), ""); }) +
              "graph g(y: out u32[4]) {\n" + names("  call k{}(y)", n) + "}\n";
     }},
    {"arrays_of_one_name", 500,
     [](int n) { return kernel("k", names("  if y[0] == {} {{ var t: u32[1] }}", n)); }},
    {"parameters", 4000,
     [](int n) {
       return "kernel k(" +
              lines(n, [](int i) { return fmt::format("p{}: in u32[len(p0)],", i + 1); }) +
              "z: u32) workgroup(1) grid(z) {\n}\n";
     }},
};

class FrontEndGrowth : public ::testing::TestWithParam<Family> {};

TEST_P(FrontEndGrowth, is_linear) {
  const Family& f = GetParam();
  const double quarter = seconds_of(f.source(f.size));
  const double all = seconds_of(f.source(4 * f.size));
  EXPECT_LT(all, 8 * quarter + 0.05);
}

INSTANTIATE_TEST_SUITE_P(Of, FrontEndGrowth, ::testing::ValuesIn(families),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace vyre
