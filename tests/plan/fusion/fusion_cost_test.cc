// Decisions of fusion with a fixed cost table: programs of users that fusion made slower stay
// unfused, and those that gain are fused. Sizes are those of bench/programs.txt.

#include "plan/fusion/fusion_cost.h"

#include <map>

#include "plan/fusion/fusion_group.h"
#include "plan/fusion/fusion_plan_parts.h"
#include "plan/fusion/lane_slopes.h"
#include "support/file.h"
#include "tests/plan/fusion/fuse_util.h"

namespace vyre::plan {
namespace {

using opt::cpu_costs;
using opt::find_costs;
using opt::gpu_costs;
using opt::interpreter_costs;

struct Decision {
  std::string file;   // in bench/
  std::string graph;  // "": the only one
  std::map<std::string, uint64_t> sizes;
  size_t on_cpu, on_gpu;  // launches in the text of the planned graph; 0: of another size
};

const Decision decisions[] = {
    // Lost lanes: one invocation writes 64 elements.
    {"natural/undelta.vyre", "", {{"d", 4 << 20}}, 2, 2},
    // A table that every workgroup would compute again.
    {"graphs/power_table.vyre", "", {{"x", 4 << 20}}, 2, 2},
    // A parallel producer in a consumer of one invocation.
    {"graphs/serial_total.vyre", "", {{"x", 1 << 20}}, 2, 2},
    // Neighbours that are computed again.
    {"natural/bitonic.vyre", "", {{"x", 32 << 20}}, 6, 6},
    {"natural/pyramid.vyre", "", {{"x", 32 << 20}}, 0, 6},
    {"graphs/power_box.vyre", "", {{"x", 1 << 20}}, 2, 2},
    // Strides that vectors cannot load.
    {"natural/gray_row_sums.vyre", "rows_simple", {{"w", 2048}, {"h", 1024}}, 2, 2},
    // Registers hold what the next call reads.
    {"graphs/polynomial.vyre", "", {{"x", 4 << 20}}, 1, 1},
    {"graphs/tone_map.vyre", "", {{"image", 4 << 20}}, 1, 1},
    {"graphs/varint_sizes.vyre", "", {{"x", 4 << 20}}, 1, 1},
    {"natural/leapfrog.vyre", "", {{"x", 1 << 20}, {"v", 1 << 20}, {"steps", 10}}, 1, 1},
    {"natural/leapfrog.vyre", "", {{"x", 32 << 20}, {"v", 32 << 20}, {"steps", 10}}, 1, 1},
    // The fused kernel stays straight code, so that a GPU coarsens it as it does the calls.
    {"graphs/decay_steps.vyre", "", {{"x", 32 << 20}, {"force", 32 << 20}, {"steps", 10}}, 1, 1},
    // Contended atomics take all the time, and delay the bodies beside them on a GPU.
    {"graphs/kmeans_step.vyre", "", {{"px", 16 << 20}, {"clusters", 16}}, 2, 3},
    // A tile pays where memory is slow compared with shared memory and barriers.
    {"natural/unpack_majority.vyre", "", {{"p", 1 << 20}}, 2, 1},
};

Result<FusionPlan> plan_of(const Decision& d, const DeviceCosts& costs) {
  ParseOptions options;
  options.file_name = std::string(VYRE_SOURCE_DIR "/bench/") + d.file;
  const ParseOutcome parsed = parse(read_file(options.file_name).bytes, options);
  EXPECT_TRUE(parsed.module) << d.file;
  const Graph* graph = nullptr;
  for (const Graph& g : parsed.module->graphs)
    if (d.graph.empty() || g.name == d.graph) graph = &g;
  std::vector<std::optional<uint64_t>> counts(graph->buffers.size()), scalars(counts.size());
  const FormulaEnv env{[&](uint32_t i) { return static_cast<__int128>(counts[i].value_or(0)); },
                       [&](uint32_t i) { return static_cast<__int128>(scalars[i].value_or(0)); },
                       [&](uint32_t i) { return graph->buffers[i].name; }};
  for (size_t i = 0; i < counts.size() && graph->buffers[i].parameter; ++i) {
    const GraphBuffer& b = graph->buffers[i];
    const auto size = d.sizes.find(b.name);
    if (b.role == Role::Scalar)
      scalars[i] = size == d.sizes.end() ? 1 : size->second;
    else if (size != d.sizes.end())
      counts[i] = size->second;
    else if (const Result<uint64_t> count = evaluate(graph->formulas, b.count, env, b.name); count)
      counts[i] = *count;
    else
      return count.errors();
  }
  const Result<GraphShape> shape = resolve_graph(*graph, counts, scalars);
  if (!shape) return shape.errors();
  return plan_fusion(*parsed.module, *graph, *shape, {.costs = costs});
}

TEST(FusionCost, programs_of_users_are_fused_where_it_pays) {
  for (const Decision& d : decisions) {
    const auto cpu = plan_of(d, cpu_costs), gpu = plan_of(d, gpu_costs);
    ASSERT_TRUE(cpu && gpu) << d.file;
    if (d.on_cpu) EXPECT_EQ(cpu->groups.size(), d.on_cpu) << d.file << ":\n" << reasons(*cpu);
    EXPECT_EQ(gpu->groups.size(), d.on_gpu) << d.file << ":\n" << reasons(*gpu);
  }
}

TEST(FusionCost, reasons_state_both_times_and_the_largest_added_cost) {
  const auto why = [](const char* file, const char* graph, std::map<std::string, uint64_t> sizes) {
    const auto plan = plan_of({file, graph, std::move(sizes), 0, 0}, cpu_costs);
    return plan ? reasons(*plan) : "";
  };
  EXPECT_NE(why("natural/undelta.vyre", "", {{"d", 4 << 20}})
                .find("1 of 64 invocations of a workgroup compute the tile"),
            std::string::npos);
  EXPECT_NE(why("natural/bitonic.vyre", "", {{"x", 2 << 20}})
                .find("each invocation of stage 1 `stage` is executed 2.0 times"),
            std::string::npos);
  const std::string serial = why("graphs/serial_total.vyre", "", {{"x", 1 << 20}});
  EXPECT_NE(serial.find("does not pay: about "), std::string::npos) << serial;
  EXPECT_NE(serial.find("1 invocations execute stage 1"), std::string::npos) << serial;
}

std::vector<std::optional<double>> load_slopes(const std::string& body, uint32_t workgroup = 64) {
  const ParseOutcome parsed =
      parse("kernel k(n: u32, x: in u32[], t: in u32[], y: out u32[]) workgroup(" +
            std::to_string(workgroup) + ") grid(n) {\n  let i = global_id.x\n" + body + "\n}\n");
  EXPECT_TRUE(parsed.module) << render(parsed.diagnostics, parsed.sources);
  if (!parsed.module) return {};
  const Program& p = parsed.module->kernels[0];
  const LaneSlopes slopes(p, [](const Op& op) {
    return op.code == Opcode::Scalar ? std::optional<double>(1000) : std::nullopt;
  });
  std::vector<std::optional<double>> list;
  walk(p, [&](OpId op) {
    if (p.op(op).code == Opcode::Load && p.buffer_of(op).name == "x")
      list.push_back(slopes.of(p.operand(op, 0)));
  });
  return list;
}

using Slopes = std::vector<std::optional<double>>;

TEST(LaneSlopes, follow_sums_products_and_clamps) {
  EXPECT_EQ(load_slopes("y[i] = x[i] + x[2 * i + 1] + x[max(i, 1) - 1] + x[(i + 1) % n]"),
            (Slopes{1, 2, 1, 1}));
  EXPECT_EQ(load_slopes("y[i] = x[i * n] + x[i / 100] + x[7] + x[n - i]"),
            (Slopes{1000, 0, 0, -1}));
}

TEST(LaneSlopes, data_and_carried_values_have_none_unless_they_are_uniform) {
  EXPECT_EQ(load_slopes("y[i] = x[t[i]] + x[t[3]]"), (Slopes{std::nullopt, 0}));
  EXPECT_EQ(load_slopes("var p = i\n  while t[0] < n { p = p + t[p]\n y[p] = x[p] }"),
            (Slopes{std::nullopt}));
  EXPECT_EQ(load_slopes("for k in 0..n { y[i] += x[i + k] + x[k] }"), (Slopes{1, 0}));
}

KernelEstimate estimate_of(const Program& p, const CallWork& work) {
  KernelEstimate k;
  k.workgroups = 1 << 20;
  k.workgroup_invocations = 64;
  k.phases.push_back({.kernel = &p, .work = &work, .invocations = 64});
  return k;
}

TEST(FusionCost, estimates_grow_with_work_gathers_bytes_and_lost_lanes) {
  const ParseOutcome parsed = parse(
      "kernel k(x: in f32[], y: out f32[]) workgroup(64) { y[global_id.x] = x[global_id.x] }");
  const Program& p = parsed.module->kernels[0];
  CallWork work;
  work.operations = 10;
  work.add_access({.buffer = BufferId(0), .slope = 1, .times = 1});
  for (const DeviceCosts* costs : {&cpu_costs, &gpu_costs, &interpreter_costs}) {
    const KernelEstimate plain = estimate_of(p, work);
    const double base = estimate_ns(plain, *costs);
    CallWork more = work;
    more.operations = 1000;
    EXPECT_GT(estimate_ns(estimate_of(p, more), *costs), base) << costs->name;
    KernelEstimate wide = plain;
    wide.bytes = 1e9;
    if (costs->memory_ns_per_byte > 0) EXPECT_GT(estimate_ns(wide, *costs), base) << costs->name;
    KernelEstimate twice = plain;
    twice.phases[0].times = 8;
    EXPECT_GT(estimate_ns(twice, *costs), base) << costs->name;
    if (costs->lanes == 1) continue;
    KernelEstimate strided = plain;
    strided.phases[0].lane_step = 100;
    EXPECT_GT(estimate_ns(strided, *costs), base) << costs->name;
    // The same work by one lane of each vector.
    KernelEstimate lost = plain;
    lost.phases[0].invocations = 1;
    lost.phases[0].times = 64;
    EXPECT_GT(estimate_ns(lost, *costs), 4 * base) << costs->name;
  }
}

TEST(DeviceCosts, tables_are_found_by_name) {
  EXPECT_EQ(find_costs("cpu"), &cpu_costs);
  EXPECT_EQ(find_costs("gpu"), &gpu_costs);
  EXPECT_EQ(find_costs("interp"), &interpreter_costs);
  EXPECT_EQ(find_costs("tpu"), nullptr);
}

}  // namespace
}  // namespace vyre::plan
