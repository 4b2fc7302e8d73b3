#include "opt/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "opt/passes/count_while_loops.h"
#include "opt/passes/divide_by_constant.h"
#include "opt/passes/eliminate_bounds_checks.h"
#include "opt/passes/fold_constants.h"
#include "opt/passes/forward_stores.h"
#include "opt/passes/hoist_invariants.h"
#include "opt/passes/inline_regions.h"
#include "opt/passes/merge_barriers.h"
#include "opt/passes/number_values.h"
#include "opt/passes/promote_handoffs.h"
#include "opt/passes/remove_dead_buffers.h"
#include "opt/passes/remove_dead_code.h"
#include "opt/passes/remove_dead_stores.h"
#include "opt/passes/simplify.h"
#include "wire/fingerprint.h"

namespace vyre::opt {
namespace {

// The pipeline. Phases decide the order (pass.h); within a phase, this list.
constexpr const PassDescriptor* pipeline[] = {
    &fold_constants_pass,     &simplify_pass,
    &divide_by_constant_pass, &inline_regions_pass,
    &count_while_loops_pass,  &number_values_pass,
    &forward_stores_pass,     &remove_dead_stores_pass,
    &hoist_invariants_pass,   &eliminate_bounds_checks_pass,
    &promote_handoffs_pass,   &merge_barriers_pass,
    &remove_dead_code_pass,   &remove_dead_buffers_pass,
};

/// The pipeline, and the passes that tests add.
std::vector<const PassDescriptor*>& registered() {
  static std::vector<const PassDescriptor*> passes(std::begin(pipeline), std::end(pipeline));
  return passes;
}

}  // namespace

std::span<const PassDescriptor* const> all_passes() { return registered(); }

RegisterPassForTest::RegisterPassForTest(const PassDescriptor& pass) : pass_(pass) {
  registered().push_back(&pass);
}
RegisterPassForTest::~RegisterPassForTest() { std::erase(registered(), &pass_); }

const PassDescriptor* find_pass(std::string_view name) {
  for (const PassDescriptor* pass : registered())
    if (pass->name == name) return pass;
  return nullptr;
}

namespace {

/// The pass that an unknown name means: a near name, the standard name of its optimization, or a
/// part of its name; "" if there is none.
std::string_view meant_pass(std::string_view word, const std::vector<std::string>& names) {
  static constexpr std::pair<std::string_view, std::string_view> standard[] = {
      {"dce", "remove_dead_code"},
      {"dse", "remove_dead_stores"},
      {"gvn", "number_values"},
      {"cse", "number_values"},
      {"licm", "hoist_invariants"},
      {"constant_folding", "fold_constants"},
      {"peephole", "simplify"},
      {"instcombine", "simplify"},
      {"bounds", "eliminate_bounds_checks"}};
  if (const std::string_view near = nearest(word, names); !near.empty()) return near;
  for (const auto& [name, pass] : standard)
    if (name == word) return pass;
  for (const std::string& name : names)
    if (word.size() >= 4 && name.find(word) != name.npos) return name;
  return {};
}

}  // namespace

Result<std::vector<const PassDescriptor*>> parse_passes(std::string_view list) {
  std::vector<const PassDescriptor*> passes;
  if (list == "none") return passes;
  Diagnostics errors;
  std::vector<std::string> names;
  for (const PassDescriptor* pass : registered()) names.emplace_back(pass->name);
  while (true) {
    const size_t comma = list.find(',');
    const std::string_view word = list.substr(0, comma);
    const PassDescriptor* pass = find_pass(word);
    if (!pass) {
      const std::string_view near = meant_pass(word, names);
      errors.push_back(
          diagnose(Code::UnknownPass, {}, fmt::format("there is no pass called `{}`", word))
              .note(fmt::format("the passes are {}", fmt::join(names, ", ")))
              .with_fix(near.empty() ? "use one of these names" : fmt::format("write `{}`", near)));
    } else if (std::find(passes.begin(), passes.end(), pass) != passes.end()) {
      errors.push_back(
          diagnose(Code::DuplicatePass, {}, fmt::format("pass `{}` is there twice", word))
              .with_fix("name each pass once; the scheduler runs it as often as it helps"));
    } else {
      passes.push_back(pass);
    }
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  if (!errors.empty()) return errors;
  return passes;
}

Result<ChosenPasses> choose_passes(const Program& program, const OptimizeOptions& options) {
  ChosenPasses chosen;
  RunReport& report = chosen.report;
  report.program = program.name;
  report.op_id = program.op_id;
  report.profile = options.passes ? "named" : name(options.profile);
  if (options.passes) {
    chosen.passes = *options.passes;
    for (const PassDescriptor* pass : chosen.passes)
      report.choices.push_back({std::string(pass->name), true, "named", 0, "it was asked for"});
    return chosen;
  }
  SelectionInput input{all_passes(), options.profile, &program, options.target};
  if (options.profile_data) {
    input.hints = &options.profile_data->hints;
    const auto it = options.profile_data->reports.find(fingerprint(program).to_hex());
    if (it != options.profile_data->reports.end()) input.earlier = &it->second;
  }
  std::vector<const PassDescriptor*> wanted;
  for (const Decision& d : select_passes(input)) {
    report.choices.push_back(
        {std::string(d.pass->name), d.selected, std::string(name(d.reason)), d.priority, d.detail});
    if (d.selected) wanted.push_back(d.pass);
  }
  auto ordered = order_passes(wanted);
  if (!ordered) return ordered.errors();
  chosen.passes = std::move(*ordered);
  return chosen;
}

Result<RunReport> optimize(Program& program, const OptimizeOptions& options) {
  Result<ChosenPasses> chosen = choose_passes(program, options);
  if (!chosen) return chosen.errors();
  if (auto done =
          run_passes(program, chosen->passes, options.target, options.schedule, chosen->report);
      !done)
    return done.errors();
  return std::move(chosen->report);
}

}  // namespace vyre::opt
