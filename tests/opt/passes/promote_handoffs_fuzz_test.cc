// promote_handoffs on random handoffs: tiles of any stride, offset, index type and length of the
// buffer, in the forms that the pass recognizes. Promoted handoffs must give the interpreter's
// bytes, in both orders of invocations, with an assert at every access that is marked in_bounds.
// VYRE_HANDOFF_PROGRAMS=20000 searches longer.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "differential/opt_subjects.h"
#include "generate/random.h"
#include "opt/passes/promote_handoffs.h"
#include "opt/pipeline.h"
#include "tests/opt/pass_util.h"
#include "tests/opt/same_results_util.h"

namespace vyre::opt {
namespace {

using lab::Random;

constexpr uint32_t lanes = 8;

/// A kernel of two phases over a tile of `per_lane · lanes` elements per workgroup.
class HandoffWriter {
 public:
  explicit HandoffWriter(uint64_t seed) : random_(seed) {}

  std::string run() {
    per_lane_ = 1 + uint32_t(random_.below(4));
    tile_ = per_lane_ * lanes;
    offset_ = random_.below(3) == 0 ? uint32_t(random_.below(9)) : 0;
    type_ = random_.pick({"u32", "u32", "i32", "u64", "i64"});
    const uint64_t length = random_.pick({uint64_t{1}, uint64_t{tile_}, uint64_t{tile_ * 2},
                                          uint64_t{tile_ * 3 + 1}, uint64_t{200}, uint64_t{4096}});
    std::string text = fmt::format(
        "kernel k(x: in u32[], t: scratch u32[{}], y: out u32[len(x)]) workgroup({}) grid(len(x)) "
        "{{\n"
        "let i = global_id.x\nlet l = local_id.x\nlet w = workgroup_id.x\n",
        length, lanes);
    text += store("x[i]");
    if (random_.below(4)) text += "barrier workgroup\n";
    text += "var s: u32 = 0\n" + load("s") + load("s");
    if (random_.below(3) == 0)
      text += "barrier workgroup\n" + store("s + x[i]") + "barrier workgroup\n" + load("s");
    return text + "y[i] = s\n}\n";
  }

 private:
  /// Stores every element of the tile.
  std::string store(const std::string& value) {
    if (per_lane_ == 1) return fmt::format("t[{}] = {} + 5\n", index("l", ""), value);
    const bool is_strided = random_.below(2);
    const std::string lane = is_strided ? "l" : fmt::format("l * {}", per_lane_);
    const std::string step = is_strided ? fmt::format("j * {}", lanes) : "j";
    return fmt::format("for j in 0..{} {{ t[{}] = {} + j }}\n", per_lane_, index(lane, step),
                       value);
  }

  std::string load(const std::string& sum) {
    const std::string last = std::to_string(tile_ - 1);
    switch (random_.below(3)) {
      case 0: return fmt::format("{0} = {0} * 31 + t[{1}]\n", sum, index(last + " - l", ""));
      case 1:
        return fmt::format("for j in 0..{2} {{ {0} = {0} * 31 + t[{1}] }}\n", sum, index("", "j"),
                           tile_);
      default:
        return fmt::format("{0} = {0} * 31 + t[{1}]\n", sum,
                           index("(l * 5 + x[i]) % " + std::to_string(tile_), ""));
    }
  }

  /// tile · w + lane + step + offset, its terms in any order and nesting, in the index type.
  std::string index(const std::string& lane, const std::string& step) {
    std::vector<std::string> terms;
    std::string base =
        random_.below(2) ? fmt::format("w * {}", tile_) : fmt::format("(i - l) * {}", per_lane_);
    if (lane == "l" && per_lane_ == 1 && random_.below(2))
      terms = {"i"};
    else if (!lane.empty())
      terms = {base, lane};
    else
      terms = {base};
    if (!step.empty()) terms.push_back(step);
    if (offset_) terms.push_back(std::to_string(offset_));
    while (terms.size() > 1) {
      const size_t at = random_.below(terms.size() - 1);
      const bool is_swapped = random_.below(2);
      const std::string sum =
          fmt::format("({} + {})", terms[at + is_swapped], terms[at + !is_swapped]);
      terms[at] = sum;
      terms.erase(terms.begin() + long(at) + 1);
    }
    return type_ == "u32" ? terms[0] : fmt::format("{}({})", type_, terms[0]);
  }

  Random random_;
  uint32_t per_lane_ = 1, tile_ = 8, offset_ = 0;
  std::string type_;
};

TEST(PromoteHandoffsFuzz, promoted_kernels_give_the_same_bytes) {
  const char* wanted = std::getenv("VYRE_HANDOFF_PROGRAMS");
  const uint64_t programs = wanted ? std::strtoull(wanted, nullptr, 10) : 400;
  uint64_t promoted = 0;
  for (uint64_t seed = 1; seed <= programs; ++seed) {
    const std::string text = HandoffWriter(seed).run();
    const Program before = program_of(text);
    PassResult alone = run_once(promote_handoffs, before);
    promoted += alone.changed;
    Program all = before;
    OptimizeOptions options;
    options.passes = std::vector<const PassDescriptor*>(all_passes().begin(), all_passes().end());
    ASSERT_TRUE(optimize(all, options)) << text;
    lab::assert_marks(alone.program);
    lab::assert_marks(all);
    for (const uint64_t n : {0, 1, 7, 8, 9, 100}) {
      const LaunchInputs in = some_inputs(before, n, 3);
      for (const auto schedule : {interp::Schedule::Order, interp::Schedule::Reverse}) {
        interp::Options how;
        how.schedule = schedule;
        const auto expected = interp::run(before, in, how),
                   one = interp::run(alone.program, in, how), full = interp::run(all, in, how);
        ASSERT_TRUE(expected && one && full) << text;
        ASSERT_EQ(expected->buffers, one->buffers) << seed << "\n" << text << print(alone.program);
        ASSERT_EQ(expected->buffers, full->buffers) << seed << "\n" << text << print(all);
      }
    }
  }
  std::printf("%llu of %llu promoted\n", static_cast<unsigned long long>(promoted),
              static_cast<unsigned long long>(programs));
  EXPECT_GT(promoted * 2, programs);
}

}  // namespace
}  // namespace vyre::opt
