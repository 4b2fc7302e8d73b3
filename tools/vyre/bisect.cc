// vyre bisect: which run of a pass is the first that makes the result differ from the
// interpreter's?
//
// The runs of all passes on all kernels are one sequence, kernel after kernel. A program after the
// first n of them is made here and runs on the device as it is; binary search finds the least n
// that gives another result.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "driver/optimizer_target.h"
#include "opt/pipeline.h"
#include "support/failure.h"
#include "support/file.h"
#include "text/print.h"
#include "tools/vyre/commands.h"
#include "tools/vyre/device_run.h"
#include "tools/vyre/json.h"
#include "tools/vyre/report.h"
#include "tools/vyre/terminal.h"

namespace vyre::cli {
namespace {

class Bisection {
 public:
  explicit Bisection(const BisectCommand& command) : command_(command) {}

  int run() {
    if (!load() || !bind()) return report(mistakes_, loaded_.sources, command_.json);
    if (Diagnostics errors = count_runs(); !errors.empty())
      return report(errors, loaded_.sources, command_.json);
    return search();
  }

 private:
  // ---- from words to programs

  template <class T>
  bool good(const Result<T>& piece) {
    if (!piece) mistakes_.insert(mistakes_.end(), piece.errors().begin(), piece.errors().end());
    return static_cast<bool>(piece);
  }

  bool load() {
    if (auto choice = choose_backend(command_.backend, command_.launch); good(choice))
      choice_ = *choice;
    if (auto wanted = bind_optimizer(command_.optimizer); good(wanted)) {
      wanted_ = std::move(*wanted);
      if (auto options = optimize_options(wanted_); good(options)) optimize_ = std::move(*options);
    }
    optimize_.schedule.check = true;  // a pass that breaks the program is the answer
    if (!command_.out.empty())
      if (const auto error = try_write(command_.out))
        mistakes_.push_back(diagnose(Code::CannotWrite, {},
                                     fmt::format("cannot write the program: {}", error->what))
                                .with_fix("name a file in a folder that can be written to"));
    const auto constants = parse_constants(command_.launch.constants);
    if (!good(constants)) return false;
    const FileAndName file = split_file_and_name(command_.file);
    loaded_ = load_module(file.file, {*constants, {}});
    if (!loaded_.module) {
      mistakes_.insert(mistakes_.end(), loaded_.diagnostics.begin(), loaded_.diagnostics.end());
      return false;
    }
    auto target = choose_target(loaded_, file.name, shown_name(file.file));
    if (good(target)) target_ = std::move(*target);
    return mistakes_.empty();
  }

  bool bind() {
    flags_ = command_.launch;
    flags_.stdin_is_program = split_file_and_name(command_.file).file == "-";
    auto launch = bind_launch(flags_, target_);
    if (good(launch)) launch_ = std::move(*launch);
    driver::OpenOptions options;
    if (mistakes_.empty()) {
      auto device = driver::Device::open(choice_, options);
      if (good(device)) device_ = std::move(*device);
    }
    if (mistakes_.empty()) {
      uint64_t launch_bytes = 0;
      if (target_.kernel)
        if (const auto shape = resolve_launch(*target_.kernel, launch_->inputs))
          launch_bytes = driver::parameter_bytes(*target_.kernel, *shape);
      optimize_.target = driver::optimizer_target(device_.info(), launch_bytes);
    }
    return mistakes_.empty();
  }

  Diagnostics count_runs() {
    const Module& m = *loaded_.module;
    reports_.resize(m.kernels.size());
    for (size_t i = 0; i < m.kernels.size(); ++i) {
      if (target_.kernel && &m.kernels[i] != target_.kernel) continue;
      Program kernel = m.kernels[i];
      auto r = opt::optimize(kernel, optimize_);
      if (!r) return std::move(r.errors());
      for (opt::PassRun& run : r->runs)
        if (run.decision != opt::PassDecision::NotDirty) reports_[i].push_back(std::move(run));
      total_ += reports_[i].size();
    }
    return {};
  }

  /// The module after the first `n` runs.
  Result<Module> after(uint64_t n) const {
    Module m = *loaded_.module;
    for (size_t i = 0; i < m.kernels.size() && n > 0; ++i) {
      if (reports_[i].empty()) continue;
      opt::OptimizeOptions o = optimize_;
      o.schedule.stop_after = std::min<uint64_t>(n, reports_[i].size());
      n -= o.schedule.stop_after;
      if (auto r = opt::optimize(m.kernels[i], o); !r) return std::move(r.errors());
    }
    return m;
  }

  /// Run `n`, counted from 1, and its kernel.
  std::pair<const opt::PassRun*, size_t> run_of(uint64_t n) const {
    for (size_t i = 0; i < reports_.size(); ++i) {
      if (n <= reports_[i].size()) return {&reports_[i][n - 1], i};
      n -= reports_[i].size();
    }
    return {nullptr, 0};
  }

  // ---- results

  /// What the interpreter gives for the program as it was written: bytes, or the way it failed.
  const Result<RunResult>& reference(uint32_t subgroup_size) {
    auto it = references_.find(subgroup_size);
    if (it != references_.end()) return it->second;
    Launch launch = *launch_;
    if (subgroup_size != 0) launch.options.subgroup_size = subgroup_size;
    launch.options.time_limit = 0;
    launch.options.memory_limit = 0;
    return references_.emplace(subgroup_size, execute(target_, launch)).first->second;
  }

  static bool is_programs_own(const Diagnostics& errors) {
    return classify(errors) == Failure::ProgramFailed;
  }

  /// Does the program after `n` runs give another result? What differs is left in `difference_`. An
  /// error is one of the device or of the input, which says nothing about passes.
  Result<bool> differs(uint64_t n) {
    Result<Module> module = after(n);
    if (!module) return module.errors();
    const Result<Target> target = choose_target(*module, target_.name());
    if (!target) return target.errors();
    DeviceRunOptions options;
    options.optimize.passes.emplace();  // as it is
    Result<DeviceRun> ran = run_on(device_, *target, *launch_, flags_, options);
    if (!ran && !is_programs_own(ran.errors())) return ran.errors();
    const Result<RunResult>& expected =
        reference(ran ? ran->subgroup_size : device_.info().limits.default_subgroup_size);
    if (!expected && !is_programs_own(expected.errors())) return expected.errors();
    difference_.reset();
    const std::string here = fmt::format("`--backend {}`", device_.info().backend),
                      there = "the interpreter";
    if (ran && expected)
      difference_ = compare_results(target_, ran->result, here, *expected, there);
    else if (ran || expected || ran.errors()[0].code != expected.errors()[0].code)
      difference_ = diagnose(
          Code::ResultsDiffer, {},
          fmt::format("with {} it {}, with {} it {}", here, ending(ran), there, ending(expected)));
    return difference_.has_value();
  }

  template <class T>
  static std::string ending(const Result<T>& r) {
    if (r) return "ends well";
    return fmt::format("fails with {}: {}", to_string(r.errors()[0].code), r.errors()[0].message);
  }

  // ---- the search

  int search() {
    const auto stop = [&](const Diagnostics& errors) {
      return report(errors, loaded_.sources, command_.json);
    };
    Progress progress(fmt::format("bisecting {}", target_.name()));
    Result<bool> first = differs(0);
    if (!first) return stop(first.errors());
    if (*first) return backends_own();
    if (total_ == 0) return no_difference();
    Result<bool> last = differs(total_);
    if (!last) return stop(last.errors());
    if (*last) return find(stop, progress);
    return no_difference();
  }

  template <class Stop>
  int find(const Stop& stop, Progress& progress) {
    uint64_t good = 0, bad = total_;
    Diagnostic difference = *difference_;
    while (bad - good > 1) {
      const uint64_t middle = good + (bad - good) / 2;
      Result<bool> there = differs(middle);
      if (!there) return stop(there.errors());
      if (*there) difference = *difference_;
      (*there ? bad : good) = middle;
      progress.update(1 - double(bad - good) / double(total_));
    }
    return found(bad, difference);
  }

  int no_difference() {
    if (command_.json)
      write_out(bisect_json({.runs = total_, .diagnostics = {}}));
    else
      write_out(fmt::format(
          "ok: `{}` gives the interpreter's result on {} after each of {} runs of passes\n",
          target_.name(), device_.info().backend, total_));
    return exit_done;
  }

  int backends_own() {
    Diagnostic d = diagnose(
        Code::ResultsDiffer, {},
        fmt::format("the result differs with no pass: it is backend `{}`", device_.info().backend));
    d.note(difference_->message);
    d.with_fix(fmt::format("report it; until then use `--backend {}`",
                           device_.info().backend == "interp" ? "cpu" : "interp"));
    if (!command_.json) return report({d}, loaded_.sources, false);
    write_out(bisect_json({.runs = total_, .diagnostics = {d}}));
    return exit_code({d});
  }

  int found(uint64_t n, const Diagnostic& difference) {
    const auto [run, kernel] = run_of(n);
    const Result<Module> before = after(n - 1);
    if (!before) return report(before.errors(), loaded_.sources, command_.json);
    const std::string& name = loaded_.module->kernels[kernel].name;
    const std::string text = print(*before);
    Diagnostic d = diagnose(
        Code::ResultsDiffer, {},
        fmt::format("pass `{}` makes the result of `{}` differ", run->pass, target_.name()));
    d.note(fmt::format("it is run {} of {}: kernel `{}`, iteration {}", n, total_, name,
                       run->iteration));
    d.note(difference.message);
    d.note(command_.out.empty() ? "the program before it is on standard output"
                                : fmt::format("the program before it is in {}", command_.out));
    d.with_fix(fmt::format(
        "report it with that program; `vyre opt --passes {}` shows what the pass makes of it",
        run->pass));
    Diagnostics errors = {d};
    if (!command_.out.empty())
      if (const auto error = write_file(command_.out, text))
        errors.push_back(diagnose(Code::CannotWrite, {},
                                  fmt::format("cannot write the program: {}", error->what))
                             .with_fix("name a file in a folder that can be written to"));
    if (command_.json) {
      write_out(bisect_json({.runs = total_,
                             .run = n,
                             .pass = run->pass,
                             .iteration = run->iteration,
                             .kernel = name,
                             .before = text,
                             .diagnostics = errors}));
      return exit_code(errors);
    }
    if (command_.out.empty()) write_out(text);
    return report(errors, loaded_.sources, false);
  }

  const BisectCommand& command_;
  Diagnostics mistakes_;
  driver::Choice choice_;
  driver::Optimization wanted_;
  opt::OptimizeOptions optimize_;
  LoadedModule loaded_;
  Target target_;
  LaunchFlags flags_;
  std::optional<Launch> launch_;
  driver::Device device_;
  std::vector<std::vector<opt::PassRun>>
      reports_;  // by kernel: the runs that did something or tried
  uint64_t total_ = 0;
  std::map<uint32_t, Result<RunResult>> references_;  // by subgroup size
  std::optional<Diagnostic> difference_;
};

}  // namespace

int bisect(const BisectCommand& command) { return Bisection(command).run(); }

}  // namespace vyre::cli
