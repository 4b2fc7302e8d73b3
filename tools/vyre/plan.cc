// vyre plan: how a graph would run. Planning needs lengths, not data: what is not given is assumed.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/device.h"
#include "driver/registry.h"
#include "ir/formula.h"
#include "plan/launch_groups.h"
#include "plan/plan_file.h"
#include "text/print.h"
#include "tools/vyre/commands.h"
#include "tools/vyre/program_file.h"
#include "tools/vyre/report.h"
#include "tools/vyre/target.h"

namespace vyre::cli {
namespace {

constexpr uint64_t assumed_length = uint64_t{1} << 20;

/// Lengths and scalars of the parameters: given ones, those of formulas, and guesses.
struct Assumed {
  std::vector<std::optional<uint64_t>> counts, scalars;
  std::vector<std::string> guesses;
};

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
  uint64_t budget = 0;  // bytes of device memory
};

Result<Wanted> what_is_wanted(const PlanCommand& c, uint64_t memory_limit) {
  Wanted wanted;
  wanted.options.fuse = !c.no_fusion;
  wanted.options.reuse = !c.no_reuse;
  wanted.budget = ~0ull;
  const Result<driver::Choice> choice = driver::choose(c.backend);
  if (!choice) return choice.errors();
  std::string why;
  const auto devices = choice->backend->probe(&why);
  if (choice->index < devices.size()) {
    wanted.options.fusion = driver::fusion_options(devices[choice->index]);
    wanted.budget = devices[choice->index].limits.memory_bytes;
  }
  if (memory_limit) wanted.budget = std::min(wanted.budget, memory_limit);
  return wanted;
}

/// What the budget alone allows, before anybody asks which kernels may be joined at all. A stage
/// that does not fit by itself is an error: no plan helps it.
Result<std::string> groups_by_bytes(const Target& target, const GraphShape& shape,
                                    uint64_t budget) {
  const auto stages = plan::stages_of(*target.module, *target.graph, shape);
  if (!stages) return std::string();  // told when the call is reached
  plan::LaunchGroupStorage storage;
  const auto groups = plan::best_launch_groups(*stages, budget, storage);
  if (!groups) return groups.errors();
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
  const auto constants = parse_constants(command.launch.constants);
  if (!constants) return fail(constants.errors(), {});
  const FileAndName file = split_file_and_name(command.file);
  LoadedModule loaded = load_module(file.file, {*constants, {}});
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
  const auto wanted = what_is_wanted(command, launch->options.memory_limit);
  if (!wanted) return fail(wanted.errors(), loaded.sources);
  const auto groups = groups_by_bytes(*target, *shape, wanted->budget);
  if (!groups) return fail(groups.errors(), loaded.sources);
  const auto planned = plan::plan_graph(*target->module, *target->graph, *shape, wanted->options);
  if (!planned) return fail(planned.errors(), loaded.sources);

  if (command.json) {
    write_out(plan::write_plan(*planned, *target->module, *target->graph));
    return exit_done;
  }
  std::string text = plan::print_plan(*planned, *target->module, *target->graph);
  if (launch->options.memory_limit != 0) text += *groups;
  if (!assumed->guesses.empty())
    text += fmt::format("assumed: {}; give lengths with `--len NAME=N`, scalars with `--set`\n",
                        fmt::join(assumed->guesses, ", "));
  if (command.print_ir) text += "\n" + print(planned->fused.module);
  write_out(text);
  return exit_done;
}

}  // namespace vyre::cli
