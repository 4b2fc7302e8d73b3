#include "runtime/vulkan/self_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "runtime/vulkan/self_test_progress.h"
#include "runtime/vulkan/self_test_run.h"

namespace vyre::driver::vulkan {
namespace {

using emit_exact::Profile;

/// True if the refusal is correct: missing features, and loops that the device cuts (these are
/// reported from now on).
bool is_left_out(Code code) { return code == Code::MissingFeature || code == Code::NotExact; }

class SelfTest {
 public:
  explicit SelfTest(VulkanDevice& device) : d_(device) {
    t_.profile = device.context().physical.reported;
  }

  Result<TestedProfile> run() {
    static const auto& groups = *new std::vector<TestGroup>(self_test_groups());
    if (Result<> done = find(groups); !done) return done.errors();
    if (Result<> done = acquit(groups); !done) return done.errors();
    if (Result<> done = test_progress(d_, t_); !done) return done.errors();
    if (Result<> done = test_stop_word(d_, t_); !done) return done.errors();
    return std::move(t_);
  }

 private:
  /// Tests groups until the profile no longer changes. A group that stays wrong may depend on an op
  /// that was found wrong later, so it is tested again.
  Result<> find(const std::vector<TestGroup>& groups) {
    std::vector<const TestGroup*> wrong;
    for (const TestGroup& g : groups) wrong.push_back(&g);
    Profile before;
    do {
      before = t_.profile;
      std::map<std::string, std::string> inexact;
      std::vector<const TestGroup*> still;
      for (const TestGroup* g : wrong) {
        t_.inexact.clear();
        if (Result<> done = test(*g); !done) {
          for (Diagnostic& d : done.errors())
            d.note(fmt::format("in the self-test of {}", g->name));
          return done;
        }
        if (!t_.inexact.empty()) still.push_back(g);
        inexact.merge(t_.inexact);
      }
      t_.inexact = std::move(inexact);
      wrong = std::move(still);
    } while (!wrong.empty() && before != t_.profile);
    return Ok{};
  }

  /// Tests one group until it is right, or wrong with every applicable flag disabled.
  Result<> test(const TestGroup& g) {
    if (g.needs && !(t_.profile.*g.needs)) return Ok{};
    TestRun& run = run_of(g);
    for (;;) {  // each iteration disables a flag, or is the last
      d_.profile = t_.profile;
      const Result<IdMap<BufferId, Bytes>> got = run.actual(d_, d_.compile(run.program(), {}));
      if (!got) {
        const Code code = got.errors()[0].code;
        if (is_left_out(code)) return Ok{};
        if (code != Code::CodeRejected) return got.errors();
      }
      const Profile before = t_.profile;
      bool changed = false, wrong = false;
      std::map<std::string, std::string> stays;
      for (const TestRow& row : g.rows) {
        const std::string what =
            got ? run.difference(row, (*got)[row.buffer])
                : fmt::format("{}: {}", row.expression, got.errors()[0].message);
        if (what.empty()) continue;
        wrong = true;
        const auto on = std::find_if(row.flags.begin(), row.flags.end(), [&](const auto& f) {
          return before.*f.first && may_switch_off(f.first);
        });
        if (on == row.flags.end()) {
          stays.emplace(row.key, what);
          continue;
        }
        if (std::exchange(t_.profile.*on->first, false)) {
          t_.findings.push_back(fmt::format("{}: {}", on->second, what));
          blamed_.push_back(on->first);
        }
        changed = true;
      }
      if (!wrong) return Ok{};
      if (changed) continue;
      t_.inexact.merge(stays);
      return Ok{};
    }
  }

  /// Relaxed atomics can replace ordered ones on a CPU only.
  bool may_switch_off(ProfileFlag flag) const {
    return flag != &Profile::ordered_atomics || d_.context().physical.is_cpu();
  }

  /// Enables flags again that were blamed for an error whose cause was found later, the last one
  /// first: a disabled flag costs time in every kernel.
  Result<> acquit(const std::vector<TestGroup>& groups) {
    for (size_t n = blamed_.size(); n-- > 0;) {
      Profile with = t_.profile;
      with.*blamed_[n] = true;
      const Result<bool> right = is_right(groups, blamed_[n], with);
      if (!right) return right.errors();
      if (!*right) continue;
      t_.profile = with;
      t_.findings.erase(t_.findings.begin() + ptrdiff_t(n));
    }
    return Ok{};
  }

  /// Returns true if every group with a row that could blame this flag is right with this profile.
  Result<bool> is_right(const std::vector<TestGroup>& groups, ProfileFlag flag,
                        const Profile& profile) {
    for (const TestGroup& g : groups) {
      const bool concerns = std::any_of(g.rows.begin(), g.rows.end(), [&](const TestRow& row) {
        return std::any_of(row.flags.begin(), row.flags.end(),
                           [&](const auto& f) { return f.first == flag; });
      });
      if (!concerns || (g.needs && !(profile.*g.needs))) continue;
      const Result<bool> right = is_right(g, profile);
      if (!right || !*right) return right;
    }
    return true;
  }

  /// Returns true if the group is right, except for ops that are wrong in any case.
  Result<bool> is_right(const TestGroup& g, const Profile& profile) {
    d_.profile = profile;
    TestRun& run = run_of(g);
    const Result<IdMap<BufferId, Bytes>> got = run.actual(d_, d_.compile(run.program(), {}));
    if (!got) {
      const Code code = got.errors()[0].code;
      if (is_left_out(code)) return true;
      if (code == Code::CodeRejected) return false;
      return got.errors();
    }
    return std::all_of(g.rows.begin(), g.rows.end(), [&](const TestRow& row) {
      return t_.inexact.contains(row.key) || run.difference(row, (*got)[row.buffer]).empty();
    });
  }

  TestRun& run_of(const TestGroup& g) {
    return runs_.try_emplace(&g, g, t_.profile.subgroup_size).first->second;
  }

  VulkanDevice& d_;
  TestedProfile t_;
  std::map<const TestGroup*, TestRun> runs_;  // expected results are computed once
  std::vector<ProfileFlag> blamed_;           // disabled flags, by finding
};

}  // namespace

Result<TestedProfile> self_test(VulkanDevice& device) {
  const auto begin = std::chrono::steady_clock::now();
  Result<TestedProfile> t = SelfTest(device).run();
  if (t)
    t->test_ns =
        uint64_t(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
  return t;
}

Result<TestedProfile> tested_profile(VulkanDevice& device, const std::string& directory) {
  const PhysicalDevice& physical = device.context().physical;
  // One at a time: others wait for the result instead of testing as well.
  static auto& mutex = *new std::mutex();
  static auto& known = *new std::map<std::array<uint8_t, VK_UUID_SIZE>, TestedProfile>();
  const std::lock_guard lock(mutex);
  if (const auto it = known.find(physical.device_uuid); it != known.end()) return it->second;
  std::optional<TestedProfile> found = find_profile(directory, physical);
  if (!found) {
    Result<TestedProfile> tested = self_test(device);
    if (!tested) return tested;
    found = std::move(*tested);
    keep_profile(directory, physical, *found);
  }
  return known[physical.device_uuid] = *found;
}

}  // namespace vyre::driver::vulkan
