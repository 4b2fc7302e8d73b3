// vyre opt: optimizes a program. The program goes to standard output, so that it can be run;
// reports about it go to standard error.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "opt/passes_doc.h"
#include "opt/pipeline.h"
#include "text/print.h"
#include "tools/vyre/commands.h"
#include "tools/vyre/diagnostic_output.h"
#include "tools/vyre/emit_target.h"
#include "tools/vyre/json_output.h"
#include "tools/vyre/numbers.h"
#include "tools/vyre/optimizer_launch.h"
#include "tools/vyre/program_file.h"

namespace vyre::cli {
namespace {

std::string microseconds(uint64_t ns) {
  return fmt::format("{:.1f} us", static_cast<double>(ns) / 1e3);
}

std::string what_changed(const opt::PassRun& run) {
  std::string text;
  for (const opt::CostField& f : opt::cost_fields)
    if (run.before.*f.value != run.after.*f.value)
      text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", f.name, run.before.*f.value,
                          run.after.*f.value);
  return text;
}

void show_run(const Program& program, const opt::PassRun& run) {
  std::string line = fmt::format("// kernel `{}`, iteration {}, {}: {}", program.name,
                                 run.iteration, run.pass, name(run.decision));
  if (const std::string changes = what_changed(run); !changes.empty()) line += "; " + changes;
  for (const std::string& refusal : run.refusals) line += "\n// refused: " + refusal;
  fmt::print(stderr, "{}\n{}\n", line, print(program));
}

void show_times(const opt::RunReport& r) {
  fmt::print(stderr, "kernel `{}`, profile {}: {} iteration{}, {}{}\n", r.program, r.profile,
             r.iterations, r.iterations == 1 ? "" : "s", microseconds(r.ns),
             r.settled ? "" : ", not settled");
  size_t longest = 0;
  for (const opt::PassChoice& c : r.choices) longest = std::max(longest, c.pass.size());
  for (const opt::PassRun& run : r.runs)
    fmt::print(stderr, "  {}  {:<{}}  {:<13}  {:>10}  {}\n", run.iteration, run.pass, longest,
               name(run.decision),
               run.decision == opt::PassDecision::NotDirty ? "" : microseconds(run.ns),
               what_changed(run));
  for (const opt::PassChoice& c : r.choices)
    fmt::print(stderr, "  {} {:<{}}  {} {}: {}\n", c.selected ? "+" : "-", c.pass, longest,
               c.reason, c.priority, c.detail);
}

class Optimizing {
 public:
  explicit Optimizing(const OptCommand& command) : command_(command) {}

  int run() {
    if (!prepare()) return report(mistakes_, loaded_.sources, command_.json);
    const auto limits = limits_after(loaded_, command_.launch);
    if (!limits) return report(limits.errors(), loaded_.sources, command_.json);
    if (limits->deadline()) options_.schedule.is_over = [&] { return limits->is_over(); };
    std::vector<OptimizedKernel> done;
    for (size_t i = 0; i < module_.kernels.size(); ++i) {
      Program& kernel = module_.kernels[i];
      if (only_ && i != *only_) continue;
      auto target = optimizer_target(&device_, kernel, launch_ ? &launch_->inputs : nullptr);
      if (!target) return report(target.errors(), loaded_.sources, command_.json);
      options_.target = std::move(*target);
      std::optional<opt::RunReport> ran;
      auto text = make_within(*limits, kernel, [&]() -> Result<std::string> {
        auto r = opt::optimize(kernel, options_);
        if (!r) return r.errors();
        ran = std::move(*r);
        return print(kernel);
      });
      if (!text) return report(text.errors(), loaded_.sources, command_.json);
      if (command_.time_passes && !command_.json) show_times(*ran);
      done.push_back({std::move(*ran), std::move(*text)});
    }
    if (command_.json)
      write_out(opt_json(done));
    else
      write_out(only_ ? done[0].text : print(module_));
    return exit_done;
  }

 private:
  template <class T>
  bool good(const Result<T>& piece) {
    if (!piece) mistakes_.insert(mistakes_.end(), piece.errors().begin(), piece.errors().end());
    return static_cast<bool>(piece);
  }

  bool prepare() {
    if (command_.file.empty())
      mistakes_.push_back(
          diagnose(Code::MissingArgument, {}, "`opt` lacks an argument: FILE is required")
              .with_fix("name a program, or list the passes with `--list`"));
    if (auto wanted = bind_optimizer(command_.optimizer); good(wanted)) {
      wanted_ = std::move(*wanted);
      if (auto options = optimize_options(wanted_); good(options)) options_ = std::move(*options);
    }
    if (!command_.stop_after.empty()) {
      const auto n = parse_count(command_.stop_after);
      if (n)
        options_.schedule.stop_after = *n;
      else
        mistakes_.push_back(
            diagnose(Code::BadOptionValue, {},
                     fmt::format("`--stop-after {}` has no meaning", command_.stop_after))
                .with_fix("give a number of runs of passes"));
    }
    // Checks the program after every pass, in every build: users of `opt` need to know which pass
    // breaks it.
    options_.schedule.check = true;
    if ((command_.print_after_all || command_.print_changed) && !command_.json)
      options_.schedule.after_pass = [this](const Program& program, const opt::PassRun& run) {
        if (command_.print_after_all || run.decision == opt::PassDecision::Changed)
          show_run(program, run);
      };
    if (auto device = find_device(command_.backend); good(device)) device_ = std::move(*device);
    const auto options = load_options(command_.launch);
    const auto limits = parse_limits(command_.launch);
    if (!good(options) || !good(limits) || !mistakes_.empty()) return false;

    const FileAndName file = split_file_and_name(command_.file);
    loaded_ = load_module(file.file, *options);
    if (!loaded_.module) {
      mistakes_ = loaded_.diagnostics;
      return false;
    }
    module_ = *loaded_.module;
    if (file.name.empty() && !describes_launch(command_.launch)) return true;
    return choose_kernel(file);
  }

  /// Selects the kernel that is named, or that the flags of the launch refer to.
  bool choose_kernel(const FileAndName& file) {
    const auto target = choose_target(loaded_, file.name, shown_name(file.file));
    if (!good(target)) return false;
    if (!target->kernel) {
      mistakes_ = {
          diagnose(Code::OptionMisuse, {},
                   fmt::format("`opt` takes a kernel, and `{}` is a graph", target->name()))
              .with_fix("leave the name out: all kernels of the file are optimized, and its graphs "
                        "stay")};
      return false;
    }
    only_ = static_cast<size_t>(target->kernel - loaded_.module->kernels.data());
    if (!describes_launch(command_.launch)) return true;
    LaunchFlags flags = command_.launch;
    flags.stdin_is_program = file.file == "-";
    auto launch = bind_launch(flags, *target);
    if (good(launch)) launch_ = std::move(*launch);
    return mistakes_.empty();
  }

  const OptCommand& command_;
  Diagnostics mistakes_;
  driver::Optimization wanted_;
  opt::OptimizeOptions options_;
  driver::DeviceInfo device_;
  std::optional<Launch> launch_;  // described by flags
  LoadedModule loaded_;
  Module module_;
  std::optional<size_t> only_;  // one kernel, by index
};

}  // namespace

int optimize(const OptCommand& command) {
  if (command.markdown && !command.list)
    return report({diagnose(Code::OptionMisuse, {}, "`opt`: `--markdown` is for `--list`")
                       .with_fix("add `--list`")},
                  {}, command.json);
  if (!command.list) return Optimizing(command).run();
  write_out(command.json       ? opt::passes_json()
            : command.markdown ? opt::passes_markdown()
                               : opt::passes_text());
  return exit_done;
}

}  // namespace vyre::cli
