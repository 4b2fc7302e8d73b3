// Every missed optimization has a remark: unfused neighbours in graphs, and scratch buffers that
// stay in device memory. Run over programs as users write them, and over generated ones.

#include <filesystem>
#include <map>

#include "generate/chain_writer.h"
#include "opt/device_costs.h"
#include "opt/passes/promote_handoffs.h"
#include "support/file.h"
#include "tests/opt/pass_util.h"
#include "tests/plan/fusion/fuse_util.h"

namespace vyre::plan {
namespace {

namespace fs = std::filesystem;

struct UserProgram {
  std::string name;
  Module module;
};

/// The programs of bench/natural, bench/plans and examples.
std::vector<UserProgram> user_programs() {
  std::vector<std::string> files;
  for (const char* folder : {"bench/natural", "bench/plans", "examples"})
    for (const auto& entry :
         fs::recursive_directory_iterator(std::string(VYRE_SOURCE_DIR "/") + folder))
      if (entry.path().extension() == ".vyre") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  std::vector<UserProgram> list;
  for (const std::string& file : files) {
    ParseOptions options;
    options.file_name = file;
    options.resolver = file_resolver();
    ParseOutcome parsed = parse(read_file(file).bytes, options);
    EXPECT_TRUE(parsed.module) << file << render(parsed.diagnostics, parsed.sources);
    if (parsed.module) list.push_back({file, std::move(*parsed.module)});
  }
  return list;
}

/// A shape with `size` in every scalar and every length that has no formula.
Result<GraphShape> shape_of(const Graph& g, uint64_t size) {
  std::vector<std::optional<uint64_t>> counts(g.buffers.size()), scalars(g.buffers.size());
  const FormulaEnv env{[&](uint32_t i) { return static_cast<__int128>(counts[i].value_or(0)); },
                       [&](uint32_t i) { return static_cast<__int128>(scalars[i].value_or(0)); },
                       [&](uint32_t i) { return g.buffers[i].name; }};
  for (size_t i = 0; i < g.buffers.size() && g.buffers[i].parameter; ++i) {
    const GraphBuffer& b = g.buffers[i];
    if (b.role == Role::Scalar) {
      scalars[i] = size;
    } else if (b.count == no_formula) {
      counts[i] = size * size;
    } else {
      const Result<uint64_t> count = evaluate(g.formulas, b.count, env, b.name);
      if (!count) return count.errors();
      counts[i] = *count;
    }
  }
  return resolve_graph(g, counts, scalars);
}

/// Each pair of neighbouring calls in different groups has one reason, which names something.
void expect_reasons(const Module& module, const Graph& graph, const GraphShape& shape,
                    const std::string& where) {
  const FusionPlan plan = plan_fusion(module, graph, shape);
  std::map<uint32_t, std::vector<std::string>> reasons;
  for (const FusionRefusal& r : plan.refusals) reasons[r.call].push_back(r.why);
  ASSERT_FALSE(plan.groups.empty()) << where;
  for (size_t i = 1; i < plan.groups.size(); ++i) {
    const uint32_t call = plan.groups[i].calls[0];
    ASSERT_EQ(reasons[call].size(), 1u) << where << ", node " << call;
    const std::string& why = reasons[call][0];
    EXPECT_NE(why.find('`'), std::string::npos) << where << ": " << why;
    EXPECT_EQ(why.find("; the "), std::string::npos) << where << ": " << why;
    EXPECT_EQ(why.find("not confirmed"), std::string::npos) << where << ": " << why;
    reasons.erase(call);
  }
  EXPECT_TRUE(reasons.empty()) << where << ": a reason for calls that are fused";
}

TEST(FusionReasons, unfused_neighbours_of_user_programs_have_one) {
  size_t graphs = 0;
  for (const UserProgram& p : user_programs())
    for (const Graph& g : p.module.graphs)
      for (const uint64_t size : {1, 3, 16, 256}) {
        const auto shape = shape_of(g, size);
        if (!shape) continue;  // lengths that its formulas refuse
        ++graphs;
        expect_reasons(p.module, g, *shape, p.name + ":" + g.name);
      }
  EXPECT_GE(graphs, 120u);
}

TEST(FusionReasons, unfused_neighbours_of_generated_graphs_have_one) {
  for (uint64_t seed = 1; seed <= 300 && !testing::Test::HasFatalFailure(); ++seed) {
    lab::Random random(seed);
    for (const bool chain : {false, true}) {
      lab::GenerateOptions options;
      options.only_graphs = true;
      const lab::Generated g =
          chain ? lab::ChainWriter(random, {}).write() : generate(seed, options);
      const Graph& graph = g.module.graphs[0];
      const auto shape = resolve_graph(graph, g.inputs.data, g.inputs.lengths, 0);
      ASSERT_TRUE(shape);
      expect_reasons(g.module, graph, *shape, "seed " + std::to_string(seed));
    }
  }
}

// ---- Scratch buffers.

/// Each scratch buffer of a kernel is promoted, or one remark names it.
void expect_remarks(const Program& kernel, const opt::DeviceCosts* costs, const std::string& where,
                    size_t& scratch) {
  Program after = kernel;
  opt::Facts facts(after);
  opt::Target target;
  target.costs = costs;
  opt::PassContext context{facts, target, {}, 0, false};
  ASSERT_TRUE(opt::promote_handoffs(after, context)) << where;
  for (size_t i = 0; i < kernel.buffers.size(); ++i) {
    if (kernel.buffers[i].role != Role::Scratch) continue;
    ++scratch;
    size_t remarks = 0;
    for (const opt::Refusal& r : context.refusals)
      remarks += r.why.find("`" + kernel.buffers[i].name + "`") != std::string::npos;
    EXPECT_EQ(remarks, after.buffers[i].role == Role::Shared ? 0u : 1u)
        << where << ": `" << kernel.buffers[i].name << "`";
  }
}

TEST(FusionReasons, scratch_buffers_in_device_memory_have_a_remark) {
  for (const opt::DeviceCosts* costs :
       {static_cast<const opt::DeviceCosts*>(nullptr), &opt::cpu_costs, &opt::gpu_costs}) {
    size_t written = 0, generated = 0;
    for (const UserProgram& p : user_programs())
      for (const Program& k : p.module.kernels)
        expect_remarks(k, costs, p.name + ":" + k.name, written);
    EXPECT_GE(written, 5u);
    for (uint64_t seed = 1; seed <= 300; ++seed)
      for (const Program& k : lab::generate(seed).module.kernels)
        expect_remarks(k, costs, "seed " + std::to_string(seed), generated);
    EXPECT_GE(generated, 50u);
  }
}

// ---- Reasons that were false.

std::string reasons_of(const std::string& text, uint64_t n = 256) {
  const GraphText t(text);
  const auto shape = shape_of(t.graph(), n);
  EXPECT_TRUE(shape);
  return reasons(plan_fusion(t.module, t.graph(), *shape));
}

constexpr std::string_view dense = R"(
kernel dense(k: u32, x: in f32[], w: in f32[], y: out f32[len(w) / k]) workgroup(64) grid(len(y)) {
  var s: f32 = 0.0
  for c in 0..k { s += x[c] * w[global_id.x * k + c] }
  y[global_id.x] = s
}
kernel relu(y: inout f32[]) workgroup(SIZE) grid(len(y)) {
  y[global_id.x] = max(y[global_id.x], 0.0)
}
graph net(k: u32, x: in f32[k], w: in f32[k * k], v: in f32[k * k], y: out f32[k]) {
  buffer h: f32[k]
  call dense(k, x, w, h)
  call relu(h)
  call dense(k, h, v, y)
}
)";

std::string with_size(std::string_view size) {
  std::string text(dense);
  return text.replace(text.find("SIZE"), 4, size);
}

TEST(FusionReasons, an_update_in_place_is_named) {
  // dense and relu are one group: the reason is about it, not about relu and dense alone.
  EXPECT_EQ(reasons_of(with_size("64")),
            "`h` cannot be recomputed: stage 2 `relu` also loads it\n");
  EXPECT_EQ(reasons_of(with_size("32")),
            "workgroups of stage 1 `dense` have 64x1x1 invocations, those of stage 2 `relu` have "
            "32x1x1\n"
            "stage 2 `relu` updates `h`, which stage 1 `dense` uses before it\n");
}

TEST(FusionReasons, borders_of_loops_are_named) {
  EXPECT_EQ(reasons_of(R"(
kernel one_more(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] = x[global_id.x] + 1
}
kernel down(n: inout u32[1]) workgroup(1) grid(1) { n[0] = n[0] / 2 }
graph g(x: in u32[], y: out u32[len(x)]) {
  buffer t: u32[len(x)]
  buffer n: u32[1]
  call one_more(x, t)
  repeat 3 { call one_more(x, t) }
  while n[0] != 0 limit 9 { call down(n) }
  call one_more(t, y)
}
)"),
            "a `repeat` loop begins before stage 2 `one_more`\n"
            "a loop ends after stage 2 `one_more`\n"
            "a loop ends after stage 3 `down`\n");
}

/// Two kernels over a buffer that starts as zeros, `a` in place.
std::string fresh(const std::string& first, const std::string& second) {
  return "kernel a(x: in u32[], t: inout u32[len(x)]) workgroup(64) grid(len(x)) {\n"
         "  let i = global_id.x\n" +
         first +
         "\n}\nkernel b(t: in u32[], y: out u32[len(t)]) workgroup(32) grid(len(t)) {\n"
         "  let i = global_id.x\n" +
         second +
         "\n}\ngraph g(x: in u32[], y: out u32[len(x)]) {\n  buffer t: u32[len(x)]\n"
         "  call a(x, t)\n  call b(t, y)\n}\n";
}

TEST(FusionReasons, a_fresh_buffer_has_no_contents) {
  const std::string why =
      reasons_of(fresh("t[2 * i] = x[i]\n t[2 * i + 1] = 7", "y[i] = t[i] + t[i + 1]"));
  EXPECT_EQ(why, "`t` cannot be recomputed: 2 store operations write it, and only one may\n");
  const std::string in_loop =
      reasons_of(fresh("t[2 * i] = x[i]\n t[2 * i + 1] = 7", "for k in 0..8 { y[i] += t[i + k] }"));
  EXPECT_EQ(in_loop, "`t` cannot be tiled: `a` takes `t` as inout, and a tile needs `out`\n");
}

TEST(FusionReasons, only_a_kernel_that_traps_may_trap) {
  const std::string text = R"(
kernel a(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] = x[global_id.x] + 1
}
kernel b(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  shared s: u32[64]
  s[local_id.x] = x[global_id.x]
  barrier workgroup
  y[global_id.x] = s[63 - local_id.x]
}
kernel c(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] = x[(global_id.x + 1) % len(x)]
}
graph g(x: in u32[], y: out u32[len(x)]) {
  buffer t: u32[len(x)]
  buffer u: u32[len(x)]
  call a(x, t)
  call b(t, u)
  call c(u, y)
}
)";
  EXPECT_EQ(reasons_of(text), "stage 2 `b` has shared memory `s`, and so cannot be recomputed\n");
}

}  // namespace
}  // namespace vyre::plan
