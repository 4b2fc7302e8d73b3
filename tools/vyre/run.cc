// vyre run: one program, one launch.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>

#include "tools/vyre/backends.h"
#include "tools/vyre/commands.h"
#include "tools/vyre/execute.h"
#include "tools/vyre/json.h"
#include "tools/vyre/numbers.h"
#include "tools/vyre/report.h"
#include "tools/vyre/results.h"
#include "tools/vyre/terminal.h"

namespace vyre::cli {
namespace {

void append(Diagnostics& list, const Diagnostics& more) {
  list.insert(list.end(), more.begin(), more.end());
}

Result<uint64_t> parse_repeat(const std::string& text) {
  if (text.empty()) return uint64_t{1};
  const auto times = parse_count(text);
  if (times && *times > 0 && *times <= 1'000'000'000) return *times;
  return diagnose(Code::BadOptionValue, {}, fmt::format("`--repeat {}` has no meaning", text))
      .with_fix("give a number of runs from 1 to 1000000000");
}

std::string duration(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} s", seconds);
}

struct TimedResult {
  RunResult result;
  Timing timing;
};

Result<TimedResult> repeat(const Target& target, Launch& launch, uint64_t times) {
  Progress progress(fmt::format("running {}", target.name()));
  std::vector<double> seconds;
  TimedResult timed;
  for (uint64_t i = 0; i < times; ++i) {
    launch.options.progress = [&](double fraction) {
      progress.update((double(i) + fraction) / double(times));
    };
    const auto start = std::chrono::steady_clock::now();
    auto result = execute(target, launch);
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    launch.options.progress = nullptr;
    if (!result) return std::move(result.errors());
    timed.result = std::move(*result);
  }
  std::sort(seconds.begin(), seconds.end());
  timed.timing = {seconds.front(), seconds[seconds.size() / 2], times};
  return timed;
}

/// Another order must give the same bytes.
Diagnostics verify(const Target& target, Launch launch, const RunResult& result) {
  const bool reversed = launch.options.schedule == interp::Schedule::Reverse;
  launch.options.schedule = reversed ? interp::Schedule::Order : interp::Schedule::Reverse;
  Progress progress(fmt::format("verifying {}", target.name()));
  launch.options.progress = [&](double fraction) { progress.update(fraction); };
  auto second = execute(target, launch);
  if (!second) return std::move(second.errors());
  const auto difference = compare_results(target, result, "the first run", *second,
                                          reversed ? "`--schedule order`" : "`--schedule reverse`");
  if (difference) return {*difference};
  return {};
}

/// Warnings are for those who write the program; notes only where they ask for them (`vyre check`).
Diagnostics without_notes(const Diagnostics& list) {
  Diagnostics kept;
  std::copy_if(list.begin(), list.end(), std::back_inserter(kept),
               [](const Diagnostic& d) { return d.severity != Severity::Note; });
  return kept;
}

}  // namespace

int run(const RunCommand& command) {
  Diagnostics mistakes;
  const auto fail = [&](const Diagnostics& errors, const Sources& sources = {}) {
    return report(errors, sources, command.json);
  };
  const auto check_piece = [&](const auto& piece) {
    if (!piece) append(mistakes, piece.errors());
  };

  const auto backend = choose_backend(command.backend);
  const auto times = parse_repeat(command.repeat);
  const auto constants = parse_constants(command.launch.constants);
  check_piece(backend);
  check_piece(times);
  check_piece(constants);

  const FileAndName file = split_file_and_name(command.file);
  LoadOptions load_options;
  if (constants) load_options.constants = *constants;
  load_options.check.exact = command.launch.exact;
  const LoadedModule loaded = load_module(file.file, load_options);
  if (!loaded.module) {
    append(mistakes, without_notes(loaded.diagnostics));
    return fail(mistakes, loaded.sources);
  }

  const auto target = choose_target(loaded, file.name, shown_name(file.file));
  if (!target) {
    check_piece(target);
    return fail(mistakes, loaded.sources);
  }

  LaunchFlags flags = command.launch;
  flags.stdin_is_program = file.file == "-";
  auto launch = bind_launch(flags, *target);
  const auto requests = parse_requests(command.print, command.out, *target);
  check_piece(launch);
  check_piece(requests);
  if (!mistakes.empty()) return fail(mistakes, loaded.sources);

  const auto timed = repeat(*target, *launch, *times);
  if (!timed) return fail(timed.errors(), loaded.sources);
  if (command.verify) {
    const Diagnostics differences = verify(*target, *launch, timed->result);
    if (!differences.empty()) return fail(differences, loaded.sources);
  }
  const Diagnostics write_errors = write_files(*requests, *launch, timed->result);
  if (!write_errors.empty()) return fail(write_errors);

  const Diagnostics warnings = without_notes(loaded.diagnostics);
  if (command.json) {
    write_out(run_json(*target, std::string((*backend)->name), *requests, *launch, timed->result,
                       timed->timing, warnings));
    return exit_done;
  }
  show(warnings, loaded.sources);
  write_out(printed_results(*target, *requests, *launch, timed->result));
  if (!command.repeat.empty())
    fmt::print(stderr, "time: min {}, median {}, {} runs\n", duration(timed->timing.min_seconds),
               duration(timed->timing.median_seconds), timed->timing.runs);
  return exit_done;
}

}  // namespace vyre::cli
