// vyre run: runs one program on one device.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>

#include "diagnostics/source_line.h"
#include "plan/plan_file.h"
#include "runtime/cache/cache.h"
#include "support/file.h"
#include "tools/vyre/commands.h"
#include "tools/vyre/device_run.h"
#include "tools/vyre/diagnostic_output.h"
#include "tools/vyre/json_output.h"
#include "tools/vyre/numbers.h"
#include "tools/vyre/report_files.h"
#include "tools/vyre/report_graph.h"
#include "tools/vyre/report_run.h"
#include "tools/vyre/results.h"
#include "tools/vyre/terminal.h"
#include "wire/fingerprint.h"

namespace vyre::cli {
namespace {

using report::Stage;

void append(Diagnostics& list, const Diagnostics& more) {
  list.insert(list.end(), more.begin(), more.end());
}

uint64_t now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::nanoseconds(time).count());
}

Result<uint32_t> parse_repeat(const std::string& text) {
  if (text.empty()) return uint32_t{1};
  const auto times = parse_count(text);
  if (times && *times > 0 && *times <= 1'000'000'000) return static_cast<uint32_t>(*times);
  return diagnose(Code::BadOptionValue, {}, fmt::format("`--repeat {}` has no meaning", text))
      .with_fix("give a number of runs from 1 to 1000000000");
}

/// Returns null if none is named: the graph is then planned when it runs, or not at all.
Result<std::shared_ptr<const plan::GraphPlan>> read_plan_file(const std::string& path) {
  using Plan = std::shared_ptr<const plan::GraphPlan>;
  if (path.empty() || path == "none") return Plan();
  const FileContents file = read_file(path);
  if (file.error)
    return diagnose(Code::PlanFileDamaged, {}, fmt::format("{}: {}", path, file.error->what))
        .with_fix("name a file that `vyre plan --json` wrote");
  auto plan = plan::read_plan(file.bytes, path);
  if (!plan) return plan.errors();
  return Plan(std::make_shared<const plan::GraphPlan>(std::move(*plan)));
}

std::string duration(uint64_t ns) {
  const double seconds = static_cast<double>(ns) / 1e9;
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} s", seconds);
}

/// Warnings are for the authors of programs; notes are shown only on request (`vyre check`).
Diagnostics without_notes(const Diagnostics& list) {
  Diagnostics kept;
  std::copy_if(list.begin(), list.end(), std::back_inserter(kept),
               [](const Diagnostic& d) { return d.severity != Severity::Note; });
  return kept;
}

/// One `vyre run`, from its words to its exit code. The report is filled step by step, so that a
/// failed run has one, too.
class Session {
 public:
  explicit Session(const RunCommand& command) : command_(command), start_(now()) {
    describe_host(report_);
    report_.command = command.words;
  }

  int run() {
    open_files(command_.out, outputs_, mistakes_);
    files_ = open_report_files({command_.report, command_.trace, command_.profile_out}, outputs_,
                               mistakes_);
    if (!load() || !bind()) return fail(mistakes_);
    if (const Diagnostics errors = execute(); !errors.empty()) return fail(errors);
    if (command_.verify)
      if (const Diagnostics errors = verify(); !errors.empty()) return fail(errors);
    const Diagnostics write_errors = write_files(*requests_, *launch_, ran_.result, outputs_);
    if (!write_errors.empty()) return fail(write_errors);
    report_.diagnostics = without_notes(loaded_.diagnostics);
    if (!files_.report.empty()) {
      describe_outputs(report_, target_, ran_, is_page(files_.report));
      measure_bandwidth(report_);
    }
    Diagnostics report_errors = write_reports();
    append(report_errors, write_profile_file(files_, measured_, outputs_));
    if (report_errors.empty()) report_errors = outputs_.commit();
    if (!report_errors.empty()) return cli::report(report_errors, {}, command_.json);
    show_results();
    return exit_done;
  }

 private:
  template <class T>
  bool good(const Result<T>& piece) {
    if (!piece) append(mistakes_, piece.errors());
    return static_cast<bool>(piece);
  }

  // ---- from words to a launch. All errors are reported at once.

  bool load() {
    const uint64_t choosing = now();
    const auto choice = choose_backend(command_.backend, command_.launch);
    add_stage(Stage::Open, choosing - start_, now() - choosing);
    if (good(choice)) choice_ = *choice;
    const auto repeat = parse_repeat(command_.repeat);
    if (good(repeat)) repeat_ = *repeat;
    if (!command_.json_values.empty() && !parse_count(command_.json_values))
      mistakes_.push_back(diagnose(Code::BadOptionValue, {},
                                   fmt::format("`--json={}` has no meaning", command_.json_values))
                              .with_fix("write `--json`, or a number of values: `--json=100`"));
    const auto options = load_options(command_.launch);
    good(options);
    if (auto optimize = bind_optimizer(command_.optimizer); good(optimize)) optimize_ = *optimize;
    if (auto plan = read_plan_file(command_.plan); good(plan)) plan_ = *plan;
    // Earlier measurements stay valid. The file was read once already, so it has no new errors.
    if (!files_.profile.empty()) (void)read_profile_file(command_.optimizer.profile_in, measured_);

    const FileAndName file = split_file_and_name(command_.file);
    report_.file = shown_name(file.file);
    const uint64_t begin = now() - start_;
    // Read even with wrong flags, so that all errors are reported at once; files that the flags may
    // refuse are not read.
    const LaunchFlags& flags = command_.launch;
    const LoadOptions cautious{.imports = !flags.no_imports && flags.import_root.empty()};
    loaded_ = load_module(file.file, options ? *options : cautious);
    add_stage(Stage::Parse, begin, loaded_.parse_ns);
    add_stage(Stage::Check, begin + loaded_.parse_ns, loaded_.check_ns);
    if (!loaded_.module) {
      append(mistakes_, without_notes(loaded_.diagnostics));
      return false;
    }
    auto target = choose_target(loaded_, file.name, shown_name(file.file));
    if (!good(target)) return false;
    target_ = std::move(*target);
    if (target_.kernel && plan_)
      mistakes_.push_back(diagnose(Code::PlanOfKernel, {},
                                   fmt::format("`--plan {}` is for graphs, and `{}` is a kernel",
                                               command_.plan, target_.name()))
                              .with_fix("drop `--plan`, or name a graph"));
    describe_target();
    return true;
  }

  bool bind() {
    const uint64_t begin = now();
    flags_ = command_.launch;
    flags_.stdin_is_program = split_file_and_name(command_.file).file == "-";
    auto launch = bind_launch(flags_, target_);
    auto requests = parse_requests(command_.print, command_.out, target_);
    if (good(launch)) launch_ = std::move(*launch);
    if (good(requests)) requests_ = std::move(*requests);
    report_.spans.push_back({"inputs", "host", begin - start_, now() - begin});
    return mistakes_.empty();
  }

  void describe_target() {
    report_.program = target_.name();
    report_.is_graph = target_.graph != nullptr;
    if (wants_report())  // hashing a large module takes a while
      report_.fingerprint = (target_.kernel ? fingerprint(*target_.kernel)
                                            : fingerprint(*target_.graph, *target_.module))
                                .to_hex();
    if (target_.kernel) report_.workgroup = target_.kernel->workgroup;
  }

  // ---- the run

  Diagnostics execute() {
    driver::OpenOptions options;
    options.memory_limit = launch_->options.memory_limit;
    if (!files_.profile.empty())
      options.telemetry = [this](const driver::LaunchSample& s) {
        measured_.hints.record(s.op_id, s.device_ns, s.bytes, s.device);
      };
    const uint64_t opening = now();
    auto device = driver::Device::open(choice_, options);
    add_stage(Stage::Open, opening - start_, now() - opening);
    if (!device) return std::move(device.errors());
    const driver::DeviceInfo& info = device->info();
    report_.backend = info.backend;
    report_.device_index = info.index;
    report_.device = info.name;
    report_.chosen_because = device->chosen_because();
    if (command_.verbose)
      show_device();
    else if (command_.backend == "auto" && flags_.schedule.empty() && info.backend == "interp")
      fmt::print(stderr, "note: `auto` selected the interpreter: {}\n",
                 printable(report_.chosen_because));

    Progress progress(fmt::format("running {}", target_.name()));
    DeviceRunOptions run_options;
    run_options.repeat = repeat_;
    run_options.optimize = optimize_;
    run_options.plan = plan_;
    run_options.planned = command_.plan != "none";
    run_options.optimize.keep_texts = is_page(files_.report);
    if (!command_.verify)  // --verify compares every output
      run_options.outputs = requested_outputs(target_, *requests_, command_.json);
    run_options.call_times = wants_report();  // a device with telemetry (--profile-out) times them
    run_options.compiled = [this](const driver::Executable& e) { record(e); };
    // Only for a terminal: with progress the end is polled, which makes measurements less exact.
    if (::isatty(STDERR_FILENO) == 1)
      run_options.progress = [&](double fraction) { progress.update(fraction); };
    const interp::Options whole = launch_->options;  // the limit includes the earlier stages
    if (auto left = reduce_limits(*launch_, {limited_seconds(now()), 0}); !left)
      return std::move(left.errors());
    auto ran = run_on(*device, target_, *launch_, flags_, run_options);
    launch_->options = whole;
    list_code(*device);
    if (!ran) return std::move(ran.errors());
    ran_ = std::move(*ran);
    record();
    return {};
  }

  /// Compares with a second run, which must give the same bytes: on the interpreter, or if the
  /// first run was there already, in another order.
  Diagnostics verify() {
    const uint64_t begin = now();
    Launch launch = *launch_;
    if (ran_.subgroup_size != 0) launch.options.subgroup_size = ran_.subgroup_size;
    std::string first = fmt::format("`--backend {}`", report_.backend), second;
    if (report_.backend == "interp") {
      const bool reversed = launch.options.schedule == interp::Schedule::Reverse;
      launch.options.schedule = reversed ? interp::Schedule::Order : interp::Schedule::Reverse;
      first = "the first run";
      second = reversed ? "`--schedule order`" : "`--schedule reverse`";
    } else {
      second = "`--backend interp`";
    }
    Progress progress(fmt::format("verifying {}", target_.name()));
    launch.options.progress = [&](double fraction) { progress.update(fraction); };
    // The limits apply to both runs together.
    auto reference = execute_within(
        target_, launch, {limited_seconds(begin), ran_.device_peak + ran_.working_bytes});
    if (!reference) {
      for (Diagnostic& d : reference.errors())
        d.note(fmt::format("this is of the second run, with {}", second));
      return std::move(reference.errors());
    }
    report_.spans.push_back({"verify", "host", begin - start_, now() - begin});
    if (auto difference = compare_results(target_, ran_.result, first, *reference, second))
      return {*difference};
    report_.verified = true;
    return {};
  }

  // ---- messages and reports

  bool wants_report() const { return !files_.report.empty() || !files_.trace.empty(); }

  void add_stage(Stage s, uint64_t begin, uint64_t ns) {
    report_.stage(s) += ns;
    report_.spans.push_back(
        {std::string(report::stage_names[static_cast<size_t>(s)]), "host", begin, ns});
  }

  /// Records the optimizer's report for a kernel, before it runs.
  void record(const driver::Executable& e) {
    if (!files_.report.empty()) report_.optimizer.push_back(e.optimizer());
    if (is_page(files_.report)) executables_.push_back(e);
    if (!files_.profile.empty() && !e.optimizer().runs.empty())
      measured_.reports[fingerprint(e.program()).to_hex()] = e.optimizer();
  }

  /// Lists the code of the kernels, for a page; not timed. If code cannot be listed, the run has
  /// succeeded anyway, and the page is without it.
  void list_code(const driver::Device& device) {
    for (const driver::Executable& e : executables_) {
      auto code = device.list_code(e);
      if (code)
        report_.code.push_back({e.program().name, code->is_program, std::move(code->segments)});
    }
    executables_.clear();
  }

  void record() {
    report_.stage(Stage::Optimize) = ran_.times.optimize;
    report_.stage(Stage::Emit) = ran_.times.emit;
    report_.stage(Stage::Compile) = ran_.times.compile;
    report_.stage(Stage::Upload) = ran_.times.upload;
    report_.stage(Stage::Run) = ran_.times.run;
    report_.stage(Stage::Readback) = ran_.times.readback;
    std::vector<uint32_t> launches;  // by node
    if (ran_.graph && (wants_report() || command_.verbose)) {
      report_.graph = describe_graph_run(ran_, target_);
      launches = launches_by_node(*report_.graph);
    }
    report_.grid = ran_.grid;
    report_.num_workgroups = ran_.num_workgroups;
    report_.traffic_bytes = report_.graph    ? report_.graph->executed.traffic_bytes
                            : target_.kernel ? kernel_traffic(*target_.kernel, ran_.counts)
                                             : 0;
    for (const driver::RunEvent& e : ran_.events) {
      report::Span span{e.name, e.on_device ? "device" : "host", e.begin_ns - start_, e.ns};
      span.bytes = e.bytes;
      if (e.node < launches.size()) span.launch = launches[e.node];
      if (e.is_launch) describe_launch(report_, span);
      report_.spans.push_back(std::move(span));
    }
    report_.device_ns = ran_.device_ns;
    report_.subgroup_size = ran_.subgroup_size;
    report_.uploaded = ran_.uploaded;
    report_.read_back = ran_.read_back;
    report_.device_peak = ran_.device_peak;
    report_.launches = ran_.launches;
    report_.segments = ran_.segments;
    report_.coarse = ran_.coarse;
    report_.code_origin = ran_.origin;
    for (const Parameter& p : target_.parameters) {
      const uint64_t count = ran_.counts[p.buffer];
      report_.buffers.push_back({p.name,
                                 std::string(name(p.role)),
                                 std::string(name(p.element)),
                                 count,
                                 count * size_of(p.element),
                                 {}});
    }
  }

  Diagnostics write_reports() {
    if (!wants_report()) return {};
    if (is_page(files_.report)) report_.sources = loaded_.sources;
    const driver::CacheStats cache = driver::CompileCache::shared().stats();
    report_.cache = {cache.memory_hits, cache.disk_hits, cache.misses};
    return write_report_files(files_, report_, outputs_);
  }

  int fail(Diagnostics errors) {
    report_.exit_code = exit_code(errors);
    report_.diagnostics = errors;
    outputs_.discard();
    append(errors, write_reports());
    append(errors, outputs_.commit());
    return cli::report(errors, loaded_.sources, command_.json);
  }

  void show_device() {
    fmt::print(stderr, "backend: {}:{}, {}{}\n", report_.backend, report_.device_index,
               report_.device,
               report_.chosen_because.empty() ? "" : fmt::format("; {}", report_.chosen_because));
  }

  void show_stages() {
    std::string line;
    for (size_t i = 0; i < report::stage_names.size(); ++i)
      if (report_.stage_ns[i] != 0)
        line += fmt::format("{}{} {}", line.empty() ? "" : ", ", report::stage_names[i],
                            duration(report_.stage_ns[i]));
    fmt::print(stderr, "stages: {}\n", line);
    if (report_.coarse > 1)
      fmt::print(stderr, "coarse: one invocation did the work of {}\n", report_.coarse);
  }

  void show_results() {
    if (command_.json) {
      write_out(run_json(target_, report_, *requests_, *launch_, ran_.result,
                         parse_count(command_.json_values).value_or(preview_elements)));
      return;
    }
    show(report_.diagnostics, loaded_.sources);
    write_out(printed_results(target_, *requests_, *launch_, ran_.result));
    if (command_.verbose) show_stages();
    if (command_.verbose && report_.graph)
      fmt::print(stderr, "plan: {}, in {}\n", report::summary_line(*report_.graph),
                 duration(report_.graph->plan_ns));
    if (command_.repeat.empty()) return;
    const report::Summary time = report::summarize(report_.device_ns);
    fmt::print(stderr, "device time: min {}, median {}, {} runs\n", duration(time.min_ns),
               duration(time.median_ns), report_.device_ns.size());
  }

  /// Returns the seconds up to `at` that count for the time limit. Calibration for `auto` and a
  /// Vulkan device's self-test happen once per machine and take longer than small limits.
  double limited_seconds(uint64_t at) const {
    return static_cast<double>(at - start_ - report_.stage_ns[size_t(Stage::Open)]) / 1e9;
  }

  const RunCommand& command_;
  const uint64_t start_;
  OutputFiles outputs_;
  ReportFiles files_;
  report::RunReport report_;
  Diagnostics mistakes_;

  driver::Choice choice_;
  driver::Optimization optimize_;
  std::shared_ptr<const plan::GraphPlan> plan_;
  opt::ProfileData measured_;  // by this run, and those of --profile-in
  uint32_t repeat_ = 1;
  LoadedModule loaded_;
  Target target_;
  LaunchFlags flags_;
  std::optional<Launch> launch_;
  std::optional<ResultRequests> requests_;
  DeviceRun ran_;
  std::vector<driver::Executable> executables_;  // the executables whose code a page shows
};

}  // namespace

int run(const RunCommand& command) { return Session(command).run(); }

}  // namespace vyre::cli
