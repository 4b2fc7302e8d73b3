#include "opt/pass_manager.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <unordered_map>

#include "check/check.h"
#include "diagnostics/work_deadline.h"
#include "opt/analysis/analysis_cache.h"
#include "support/file.h"
#include "text/print.h"
#include "wire/fingerprint.h"

namespace vyre::opt {
namespace {

using Clock = std::chrono::steady_clock;
using PassList = std::span<const PassDescriptor* const>;

uint64_t since(Clock::time_point begin) {
  return uint64_t(std::chrono::nanoseconds(Clock::now() - begin).count());
}

// ---- Order.

class Order {
 public:
  explicit Order(PassList passes) : passes_(passes) {}

  Result<std::vector<const PassDescriptor*>> run() {
    for (size_t i = 0; i < passes_.size(); ++i)
      if (!index_.emplace(passes_[i]->name, i).second)
        return diagnose(Code::DuplicatePass, {},
                        fmt::format("pass `{}` is there twice", passes_[i]->name))
            .with_fix("name each pass once");
    for (const PassDescriptor* pass : passes_)
      for (const std::string_view name : pass->requires_passes)
        if (!index_.contains(name))
          return diagnose(Code::UnknownPass, {},
                          fmt::format("pass `{}` requires `{}`, which is not in the list",
                                      pass->name, name))
              .with_fix(fmt::format("add `{}`, or leave `{}` out", name, pass->name));

    std::vector<size_t> by_phase(passes_.size());
    for (size_t i = 0; i < by_phase.size(); ++i) by_phase[i] = i;
    std::stable_sort(by_phase.begin(), by_phase.end(),
                     [&](size_t a, size_t b) { return passes_[a]->phase < passes_[b]->phase; });
    state_.assign(passes_.size(), State::New);
    for (const size_t i : by_phase)
      if (!place(i)) return circle();
    return std::move(ordered_);
  }

 private:
  enum class State : uint8_t { New, Open, Done };

  /// Visits depth first, with an explicit stack: a pass is placed after those that it requires.
  bool place(size_t root) {
    if (state_[root] != State::New) return true;
    path_ = {{root, 0}};
    state_[root] = State::Open;
    while (!path_.empty()) {
      auto& [pass, next] = path_.back();
      const auto& needs = passes_[pass]->requires_passes;
      if (next == needs.size()) {
        state_[pass] = State::Done;
        ordered_.push_back(passes_[pass]);
        path_.pop_back();
        continue;
      }
      const size_t need = index_.at(needs[next++]);
      if (state_[need] == State::Open) {
        path_.emplace_back(need, 0);
        return false;
      }
      if (state_[need] == State::New) {
        state_[need] = State::Open;
        path_.emplace_back(need, 0);
      }
    }
    return true;
  }

  Diagnostic circle() const {
    const size_t last = path_.back().first;
    std::string text;
    bool inside = false;
    for (const auto& [pass, next] : path_) {
      inside |= pass == last;
      if (inside)
        text += fmt::format("{}`{}`", text.empty() ? "" : " requires ", passes_[pass]->name);
    }
    return diagnose(Code::PassCycle, {}, fmt::format("passes require each other: {}", text))
        .with_fix("drop one of these requirements");
  }

  PassList passes_;
  std::unordered_map<std::string_view, size_t> index_;
  std::vector<State> state_;
  std::vector<std::pair<size_t, size_t>> path_;  // pass, its next requirement
  std::vector<const PassDescriptor*> ordered_;
};

// ---- Running.

class Runner {
 public:
  Runner(Program& program, PassList passes, const Target& target, const ScheduleOptions& options,
         RunReport& report)
      : p_(program),
        passes_(passes),
        target_(target),
        options_(options),
        report_(report),
        facts_(program) {}

  Result<> run() {
    const auto begin = Clock::now();
    Result<> done = Ok{};
    const bool ended = !run_until(options_.is_over, [&] { done = run_rounds(); });
    if (!done) return done;
    if (ended) report_.settled = false;
    report_.after = cost_;
    report_.ns = since(begin);
    return Ok{};
  }

 private:
  Result<> run_rounds() {
    report_.before = cost_ = cost_of(p_);
    report_.text = text();
    // By pass: the version of the program that it last saw. Every change is a new version.
    constexpr uint64_t unseen = ~uint64_t{0};
    std::vector<uint64_t> seen(passes_.size(), unseen);
    bool changed = true;
    while (changed && report_.iterations < options_.most_iterations && !stopped()) {
      changed = false;
      ++report_.iterations;
      for (size_t i = 0; i < passes_.size() && !stopped(); ++i) {
        if (seen[i] == version_) {
          note_clean(*passes_[i]);
          continue;
        }
        if (auto done = run_pass(*passes_[i]); !done) return done;
        const PassRun& run = report_.runs.back();
        changed |= run.decision == PassDecision::Changed;
        // A pass that changed the program may find more the next time.
        seen[i] = run.decision == PassDecision::Changed ? unseen : version_;
      }
    }
    report_.settled = !changed;
    return Ok{};
  }

  bool stopped() const {
    return done_ >= options_.stop_after || (options_.is_over && options_.is_over());
  }

  void note_clean(const PassDescriptor& pass) {
    PassRun run;
    run.iteration = report_.iterations;
    run.pass = pass.name;
    run.decision = PassDecision::NotDirty;
    run.before = run.after = cost_;
    report_.runs.push_back(std::move(run));
  }

  Result<> run_pass(const PassDescriptor& pass) {
    ++done_;
    PassRun run;
    run.iteration = report_.iterations;
    run.pass = pass.name;
    run.before = cost_;
    const EffectSummary effects = facts_.effects().of_program();
    run.effects_before = describe(p_, effects);
    Program before = p_;
    facts_.reset_counts();

    PassContext context{facts_, target_, {}, 0, false};
    const auto begin = Clock::now();
    Result<bool> changed = [&]() -> Result<bool> {
      try {
        return pass.run(p_, context);
      } catch (const WorkEnded&) {
        p_ = std::move(before);
        facts_.invalidate(FactSet::all());
        throw;
      }
    }();
    run.ns = since(begin);
    if (!changed) {
      p_ = before;
      facts_.invalidate(FactSet::all());
      return changed.errors();
    }
    run.decision = *changed                ? PassDecision::Changed
                   : context.nothing_to_do ? PassDecision::NothingToDo
                   : context.refused       ? PassDecision::Refused
                                           : PassDecision::Unchanged;
    run.refused = context.refused;
    for (const Refusal& r : context.refusals) run.refusals.push_back(in_words(before, r));
    if (*changed) {
      ++version_;
      facts_.invalidate(pass.invalidates);
      cost_ = cost_of(p_);
    }
    run.facts_reused = facts_.counts().reused;
    run.facts_recomputed = facts_.counts().recomputed;
    run.facts_invalidated = facts_.counts().invalidated;
    const EffectSummary after = facts_.effects().of_program();
    run.effects_after = describe(p_, after);
    run.after = cost_;
    if (options_.check)
      if (auto fine = check_pass(pass, before, effects, after, *changed); !fine) {
        p_ = before;
        return fine;
      }
    if (*changed) run.text = text();
    report_.runs.push_back(std::move(run));
    if (options_.after_pass) options_.after_pass(p_, report_.runs.back());
    return Ok{};
  }

  /// Returns null if texts are not kept, or if their limit is exceeded.
  std::shared_ptr<const Listing> text() {
    if (!options_.keep_texts || kept_lines_ > options_.most_kept_lines) return nullptr;
    auto listing = std::make_shared<const Listing>(print_lines(p_));
    kept_lines_ += listing->lines.size();
    return listing;
  }

  static std::string in_words(const Program& p, const Refusal& r) {
    if (!p.ops.contains(r.op)) return r.why;
    const Place place = p.place(p.op(r.op).loc);
    if (place.line == 0) return fmt::format("{}: {}", mnemonic(p.op(r.op).code), r.why);
    return fmt::format("{}:{}: {}: {}", place.file, place.line, mnemonic(p.op(r.op).code), r.why);
  }

  Result<> check_pass(const PassDescriptor& pass, const Program& before, const EffectSummary& was,
                      const EffectSummary& is, bool changed) {
    std::string wrong;
    const Diagnostics errors = check(p_);
    if (has_errors(errors))
      for (const Diagnostic& d : errors)
        if (d.severity == Severity::Error && wrong.empty())
          wrong =
              fmt::format("the program is no longer legal: {} {}", to_string(d.code), d.message);
    const bool same = fingerprint(before) == fingerprint(p_);
    if (wrong.empty() && !changed && !same)
      wrong = "it said \"unchanged\", and the program is another";
    if (wrong.empty() && (added_kinds(renumbered(before, was), is) & ~pass.may_add).any())
      wrong = fmt::format("it added an effect that it does not declare; now: {}",
                          fmt::join(describe(p_, is), ", "));
    if (wrong.empty()) return Ok{};
    Diagnostic d =
        diagnose(Code::PassBrokeProgram, {},
                 fmt::format("pass `{}` broke kernel `{}`: {}", pass.name, before.name, wrong));
    if (options_.dump) d.note(dump(pass, before));
    return d.with_fix(
        fmt::format("report it with that file; leave out `{}` until then", pass.name));
  }

  /// The effects with the numbers that buffers have now: a pass may remove some.
  EffectSummary renumbered(const Program& before, const EffectSummary& was) const {
    if (before.buffers.size() == p_.buffers.size()) return was;
    EffectSummary now = was;
    now.reads = now.writes = now.atomics = 0;
    for (const BufferId i : before.buffers.ids())
      for (const BufferId k : p_.buffers.ids()) {
        if (before.buffers[i].name != p_.buffers[k].name) continue;
        if (was.reads & bit_of(i)) now.reads |= bit_of(k);
        if (was.writes & bit_of(i)) now.writes |= bit_of(k);
        if (was.atomics & bit_of(i)) now.atomics |= bit_of(k);
      }
    return now;
  }

  std::string dump(const PassDescriptor& pass, const Program& before) const {
    std::error_code ignored;
    const std::filesystem::path folder = options_.dump_folder.empty()
                                             ? std::filesystem::temp_directory_path(ignored)
                                             : std::filesystem::path(options_.dump_folder);
    const std::string path = (folder / fmt::format("vyre-before-{}-{}.vyre", pass.name,
                                                   fingerprint(before).to_hex().substr(0, 8)))
                                 .string();
    if (const auto error = write_file(path, print(before)))
      return fmt::format("the program before it could not be written: {}", error->what);
    return fmt::format("the program before it is in {}", path);
  }

  Program& p_;
  PassList passes_;
  const Target& target_;
  const ScheduleOptions& options_;
  RunReport& report_;
  Facts facts_;
  Cost cost_;
  uint64_t version_ = 0;
  uint64_t done_ = 0;
  size_t kept_lines_ = 0;
};

}  // namespace

Result<std::vector<const PassDescriptor*>> order_passes(PassList passes) {
  return Order(passes).run();
}

Result<> run_passes(Program& program, PassList passes, const Target& target,
                    const ScheduleOptions& options, RunReport& report) {
  return Runner(program, passes, target, options, report).run();
}

}  // namespace vyre::opt
