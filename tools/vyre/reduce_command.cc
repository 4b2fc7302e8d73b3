// vyre reduce: finds a smaller program that shows the same mismatch, or for which a command
// succeeds.

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include "differential/reduce_mismatch.h"
#include "reduce/reduction.h"
#include "support/file.h"
#include "support/process.h"
#include "text/print.h"
#include "tools/vyre/commands.h"
#include "tools/vyre/diagnostic_output.h"
#include "tools/vyre/json_output.h"
#include "tools/vyre/numbers.h"
#include "tools/vyre/output_files.h"
#include "tools/vyre/stop.h"
#include "tools/vyre/terminal.h"

namespace vyre::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Quotes `text` as one word of the shell.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

/// The command of `--test`, run on candidates.
class TestCommand {
 public:
  TestCommand(const std::string& command, const std::string& file_name)
      : command_(absolute(command)), file_name_(file_name) {}
  ~TestCommand() {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }
  TestCommand(const TestCommand&) = delete;
  TestCommand& operator=(const TestCommand&) = delete;

  /// Creates the folder in which the command runs.
  Result<> open() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "vyre-reduce-XXXXXX").string();
    if (!error && ::mkdtemp(name.data())) {
      folder_ = name;
      return Ok{};
    }
    return diagnose(Code::CannotWrite, {}, "cannot make a folder for temporary files")
        .with_fix("name another folder in the variable TMPDIR");
  }

  ProcessResult run(const std::string& text, double seconds, const std::atomic<bool>& stop) const {
    const fs::path inside = fs::path(folder_) / "run";
    std::error_code ignored;
    fs::remove_all(inside, ignored);
    fs::create_directory(inside, ignored);
    const std::string file = (inside / file_name_).string();
    if (write_file(file, text)) return {.start_error = EIO};
    ProcessOptions options;
    options.working_folder = inside.string();
    options.timeout = std::chrono::milliseconds(static_cast<int64_t>(seconds * 1e3) + 1);
    options.stop = &stop;
    return run_process({"/bin/sh", "-c", with_file(quoted(file))}, options);
  }

 private:
  /// Makes the relative path of a program absolute, because the command runs in another folder.
  static std::string absolute(const std::string& command) {
    const std::string word = command.substr(0, command.find_first_of(" \t"));
    std::error_code error;
    if (word.find('/') == word.npos || word[0] == '/' || !fs::exists(word, error)) return command;
    return quoted(fs::absolute(word, error).string()) + command.substr(word.size());
  }

  std::string with_file(const std::string& file) const {
    if (command_.find("{}") == command_.npos) return command_ + " " + file;
    std::string line = command_;
    for (size_t at = line.find("{}"); at != line.npos; at = line.find("{}", at + file.size()))
      line.replace(at, 2, file);
    return line;
  }

  const std::string command_, file_name_;
  std::string folder_;
};

/// Candidates may take several times as long as the original, plus a few seconds.
constexpr double max_slowdown = 10, spare_seconds = 5;

class Session {
 public:
  explicit Session(const ReduceCommand& command)
      : command_(command), stop_(stop_on_signals()), progress_("reducing") {}

  int run() {
    if (!load()) return report(mistakes_, loaded_.sources, command_.json);
    const Diagnostics errors = command_.test.empty() ? reduce_mismatch() : reduce_by_test();
    progress_.hide();
    if (!errors.empty()) return report(errors, loaded_.sources, command_.json);
    return show_result();
  }

 private:
  template <class T>
  bool good(const Result<T>& piece) {
    if (!piece) mistakes_.insert(mistakes_.end(), piece.errors().begin(), piece.errors().end());
    return static_cast<bool>(piece);
  }
  void misuse(std::string what, std::string fix) {
    mistakes_.push_back(diagnose(Code::OptionMisuse, {}, std::move(what)).with_fix(std::move(fix)));
  }

  bool load() {
    const bool by_test = !command_.test.empty();
    if (by_test == !command_.mismatch.empty())
      misuse(by_test ? "`--mismatch` and `--test` are two ways to say what to keep"
                     : "`reduce` does not know what to keep",
             by_test ? "pass one of them" : "pass `--mismatch A,B` or `--test CMD`");
    const LaunchFlags& f = command_.launch;
    if (by_test && !(f.in.empty() && f.set.empty() && f.len.empty() && f.grid.empty()))
      misuse("inputs do not reach the command of `--test`",
             "write the inputs in the command: `--test 'vyre run {} --in x=1'`");
    const FileAndName file = split_file_and_name(command_.file);
    if (by_test && !file.name.empty())
      misuse(fmt::format("`--test` reduces a whole file, not `{}` of it", file.name),
             fmt::format("pass `{}`", file.file));
    if (!command_.time_limit.empty()) {
      if (const auto seconds = parse_seconds(command_.time_limit))
        seconds_ = *seconds;
      else
        mistakes_.push_back(
            diagnose(Code::BadOptionValue, {},
                     fmt::format("`--time-limit {}` has no meaning", command_.time_limit))
                .with_fix("give seconds above 0, such as 2 or 0.5"));
    }
    if (!command_.out.empty()) outputs_.open("the program", command_.out, mistakes_);
    auto options = load_options(command_.launch);
    if (!good(options)) return false;
    options->illegal_too = by_test;
    loaded_ = load_module(file.file, *options);
    if (!loaded_.module) {
      mistakes_.insert(mistakes_.end(), loaded_.diagnostics.begin(), loaded_.diagnostics.end());
      return false;
    }
    if (!by_test) bind(file);
    return mistakes_.empty();
  }

  /// Selects the target alone, with its inputs.
  void bind(const FileAndName& file) {
    const auto target = choose_target(loaded_, file.name, shown_name(file.file));
    if (!good(target)) return;
    LaunchFlags flags = command_.launch;
    flags.stdin_is_program = file.file == "-";
    auto launch = bind_launch(flags, *target);
    if (!good(launch)) return;
    program_.inputs = std::move(launch->inputs);
    if (target->graph) {
      program_.module.graphs = {*target->graph};
      program_.module.kernels = loaded_.module->kernels;
    } else {
      program_.module.kernels = {*target->kernel};
    }
    program_.observes_subgroup = lab::observes_subgroup(program_.module);
  }

  void show_progress(const reduce::Progress& p) {
    progress_.update([&] {
      return fmt::format("{} of {} ops left, round {}: {}", p.ops, p.ops_before, p.round,
                         p.transform);
    });
  }

  Diagnostics reduce_mismatch() {
    const auto pair = lab::choose_pair(command_.mismatch, program_);
    if (!pair) return pair.errors();
    lab::ReduceOptions options;
    options.seconds = seconds_;
    options.should_stop = [this] { return stop_.load(std::memory_order_relaxed); };
    options.progress = [this](const reduce::Progress& p) { show_progress(p); };
    auto reduced = lab::reduce_mismatch(program_, *pair, options);
    if (!reduced) return std::move(reduced.errors());
    summary_.kind = reduced->disagreement.kind;
    summary_.text = lab::text_test(*reduced);
    summary_.out_of_time = reduced->out_of_time;
    outcome_ = std::move(reduced->outcome);
    return {};
  }

  Diagnostics reduce_by_test() {
    const std::string file = split_file_and_name(command_.file).file;
    TestCommand test(command_.test,
                     file == "-" ? "program.vyre" : fs::path(file).stem().string() + ".vyre");
    if (auto opened = test.open(); !opened) return opened.errors();
    const auto left = [this] {
      return seconds_ > 0 ? std::max(seconds_ - since(begin_), 0.0) : 300.0;
    };
    const auto started = Clock::now();
    const ProcessResult first = test.run(print(*loaded_.module), left(), stop_);
    if (first.exit_code != 0 && !first.stopped) return {fails(first)};
    const double limit = since(started) * max_slowdown + spare_seconds;
    reduce::Options options;
    options.illegal_too = has_errors(check(*loaded_.module));
    options.is_interesting = [&](const reduce::Candidate& c) {
      return test.run(print(c.module), std::min(limit, left()), stop_).exit_code == 0;
    };
    options.should_stop = [&] {
      summary_.out_of_time = seconds_ > 0 && since(begin_) > seconds_;
      return summary_.out_of_time || stop_.load(std::memory_order_relaxed);
    };
    options.progress = [this](const reduce::Progress& p) { show_progress(p); };
    outcome_ = reduce::reduce({*loaded_.module, std::nullopt}, options);
    summary_.text = print(outcome_.best.module);
    return {};
  }

  Diagnostic fails(const ProcessResult& r) const {
    Diagnostic d = diagnose(
        Code::TestFails, {},
        r.start_error ? std::string("cannot start the command of `--test`")
        : r.timed_out
            ? std::string("the command of `--test` does not end")
            : fmt::format("the command of `--test` exits with {} for the program itself, as `vyre "
                          "check --print-ir` prints it",
                          r.exit_code));
    if (!r.err.empty()) d.note(fmt::format("it said: {}", r.err.substr(0, r.err.find('\n'))));
    return d.with_fix(
        "write a command that exits with 0 for it: `{}` is its file, and the folder is "
        "another one");
  }

  int show_result() {
    summary_.seconds = since(begin_);
    summary_.stopped = outcome_.stopped && !summary_.out_of_time;
    Diagnostics errors = outputs_.write(command_.out, summary_.text);
    if (errors.empty()) errors = outputs_.commit();
    if (command_.json) {
      write_out(reduce_json(summary_, outcome_, errors));
      return exit_code(errors);
    }
    if (command_.out.empty()) write_out(summary_.text);
    std::fflush(stdout);
    const reduce::Progress& p = outcome_.progress;
    fmt::print(stderr, "{} ops of {} are left after {} candidates in {:.1f} s{}\n", p.ops,
               p.ops_before, p.candidates, summary_.seconds,
               summary_.stopped       ? "; stopped"
               : summary_.out_of_time ? "; the time is over"
                                      : "");
    return report(errors, {}, false);
  }

  const ReduceCommand& command_;
  const std::atomic<bool>& stop_;
  const Clock::time_point begin_ = Clock::now();
  double seconds_ = 0;
  OutputFiles outputs_;
  Diagnostics mistakes_;
  LoadedModule loaded_;
  lab::Generated program_;
  reduce::Outcome outcome_;
  ReduceSummary summary_;
  Progress progress_;
};

}  // namespace

int reduce(const ReduceCommand& command) { return Session(command).run(); }

}  // namespace vyre::cli
