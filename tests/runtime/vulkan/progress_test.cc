// The self-test of waiting and stopping: on lavapipe, and on devices that fail in it.

#include "runtime/vulkan/self_test_progress.h"
#include "tests/runtime/vulkan/failing_vulkan.h"

namespace vyre::driver {
namespace {

using vulkan::TestedProfile;
using vulkan::VulkanDevice;
using Words = std::vector<uint32_t>;

constexpr uint32_t op_nop = 0, op_constant = 43, op_copy_object = 83, op_atomic_load = 227,
                   op_atomic_store = 228;

/// Every instruction, with the place of its first word.
void walk(Words& words, const std::function<void(uint32_t opcode, size_t at)>& visit) {
  for (size_t at = 5; at < words.size();) {
    const size_t size = words[at] >> 16;
    visit(words[at] & 0xffff, at);
    at += size;
  }
}

void erase(Words& words, size_t at, size_t n) {
  std::fill_n(words.begin() + long(at), n, 1u << 16 | op_nop);
}

/// The id of a constant, or 0.
uint32_t constant(Words& words, uint32_t value) {
  uint32_t id = 0;
  walk(words, [&](uint32_t opcode, size_t at) {
    if (opcode == op_constant && words[at] >> 16 == 4 && words[at + 3] == value) id = words[at + 2];
  });
  return id;
}

/// The stop word is what is loaded as volatile: it is always 0.
void hide_stop_word(Words& words) {
  const uint32_t is_volatile = constant(words, 0x8000), zero = constant(words, 0);
  walk(words, [&](uint32_t opcode, size_t at) {
    if (opcode != op_atomic_load || words[at + 5] != is_volatile) return;
    words[at] = 4u << 16 | op_copy_object;
    words[at + 3] = zero;
    erase(words, at + 4, 2);
  });
}

/// Removes atomic stores, so that no invocation sees the stores of another one.
void drop_atomic_stores(Words& words) {
  walk(words, [&](uint32_t opcode, size_t at) {
    if (opcode == op_atomic_store) erase(words, at, 5);
  });
}

/// The number that the loop with a deadline multiplies by is another one.
void change_a_number(Words& words) {
  walk(words, [&](uint32_t opcode, size_t at) {
    if (opcode == op_constant && words[at + 3] == 1664525) words[at + 3] += 2;
  });
}

/// A device with a driver that changes code, and the profile that the real one has.
class Changed {
 public:
  explicit Changed(void (*change)(Words&)) {
    failing_.change_code = change;
    Result<std::unique_ptr<BackendDevice>> d = failing_.open(0);
    EXPECT_TRUE(d) << render(d.errors(), {});
    device_ = std::move(*d);
    tested.profile = device().profile;
  }
  VulkanDevice& device() { return static_cast<VulkanDevice&>(*device_); }
  TestedProfile tested;

 private:
  FailingVulkan failing_;
  std::unique_ptr<BackendDevice> device_;
};

void nothing(Words&) {}

bool has_finding(const TestedProfile& t, std::string_view begin) {
  return std::any_of(t.findings.begin(), t.findings.end(),
                     [&](const std::string& f) { return f.starts_with(begin); });
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST_F(VulkanTest, lavapipe_goes_on_by_workgroups_and_not_by_lanes) {
  Changed d(nothing);
  ASSERT_TRUE(test_progress(d.device(), d.tested));
  EXPECT_TRUE(d.tested.workgroups_go_on);
  EXPECT_FALSE(d.tested.lanes_go_on) << "its lanes are those of a vector";
  EXPECT_TRUE(d.tested.findings.empty()) << d.tested.findings[0];
}

TEST_F(VulkanTest, forward_progress_needs_loops_that_may_wait_for_long) {
  TestedProfile t;
  t.profile.long_loops = true;
  EXPECT_FALSE(t.forward_progress());
  t.lanes_go_on = true;
  EXPECT_FALSE(t.forward_progress());
  t.workgroups_go_on = true;
  EXPECT_TRUE(t.forward_progress());
  t.profile.long_loops = false;
  EXPECT_FALSE(t.forward_progress());
}

TEST_F(VulkanTest, workgroups_that_do_not_go_on_are_found_and_do_not_hold_the_test_up) {
  Changed d(drop_atomic_stores);
  d.tested.workgroups_go_on = true;
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(test_progress(d.device(), d.tested));
  EXPECT_LT(seconds_since(begin), 10);
  EXPECT_FALSE(d.tested.workgroups_go_on);
  EXPECT_TRUE(has_finding(d.tested, "forward progress: "));
}

TEST_F(VulkanTest, lavapipe_sees_the_stop_word) {
  Changed d(nothing);
  ASSERT_TRUE(test_stop_word(d.device(), d.tested));
  ASSERT_TRUE(d.tested.stop_ns);
  EXPECT_GT(*d.tested.stop_ns, 0u);
  EXPECT_TRUE(d.tested.findings.empty()) << d.tested.findings[0];
}

TEST_F(VulkanTest, a_device_that_never_sees_the_stop_word_is_found_and_does_not_hold_the_test_up) {
  Changed d(hide_stop_word);
  d.tested.stop_ns = 1;
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(test_stop_word(d.device(), d.tested));
  EXPECT_LT(seconds_since(begin), 20);
  EXPECT_FALSE(d.tested.stop_ns);
  EXPECT_TRUE(has_finding(d.tested, "stop word: "));
}

TEST_F(VulkanTest, a_device_that_is_wrong_after_a_stop_is_none_that_can_be_stopped) {
  Changed d(change_a_number);
  ASSERT_TRUE(test_stop_word(d.device(), d.tested));
  EXPECT_FALSE(d.tested.stop_ns);
  EXPECT_EQ(d.tested.findings.size(), 1u);
  EXPECT_TRUE(has_finding(d.tested, "stop word: after "));
}

TEST_F(VulkanTest, where_the_stop_word_is_not_seen_a_launch_ends_by_itself_and_is_late) {
  FailingVulkan failing;
  failing.change_code = hide_stop_word;
  Device d = failing.device();
  const Executable e = *d.compile(kernel(R"(
kernel long_one(rounds: u32, y: inout u32[]) workgroup(64) grid(64 * 4096) {
  var x = global_id.x
  for i in 0..rounds { x = x * 1664525 + (x >> 7) + i }
  if x != 77 { y[global_id.x] = rounds }
})"));
  const Buffer b = *d.allocate(400), c = *d.allocate(400);
  SubmitOptions limited;
  limited.time_limit = 0.02;
  const auto r = d.submit({Launch{e, {scalar(2000u), b}, {}, true}}, limited)->wait();
  ASSERT_EQ(code_of(r), Code::TimeLimitExceeded);
  EXPECT_EQ(r.errors()[0].place.line, 2u) << "no loop was left: " << render(r.errors(), {});
  U got(100);
  const auto after =
      d.submit({Launch{e, {scalar(1u), c}, {}, true}, Readback{c, out(got)}})->wait();
  ASSERT_TRUE(after) << render(after.errors(), {});
  EXPECT_EQ(got, U(100, 1));
}

}  // namespace
}  // namespace vyre::driver
