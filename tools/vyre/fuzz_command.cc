// vyre fuzz: runs random programs on all configurations, until a result differs or the time is
// over.

#include <execinfo.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <random>

#include "fuzz/fuzz.h"
#include "runtime/device_name.h"
#include "tools/vyre/commands.h"
#include "tools/vyre/diagnostic_output.h"
#include "tools/vyre/json_output.h"
#include "tools/vyre/numbers.h"
#include "tools/vyre/stop.h"
#include "tools/vyre/terminal.h"

namespace vyre::cli {
namespace {

constexpr uint64_t default_count = 1000;
constexpr double reduce_seconds = 60;  // for each mismatch

// ---- Crashes. Signal handlers can access only global state.

std::atomic<uint64_t> current_seed = 0;
static_assert(std::atomic<uint64_t>::is_always_lock_free);

/// Prints the seed, which suffices to reproduce the crash.
void on_crash(int signal) {
  char text[96] = "\nvyre fuzz: crashed at seed ";
  size_t at = std::strlen(text);
  char digits[20];
  size_t n = 0;
  uint64_t seed = current_seed;
  do digits[n++] = static_cast<char>('0' + seed % 10);
  while ((seed /= 10) != 0);
  while (n > 0) text[at++] = digits[--n];
  text[at++] = '\n';
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, at);
  void* frames[32];
  ::backtrace_symbols_fd(frames, ::backtrace(frames, 32), STDERR_FILENO);
  ::raise(signal);  // the handler is reset: the signal now ends the process
}

class CrashSignals {
 public:
  CrashSignals() {
    void* frame;
    ::backtrace(&frame, 1);  // loads its library now: a handler must not
    stack_t stack = {};
    stack.ss_sp = stack_;
    stack.ss_size = sizeof stack_;
    ::sigaltstack(&stack, nullptr);  // a crash may be a stack overflow
    struct sigaction action = {};
    action.sa_handler = on_crash;
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_ONSTACK | SA_NODEFER;
    for (const int s : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) ::sigaction(s, &action, nullptr);
  }

 private:
  static inline char stack_[64 * 1024];
};

// ---- Flags.

Diagnostic bad_value(const char* option, const std::string& value, const char* fix) {
  return diagnose(Code::BadOptionValue, {}, fmt::format("`{} {}` has no meaning", option, value))
      .with_fix(fix);
}

/// Returns the options, or all errors at once.
Result<lab::FuzzOptions> options_of(const FuzzCommand& command) {
  Diagnostics mistakes;
  lab::FuzzOptions options;
  const auto seed = parse_count(command.seed);
  const auto count = parse_count(command.count);
  const auto inputs = parse_count(command.inputs);
  const auto minutes = parse_seconds(command.minutes);
  if (!command.seed.empty() && !seed)
    mistakes.push_back(bad_value("--seed", command.seed, "write an integer from 0 to 2^64-1"));
  if (!command.count.empty() && (!count || *count == 0))
    mistakes.push_back(bad_value("--count", command.count, "write how many programs, at least 1"));
  if (!command.inputs.empty() && (!inputs || *inputs == 0))
    mistakes.push_back(bad_value("--inputs", command.inputs, "write how many, at least 1"));
  if (!command.minutes.empty() && !minutes)
    mistakes.push_back(bad_value("--minutes", command.minutes, "write a positive number"));
  if (command.no_reduce && !command.reduced.empty())
    mistakes.push_back(diagnose(Code::OptionMisuse, {},
                                "`--reduced` names a folder that `--no-reduce` leaves empty")
                           .with_fix("drop one of them"));
  if (!command.backends.empty()) {
    options.subjects = driver::split_device_names(command.backends);
    const auto subjects = lab::choose_subjects(options.subjects);
    if (!subjects)
      mistakes.insert(mistakes.end(), subjects.errors().begin(), subjects.errors().end());
  }
  if (!mistakes.empty()) return mistakes;
  options.seed = seed ? *seed : std::random_device{}();
  options.count = count ? *count : minutes ? 0 : default_count;
  if (inputs) options.inputs = *inputs;
  options.seconds = minutes ? *minutes * 60 : 0;
  options.out = command.out;
  options.reduce_seconds = command.no_reduce ? 0 : reduce_seconds;
  if (!command.reduced.empty()) options.reduced = command.reduced;
  options.generate.only_graphs = command.graphs;
  return options;
}

double per_second(const lab::FuzzStatus& s) {
  return s.seconds > 0 ? static_cast<double>(s.programs) / s.seconds : 0;
}

std::string mismatches(uint64_t n) { return fmt::format("{} mismatch{}", n, n == 1 ? "" : "es"); }

std::string summary_line(uint64_t first, const lab::FuzzSummary& summary) {
  const lab::FuzzStatus& s = summary.status;
  std::string line =
      fmt::format("seeds {} to {}: {} programs, {} runs, {:.1f} s, {:.0f} programs a second, {}",
                  first, s.programs == 0 ? first : s.seed - 1, s.programs, s.runs, s.seconds,
                  per_second(s), mismatches(s.failing));
  if (s.refused) line += fmt::format(", {} refused by a device", s.refused);
  if (summary.stopped) line += fmt::format("; stopped, go on with `--seed {}`", s.seed);
  return line + "\n";
}

}  // namespace

int fuzz(const FuzzCommand& command) {
  auto options = options_of(command);
  if (!options) return report(options.errors(), {}, command.json);
  const CrashSignals signals;
  options->stop = &stop_on_signals();
  Progress progress("fuzz");
  if (!command.json) {  // known even if we are killed
    write_out(fmt::format("seed {}\n", options->seed));
    std::fflush(stdout);
  }
  options->progress = [&](const lab::FuzzStatus& s) {
    current_seed = s.seed;
    progress.update([&] {
      return fmt::format("seed {}, {} programs, {:.0f} a second, {}", s.seed, s.programs,
                         per_second(s), mismatches(s.failing));
    });
  };
  options->found = [&](const lab::Finding& f) {
    if (command.json) return;
    progress.hide();
    const std::string text = render(f.what, {}, {.colour = wants_colour(STDERR_FILENO)});
    std::fwrite(text.data(), 1, text.size(), stderr);
  };
  const auto summary = lab::fuzz(*options);
  progress.hide();
  if (!summary) return report(summary.errors(), {}, command.json);
  if (command.json) {
    write_out(fuzz_json(options->seed, *summary));
  } else {
    show(summary->file_errors, {});
    write_out(summary_line(options->seed, *summary));
  }
  Diagnostics all;
  for (const lab::Finding& f : summary->findings) all.push_back(f.what);
  all.insert(all.end(), summary->file_errors.begin(), summary->file_errors.end());
  return exit_code(all);
}

}  // namespace vyre::cli
