// vyre certify: tests whether a device conforms to the specification.

#include "tools/vyre/certify_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include "support/json.h"
#include "tools/vyre/commands.h"
#include "tools/vyre/diagnostic_output.h"
#include "tools/vyre/launch_flags.h"
#include "tools/vyre/numbers.h"
#include "tools/vyre/stop.h"
#include "tools/vyre/terminal.h"

namespace vyre::cli {
namespace {

Diagnostic bad_value(const char* option, const std::string& value, const char* fix) {
  return diagnose(Code::BadOptionValue, {}, fmt::format("`{} {}` has no meaning", option, value))
      .with_fix(fix);
}

/// Returns the options, or all errors at once.
Result<lab::CertifyOptions> options_of(const CertifyCommand& command) {
  Diagnostics mistakes;
  lab::CertifyOptions options;
  auto spec = lab::parse_device_spec(command.backend);
  if (spec)
    options.spec = std::move(*spec);
  else
    mistakes.insert(mistakes.end(), spec.errors().begin(), spec.errors().end());
  const auto fuzz = parse_count(command.fuzz);
  const auto seed = parse_count(command.seed);
  if (!command.fuzz.empty() && !fuzz)
    mistakes.push_back(bad_value("--fuzz", command.fuzz, "write how many programs; 0 is none"));
  if (!command.seed.empty() && !seed)
    mistakes.push_back(bad_value("--seed", command.seed, "write an integer from 0 to 2^64-1"));
  const size_t slash = command.part.find('/');
  const auto part = parse_count(command.part.substr(0, slash));
  const auto parts = parse_count(slash == std::string::npos ? "" : command.part.substr(slash + 1));
  if (!command.part.empty() && (!part || !parts || *part == 0 || *part > *parts))
    mistakes.push_back(
        bad_value("--part", command.part, "write it like `2/16`: the second of sixteen"));
  if (!command.tests.empty() && ::access((command.tests + "/tests/text").c_str(), R_OK) != 0)
    mistakes.push_back(bad_value("--tests", command.tests,
                                 "give the root of a source tree, with tests/text in it"));
  if (!mistakes.empty()) return mistakes;
  options.folder = command.tests;
  options.quick = command.quick;
  options.large = command.large;
  options.only = command.only;
  options.except = command.except;
  if (part && parts) options.part = *part - 1, options.parts = *parts;
  if (command.quick) options.fuzz = 40;
  if (fuzz) options.fuzz = *fuzz;
  if (seed) options.seed = *seed;
  options.prepare = prepare_run;
  return options;
}

std::string_view word(lab::CaseResult r) {
  switch (r) {
    case lab::CaseResult::Passed: return "passed";
    case lab::CaseResult::Failed: return "FAILED";
    case lab::CaseResult::Refused: return "refused";
    case lab::CaseResult::Skipped: return "skipped";
  }
  return "";
}

std::string case_text(const lab::CaseReport& c) {
  std::string text = fmt::format("{} {}/{}\n  ", word(c.result), c.group, c.name);
  for (const char ch : c.what) text += ch == '\n' ? std::string("\n  ") : std::string(1, ch);
  text += '\n';
  if (c.result == lab::CaseResult::Failed) text += "  again: " + c.repeat + "\n";
  return text;
}

std::string counts(uint64_t passed, uint64_t failed, uint64_t refused, uint64_t skipped) {
  std::string text = fmt::format("{} passed, {} failed", passed, failed);
  if (refused) text += fmt::format(", {} refused", refused);
  if (skipped) text += fmt::format(", {} skipped", skipped);
  return text;
}

std::string summary(const driver::DeviceInfo& device, const lab::CertifyReport& r) {
  std::string text;
  for (const lab::GroupReport& g : r.groups)
    text += fmt::format("{:<12} {} ({:.1f} s)\n", g.name,
                        counts(g.passed, g.failed, g.refused, g.skipped), g.seconds);
  using G = lab::GroupReport;
  const uint64_t failed = r.count(&G::failed);
  text += fmt::format(
      "{:<12} {} ({:.1f} s)\n", "all",
      counts(r.count(&G::passed), failed, r.count(&G::refused), r.count(&G::skipped)), r.seconds);
  if (!r.folder.empty()) text += fmt::format("the programs are in {}\n", r.folder);
  text += r.stopped      ? fmt::format("stopped: `{}` is not certified\n", device.name)
          : failed       ? fmt::format("`{}` does not conform\n", device.name)
          : r.conforms() ? fmt::format("`{}` conforms\n", device.name)
                         : fmt::format("no case passed: `{}` is not certified\n", device.name);
  return text;
}

}  // namespace

Result<lab::PreparedRun> prepare_run(const lab::TextTest& test,
                                     const std::vector<std::string>& words) {
  auto named = parse_launch_line(words);
  if (!named) return std::move(named.errors());
  LoadOptions load;
  load.check.exact = named->flags.exact;
  std::vector<std::string> constants = named->flags.constants;
  for (const auto& header : test.flags) {
    auto flags = parse_launch_line(header);
    if (!flags) return std::move(flags.errors());
    load.check.exact |= flags->flags.exact;
    constants.insert(constants.end(), flags->flags.constants.begin(), flags->flags.constants.end());
  }
  auto by_name = parse_constants(constants);
  if (!by_name) return std::move(by_name.errors());
  load.constants = std::move(*by_name);

  auto loaded = std::make_shared<LoadedModule>(load_module_bytes(test.text, test.path, load));
  if (!loaded->module) {
    Diagnostics errors;
    for (const Diagnostic& d : loaded->diagnostics)
      if (d.severity == Severity::Error) errors.push_back(d);
    return errors;
  }
  const auto target = choose_target(*loaded, named->name, test.path);
  if (!target) return target.errors();
  auto launch = bind_launch(named->flags, *target);
  if (!launch) return std::move(launch.errors());

  lab::PreparedRun run;
  run.kernel = target->kernel;
  run.graph = target->graph;
  run.module = std::shared_ptr<const Module>(loaded, &*loaded->module);
  run.inputs = std::move(launch->inputs);
  run.options = launch->options;
  run.fixes_subgroup = !named->flags.subgroup_size.empty();
  if (!named->flags.memory_limit.empty())
    run.only_interp = "--memory-limit counts what the interpreter itself needs";
  else if (!named->flags.schedule.empty())
    run.only_interp = "--schedule is the interpreter's";
  return run;
}

std::string certify_json(const driver::DeviceInfo& device, const lab::CertifyReport& r) {
  using Json = nlohmann::ordered_json;
  using G = lab::GroupReport;
  Json groups = Json::array(), cases = Json::array();
  for (const G& g : r.groups)
    groups.push_back({{"name", g.name},
                      {"passed", g.passed},
                      {"failed", g.failed},
                      {"refused", g.refused},
                      {"skipped", g.skipped},
                      {"seconds", g.seconds}});
  for (const lab::CaseReport& c : r.cases)
    cases.push_back({{"group", c.group},
                     {"name", c.name},
                     {"result", c.result == lab::CaseResult::Failed ? "failed" : word(c.result)},
                     {"what", c.what},
                     {"repeat", c.repeat}});
  const Json all = {
      {"ok", r.conforms()},
      {"device", {{"backend", device.backend}, {"index", device.index}, {"name", device.name}}},
      {"passed", r.count(&G::passed)},
      {"failed", r.count(&G::failed)},
      {"refused", r.count(&G::refused)},
      {"skipped", r.count(&G::skipped)},
      {"seconds", r.seconds},
      {"stopped", r.stopped},
      {"groups", groups},
      {"cases", cases}};
  return json_text(all, 2) + "\n";
}

int certify(const CertifyCommand& command) {
  auto options = options_of(command);
  if (!options) return report(options.errors(), {}, command.json);
  auto device = driver::Device::open(options->spec.text, options->spec.open);
  if (!device) {
    const int code = report(device.errors(), {}, command.json);
    // A device that does not exist is not a wrong flag: docs/conformance.md.
    return device.errors()[0].code == Code::UnknownDevice ? exit_system_failed : code;
  }
  options->stop = &stop_on_signals();
  const driver::DeviceInfo info = device->info();
  if (!command.json) {
    write_out(fmt::format("{}: {}\n", options->spec.text, info.name));
    std::fflush(stdout);
  }
  Progress progress("certify");
  options->progress = [&](const std::string& group, const std::string& name) {
    progress.update([&] { return fmt::format("{}/{}", group, name); });
  };
  options->report = [&](const lab::CaseReport& c) {
    if (command.json || (c.result != lab::CaseResult::Failed && !command.verbose)) return;
    progress.hide();
    write_out(case_text(c));
  };
  const auto r = lab::certify(std::move(*device), *options);
  progress.hide();
  if (!r) return report(r.errors(), {}, command.json);
  write_out(command.json ? certify_json(info, *r) : summary(info, *r));
  return r->conforms() ? exit_done : exit_program_failed;
}

}  // namespace vyre::cli
