// vyre plan: shows how a graph would run. Planning needs lengths, not data: missing lengths are
// assumed.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/formula.h"
#include "plan/launches/launch_groups.h"
#include "plan/plan_file.h"
#include "runtime/device.h"
#include "runtime/registry.h"
#include "support/bytes_text.h"
#include "text/print.h"
#include "tools/vyre/commands.h"
#include "tools/vyre/diagnostic_output.h"
#include "tools/vyre/emit_target.h"
#include "tools/vyre/program_file.h"

namespace vyre::cli {
namespace {

constexpr uint64_t assumed_length = uint64_t{1} << 20;

/// Lengths and scalars of the parameters: given ones, those of formulas, and guesses.
struct Assumed {
  std::vector<std::optional<uint64_t>> counts, scalars;
  std::vector<std::string> guesses;
  std::string questions;  // for scalars that lengths depend on
};

/// A buffer whose length is computed from the scalar, or none.
uint32_t buffer_sized_by(const Graph& g, const LaunchInputs& inputs, uint32_t scalar) {
  const auto depends = [&](FormulaId id) -> bool {
    std::vector<bool> on(g.formulas.nodes.size());  // nodes refer to earlier ones
    for (FormulaId i = 0; i <= id; ++i) {
      const FormulaNode& n = g.formulas[i];
      if (n.op == FormulaOp::Scalar)
        on[i] = n.a == scalar;
      else if (n.op != FormulaOp::Const && n.op != FormulaOp::Len)
        on[i] = on[n.a] || on[n.b];
    }
    return on[id];
  };
  for (uint32_t i = 0; i < g.buffers.size(); ++i) {
    const GraphBuffer& b = g.buffers[i];
    const bool given = b.parameter && (inputs.data[i] || inputs.lengths[i]);
    if (b.role != Role::Scalar && b.count != no_formula && !given && depends(b.count)) return i;
  }
  return none;
}

Result<Assumed> assume(const Graph& g, const LaunchInputs& inputs) {
  Assumed a;
  a.counts.resize(g.buffers.size());
  a.scalars.resize(g.buffers.size());
  const FormulaEnv env{[&](uint32_t i) { return static_cast<__int128>(a.counts[i].value_or(0)); },
                       [&](uint32_t i) { return static_cast<__int128>(a.scalars[i].value_or(0)); },
                       [&](uint32_t i) { return g.buffers[i].name; }};
  for (size_t i = 0; i < g.buffers.size() && g.buffers[i].parameter; ++i) {
    const GraphBuffer& b = g.buffers[i];
    const auto& data = inputs.data[i];
    if (b.role == Role::Scalar) {
      a.scalars[i] = 0;
      for (size_t k = 0; data && k < data->size(); ++k)
        *a.scalars[i] |= static_cast<uint64_t>((*data)[k]) << (8 * k);
      if (data) continue;
      a.scalars[i] = 1;
      a.guesses.push_back(fmt::format("{} = 1", b.name));
      if (const uint32_t sized = buffer_sized_by(g, inputs, uint32_t(i)); sized != none)
        a.questions += fmt::format("pass `--set {}=V`: the length of `{}` depends on it\n", b.name,
                                   g.buffers[sized].name);
    } else if (data) {
      a.counts[i] = data->size() / size_of(b.element);
    } else if (inputs.lengths[i]) {
      a.counts[i] = inputs.lengths[i];
    } else if (b.count != no_formula) {
      const Result<uint64_t> count =
          evaluate(g.formulas, b.count, env, fmt::format("the length of `{}`", b.name));
      if (!count) return count.errors();
      a.counts[i] = *count;
    } else {
      a.counts[i] = assumed_length;
      a.guesses.push_back(fmt::format("len({}) = {}", b.name, assumed_length));
    }
  }
  return a;
}

struct Wanted {
  plan::PlanOptions options;
  driver::Choice choice;
  uint64_t device_bytes = ~0ull;
};

Result<Wanted> what_is_wanted(const PlanCommand& c) {
  Wanted wanted;
  wanted.options.fuse = !c.no_fusion;
  wanted.options.reuse = !c.no_reuse;
  const Result<driver::Choice> choice = driver::choose(c.backend);
  if (!choice) return choice.errors();
  wanted.choice = *choice;
  std::string why;
  const auto devices = choice->backend->probe(&why);
  if (choice->index < devices.size()) {
    const driver::DeviceInfo& device = devices[choice->index];
    wanted.options.fusion = driver::fusion_options(device);
    wanted.device_bytes = device.limits.memory_bytes;
  }
  return wanted;
}

/// Checks that parameters and intermediates fit into the device's memory; `vyre run` would learn
/// this by allocating them.
Result<> fits_device(const plan::PlannedGraph& planned, const Graph& graph, const Wanted& wanted) {
  uint64_t bytes = plan::intermediate_memory(planned, graph).planned;
  for (const GraphBufferId i : graph.buffers.ids())
    if (graph.buffers[i].parameter && graph.buffers[i].role != Role::Scalar)
      bytes += planned.plan.counts[i] * size_of(graph.buffers[i].element);
  if (bytes <= wanted.device_bytes) return Ok{};
  return diagnose(Code::DeviceMemoryExceeded, graph.place,
                  fmt::format("graph `{}` needs {}; the device has {}", graph.name,
                              exact_bytes(bytes), exact_bytes(wanted.device_bytes, false)))
      .with_fix("give smaller lengths, or plan for another device");
}

/// Returns the memory that a run by this plan needs, as the driver computes it; V0503 if it is
/// above the limit.
Result<std::string> memory_within(uint64_t limit, const Wanted& wanted, const PlanCommand& command,
                                  const Launch& launch, const plan::PlannedGraph& planned,
                                  const Target& target, const GraphShape& shape) {
  Result<driver::Device> device = driver::Device::open(wanted.choice);
  if (!device) return device.errors();
  driver::GraphOptions how;
  how.compile.checked = true;
  if (!command.launch.subgroup_size.empty())
    how.compile.subgroup_size = launch.options.subgroup_size;
  how.plan = std::make_shared<plan::GraphPlan>(planned.plan);
  how.memory_limit = limit;
  how.compile.limits = driver::CompileLimits(launch.options.time_limit, limit);
  const auto need = device->memory_need(*target.module, *target.graph, shape, how);
  if (!need) return need.errors();
  std::string text = fmt::format(
      "memory of a run: {} bytes of {}: {} of parameters, {} of intermediates, {} of scratch "
      "buffers and values kept at grid barriers",
      need->total(), limit, need->parameters, need->intermediates, need->scratch);
  if (need->working > 0)
    text += fmt::format(", {} of the workgroups that run at once", need->working);
  return text + "\n";
}

/// Returns the groups that the budget alone allows, independent of which kernels may be fused. ""
/// if one stage exceeds it: fusion may keep its outputs out of memory.
std::string groups_by_bytes(const Target& target, const GraphShape& shape, uint64_t budget) {
  const auto stages = plan::stages_of(*target.module, *target.graph, shape);
  if (!stages) return "";  // reported when the call is reached
  plan::LaunchGroupStorage storage;
  const auto groups = plan::best_launch_groups(*stages, budget, storage);
  if (!groups) return "";
  return fmt::format(
      "by bytes and launch shape alone, within {} bytes: {} group{}, {} bytes of intermediates "
      "avoided\n",
      budget, groups->launches, groups->launches == 1 ? "" : "s", groups->avoided_bytes);
}

Diagnostic not_a_graph(const Target& target) {
  return diagnose(Code::PlanOfKernel, {},
                  fmt::format("`plan` takes a graph, and `{}` is a kernel", target.name()))
      .with_fix("name a graph of the file, or write one");
}

}  // namespace

int plan(const PlanCommand& command) {
  const auto fail = [&](const Diagnostics& errors, const Sources& sources) {
    return report(errors, sources, command.json);
  };
  const auto load = load_options(command.launch);
  if (!load) return fail(load.errors(), {});
  const FileAndName file = split_file_and_name(command.file);
  LoadedModule loaded = load_module(file.file, *load);
  if (!loaded.module) return fail(loaded.diagnostics, loaded.sources);
  const auto target = choose_target(loaded, file.name, shown_name(file.file));
  if (!target) return fail(target.errors(), loaded.sources);
  if (!target->graph) return fail({not_a_graph(*target)}, loaded.sources);
  const auto launch = bind_launch(command.launch, *target);
  if (!launch) return fail(launch.errors(), loaded.sources);
  const auto assumed = assume(*target->graph, launch->inputs);
  if (!assumed) return fail(assumed.errors(), loaded.sources);
  const auto shape = resolve_graph(*target->graph, assumed->counts, assumed->scalars);
  if (!shape) return fail(shape.errors(), loaded.sources);
  const auto wanted = what_is_wanted(command);
  if (!wanted) return fail(wanted.errors(), loaded.sources);
  const auto planned = plan::plan_graph(*target->module, *target->graph, *shape, wanted->options);
  if (!planned) return fail(planned.errors(), loaded.sources);
  if (auto fits = fits_device(*planned, *target->graph, *wanted); !fits)
    return fail(fits.errors(), loaded.sources);
  std::string memory;
  if (const uint64_t limit = launch->options.memory_limit; limit != 0) {
    const auto within = memory_within(limit, *wanted, command, *launch, *planned, *target, *shape);
    if (!within) return fail(within.errors(), loaded.sources);
    memory = *within + groups_by_bytes(*target, *shape, limit);
  }

  if (command.json) {
    write_out(plan::write_plan(*planned, *target->module, *target->graph));
    return exit_done;
  }
  std::string text = plan::print_plan(*planned, *target->module, *target->graph);
  text += memory;
  if (!assumed->guesses.empty())
    text += fmt::format("assumed: {}; give lengths with `--len NAME=N`, scalars with `--set`\n",
                        fmt::join(assumed->guesses, ", "));
  text += assumed->questions;
  if (command.print_ir) text += "\n" + print(planned->fused.module);
  write_out(text);
  return exit_done;
}

}  // namespace vyre::cli
