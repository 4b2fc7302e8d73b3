// Loops that are divided into chunks give the bytes of the loops that they were, at the borders of
// chunks and of types, and only loops that may run for long poll.

#include "transform/long_loops.h"

#include <limits>

#include "generate/generate.h"
#include "interp/interp.h"
#include "ir/expand_functions.h"
#include "tests/plan/split/split_util.h"

namespace vyre {
namespace {

using plan::kernel;
using plan::to_bytes;
using plan::U;

/// Compares a kernel with its divided form; returns the number of loops that divide() added.
int same(const Program& p, const LaunchInputs& in, uint32_t chunk_ops, uint64_t unpolled_trips,
         const std::string& what) {
  const auto loops = [](const Program& of) {
    int n = 0;
    walk(of, [&](OpId op) { n += is_loop(of.op(op).code); });
    return n;
  };
  Program divided = p;
  expand_functions(divided);
  const int before = loops(divided);
  divide_long_loops(divided,
                    {.unpolled_trips = unpolled_trips, .chunk_ops = chunk_ops, .whiles = true});
  const Diagnostics found = check(divided);
  EXPECT_FALSE(has_errors(found)) << what << render(found, {}) << print(divided);
  const Result<interp::Outcome> wanted = interp::run(p, in), got = interp::run(divided, in);
  EXPECT_EQ(bool(wanted), bool(got)) << what << print(divided);
  if (wanted && got) {
    EXPECT_EQ(wanted->buffers, got->buffers) << what << "\n" << print(divided);
  }
  return loops(divided) - before;
}

/// Starts, ends and steps around the ends of a type, with few iterations.
template <class T>
LaunchInputs ranges(bool steps) {
  using Limits = std::numeric_limits<T>;
  const T min = Limits::min(), max = Limits::max(), middle = static_cast<T>(max / 2);
  const auto near = [](T x, int by) { return static_cast<T>(x + static_cast<T>(by)); };
  std::vector<T> ends = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 100};
  for (const int by : {0, 1, 2, 3, 4, 5, 8, 9, 17}) {
    ends.push_back(near(max, -by));
    ends.push_back(near(min, by));
    ends.push_back(near(middle, by));
  }
  std::vector<T> strides = {1};
  if (steps)
    strides = {0,
               1,
               2,
               3,
               5,
               near(max, 0),
               near(max, -1),
               middle,
               near(middle, 1),
               static_cast<T>(max / 4),
               static_cast<T>(max / 3)};
  if (steps && Limits::is_signed) strides.insert(strides.end(), {near(0, -1), min});
  std::vector<T> lo, hi, by;
  for (const T a : ends)
    for (const T b : ends)
      for (const T s : strides) {
        if (a < b && s > 0) {
          const auto span = static_cast<uint64_t>(b) - static_cast<uint64_t>(a);
          if (span / static_cast<uint64_t>(s) > 120) continue;
        }
        lo.push_back(a), hi.push_back(b), by.push_back(s);
      }
  LaunchInputs in;
  in.data = {to_bytes(lo), to_bytes(hi), to_bytes(by), {}};
  in.lengths.resize(4);
  return in;
}

template <class T>
void same_for_ranges(const std::string& type, const std::string& step, const std::string& body,
                     bool divides = true) {
  const std::string text =
      "kernel k(lo: in T[], hi: in T[], by: in T[], y: out u64[len(lo)]) workgroup(64) "
      "grid(len(lo)) {\n let j = global_id.x\n let s = by[j]\n var h: u64 = 7u64\n for i in "
      "lo[j]..hi[j]" +
      (step.empty() ? step : " step " + step) + " {\n" + body + "\n }\n y[j] = h }";
  std::string typed = text;
  for (size_t at = typed.find("in T"); at != std::string::npos; at = typed.find("in T"))
    typed.replace(at, 4, "in " + type);
  const Program p = kernel(typed);
  const LaunchInputs in = ranges<T>(step == "s");
  for (const uint32_t chunk_ops : {24, 64, 300, 2048}) {
    const int added = same(p, in, chunk_ops, 1 << 16, typed);
    if (!divides || chunk_ops >= 64) {
      EXPECT_EQ(added, divides) << typed;
    }
    if (testing::Test::HasFailure()) return;
  }
}

const std::string fold = "h = h * 31u64 + u64(i)";

TEST(LongLoops, chunks_end_at_the_ends_of_every_type) {
  same_for_ranges<uint8_t>("u8", "", fold);
  same_for_ranges<int8_t>("i8", "", fold);
  same_for_ranges<uint16_t>("u16", "", fold);
  same_for_ranges<int32_t>("i32", "", fold);
  same_for_ranges<uint32_t>("u32", "", fold);
  same_for_ranges<int64_t>("i64", "", fold);
  same_for_ranges<uint64_t>("u64", "", fold);
}

TEST(LongLoops, steps_by_constants_and_by_values) {
  same_for_ranges<uint8_t>("u8", "3", fold);
  same_for_ranges<int32_t>("i32", "7", fold);
  same_for_ranges<uint64_t>("u64", "5", fold);
  same_for_ranges<uint8_t>("u8", "s", fold);
  same_for_ranges<uint32_t>("u32", "s", fold);
  same_for_ranges<uint64_t>("u64", "s", fold);
  // A negative step runs nothing, and a large one might not be a multiple of itself.
  same_for_ranges<int32_t>("i32", "s", fold, false);
}

TEST(LongLoops, exits_leave_the_chunk_and_the_loop) {
  for (const std::string exit :
       {"if h % 11u64 == 3u64 { break }", "if h % 5u64 == 3u64 { continue }",
        "if h % 11u64 == 3u64 { return }", "assert(h % 97u64 != 3u64, 7)",
        "if h % 5u64 == 3u64 { if h % 7u64 == 1u64 { break } else { continue } }",
        "for k in 0..3 { if h % 7u64 == 1u64 { break }\n h = h + 3u64 }",
        "for k in 0..3 { if h % 7u64 == 1u64 { continue }\n h = h + 3u64 }\n if h % 13u64 == 2u64 "
        "{ "
        "break }"}) {
    const std::string body = fold + "\n" + exit + "\n h = h + 1u64";
    same_for_ranges<uint32_t>("u32", "", body);
    same_for_ranges<uint8_t>("u8", "s", body);
    same_for_ranges<int64_t>("i64", "2", body);
  }
}

TEST(LongLoops, whiles_leave_at_their_test_and_at_exits) {
  // Iterations around the borders of chunks, none at all, and loops that carry nothing.
  for (const std::string exit :
       {"", "if h % 11u64 == 3u64 { break }", "if h % 5u64 == 3u64 { i += 1\n continue }",
        "if h % 11u64 == 3u64 { return }", "assert(h % 97u64 != 3u64, 7)",
        "if h % 5u64 == 3u64 { if h % 7u64 == 1u64 { break } else { i += 2\n continue } }",
        "for k in 0..3 { if h % 7u64 == 1u64 { break }\n h = h + 3u64 }",
        "var m = h % 9u64\n while m > 2u64 { m = m - 1u64\n h = h + m }"}) {
    const std::string text =
        "kernel k(n: in u32[], y: out u64[len(n)]) workgroup(64) grid(len(n)) {\n"
        " let j = global_id.x\n var h: u64 = 7u64\n var i: u32 = 0\n"
        " while i < n[j] && h % 23u64 != 5u64 {\n h = h * 31u64 + u64(i)\n " +
        exit + "\n i += 1 }\n y[j] = h + u64(i) }";
    LaunchInputs in;
    std::vector<uint32_t> n;
    for (uint32_t i = 0; i < 70; ++i) n.push_back(i);
    for (const uint32_t i : {127u, 128u, 129u, 255u, 256u, 257u, 511u, 512u, 513u, 3000u})
      n.push_back(i);
    in.data = {to_bytes(n), {}};
    in.lengths.resize(2);
    for (const uint32_t chunk_ops : {64u, 300u, 4096u})
      EXPECT_GE(same(kernel(text), in, chunk_ops, 0, text), 1) << text;
  }
  LaunchInputs in;
  in.data = {to_bytes(std::vector<uint32_t>{0, 5, 64, 1000})};
  const std::string in_memory =
      "kernel k(y: inout u32[]) workgroup(64) grid(len(y)) {\n let j = global_id.x\n"
      " while y[j] > 3 { y[j] = y[j] - 3 } }";
  in.lengths.resize(1);
  EXPECT_EQ(same(kernel(in_memory), in, 4096, 0, in_memory), 1);
}

/// The weights of a text's loops, in their order.
std::vector<int> weights(const std::string& body, bool whiles = false) {
  Program p = kernel(
      "kernel k(n: u32, x: in u32[], y: inout u32[]) workgroup(64) grid(64) {\n var s: u32 = 0\n " +
      body + "\n y[global_id.x] = s }");
  const PollWeights polls = divide_long_loops(p, {.whiles = whiles});
  std::vector<int> list;
  walk(p, [&](OpId op) {
    if (is_loop(p.op(op).code)) list.push_back(polls[op]);
  });
  return list;
}

TEST(LongLoops, polls_where_a_loop_may_run_for_long) {
  using Weights = std::vector<int>;
  EXPECT_EQ(weights("for i in 0..1000 { s += x[i] }"), Weights({0}));
  EXPECT_EQ(weights("for i in 0..n { s += x[i] }"), Weights({16, 0}));
  EXPECT_EQ(weights("for i in 0..1000000 { s += x[i] }"), Weights({16, 0}));
  EXPECT_EQ(weights("while s < n { s += x[s] + 1 }"), Weights({1}));
  EXPECT_EQ(weights("while s < n { s += x[s] + 1 }", true), Weights({16, 0}));
  EXPECT_EQ(weights("while s < n { var k = s\n while k > 0 { k = k / 2 + n }\n s += k }", true),
            Weights({1, 16, 0}));
  EXPECT_EQ(weights("while s < n { s += x[s]\n barrier workgroup }", true), Weights({1}));
  // A chunk holds the constant loop; a loop around it polls, because a chunk may be all there is.
  EXPECT_EQ(weights("for i in 0..n { for k in 0..4 { s += x[i + k] } }"), Weights({16, 0, 0}));
  EXPECT_EQ(weights("for i in 0..n { for k in 0..n { s += x[i + k] } }"), Weights({1, 16, 0}));
  EXPECT_EQ(weights("for i in 0..60 { for k in 0..n { s += x[i + k] } }"), Weights({0, 16, 0}));
  EXPECT_EQ(weights("for i in 0..5000 { for k in 0..n { s += x[i + k] } }"), Weights({1, 16, 0}));
  // A chunk of one iteration would gain nothing.
  EXPECT_EQ(weights("for i in 0..n { for k in 0..1000 { s += x[i + k] } }"), Weights({1, 0}));
  EXPECT_EQ(weights("for i in 0..n { s += x[i]\n barrier workgroup }"), Weights({1}));
  std::string deep = "for i in 0..n { s += x[i] }";
  for (int i = 0; i < 40; ++i) deep = "if s != " + std::to_string(i) + " { " + deep + " }";
  EXPECT_EQ(weights(deep), Weights({1}));
}

TEST(LongLoops, random_programs) {
  int divided = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    lab::GenerateOptions options;
    options.graphs = false;
    const lab::Generated g = lab::generate(seed, options);
    // Every loop polls, so that each one without another inside is divided.
    divided += same(g.module.kernels[0], g.inputs, 64, 0, "seed " + std::to_string(seed)) > 0;
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GE(divided, 20);
}

}  // namespace
}  // namespace vyre
