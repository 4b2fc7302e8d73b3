// The checker of scratch reuse finds mistakes in plans: each kind of mistake once, then randomly
// changed plans.

#include "plan/memory/check_reuse.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/plan/memory/reuse_util.h"

namespace vyre::plan {
namespace {

std::set<Code> codes(const ReuseInput& in, const ReusePlan& plan) {
  std::set<Code> found;
  const auto checked = check_reuse(in, plan);
  if (checked) return found;
  for (const Diagnostic& d : checked.errors()) {
    EXPECT_FALSE(d.fix.empty());
    found.insert(d.code);
  }
  return found;
}
using Codes = std::set<Code>;

/// Two pairs of arms, each with its own buffer; they share 64 bytes.
struct Pair : testing::Test {
  Reuse in = Reuse({64, 64}, 64).arm({fills(0)}).arm({reads(0)}).arm({fills(1)}).arm({reads(1)});
  ReusePlan plan = plan_reuse(in);
};

TEST_F(Pair, is_right) {
  ASSERT_EQ(plan.after, 64u);
  EXPECT_EQ(codes(in, plan), Codes{});
}

TEST_F(Pair, V0881_plan_for_another_graph) {
  ReusePlan other = plan;
  other.placement.pop_back();
  EXPECT_EQ(codes(in, other), Codes{Code::ReusePlanMalformed});
  other = plan;
  other.placement[0].slot = 1;
  EXPECT_EQ(codes(in, other), Codes{Code::ReusePlanMalformed});
  other = plan;
  other.clears = {cleared(4, 0)};
  EXPECT_EQ(codes(in, other), Codes{Code::ReusePlanMalformed});
  other.clears = {cleared(0, 2)};
  EXPECT_EQ(codes(in, other), Codes{Code::ReusePlanMalformed});
  other.clears = {cleared(2, 1), cleared(0, 0)};  // a walk in order of arms misses the second
  EXPECT_EQ(codes(in, other), Codes{Code::ReusePlanMalformed});
  other.placement[1] = {};
  other.before = 64;
  EXPECT_EQ(codes(in, other), Codes{Code::ReusePlanMalformed});
  other.clears = {cleared(3, 1)};  // not in a slot: what is there is needed
  EXPECT_EQ(codes(in, other), Codes{Code::ReusePlanMalformed});
  other.clears = {};
  EXPECT_EQ(codes(in, other), Codes{});
  other = plan;
  in.loops = {{0, 3}};
  other.clears = {cleared(2, 1)};  // would be cleared in every round
  EXPECT_EQ(codes(in, other), Codes{Code::ReusePlanMalformed});
}

TEST_F(Pair, V0882_offset_that_is_not_aligned) {
  plan.slot_bytes = {128};
  plan.after = 128;
  plan.placement[1].offset = 32;
  EXPECT_EQ(codes(in, plan), Codes{Code::ReuseMisaligned});
}

TEST_F(Pair, V0883_buffer_that_leaves_its_slot) {
  plan.placement[1].offset = 64;
  EXPECT_EQ(codes(in, plan), Codes{Code::ReuseOutOfSlot});
  plan.placement[1].offset = ~uint64_t{63};
  EXPECT_EQ(codes(in, plan), Codes{Code::ReuseOutOfSlot});
}

TEST_F(Pair, V0884_buffer_that_others_see) {
  in.buffers[0].host = true;
  EXPECT_EQ(codes(in, plan), Codes{Code::ReuseOfEscapingBuffer});
  in.buffers[0].host = false;
  in.buffers[1].indirect = true;
  EXPECT_EQ(codes(in, plan), Codes{Code::ReuseOfEscapingBuffer});
  in.buffers[1].indirect = false;
  in.arms[3].uses[0] = atomics(1);
  EXPECT_EQ(codes(in, plan), Codes{Code::ReuseOfEscapingBuffer});
}

TEST_F(Pair, V0885_contents_that_are_still_needed) {
  in.arm({reads(0)});
  EXPECT_EQ(codes(in, plan), Codes{Code::ReuseClobbersContents});
}

TEST_F(Pair, V0885_contents_that_the_next_round_needs) {
  in.arms[0].uses = {writes_some(0)};
  plan.clears = {cleared(0, 0)};
  EXPECT_EQ(codes(in, plan), Codes{});
  in.loops = {{0, 3}};
  EXPECT_EQ(codes(in, plan), Codes{Code::ReuseClobbersContents});
}

TEST_F(Pair, V0885_contents_behind_a_loop_that_did_not_run) {
  in.arm({fills(0)}).arm({reads(0)});
  EXPECT_EQ(codes(in, plan), Codes{});
  in.loops = {{4, 4, true}};
  EXPECT_EQ(codes(in, plan), Codes{});
  in.loops = {{4, 4, false}};
  EXPECT_EQ(codes(in, plan), Codes{Code::ReuseClobbersContents});
}

TEST_F(Pair, V0886_one_arm_uses_both) {
  in.arms[1].uses.push_back(fills(1));
  EXPECT_TRUE(codes(in, plan).contains(Code::ReuseAtTheSameTime));
}

TEST_F(Pair, V0886_arms_that_run_at_the_same_time) {
  in.concurrent = {{1, 2}};
  EXPECT_EQ(codes(in, plan), Codes{Code::ReuseAtTheSameTime});
  in.concurrent = {{3, 0}};
  EXPECT_EQ(codes(in, plan), Codes{Code::ReuseAtTheSameTime});
}

TEST_F(Pair, V0887_zeros_that_nobody_makes) {
  in.arms[2].uses = {writes_some(1)};
  EXPECT_EQ(codes(in, plan), Codes{Code::ReuseMissingClear});
  plan.clears = {cleared(2, 1)};
  EXPECT_EQ(codes(in, plan), Codes{});
  plan.clears = {cleared(3, 1)};  // too late
  EXPECT_EQ(codes(in, plan), Codes{Code::ReuseMissingClear});
  plan.clears = {cleared(1, 1)};  // too early: another is in use there
  EXPECT_EQ(codes(in, plan), (Codes{Code::ReuseAtTheSameTime, Code::ReuseClobbersContents}));
  in.arms[1].uses = {};
  in.arms[0].uses = {fills(0)};
  EXPECT_EQ(codes(in, plan), Codes{});
}

TEST_F(Pair, V0887_first_use_in_memory_that_is_not_shared_needs_zeros_too) {
  Reuse one = Reuse({64}, 64).arm({reads(0)});
  ReusePlan p = plan_reuse(one);
  EXPECT_EQ(codes(one, p), Codes{});
  p.clears.clear();
  EXPECT_EQ(codes(one, p), Codes{Code::ReuseMissingClear});
  p.placement[0] = {};
  p.before = p.after = p.live_sum = 0;
  p.slot_bytes.clear();
  EXPECT_EQ(codes(one, p), Codes{});  // memory outside the slots starts as zeros
}

TEST_F(Pair, V0887_clear_beside_a_user) {
  Reuse two = Reuse({64}, 64).arm({}).arm({writes_some(0)}).arm({writes_some(0)});
  ReusePlan p = plan_reuse(two);
  two.concurrent = {{1, 2}};
  EXPECT_EQ(p.clears[0].first, 1u);
  EXPECT_EQ(codes(two, p), Codes{Code::ReuseMissingClear});
  p.clears[0].first = 0;
  EXPECT_EQ(codes(two, p), Codes{});
}

TEST_F(Pair, V0888_sums_that_are_wrong) {
  for (uint64_t ReusePlan::* sum : {&ReusePlan::before, &ReusePlan::after, &ReusePlan::live_sum}) {
    ReusePlan other = plan;
    ++(other.*sum);
    EXPECT_EQ(codes(in, other), Codes{Code::ReuseWrongSums});
  }
}

TEST(CheckReuse, same_loop_end_and_begin_in_any_order) {
  // Inner and outer loop begin and end together; what the outer round needs survives a skipped
  // inner loop.
  Reuse in({8, 8});
  in.arm({writes_some(0)}).arm({fills(1)}).arm({reads(1)});
  ReusePlan plan;
  plan.placement = {{0, 0}, {0, 0}};
  plan.slot_bytes = {8};
  plan.before = 16;
  plan.after = 8;
  plan.clears = {cleared(0, 0)};
  in.alignment = 1;
  for (const auto& loops : {std::vector<ReuseInput::Loop>{{0, 2}, {1, 2}},
                            std::vector<ReuseInput::Loop>{{1, 2}, {0, 2}}}) {
    in.loops = loops;
    EXPECT_EQ(codes(in, plan), Codes{Code::ReuseClobbersContents});
    EXPECT_EQ(codes(in, plan_reuse(in)), Codes{});
  }
}

/// Runs the arms once, byte by byte, through the loops as a coin says. True: some arm sees other
/// bytes than in a run where every buffer has its own memory. A second opinion on the checker.
bool goes_wrong(const ReuseInput& in, const ReusePlan& plan, uint64_t seed) {
  std::mt19937_64 random(seed);
  struct Byte {
    GraphBufferId owner = none;
    uint64_t value = 0;
    bool operator==(const Byte&) const = default;
  };
  std::vector<std::vector<Byte>> slots;
  IdMap<GraphBufferId, std::vector<Byte>> own;
  for (const uint64_t bytes : plan.slot_bytes) slots.emplace_back(bytes);
  for (const ReuseBuffer& b : in.buffers) own.emplace_back(b.bytes, Byte{});
  uint64_t stamp = 0;
  bool wrong = false;
  const auto each = [&](GraphBufferId b, auto&& fn) {
    if (plan.placement[b].slot == Placement::own) return;
    auto& slot = slots[plan.placement[b].slot];
    for (uint64_t k = 0; k < in.buffers[b].bytes; ++k)
      fn(slot[plan.placement[b].offset + k], own[b][k]);
  };
  const auto clear = [&](GraphBufferId b) { each(b, [&](Byte& x, Byte&) { x = Byte{b, 0}; }); };
  const auto run = [&](uint32_t i) {
    for (const ArmUse& use : in.arms[i].uses) {
      if (use.overwrites) {
        ++stamp;
        each(use.buffer, [&](Byte& x, Byte& y) { x = y = {use.buffer, stamp}; });
      } else if (use.reads || use.writes || use.atomics) {
        // A zero is correct if the slot's owner is the buffer, whichever arm wrote it.
        each(use.buffer, [&](Byte& x, Byte& y) {
          wrong |= y.value == 0 ? (x.value != 0 || x.owner != use.buffer) : !(x == y);
        });
      }
    }
    for (const ArmUse& use : in.arms[i].uses)
      if (!use.overwrites && (use.writes || use.atomics)) {
        ++stamp;
        bool odd = false;
        each(use.buffer, [&](Byte& x, Byte& y) {
          if ((odd = !odd)) x = y = {use.buffer, stamp};
        });
      }
  };
  std::vector<ReuseInput::Loop> loops = in.loops;
  std::sort(loops.begin(), loops.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.last > b.last;
  });
  size_t next = 0;
  const auto clear_up_to = [&](uint32_t i) {
    for (; next < plan.clears.size() && plan.clears[next].first <= i; ++next)
      clear(plan.clears[next].second);
  };
  // Arms [first, last], with the loops from `l` on that lie inside.
  const auto walk = [&](const auto& self, uint32_t first, uint32_t last, size_t l) -> void {
    for (uint32_t i = first; i <= last;) {
      clear_up_to(i);
      while (l < loops.size() && loops[l].first < i) ++l;
      if (l < loops.size() && loops[l].first == i && loops[l].last <= last) {
        const ReuseInput::Loop loop = loops[l];
        for (uint64_t k = (loop.runs ? 1 : 0) + random() % 3; k > 0; --k)
          self(self, loop.first, loop.last, l + 1);
        i = loop.last + 1;
      } else {
        run(i++);
      }
    }
  };
  if (!in.arms.empty()) walk(walk, 0, uint32_t(in.arms.size() - 1), 0);
  return wrong;
}

ReuseInput small(uint64_t seed) {
  ReuseInput in = generate_reuse(seed, 14, {.loops = true, .concurrent = false, .refilled = true});
  in.alignment = uint64_t{1} << (seed % 3);
  for (ReuseBuffer& b : in.buffers) b.bytes = b.bytes % 40;
  return in;
}

TEST(CheckReuse, plans_run_right_byte_by_byte) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const ReuseInput in = small(seed);
    const ReusePlan plan = plan_reuse(in);
    for (uint64_t run = 0; run < 4; ++run) ASSERT_FALSE(goes_wrong(in, plan, run)) << seed;
  }
}

/// Breaks a plan in one place.
void mutate(const ReuseInput& in, ReusePlan& plan, std::mt19937_64& random) {
  const auto pick = [&](auto& list) -> auto& {
    return *(list.begin() + long(random() % list.size()));
  };
  switch (random() % 9) {
    case 0:
      if (!plan.clears.empty())
        plan.clears.erase(plan.clears.begin() + long(random() % plan.clears.size()));
      break;
    case 1:
      if (!plan.clears.empty()) pick(plan.clears).first = uint32_t(random() % (in.arms.size() + 1));
      break;
    case 2: pick(plan.placement).slot = random() % 2 ? 0 : 1; break;
    case 3: pick(plan.placement).offset += 1; break;
    case 4: pick(plan.slot_bytes) += random() % 2 ? 16 : uint64_t(-1); break;
    case 5: (random() % 2 ? plan.before : plan.after) += 1; break;
    case 6: pick(plan.placement) = {0, 0}; break;
    default: pick(plan.placement).offset = pick(plan.placement).offset; break;
  }
}

// Whatever goes wrong in a run, the checker has found. And it does not cry for nothing: where it
// says that contents are lost, some run loses them.
TEST(CheckReuse, finds_every_broken_plan_that_goes_wrong) {
  std::map<Code, int> found;
  int broken = 0, wrong = 0, lost = 0, lost_in_a_run = 0;
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    ReuseInput in = small(seed % 1500);
    if (seed % 4 == 0 && in.arms.size() > 2)
      in.concurrent = {{0, uint32_t(1 + random() % (in.arms.size() - 1))}};
    ReusePlan plan = plan_reuse(in);
    if (plan.slot_bytes.empty()) continue;
    if (seed % 5 == 0)
      in.arms.push_back({999, "", {reads(uint32_t(random() % in.buffers.size()))}});
    mutate(in, plan, random);
    const std::set<Code> c = codes(in, plan);
    for (const Code code : c) ++found[code];
    broken += !c.empty();
    if (c.contains(Code::ReusePlanMalformed) || c.contains(Code::ReuseOutOfSlot)) continue;
    std::sort(plan.clears.begin(), plan.clears.end());
    bool runs_wrong = false;
    for (uint64_t run = 0; run < 20; ++run) runs_wrong |= goes_wrong(in, plan, run);
    wrong += runs_wrong;
    ASSERT_TRUE(!runs_wrong || !c.empty()) << "not found";
    if (c == Codes{Code::ReuseClobbersContents}) {
      ++lost;
      lost_in_a_run += runs_wrong;
    }
  }
  EXPECT_GT(broken, 2000);
  EXPECT_GT(wrong, 300);
  EXPECT_GT(lost, 100);
  EXPECT_GE(lost_in_a_run * 10, lost * 9);
  for (int code = 881; code <= 888; ++code) EXPECT_GT(found[Code(code)], 10) << code;
}

}  // namespace
}  // namespace vyre::plan
