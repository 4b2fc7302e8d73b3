#include "fuzz/fuzz.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "differential/device_subject.h"
#include "differential/reduce_mismatch.h"
#include "differential/repeat_command.h"

namespace vyre::lab {
namespace {

using Clock = std::chrono::steady_clock;

/// A single requested program is kept whether it fails or not.
bool keeps_all(const FuzzOptions& options) { return options.count == 1 && !options.out.empty(); }

/// The flags that reproduce the program.
std::string flags_of(const Generated& g, const FuzzOptions& options) {
  return fmt::format("{}--seed {} --count 1{}", options.generate.only_graphs ? "--graphs " : "",
                     g.seed, options.inputs > 1 ? fmt::format(" --inputs {}", options.inputs) : "");
}

/// Returns the path; "" if the program could not be written.
std::string write(const Generated& g, const Verdict& verdict, const FuzzOptions& options,
                  FuzzSummary& summary) {
  std::string file;
  const auto error = write_replay(options.out, g, verdict, &file);
  if (!error) return file;
  summary.file_errors.push_back(
      diagnose(Code::CannotWrite, {},
               fmt::format("cannot keep the program of seed {}: {}", g.seed, error->what))
          .with_fix(fmt::format("write it later: `vyre fuzz {} --out DIR`", flags_of(g, options))));
  return "";
}

/// Reduces the mismatches of one program, each to a file.
class Reductions {
 public:
  Reductions(const Generated& g, const std::vector<Subject>& subjects, const FuzzOptions& options,
             FuzzSummary& summary)
      : g_(g), subjects_(subjects), options_(options), summary_(summary) {}

  /// Sets the reduced program of a finding. A mismatch that an earlier reduced program also shows
  /// has the same file.
  void add_to(Finding& f) {
    if (options_.reduce_seconds <= 0 || is_stopped()) return;
    const auto subject = std::find_if(subjects_.begin(), subjects_.end(),
                                      [&](const Subject& s) { return s.name == f.subject; });
    // The sanitizer's findings are about the program, not about two configurations.
    if (subject == subjects_.end() || subject->name == "sanitizer") return;
    const ConfigurationPair pair{reference_subject(), *subject};
    for (const Written& w : written_)
      if (const auto same = judge(pair, w.program); same && same->kind == w.kind)
        return set(f, w.file, w.ops);
    ReduceOptions how;
    how.seconds = options_.reduce_seconds;
    how.should_stop = [this] { return is_stopped(); };
    const auto reduced = reduce_mismatch(g_, pair, how);
    if (!reduced) {
      f.what.note("it was not reduced: " + reduced.errors()[0].message);
      return;
    }
    std::string file;
    if (const auto error = write_reduced(*reduced, &file)) {
      summary_.file_errors.push_back(
          diagnose(
              Code::CannotWrite, {},
              fmt::format("cannot write the reduced program of seed {}: {}", g_.seed, error->what))
              .with_fix("name a folder that can be written to: `--reduced DIR`"));
      return;
    }
    written_.push_back(
        {reduced->program, reduced->disagreement.kind, file, reduced->outcome.progress.ops});
    set(f, file, reduced->outcome.progress.ops);
  }

 private:
  struct Written {
    Generated program;
    std::string kind;
    std::string file;
    uint64_t ops;
  };

  bool is_stopped() const {
    return options_.stop && options_.stop->load(std::memory_order_relaxed);
  }

  static void set(Finding& f, const std::string& file, uint64_t ops) {
    f.reduced = file;
    f.reduced_ops = ops;
    f.what.note(fmt::format("reduced to {} ops: {}", ops, file));
  }

  std::optional<FileError> write_reduced(const ReducedMismatch& reduced, std::string* file) const {
    const std::string number = written_.empty() ? "" : fmt::format("-{}", written_.size() + 1);
    return write_text(options_.reduced, fmt::format("reduced-seed-{}{}.vyre", g_.seed, number),
                      text_test(reduced), file);
  }

  const Generated& g_;
  const std::vector<Subject>& subjects_;
  const FuzzOptions& options_;
  FuzzSummary& summary_;
  std::vector<Written> written_;
};

/// Records the findings of a program.
void note_findings(const Generated& g, const Verdict& verdict, const std::vector<Subject>& subjects,
                   const FuzzOptions& options, FuzzSummary& summary) {
  Reductions reductions(g, subjects, options, summary);
  const std::string file = options.out.empty() ? "" : write(g, verdict, options, summary);
  for (const Mismatch& m : verdict.mismatches) {
    Finding f{g.seed, m.subject, m.what, file, "", 0};
    f.what.message = fmt::format("seed {}: {}", g.seed, f.what.message);
    if (!file.empty()) f.what.note("the program is in " + file);
    reductions.add_to(f);
    const bool named = m.subject != "check" && m.subject != "reference";
    f.what.with_fix(fmt::format("replay it: `vyre fuzz{} {}`",
                                named ? fmt::format(" --backends '{}'", m.subject) : "",
                                flags_of(g, options)));
    if (options.found) options.found(f);
    summary.findings.push_back(std::move(f));
  }
}

}  // namespace

Result<FuzzSummary> fuzz(const FuzzOptions& options) {
  auto subjects = choose_subjects(options.subjects);
  if (!subjects) return subjects.errors();
  subjects->insert(subjects->end(), options.more.begin(), options.more.end());
  FuzzSummary summary;
  FuzzStatus& status = summary.status;
  const auto begin = Clock::now();
  for (status.seed = options.seed;; ++status.seed) {
    status.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (options.progress) options.progress(status);
    summary.stopped = options.stop && options.stop->load(std::memory_order_relaxed);
    if (summary.stopped || (options.count != 0 && status.programs >= options.count) ||
        (options.seconds > 0 && status.seconds >= options.seconds))
      return summary;
    const Generated g = generate(status.seed, options.generate);
    if (keeps_all(options)) write(g, {}, options, summary);  // before a configuration can crash
    const Verdict verdict = compare(g, *subjects);
    ++status.programs;
    status.runs += verdict.runs;
    status.refused += verdict.refused;
    summary.coverage.add(g, verdict.expected ? &*verdict.expected : nullptr);
    // Programs with other inputs have no race either, except that a graph may take a grid from its
    // inputs.
    bool fails = !verdict.mismatches.empty();
    for (uint64_t n = 1; n < options.inputs && !fails && !g.is_graph(); ++n) {
      const Generated other = other_inputs(g, n);
      const Verdict again = compare(other, *subjects);
      status.runs += again.runs;
      status.refused += again.refused;
      fails = !again.mismatches.empty();
      if (fails) note_findings(other, again, *subjects, options, summary);
    }
    status.failing += fails;
    if (!verdict.mismatches.empty()) {
      note_findings(g, verdict, *subjects, options, summary);
    } else if (keeps_all(options)) {
      write(g, verdict, options, summary);
    }
  }
}

}  // namespace vyre::lab
