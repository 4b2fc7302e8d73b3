#include "reduce/reduction.h"

#include <algorithm>
#include <unordered_set>

#include "check/check.h"
#include "check/check_report.h"
#include "check/check_structure.h"
#include "reduce/transform.h"
#include "support/hash.h"

namespace vyre::reduce {
namespace {

class Reduction {
 public:
  Reduction(const Candidate& original, const Options& options)
      : options_(options), best_(original), size_(measure(original)) {
    progress_.ops_before = progress_.ops = count_ops(original);
    for (const Transform& t : all_transforms()) counts_.push_back({t.name, 0, 0});
  }

  Outcome run() {
    // Most of the reduction happens with dead code removed from each candidate; a second phase
    // without that removal reduces failures that depend on dead code.
    for (bool smaller = true; smaller && !stopped_;) {
      dead_code_ = true;
      progress_.transform = "remove_dead_code";
      smaller = try_candidate(best_, nullptr);
      if (smaller || is_tidy(best_)) smaller |= run_rounds();
      dead_code_ = false;
      smaller |= run_rounds();
    }
    return {std::move(best_), progress_, stopped_, std::move(counts_)};
  }

 private:
  /// Runs all transformations until none makes the program smaller.
  bool run_rounds() {
    bool any = false;
    for (bool smaller = true; smaller && !stopped_; any |= smaller) {
      ++progress_.round;
      smaller = false;
      for (size_t i = 0; i < counts_.size() && !stopped_; ++i)
        smaller |= run(all_transforms()[i], counts_[i]);
    }
    return any;
  }

  static bool is_tidy(const Candidate& c) {
    Candidate copy = c;
    tidy(copy, true);
    return measure(copy) == measure(c);
  }

  static size_t opportunities(const Transform& t, const Candidate& c) {
    Candidate copy = c;
    Choice none_taken(0, 0);
    t.apply(copy, none_taken);
    return none_taken.asked();
  }

  /// Tries all opportunities, then halves and so on: opportunities that fail together may succeed
  /// in parts.
  bool run(const Transform& t, TransformCount& count) {
    progress_.transform = t.name;
    bool smaller = false;
    size_t n = opportunities(t, best_);
    for (size_t size = n; size > 0; size /= 2) {
      for (size_t at = 0; at < n && !stopped_;) {
        Candidate next = best_;
        Choice choice(at, at + size);
        t.apply(next, choice);
        if (try_candidate(std::move(next), &count)) {
          smaller = true;
          n = opportunities(t, best_);
        } else {
          at += size;
        }
      }
      if (stopped_) break;
      size = std::min(size, n);
    }
    return smaller;
  }

  bool is_legal(const Candidate& c) const {
    if (!options_.illegal_too) return !has_errors(check(c.module));
    // Well-formed enough to be printed.
    return std::all_of(c.module.kernels.begin(), c.module.kernels.end(), [](const Program& p) {
      Reporter reporter(p);
      return check_structure(p, reporter);
    });
  }

  bool try_candidate(Candidate next, TransformCount* count) {
    if (options_.should_stop && options_.should_stop()) {
      stopped_ = true;
      return false;
    }
    if (options_.progress) options_.progress(progress_);
    if (!is_legal(next)) return false;  // first: no other code may read a malformed program
    tidy(next, dead_code_);
    const Size size = measure(next);
    if (size >= size_ || !seen_.insert(hash128(key_of(next)).lo).second) return false;
    ++progress_.candidates;
    if (count) ++count->tried;
    if (!options_.is_interesting(next)) return false;
    if (count) ++count->accepted;
    ++progress_.accepted;
    best_ = std::move(next);
    size_ = size;
    progress_.ops = count_ops(best_);
    return true;
  }

  const Options& options_;
  Candidate best_;
  Size size_;
  Progress progress_;
  std::vector<TransformCount> counts_;  // by transformation
  std::unordered_set<uint64_t> seen_;   // hashes of candidates
  bool dead_code_ = false;              // is removed from each candidate
  bool stopped_ = false;
};

}  // namespace

Outcome reduce(const Candidate& original, const Options& options) {
  return Reduction(original, options).run();
}

}  // namespace vyre::reduce
