// Random plans on devices: the runtime's executor runs the plan, not the interpreter.

#include <fmt/format.h>

#include <memory>

#include "differential/device_subject.h"
#include "differential/plan_subjects.h"
#include "generate/interesting.h"
#include "generate/random.h"
#include "ir/graph_launch.h"
#include "plan/memory/check_reuse.h"
#include "plan/plan_file.h"
#include "runtime/buffer_owner.h"

namespace vyre::lab {
namespace {

// ---- Placements.

uint64_t rounded(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

/// Recomputes the totals of a plan.
void sum_up(plan::ReusePlan& plan, const plan::ReuseInput& arms) {
  plan.before = plan.after = plan.live_sum = 0;
  for (const uint64_t bytes : plan.slot_bytes) plan.after += bytes;
  for (const GraphBufferId b : arms.buffers.ids())
    if (plan.placement[b].slot != plan::Placement::own)
      plan.before += rounded(arms.buffers[b].bytes, arms.alignment);
}

/// Moves one buffer: into separate memory, into a new slot, or anywhere in a slot, which grows if
/// necessary.
plan::ReusePlan moved(plan::ReusePlan plan, const plan::ReuseInput& arms, GraphBufferId b,
                      Random& coin) {
  plan::Placement& at = plan.placement[b];
  const auto in_slot = [&](uint32_t slot, uint64_t offset) {
    at = {slot, offset};
    plan.slot_bytes[slot] =
        std::max(plan.slot_bytes[slot], rounded(offset + arms.buffers[b].bytes, arms.alignment));
  };
  switch (coin.below(4)) {
    case 0:
      at = {};
      std::erase_if(plan.clears, [&](const auto& c) { return c.second == b; });
      break;
    case 1:
      plan.slot_bytes.push_back(coin.below(3) * arms.alignment);
      in_slot(uint32_t(plan.slot_bytes.size() - 1), coin.below(3) * arms.alignment);
      break;
    default:
      if (plan.slot_bytes.empty()) break;
      const auto slot = uint32_t(coin.below(plan.slot_bytes.size()));
      in_slot(slot, coin.below(plan.slot_bytes[slot] / arms.alignment + 2) * arms.alignment);
      break;
  }
  sum_up(plan, arms);
  return plan;
}

/// The planner's placement for one of several alignments, followed by a few random legal moves.
plan::ReusePlan random_reuse(const plan::ReuseInput& arms, Random& coin) {
  plan::ReuseInput wider = arms;
  wider.alignment = arms.alignment << coin.pick({0, 0, 1, 4});
  plan::ReusePlan plan = plan::plan_reuse(wider);
  if (coin.chance(15)) {  // no shared slots
    plan = {};
    plan.placement.resize(arms.buffers.size());
  }
  sum_up(plan, arms);
  if (arms.buffers.empty()) return plan;
  const IdMap<GraphBufferId, bool> movable = plan::non_escaping(arms);
  for (uint64_t tries = coin.below(12); tries-- > 0;) {
    const GraphBufferId b(coin.below(arms.buffers.size()));
    if (!movable[b]) continue;
    plan::ReusePlan next = moved(plan, arms, b, coin);
    if (plan::check_reuse(arms, next)) plan = std::move(next);
  }
  return plan;
}

// ---- Launches.

/// A prepared graph, with buffers for its parameters.
class Launches {
 public:
  Launches(driver::Device& device, const Generated& g, const GraphShape& shape,
           driver::GraphExecutable graph)
      : device_(device), g_(g), shape_(shape), graph_(std::move(graph)), owner_(device) {}

  Result<> allocate() {
    for (const GraphBufferId i : graph().buffers.ids()) {
      if (!graph().buffers[i].parameter) break;
      if (graph().buffers[i].role == Role::Scalar) {
        arguments_.emplace_back(Scalar{graph().buffers[i].element, shape_.scalars[i]});
        continue;
      }
      Result<driver::Buffer> made = owner_.allocate(shape_.bytes(graph(), i));
      if (!made) return made.errors();
      arguments_.emplace_back(*made);
    }
    return Ok{};
  }

  Result<Outputs> launch(const std::vector<std::optional<std::vector<std::byte>>>& data) {
    std::vector<driver::Command> commands;
    Outputs out;
    out.buffers.resize(graph().buffers.size());
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const driver::Buffer* to = std::get_if<driver::Buffer>(&arguments_[i]);
      if (!to) continue;
      if (is_host_input(graph().buffers[i].role))
        commands.push_back(driver::Upload{*to, *data[i]});
      else
        // The initial contents of an output must not matter.
        commands.push_back(driver::Fill{*to, 0xa5});
    }
    commands.push_back(driver::LaunchGraph{graph_, arguments_});
    for (size_t i = 0; i < arguments_.size(); ++i) {
      if (!is_host_output(graph().buffers[i].role)) continue;
      const driver::Buffer& from = std::get<driver::Buffer>(arguments_[i]);
      out.buffers[i].resize(from.bytes);
      commands.push_back(driver::Readback{from, out.buffers[i]});
    }
    driver::SubmitOptions options;
    options.time_limit = g_.limits.seconds;
    const auto ticket = device_.submit(std::move(commands), options);
    if (!ticket) return ticket.errors();
    const auto report = ticket->wait();
    if (report) return out;
    const Diagnostic& first = report.errors().front();
    if (first.code == Code::Trapped) return Outputs{{}, first.message, ""};
    if (const Diagnostic* refused = refusal_in(report.errors()))
      return Outputs{{}, "", to_string(refused->code)};
    return report.errors();
  }

 private:
  const Graph& graph() const { return g_.module.graphs[0]; }

  driver::Device& device_;
  const Generated& g_;
  const GraphShape& shape_;
  driver::GraphExecutable graph_;
  driver::BufferOwner owner_;
  std::vector<driver::Argument> arguments_;
};

/// Other values in every input; scalars stay, because lengths depend on them.
std::vector<std::optional<std::vector<std::byte>>> garbage(const Generated& g, Random& coin) {
  auto data = g.inputs.data;
  const Graph& graph = g.module.graphs[0];
  for (size_t i = 0; i < data.size(); ++i)
    if (data[i] && graph.buffers[i].role != Role::Scalar)
      data[i] = interesting_bytes(coin, graph.buffers[i].element,
                                  data[i]->size() / size_of(graph.buffers[i].element));
  return data;
}

}  // namespace

Result<plan::PlannedGraph> random_plan(const Module& module, const Graph& graph,
                                       const GraphShape& shape, uint64_t seed) {
  Random coin(seed ^ 0x64657669636570ull);
  plan::PlanOptions options;
  options.fuse = coin.chance(80);
  options.reuse = false;
  Result<plan::PlannedGraph> made = plan::plan_graph(module, graph, shape, options);
  if (!made) return made;
  if (options.fuse && coin.chance(70)) {
    plan::GraphPlan other = made->plan;
    other.fusion = random_fusion(module, graph, shape, seed);
    Result<plan::FusedGraph> fused = plan::fuse_graph(module, graph, shape, other.fusion);
    if (!fused) return fused.errors();
    other.reuse = {};
    other.reuse.placement.resize(fused->graph().buffers.size());
    made = plan::apply_plan(module, graph, shape, std::move(other));
    if (!made) return made;
  }
  made->plan.reuse = random_reuse(made->arms, coin);
  return made;
}

Result<Outputs> run_random_plan(driver::Device& device, const driver::CompileOptions& compile,
                                const Generated& g) {
  const Graph& graph = g.module.graphs[0];
  const auto shape = resolve_graph(graph, g.inputs.data, g.inputs.lengths, 0);
  if (!shape) return shape.errors();
  const auto planned = random_plan(g.module, graph, *shape, g.seed);
  if (!planned) return planned.errors();
  // Through a file: data that the file lacks must not matter.
  const auto read = plan::read_plan(plan::write_plan(*planned, g.module, graph), "the plan");
  if (!read) return read.errors();
  driver::GraphOptions options;
  options.compile = compile;
  options.compile.checked = true;
  options.plan = std::make_shared<const plan::GraphPlan>(*read);
  auto ready = device.prepare(g.module, graph, *shape, options);
  if (!ready) {
    if (const Diagnostic* refused = refusal_in(ready.errors()))
      return Outputs{{}, "", to_string(refused->code)};
    return ready.errors();
  }
  Launches launches(device, g, *shape, std::move(*ready));
  if (Result<> there = launches.allocate(); !there) return there.errors();
  Random coin(g.seed ^ 0x6469727479ull);
  if (coin.chance(50)) (void)launches.launch(garbage(g, coin));
  const Result<Outputs> first = launches.launch(g.inputs.data);
  if (!first) return first;
  (void)launches.launch(garbage(g, coin));  // may trap, or have an invalid grid
  Result<Outputs> again = launches.launch(g.inputs.data);
  if (!again) return again;
  if (const std::string d = difference(g, *first, *again); !d.empty())
    return diagnose(Code::SubjectFailed, {}, "launched again with the same inputs: " + d);
  return again;
}

Subject random_plan_subject(const std::string& device, uint32_t subgroup_size) {
  Subject s;
  s.name = "plan:random:" + device;
  s.subgroup_size = subgroup_size;
  s.applies = [](const Generated& g) { return g.is_graph(); };
  s.run = [device, subgroup_size, opened = std::make_shared<std::optional<driver::Device>>()](
              const Generated& g) -> Result<Outputs> {
    if (!*opened) {
      auto made = driver::Device::open(device);
      if (!made) return std::move(made.errors());
      *opened = std::move(*made);
    }
    driver::CompileOptions compile;
    compile.subgroup_size = subgroup_size;
    return run_random_plan(**opened, compile, g);
  };
  return s;
}

}  // namespace vyre::lab
