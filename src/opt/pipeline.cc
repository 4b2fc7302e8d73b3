#include "opt/pipeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "opt/passes/fold_constants.h"
#include "opt/passes/number_values.h"
#include "opt/passes/remove_dead_code.h"
#include "wire/fingerprint.h"

namespace vyre::opt {
namespace {

// The pipeline. Phases decide the order (pass.h); within a phase, this list.
constexpr const PassDescriptor* pipeline[] = {
    &fold_constants_pass,
    &number_values_pass,
    &remove_dead_code_pass,
};

}  // namespace

std::span<const PassDescriptor* const> all_passes() { return pipeline; }

const PassDescriptor* find_pass(std::string_view name) {
  for (const PassDescriptor* pass : pipeline)
    if (pass->name == name) return pass;
  return nullptr;
}

Result<std::vector<const PassDescriptor*>> parse_passes(std::string_view list) {
  std::vector<const PassDescriptor*> passes;
  if (list == "none") return passes;
  Diagnostics errors;
  std::vector<std::string> names;
  for (const PassDescriptor* pass : pipeline) names.emplace_back(pass->name);
  while (true) {
    const size_t comma = list.find(',');
    const std::string_view word = list.substr(0, comma);
    const PassDescriptor* pass = find_pass(word);
    if (!pass) {
      const std::string_view near = nearest(word, names);
      errors.push_back(diagnose(Code::UnknownPass, {}, fmt::format("there is no pass called `{}`", word))
                           .note(fmt::format("the passes are {}", fmt::join(names, ", ")))
                           .with_fix(near.empty() ? "use one of these names" : fmt::format("write `{}`", near)));
    } else if (std::find(passes.begin(), passes.end(), pass) != passes.end()) {
      errors.push_back(diagnose(Code::DuplicatePass, {}, fmt::format("pass `{}` is there twice", word))
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

Result<RunReport> optimize(Program& program, const OptimizeOptions& options) {
  RunReport report;
  report.program = program.name;
  report.op_id = program.op_id;
  report.profile = options.passes ? "named" : name(options.profile);

  std::vector<const PassDescriptor*> selected;
  if (options.passes) {
    selected = *options.passes;
    for (const PassDescriptor* pass : selected)
      report.choices.push_back({std::string(pass->name), true, "named", 0, "it was asked for"});
  } else {
    SelectionInput input{all_passes(), options.profile, &program, options.target};
    if (options.profile_data) {
      input.hints = &options.profile_data->hints;
      const auto it = options.profile_data->reports.find(fingerprint(program).to_hex());
      if (it != options.profile_data->reports.end()) input.earlier = &it->second;
    }
    std::vector<const PassDescriptor*> wanted;
    for (const Decision& d : select_passes(input)) {
      report.choices.push_back({std::string(d.pass->name), d.selected, std::string(name(d.reason)), d.priority, d.detail});
      if (d.selected) wanted.push_back(d.pass);
    }
    auto ordered = order_passes(wanted);
    if (!ordered) return ordered.errors();
    selected = std::move(*ordered);
  }
  if (auto done = run_passes(program, selected, options.target, options.schedule, report); !done) return done.errors();
  return report;
}

}  // namespace vyre::opt
