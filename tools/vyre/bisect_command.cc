// vyre bisect: finds the first run of a pass that makes the result differ from the interpreter's.
//
// The program runs as `vyre run` runs it, planned, optimized and split by the driver, but its
// kernels stop after a number of pass runs. These runs, kernel after kernel, form one sequence;
// binary search finds the least number that gives another result.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>

#include "diagnostics/failure.h"
#include "ir/graph_launch.h"
#include "opt/pipeline.h"
#include "plan/graph_plan.h"
#include "runtime/compile/optimizer_target.h"
#include "text/print.h"
#include "tools/vyre/commands.h"
#include "tools/vyre/device_run.h"
#include "tools/vyre/diagnostic_output.h"
#include "tools/vyre/json_output.h"
#include "tools/vyre/output_files.h"
#include "tools/vyre/terminal.h"
#include "tools/vyre/time_budget.h"

namespace vyre::cli {
namespace {

class Bisection {
 public:
  explicit Bisection(const BisectCommand& command) : command_(command) {}

  int run() {
    if (!load() || !bind()) return report(mistakes_, loaded_.sources, command_.json);
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
      optimize_ = std::move(*wanted);
      // Also on a device that runs programs as they are: the search is over passes.
      if (auto options = optimize_options(optimize_); good(options)) {
        optimize_.passes = std::move(options->passes);
        if (!optimize_.passes) optimize_.profile = options->profile;
      }
    }
    optimize_.check_passes = true;  // a pass that breaks the program is the answer
    if (!command_.out.empty()) outputs_.open("the program", command_.out, mistakes_);
    const auto options = load_options(command_.launch);
    if (!good(options)) return false;
    const FileAndName file = split_file_and_name(command_.file);
    loaded_ = load_module(file.file, *options);
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
    if (launch_) {
      const double seconds = static_cast<double>(loaded_.parse_ns + loaded_.check_ns) / 1e9;
      good(reduce_limits(*launch_, {seconds, 0}));
    }
    if (mistakes_.empty()) {
      driver::OpenOptions options;
      options.memory_limit = launch_->options.memory_limit;
      auto device = driver::Device::open(choice_, options);
      if (good(device)) device_ = std::move(*device);
      time_ = TimeBudget(launch_->options.time_limit);  // opening the device does not count
    }
    return mistakes_.empty();
  }

  // ---- the sequence of runs

  /// The optimizer's report for a kernel when all passes ran.
  struct Kernel {
    std::string name;
    std::vector<opt::PassRun> runs;  // those that changed something or tried to
  };

  void record(const driver::Executable& e) {
    Kernel kernel{e.program().name, {}};
    for (const opt::PassRun& run : e.optimizer().runs)
      if (run.decision != opt::PassDecision::NotDirty) kernel.runs.push_back(run);
    total_ += kernel.runs.size();
    kernels_.push_back(std::move(kernel));
  }

  /// Returns the options of the driver when only the first `n` runs happen.
  driver::Optimization stopped_after(uint64_t n) const {
    driver::Optimization o = optimize_;
    for (const Kernel& kernel : kernels_) {
      const uint64_t runs = std::min<uint64_t>(n, kernel.runs.size());
      o.stop_after[kernel.name] = runs;
      n -= runs;
    }
    return o;
  }

  /// Returns the program after the first `n` runs, as a launch of any size takes it; for a graph
  /// the planned one, whose kernels the passes see.
  Result<Module> after(uint64_t n) {
    driver::GraphOptions how;
    how.compile.checked = true;
    how.compile.optimize = stopped_after(n);
    const Result<double> seconds = time_.share();
    if (!seconds) return seconds.errors();
    how.compile.limits = driver::CompileLimits(*seconds, launch_->options.memory_limit);
    if (!flags_.subgroup_size.empty()) how.compile.subgroup_size = launch_->options.subgroup_size;
    if (device_.info().limits.coarse_from) how.compile.extra.push_back("coarsen=1");
    const LaunchInputs& inputs = launch_->inputs;
    if (target_.kernel) {
      const auto shape = resolve_launch(*target_.kernel, inputs);
      if (!shape) return shape.errors();
      how.compile.optimize.launch_bytes = driver::parameter_bytes(*target_.kernel, *shape);
      const auto made = device_.compile(*target_.kernel, how.compile);
      if (!made) return made.errors();
      Module m = *loaded_.module;
      m.kernels[size_t(target_.kernel - loaded_.module->kernels.data())] = made->optimized();
      return m;
    }
    const auto shape = resolve_graph(*target_.graph, inputs.data, inputs.lengths, 0);
    if (!shape) return shape.errors();
    const auto made = device_.prepare(*target_.module, *target_.graph, *shape, how);
    if (!made) return made.errors();
    const plan::FusedGraph& fused = made->planned().fused;
    Module m = fused.module;
    const GraphSteps steps = flatten(fused.graph());
    for (uint32_t i = 0; i < steps.size(); ++i)
      if (const driver::Executable* e = made->executable(i))
        m.kernels[steps[i].node->kernel] = e->optimized();
    return m;
  }

  /// Returns run `n`, counted from 1, and its kernel.
  std::pair<const opt::PassRun*, size_t> run_of(uint64_t n) const {
    for (size_t i = 0; i < kernels_.size(); ++i) {
      if (n <= kernels_[i].runs.size()) return {&kernels_[i].runs[n - 1], i};
      n -= kernels_[i].runs.size();
    }
    return {nullptr, 0};
  }

  // ---- limits

  /// Returns the launch with the time of one of `runs` runs.
  Result<Launch> within(uint64_t runs) const {
    const Result<double> seconds = time_.share(runs);
    if (!seconds) return seconds.errors();
    Launch launch = *launch_;
    launch.options.time_limit = *seconds;
    return launch;
  }

  /// A run that exceeded its time limit differs from one without passes only if that one was much
  /// faster: otherwise the limit is too short to decide.
  static bool is_told_by_time(double limit, double without_passes) {
    return limit >= 4 * without_passes;
  }

  // ---- results

  /// Returns the interpreter's result for the program as written: bytes, or the error.
  const Result<RunResult>& reference(uint32_t subgroup_size) {
    auto it = references_.find(subgroup_size);
    if (it != references_.end()) return it->second;
    Result<Launch> launch = within(1);
    if (!launch) return references_.emplace(subgroup_size, launch.errors()).first->second;
    if (subgroup_size != 0) launch->options.subgroup_size = subgroup_size;
    Result<RunResult> result =
        execute_within(target_, *launch, {0, buffer_bytes(target_, *launch)});
    return references_.emplace(subgroup_size, std::move(result)).first->second;
  }

  /// Returns the subgroup size of most kernels that run; it is certain only after the run.
  uint32_t usual_subgroup_size() const {
    if (!flags_.subgroup_size.empty()) return launch_->options.subgroup_size;
    if (target_.kernel && target_.kernel->subgroup != 0) return target_.kernel->subgroup;
    return device_.info().limits.default_subgroup_size;
  }

  /// True for an error that the program itself causes. On a device this includes the time limit,
  /// because a pass may have made a loop endless.
  static bool is_programs_own(const Diagnostics& errors, bool on_device) {
    if (errors[0].code == Code::MemoryLimitExceeded) return false;
    if (errors[0].code == Code::TimeLimitExceeded) return on_device;
    return classify(errors) == Failure::ProgramFailed;
  }

  /// Runs the program as `vyre run` does, except for `options`, and returns true if its result
  /// differs from the interpreter's. Stores the difference in `difference_`. An error is one of the
  /// device or of the input, and is unrelated to passes. The time limit is for all runs together;
  /// this is one of `runs` that share the remaining time.
  Result<bool> differs(const DeviceRunOptions& options, uint64_t runs) {
    // The reference comes first: a run on the device that exceeds its share of the time then has a
    // different result.
    const uint32_t usual_size = usual_subgroup_size();
    const auto stops = [](const Result<RunResult>& r) {
      return !r && !is_programs_own(r.errors(), false);
    };
    if (const auto& usual = reference(usual_size); stops(usual)) return usual.errors();
    const Result<Launch> launch = within(runs);
    if (!launch) return launch.errors();
    share_ = launch->options.time_limit;
    const auto begin = std::chrono::steady_clock::now();
    Result<DeviceRun> ran = run_on(device_, target_, *launch, flags_, options);
    const auto end = std::chrono::steady_clock::now();
    seconds_ = std::chrono::duration<double>(end - begin).count();
    if (!ran && !is_programs_own(ran.errors(), true)) return ran.errors();
    const Result<RunResult>& expected =
        reference(ran && ran->subgroup_size ? ran->subgroup_size : usual_size);
    if (stops(expected)) return expected.errors();
    difference_.reset();
    timed_out_.clear();
    if (!ran && ran.errors()[0].code == Code::TimeLimitExceeded) timed_out_ = ran.errors();
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
    const auto stop = [&](Diagnostics errors) {
      for (Diagnostic& d : errors)
        if (d.code == Code::TimeLimitExceeded && time_.limit() > 0)
          d.note(fmt::format("all runs together have {} seconds", time_.limit()));
      return report(errors, loaded_.sources, command_.json);
    };
    Progress progress(fmt::format("bisecting {}", target_.name()));
    DeviceRunOptions whole;
    whole.optimize = optimize_;
    whole.compiled = [this](const driver::Executable& e) { record(e); };
    const Result<bool> last = differs(whole, 2);
    if (!last) return stop(last.errors());
    const std::optional<Diagnostic> difference = difference_;
    const Diagnostics last_timed_out = timed_out_;
    const double last_share = share_;
    // A search follows if the first run passed its limit.
    const Result<bool> first = differs_after(0, last_timed_out.empty() ? 1 : 2);
    if (!first) return stop(first.errors());
    seconds_without_passes_ = seconds_;
    if (!last_timed_out.empty() && !is_told_by_time(last_share, seconds_without_passes_))
      return stop(last_timed_out);
    if (*first && !timed_out_.empty()) return stop(timed_out_);  // no pass made it slow
    if (*first) return without_passes(stop);
    if (*last) return find(stop, progress, *difference);
    return no_difference();
  }

  Result<bool> differs_after(uint64_t n, uint64_t runs) {
    DeviceRunOptions options;
    options.optimize = stopped_after(n);
    return differs(options, runs);
  }

  template <class Stop>
  int find(const Stop& stop, Progress& progress, Diagnostic difference) {
    uint64_t good = 0, bad = total_;
    while (bad - good > 1) {
      const uint64_t middle = good + (bad - good) / 2;
      // Counts the runs of the search, and the compilation of the program before the pass.
      const auto runs = uint64_t(std::bit_width(bad - good - 1)) + 1;
      const Result<bool> there = differs_after(middle, runs);
      if (!there) return stop(there.errors());
      if (!timed_out_.empty() && !is_told_by_time(share_, seconds_without_passes_))
        return stop(timed_out_);
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

  /// Reports that the result differs with no pass: because of the plan of the graph, or the
  /// backend.
  template <class Stop>
  int without_passes(const Stop& stop) {
    const std::string backend = device_.info().backend;
    Diagnostic d =
        diagnose(Code::ResultsDiffer, {},
                 fmt::format("the result differs with no pass: it is backend `{}`", backend));
    std::string fix = fmt::format("`--backend {}`", backend == "interp" ? "cpu" : "interp");
    const Diagnostic difference = *difference_;
    if (target_.graph) {
      DeviceRunOptions unplanned;
      unplanned.optimize = stopped_after(0);
      unplanned.planned = false;
      const Result<bool> differs_too = differs(unplanned, 1);
      if (!differs_too) return stop(differs_too.errors());
      if (!*differs_too) {
        d.message = fmt::format(
            "the result differs with no pass, but not without a plan: it is the plan of graph `{}`",
            target_.name());
        fix = "`vyre run --plan none`";
      }
    }
    d.note(difference.message);
    d.with_fix(fmt::format("report it; until then use {}", fix));
    if (!command_.json) return report({d}, loaded_.sources, false);
    write_out(bisect_json({.runs = total_, .diagnostics = {d}}));
    return exit_code({d});
  }

  int found(uint64_t n, const Diagnostic& difference) {
    const auto [run, kernel] = run_of(n);
    const Result<Module> before = after(n - 1);
    if (!before) return report(before.errors(), loaded_.sources, command_.json);
    const std::string& name = kernels_[kernel].name;
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
    Diagnostics failed = outputs_.write(command_.out, text);
    if (failed.empty()) failed = outputs_.commit();
    errors.insert(errors.end(), failed.begin(), failed.end());
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
  OutputFiles outputs_;
  Diagnostics mistakes_;
  driver::Choice choice_;
  driver::Optimization optimize_;
  LoadedModule loaded_;
  Target target_;
  LaunchFlags flags_;
  std::optional<Launch> launch_;
  driver::Device device_;
  std::vector<Kernel> kernels_;                       // in the order in which they are compiled
  uint64_t total_ = 0;                                // runs of passes on all of them
  std::map<uint32_t, Result<RunResult>> references_;  // by subgroup size
  TimeBudget time_;                                   // of all runs together
  double share_ = 0, seconds_ = 0;                    // that the last run had, and that it took
  double seconds_without_passes_ = 0;
  std::optional<Diagnostic> difference_;
  Diagnostics timed_out_;  // of the last run on the device, if it passed the time limit
};

}  // namespace

int bisect(const BisectCommand& command) { return Bisection(command).run(); }

}  // namespace vyre::cli
