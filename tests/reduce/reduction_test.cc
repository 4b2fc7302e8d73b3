// The search, and the effect of each transformation.

#include "reduce/reduction.h"

#include <gtest/gtest.h>

#include <set>

#include "check/check.h"
#include "ir/stats.h"
#include "reduce/transform.h"
#include "text/parse.h"
#include "text/print.h"

namespace vyre::reduce {
namespace {

Module module_of(const std::string& text) {
  ParseOutcome parsed = parse(text, {});
  EXPECT_TRUE(parsed.module) << (parsed.diagnostics.empty() ? "" : parsed.diagnostics[0].message)
                             << "\n"
                             << text;
  return parsed.module ? std::move(*parsed.module) : Module{};
}

std::vector<std::byte> words(std::initializer_list<uint32_t> list) {
  std::vector<std::byte> bytes;
  for (const uint32_t w : list)
    for (int i = 0; i < 4; ++i) bytes.push_back(std::byte(w >> 8 * i));
  return bytes;
}

Candidate candidate_of(const std::string& text,
                       std::vector<std::optional<std::vector<std::byte>>> data = {}) {
  Candidate c;
  c.module = module_of(text);
  LaunchInputs& inputs = c.inputs.emplace();
  inputs.data = std::move(data);
  const size_t buffers =
      c.is_graph() ? c.module.graphs[0].buffers.size() : c.module.kernels[0].buffers.size();
  inputs.data.resize(buffers);
  inputs.lengths.resize(buffers);
  return c;
}

/// All opportunities of a transformation taken at once, then dead code removed.
Candidate applied(std::string_view name, Candidate c) {
  for (const Transform& t : all_transforms()) {
    if (t.name != name) continue;
    Choice all(0, ~size_t{0});
    t.apply(c, all);
    EXPECT_GT(all.asked(), 0u) << name << " found nothing to do";
    EXPECT_FALSE(has_errors(check(c.module))) << name << " made\n" << print(c.module);
    tidy(c, true);
    return c;
  }
  ADD_FAILURE() << "unknown transformation " << name;
  return c;
}

std::string body_after(std::string_view name, const std::string& before) {
  const std::string text = print(applied(name, candidate_of(before)).module);
  return text.substr(text.find("{\n") + 2);
}

TEST(Transforms, names_are_unique) {
  std::set<std::string_view> names;
  for (const Transform& t : all_transforms()) EXPECT_TRUE(names.insert(t.name).second) << t.name;
}

TEST(Transforms, nothing_changes_where_nothing_is_taken) {
  const Candidate c = candidate_of(
      "kernel k(a: u32, x: in u32[], y: out u32[len(x)]) workgroup(8) grid(len(x)) {\n"
      "  shared t: u32[8]\n  var w: u32[4]\n"
      "  for i in 0..3 { if x[i] > 2 { y[i] += a * 3 } else { w[i] = 1 } }\n"
      "  while y[0] < 5 { y[0] += 1\n if y[0] == 3 { break } }\n"
      "  t[local_id.y] = w[0]\n}\n",
      {words({1}), words({1, 2}), {}});
  for (const Transform& t : all_transforms()) {
    Candidate copy = c;
    Choice nothing(0, 0);
    t.apply(copy, nothing);
    EXPECT_EQ(key_of(copy), key_of(c)) << t.name;
  }
}

struct Case {
  const char* transform;
  const char* before;
  const char* after;  // the body
};

constexpr Case cases[] = {
    {"remove_ops", "kernel k(y: out u32[4]) workgroup(1) grid(1) { y[0] = 1\n barrier workgroup }",
     "}\n"},
    {"unwrap_blocks",
     "kernel k(y: out u32[4]) workgroup(1) grid(4) {\n"
     "  if y[0] > 3 { y[1] = 5 } else { y[2] = 6 }\n}",
     "  %0 = const 1 : u32\n  %1 = const 5 : u32\n  store y[%0], %1\n}\n"},
    {"unwrap_blocks",
     "kernel k(y: out u32[4]) workgroup(1) grid(4) {\n  var n: u32 = 7\n"
     "  for i in 2..9 {\n    n += i\n    if n > 9 { break }\n  }\n  y[0] = n\n}",
     "  %0 = const 7 : u32\n  %1 = const 2 : u32\n  %2 = add %0, %1 : u32\n"
     "  %3 = const 0 : u32\n  store y[%3], %2\n}\n"},
    {"shorten_loops",
     "kernel k(y: out u32[4]) workgroup(1) grid(4) { for i in 2..9 step 3 { y[i] = 1 } }",
     "  %0 = const 0 : u32\n  %1 = const 1 : u32\n  %2 = const 1 : u32\n"
     "  for %3 in %0..%1 step %2 {\n    %4 = const 1 : u32\n    store y[%3], %4\n  }\n}\n"},
    {"bound_whiles",
     "kernel k(y: inout u32[4]) workgroup(1) grid(4) {\n  var n: u32 = 7\n"
     "  while n > 2 { n -= 1\n y[n] = 1 }\n}",
     "  %0 = const 7 : u32\n  %1 = const 0 : u32\n  %2 = const 1 : u32\n  %3 = const 1 : u32\n"
     "  %4 = for %5 in %1..%2 step %3 with %6 = %0 : u32 {\n    %7 = const 1 : u32\n"
     "    %8 = sub %6, %7 : u32\n    %9 = const 1 : u32\n    store y[%8], %9\n    yield %8\n  }\n"
     "}\n"},
    {"exits_to_yields",
     "kernel k(y: inout u32[4]) workgroup(1) grid(4) {\n  if y[0] > 3 { return }\n  y[1] = 5\n}",
     "  %0 = const 1 : u32\n  %1 = const 5 : u32\n  store y[%0], %1\n}\n"},
    {"drop_carried",
     "kernel k(y: inout u32[4]) workgroup(1) grid(4) {\n  var n: u32 = 7\n"
     "  for i in 0..4 { n += i }\n  y[0] = n\n}",
     "  %0 = const 7 : u32\n  %1 = const 0 : u32\n  store y[%1], %0\n}\n"},
    {"use_operand", "kernel k(y: inout u32[4]) workgroup(1) grid(4) { y[0] = lane_id * 3 + 4 }",
     "  %0 = const 0 : u32\n  %1 = lane_id\n  store y[%0], %1\n}\n"},
    {"use_earlier_value",
     "kernel k(y: inout f32[4]) workgroup(1) grid(4) {\n  let a = y[1]\n  y[0] = sqrt(y[2])\n}",
     "  %0 = const 1 : u32\n  %1 = load y[%0] : f32\n  %2 = const 0 : u32\n  store y[%2], %1\n"
     "}\n"},
    {"skip_operands",
     "kernel k(y: inout f32[4]) workgroup(1) grid(4) { y[i64(lane_id)] = f32(i32(y[1])) }",
     "  %0 = lane_id\n  %1 = const 1 : u32\n  %2 = cast %1 : f32\n  store y[%0], %2\n}\n"},
    {"use_one", "kernel k(y: inout f32[4]) workgroup(1) grid(4) { y[0] = y[1] * 3.0 }",
     "  %0 = const 0 : u32\n  %1 = const 1.0 : f32\n  store y[%0], %1\n}\n"},
    {"share_constants", "kernel k(y: inout u32[4]) workgroup(1) grid(4) { y[3] = 3 }",
     "  %0 = const 3 : u32\n  store y[%0], %0\n}\n"},
    {"constants_to_zero", "kernel k(y: inout f32[4]) workgroup(1) grid(4) { y[3] = 1.5 }",
     "  %0 = const 0 : u32\n  %1 = const 0.0 : f32\n  store y[%0], %1\n}\n"},
    {"constants_to_one", "kernel k(y: inout f32[4]) workgroup(1) grid(4) { y[3] = 1.5 }",
     "  %0 = const 1 : u32\n  %1 = const 1.0 : f32\n  store y[%0], %1\n}\n"},
    {"halve_constants", "kernel k(y: inout i32[4]) workgroup(1) grid(4) { y[3] = -9 }",
     "  %0 = const 1 : u32\n  %1 = const -4 : i32\n  store y[%0], %1\n}\n"},
    {"simplify_memory_ops",
     "kernel k(y: inout u32[4]) workgroup(1) grid(4) { atomic_add(y[local_id.z], 1, acq_rel) }",
     "  %0 = local_id.x\n  %1 = const 1 : u32\n  %2 = atomic_add y[%0], %1 : u32\n}\n"},
};

TEST(Transforms, make_these_bodies) {
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.transform) + " of " + c.before);
    EXPECT_EQ(body_after(c.transform, c.before), c.after);
  }
}

TEST(Transforms, scalars_become_their_values) {
  Candidate c = candidate_of(
      "kernel k(n: u32, y: out u32[n * 2]) workgroup(1) grid(n) { y[0] = n }", {words({3}), {}});
  c = applied("inline_scalars", std::move(c));
  ASSERT_EQ(c.module.kernels[0].buffers.size(), 1u);
  EXPECT_EQ(c.inputs->data.size(), 1u);
  EXPECT_EQ(counts_of(c, 0)[BufferId(0)], 6u);
  EXPECT_NE(print(c.module).find("const 3 : u32"), std::string::npos) << print(c.module);
}

TEST(Transforms, removed_buffers_take_their_accesses_with_them) {
  Candidate c = candidate_of(
      "kernel k(x: in u32[], y: out u32[len(x)]) workgroup(1) grid(len(x)) {\n"
      "  shared t: u32[4]\n  const u: u32[2] = [7, 8]\n"
      "  y[0] = x[1] + len(x) + t[2] + u[1]\n}",
      {words({1, 2, 3}), {}});
  Choice first_three(0, 3);  // from the last one: u, t, y or x
  remove_buffers(c, first_three);
  EXPECT_FALSE(has_errors(check(c.module))) << print(c.module);
  ASSERT_EQ(c.module.kernels[0].buffers.size(), 1u);
  EXPECT_TRUE(c.module.kernels[0].table_bytes.empty());
  c = candidate_of(
      "kernel k(x: in u32[], y: out u32[len(x)]) workgroup(1) grid(len(x)) {\n"
      "  y[0] = x[1] + len(x)\n}",
      {words({1, 2, 3}), {}});
  Choice second(1, 2);
  remove_buffers(c, second);
  EXPECT_FALSE(has_errors(check(c.module))) << print(c.module);
  EXPECT_EQ(counts_of(c, 0)[BufferId(0)], 3u);  // `len(x)` is now a number
}

TEST(Transforms, sizes_become_numbers_and_shrink) {
  Candidate c = candidate_of(
      "kernel k(x: in u32[], y: out u32[len(x) * 2]) workgroup(8, 4) grid(len(x), 2, 1) {\n"
      "  y[global_id.x] = x[0]\n}",
      {words({1, 2, 3, 4}), {}});
  for (const char* name : {"fix_lengths", "fix_grids", "shrink_buffers", "shrink_grids"})
    c = applied(name, std::move(c));
  c = applied("shrink_workgroups", std::move(c));
  EXPECT_NE(print(c.module).find("kernel k(x: in u32[], y: out u32[1]) workgroup(1) grid(1)"),
            std::string::npos)
      << print(c.module);
  EXPECT_EQ(c.inputs->data[0]->size(), 4u);
}

TEST(Transforms, data_becomes_simpler) {
  const char* text = "kernel k(x: inout u32[]) workgroup(1) grid(1) { x[0] = 2 }";
  const auto data = [&](const char* name) {
    return *applied(name, candidate_of(text, {words({9, 0, 1, 6})})).inputs->data[0];
  };
  EXPECT_EQ(data("data_to_zero"), words({0, 0, 0, 0}));
  EXPECT_EQ(data("data_to_one"), words({1, 0, 1, 1}));
  EXPECT_EQ(data("halve_data"), words({4, 0, 0, 3}));
  const Candidate c = applied("drop_initial_data", candidate_of(text, {words({9})}));
  EXPECT_EQ(c.module.kernels[0].buffers[0].role, Role::Out);
  EXPECT_FALSE(c.inputs->data[0]);
}

constexpr const char* graph =
    "kernel add(by: u32, x: in u32[], y: out u32[len(x)]) workgroup(1) grid(len(x)) {\n"
    "  y[global_id.x] = x[global_id.x] + by\n}\n"
    "kernel twice(x: in u32[], y: out u32[len(x)]) workgroup(1) grid(len(x)) {\n"
    "  y[global_id.x] = x[global_id.x] * 2\n}\n"
    "graph g(x: in u32[], y: out u32[len(x)]) {\n"
    "  buffer t: u32[len(x)]\n  buffer unused: u32[4]\n"
    "  call add(5, x, t)\n  repeat 3 { call twice(t, y) }\n}\n";

TEST(Transforms, a_call_becomes_a_kernel_with_the_data_it_gets) {
  Candidate c = candidate_of(graph, {words({1, 2}), {}, {}, {}});
  Choice second(1, 2);
  call_to_kernel(c, second);
  EXPECT_EQ(second.asked(), 2u);
  ASSERT_FALSE(c.is_graph());
  EXPECT_EQ(c.module.kernels[0].name, "twice");
  EXPECT_EQ(c.inputs->data[0], words({6, 7}));
}

TEST(Transforms, first_calls_are_replaced_by_what_they_computed) {
  Candidate c = applied("skip_first_calls", candidate_of(graph, {words({1, 2}), {}, {}, {}}));
  ASSERT_TRUE(c.is_graph());
  EXPECT_EQ(c.module.kernels.size(), 1u);
  EXPECT_EQ(c.inputs->data[2], words({6, 7}));  // t
}

TEST(Transforms, graphs_lose_calls_loops_and_buffers) {
  const Candidate c = candidate_of(graph, {words({1, 2}), {}, {}, {}});
  EXPECT_EQ(applied("remove_nodes", c).module.graphs[0].nodes.size(), 0u);
  EXPECT_EQ(applied("unwrap_graph_loops", c).module.graphs[0].nodes.size(), 2u);
  EXPECT_EQ(applied("remove_graph_buffers", c).module.graphs[0].buffers.size(), 3u);
  EXPECT_NE(print(applied("shorten_graph_loops", c).module).find("repeat 1 {"), std::string::npos);
  // A constant that all calls give goes into the kernel.
  EXPECT_EQ(applied("inline_scalars", c).module.kernels[0].buffers.size(), 2u);
}

// ---- The search.

uint64_t count(const Candidate& c, Opcode code) {
  uint64_t n = 0;
  for (const Program& p : c.module.kernels) walk(p, [&](OpId op) { n += p.op(op).code == code; });
  return n;
}

constexpr const char* large =
    "kernel k(a: u32, x: in u32[], y: out u32[len(x)]) workgroup(8) grid(len(x)) {\n"
    "  let i = global_id.x\n  shared t: u32[8]\n"
    "  t[local_id.x] = x[i]\n  barrier workgroup\n"
    "  var sum = a\n"
    "  for k in 0..8 { if t[k] > 3 { sum += t[k] ^ 5 } else { sum = popcount(sum) } }\n"
    "  while sum > 100 { sum = sum / 3 }\n"
    "  y[i] = sum\n}\n";

Outcome reduced(const Candidate& c, std::function<bool(const Candidate&)> test) {
  Options options;
  options.is_interesting = std::move(test);
  return reduce(c, options);
}

TEST(Reduce, keeps_what_the_test_looks_for) {
  const Candidate c = candidate_of(large, {words({3}), words({1, 2, 9, 4}), {}});
  const auto has_popcount = [](const Candidate& next) { return count(next, Opcode::PopCount) > 0; };
  const Outcome o = reduced(c, has_popcount);
  EXPECT_TRUE(has_popcount(o.best));
  EXPECT_FALSE(o.stopped);
  // Its result is not used, so dead code stays in this one.
  EXPECT_LE(o.progress.ops, 4u) << print(o.best.module);
  EXPECT_EQ(o.best.module.kernels[0].buffers.size(), 0u) << print(o.best.module);
  EXPECT_EQ(o.progress.ops, count_ops(o.best));
  EXPECT_EQ(o.progress.ops_before, count_ops(c));
}

TEST(Reduce, gives_the_same_twice) {
  const Candidate c = candidate_of(large, {words({3}), words({1, 2, 9, 4}), {}});
  const auto test = [](const Candidate& next) {
    return count(next, Opcode::Store) > 0 &&
           count(next, Opcode::For) + count(next, Opcode::Load) > 1;
  };
  const Outcome a = reduced(c, test), b = reduced(c, test);
  EXPECT_EQ(key_of(a.best), key_of(b.best));
  EXPECT_EQ(a.progress.candidates, b.progress.candidates);
}

TEST(Reduce, gives_the_original_if_the_test_accepts_nothing_else) {
  const Candidate c = candidate_of(large, {words({3}), words({1, 2, 9, 4}), {}});
  const Outcome o = reduced(c, [](const Candidate&) { return false; });
  EXPECT_EQ(key_of(o.best), key_of(c));
  EXPECT_GT(o.progress.candidates, 50u);
}

TEST(Reduce, gives_the_best_so_far_when_it_is_stopped) {
  const Candidate c = candidate_of(large, {words({3}), words({1, 2, 9, 4}), {}});
  Options options;
  uint64_t accepted = 0;
  options.is_interesting = [&](const Candidate& next) {
    accepted += count(next, Opcode::Store) > 0;
    return count(next, Opcode::Store) > 0;
  };
  options.should_stop = [&] { return accepted == 2; };
  const Outcome o = reduce(c, options);
  EXPECT_TRUE(o.stopped);
  EXPECT_EQ(o.progress.accepted, 2u);
  EXPECT_LT(o.progress.ops, o.progress.ops_before);
}

TEST(Reduce, shows_the_test_legal_programs_only_unless_told_otherwise) {
  const Candidate c = candidate_of(large, {words({3}), words({1, 2, 9, 4}), {}});
  reduced(c, [](const Candidate& next) {
    EXPECT_FALSE(has_errors(check(next.module))) << print(next.module);
    return count(next, Opcode::Barrier) > 0;
  });
  // A barrier in divergent flow, which the checker refuses.
  Candidate illegal{
      module_of("kernel k(y: out u32[4]) workgroup(4) grid(4) {\n"
                "  if local_id.x > 2 { y[1] = 7\n barrier workgroup }\n  y[0] = 1\n}"),
      std::nullopt};
  Options options;
  options.illegal_too = true;
  options.is_interesting = [](const Candidate& next) {
    for (const Diagnostic& d : check(next.module))
      if (d.code == Code::BarrierInDivergentFlow) return true;
    return false;
  };
  ASSERT_TRUE(options.is_interesting(illegal));
  const Outcome o = reduce(illegal, options);
  EXPECT_TRUE(options.is_interesting(o.best));
  EXPECT_LE(o.progress.ops, 8u) << print(o.best.module);
}

TEST(Reduce, removes_kernels_and_graphs_that_do_not_matter) {
  Candidate c{module_of(graph), std::nullopt};
  const Outcome o = reduced(c, [](const Candidate& next) {
    for (const Program& p : next.module.kernels)
      if (p.name == "twice") return true;
    return false;
  });
  EXPECT_TRUE(o.best.module.graphs.empty());
  EXPECT_EQ(print(o.best.module), "vyre 1\n\nkernel twice() workgroup(1) grid(1) {\n}\n");
}

TEST(Reduce, keeps_a_graph_of_two_calls_where_the_test_needs_both) {
  const Candidate c = candidate_of(graph, {words({1, 2}), {}, {}, {}});
  const Outcome o = reduced(c, [](const Candidate& next) {
    if (!next.is_graph()) return false;
    uint64_t calls = 0;
    for_each_call(next.module.graphs[0].nodes, [&](const GraphNode&) { ++calls; });
    return calls == 2;
  });
  EXPECT_EQ(o.best.module.graphs[0].nodes.size(), 2u) << print(o.best.module);
  EXPECT_LE(o.progress.ops, 2u) << print(o.best.module);
}

}  // namespace
}  // namespace vyre::reduce
