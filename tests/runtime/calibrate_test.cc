// labels: threads
// The device that `auto` chooses, and the reason that it reports.

#include "runtime/compile/calibrate.h"

#include <fstream>
#include <thread>

#include "plan/split/split_grid.h"
#include "support/file.h"
#include "tests/runtime/cache/cache_util.h"
#include "tests/runtime/driver_util.h"

namespace vyre::driver {
namespace {

/// The interpreter under another name: slower or faster than it, failing, or wrong.
class Other : public Backend {
 public:
  enum class Kind { Slow, Fast, Failing, Wrong, Throwing, SlowBarriers, Absent } kind;
  std::string own_name;
  std::atomic<int> opened{0};
  DeviceInfo info = choose("interp")->backend->probe(nullptr)[0];

  explicit Other(Kind k, std::string name) : kind(k), own_name(std::move(name)) {
    info.backend = info.name = own_name;
    info.limits.native_grid_barrier = kind == Kind::SlowBarriers;
  }
  std::string_view name() const override { return own_name; }
  std::string_view summary() const override { return "a test"; }
  std::vector<DeviceInfo> probe(std::string* why_none) override {
    if (kind != Kind::Absent) return {info};
    *why_none = "nobody bought one";
    return {};
  }
  Result<std::unique_ptr<BackendDevice>> open(uint32_t) override {
    ++opened;
    if (kind == Kind::Failing) return diagnose(Code::DeviceFailed, {}, "the fan is stuck");
    if (kind == Kind::Throwing) throw std::runtime_error("no such luck");
    return std::unique_ptr<BackendDevice>(std::make_unique<OtherDevice>(*this));
  }

 private:
  /// Slow: each submission takes 40 ms more. Fast: launches give what the calibration wants without
  /// running anything, as a fast device would. Wrong: they give nothing.
  struct OtherDevice : BackendDevice {
    Other& owner;
    std::unique_ptr<BackendDevice> inner = std::move(*choose("interp")->backend->open(0));
    explicit OtherDevice(Other& o) : owner(o) {}
    const DeviceInfo& info() const override { return owner.info; }
    Result<MemoryHandle> allocate(uint64_t n) override { return inner->allocate(n); }
    void release(MemoryHandle m) override { inner->release(m); }
    Result<std::shared_ptr<CompiledKernel>> compile(std::shared_ptr<const Program> p,
                                                    const CompileOptions& o) override {
      return inner->compile(p, o);
    }
    Result<SubmissionHandle> submit(
        uint32_t s, std::vector<DeviceCommand> c, std::span<const SubmissionHandle> a,
        std::optional<std::chrono::steady_clock::time_point> d) override {
      if (owner.kind == Kind::Slow) std::this_thread::sleep_for(std::chrono::milliseconds(40));
      if (owner.kind == Kind::Wrong)
        std::erase_if(c, [](const auto& one) { return one.kind() == DeviceCommand::Kind::Launch; });
      if (owner.kind == Kind::SlowBarriers)
        for (const DeviceCommand& one : c)
          if (const auto* l = one.as<DeviceLaunch>(); l && plan::has_grid_barrier(*l->program))
            std::this_thread::sleep_for(std::chrono::milliseconds(60));
      if (owner.kind == Kind::Fast || owner.kind == Kind::SlowBarriers)
        for (DeviceCommand& one : c)
          if (const auto* l = one.as<DeviceLaunch>();
              l && l->program->name != "nothing" && l->program->name != "barriers")
            one = answer(*l);
      return inner->submit(s, std::move(c), a, d);
    }
    static std::vector<std::byte> saxpy() {
      std::vector<float> y(1 << 16);
      for (size_t i = 0; i < y.size(); ++i) y[i] = 2.0f * float(i) + 1.0f;
      return driver::bytes(y);
    }
    static std::vector<std::byte> arithmetic() {
      U y(1 << 14);
      for (uint32_t i = 0; i < y.size(); ++i) {
        uint32_t v = i + 1;
        for (int k = 0; k < 128; ++k) v ^= v << 13, v ^= v >> 17, v ^= v << 5;
        y[i] = v;
      }
      return driver::bytes(y);
    }
    static DeviceCommand answer(const DeviceLaunch& c) {
      static const auto first = std::make_shared<std::vector<std::byte>>(saxpy());
      static const auto second = std::make_shared<std::vector<std::byte>>(arithmetic());
      const auto& bytes = c.program->name == "saxpy" ? first : second;
      return {DeviceUpload{{c.buffers.back(), 0, bytes->size()}, bytes}};
    }
    bool is_done(SubmissionHandle h) override { return inner->is_done(h); }
    SubmissionOutcome wait(SubmissionHandle h) override { return inner->wait(h); }
  };
};

/// Where the fastest must win: a slow one instead of the interpreter, which is fast enough to be
/// the fastest on a machine that has more to do.
struct SlowRival {
  Other tardy{Other::Kind::Slow, "tardy"};
  const RegisterForTest with_tardy{&tardy};
  const NotAutomaticForTest without_interp{"interp"};
};

class Calibrate : public CacheTest {
 protected:
  std::string file() const { return entries() + "/auto.json"; }

 private:
  // The tests bring backends of their own, whose speed they know.
  const NotAutomaticForTest without_cpu_{"cpu"}, without_cuda_{"cuda"}, without_vulkan_{"vulkan"};
};

TEST_F(Calibrate, alone_there_is_nothing_to_measure) {
  Other absent(Other::Kind::Absent, "dream");
  const RegisterForTest a(&absent);
  const Choice c = choose_automatically(options());
  EXPECT_EQ(c.backend->name(), "interp");
  EXPECT_EQ(c.why, "interp is the only one that is here; dream is not here (nobody bought one)");
  EXPECT_EQ(files(), 0u);
}

TEST_F(Calibrate, the_fastest_wins_and_the_sentence_has_the_numbers) {
  const SlowRival rival;
  Other fast(Other::Kind::Fast, "swift"), slow(Other::Kind::Slow, "sloth");
  const RegisterForTest a(&slow), b(&fast);
  const Choice c = choose_automatically(options());
  EXPECT_EQ(c.backend, &fast) << c.why;
  EXPECT_EQ(c.why.find("swift: "), 0u) << c.why;
  EXPECT_NE(c.why.find(" ms against "), std::string::npos) << c.why;
  EXPECT_NE(c.why.find(" by sloth"), std::string::npos) << c.why;
  EXPECT_NE(c.why.find(" by tardy for the calibration kernels"), std::string::npos) << c.why;
}

TEST_F(Calibrate, the_interpreter_loses_to_any_device_that_works) {
  Other slow(Other::Kind::Slow, "sloth");
  const RegisterForTest a(&slow);
  const Choice c = choose_automatically(options());
  EXPECT_EQ(c.backend, &slow) << c.why;
  EXPECT_NE(c.why.find(" by interp for the calibration kernels"), std::string::npos) << c.why;
  ASSERT_EQ(c.others.size(), 1u);
  EXPECT_EQ(c.others[0].backend->name(), "interp");
}

TEST_F(Calibrate, grid_barriers_that_are_faster_split_run_split) {
  Other slow(Other::Kind::SlowBarriers, "waiter");
  const Calibration times = calibrate({&slow, slow.info});
  EXPECT_EQ(times.failure, "");
  EXPECT_GE(times.native_barrier_ns, 60'000'000u);
  EXPECT_GT(times.split_barrier_ns, 0u);
  EXPECT_TRUE(times.prefers_split());
  const SlowRival rival;
  const RegisterForTest a(&slow);
  const Choice c = choose_automatically(options());
  ASSERT_EQ(c.backend, &slow) << c.why;
  EXPECT_TRUE(c.split_grid_barriers);
  EXPECT_NE(c.why.find("; grid barriers run split: "), std::string::npos) << c.why;
  const Result<Device> d = Device::open(c);
  ASSERT_TRUE(d);
  const Program p = kernel(
      "kernel k(x: inout u32[]) workgroup(8) grid(len(x)) {\n x[global_id.x] = 1\n barrier grid\n "
      "x[global_id.x] += x[0] }");
  EXPECT_EQ(Device(*d).compile(p)->segments(), 2u);
  EXPECT_EQ(Device::open(slow, 0)->compile(p)->segments(), 1u) << "without a choice it is native";
  EXPECT_FALSE(choose_automatically(options()).others.empty());
}

TEST_F(Calibrate, a_named_device_uses_the_stored_choice_of_grid_barriers) {
  Other slow(Other::Kind::SlowBarriers, "dawdler");
  const RegisterForTest a(&slow);
  ::setenv("VYRE_CACHE_DIR", directory().c_str(), 1);
  const SlowRival rival;
  ASSERT_TRUE(choose_automatically(options()).split_grid_barriers);  // stores the calibration
  const Program p = kernel(
      "kernel k(x: inout u32[]) workgroup(8) grid(len(x)) {\n x[global_id.x] = 1\n barrier grid\n "
      "x[global_id.x] += x[0] }");
  const int opened = slow.opened;
  EXPECT_EQ(Device::open("dawdler")->compile(p)->segments(), 2u);
  EXPECT_EQ(slow.opened, opened + 1) << "nothing is measured again";
  OpenOptions native;
  native.native_grid_barriers = true;
  EXPECT_EQ(Device::open("dawdler", native)->compile(p)->segments(), 1u);
  ::unsetenv("VYRE_CACHE_DIR");
}

TEST_F(Calibrate, a_named_device_measures_grid_barriers_once_and_stores_the_times) {
  Other slow(Other::Kind::SlowBarriers, "laggard");
  const RegisterForTest a(&slow);
  ::setenv("VYRE_CACHE_DIR", directory().c_str(), 1);
  EXPECT_EQ(Device::open("laggard")
                ->compile(kernel(
                    "kernel k(x: inout u32[]) workgroup(8) grid(len(x)) { x[global_id.x] = 1 }"))
                ->segments(),
            1u);
  EXPECT_FALSE(std::filesystem::exists(entries() + "/barriers.json"));
  const Program p = kernel(
      "kernel k(x: inout u32[]) workgroup(8) grid(len(x)) {\n x[global_id.x] = 1\n barrier grid\n "
      "x[global_id.x] += x[0] }");
  EXPECT_EQ(Device::open("laggard")->compile(p)->segments(), 2u);
  EXPECT_TRUE(std::filesystem::exists(entries() + "/barriers.json"));
  const int opened = slow.opened;
  EXPECT_EQ(Device::open("laggard")->compile(p)->segments(), 2u);
  EXPECT_EQ(slow.opened, opened + 1);
  ::unsetenv("VYRE_CACHE_DIR");
}

TEST_F(Calibrate, what_cannot_be_opened_any_more_is_left_for_the_next) {
  const SlowRival rival;
  Other gone(Other::Kind::Fast, "gone");
  const RegisterForTest a(&gone);
  const Choice c = choose_automatically(options());
  ASSERT_EQ(c.backend, &gone) << c.why;
  gone.kind = Other::Kind::Failing;
  const Result<Device> d = Device::open(c);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->info().backend, "tardy");
  EXPECT_EQ(d->chosen_because().find("gone:0 cannot be opened (the fan is stuck); before: "), 0u)
      << d->chosen_because();
}

TEST_F(Calibrate, is_kept_and_made_anew_when_something_changes_or_is_damaged) {
  Other slow(Other::Kind::Slow, "sloth");
  const RegisterForTest a(&slow);
  const Choice first = choose_automatically(options());
  EXPECT_EQ(first.backend, &slow) << first.why;
  EXPECT_EQ(slow.opened, 1);
  const std::string kept = read_file(file()).bytes;
  EXPECT_NE(kept.find("\"sloth\""), std::string::npos);
  EXPECT_EQ(choose_automatically(options()).why, first.why) << "the same numbers, read back";
  EXPECT_EQ(slow.opened, 1);
  // The file decides, not the process's memory: another process made it.
  std::string other = kept;
  for (size_t at = 0; (at = other.find("\"failure\": \"\"", at)) != std::string::npos; ++at)
    other.replace(at, 13, "\"failure\": \"?\"");
  std::ofstream(file(), std::ios::trunc) << other;
  EXPECT_NE(choose_automatically(options()).why.find("failed (?)"), std::string::npos);

  std::string fraction = kept;
  fraction.replace(fraction.find("\"saxpy_ns\": "), 12, "\"saxpy_ns\": 0.5");  // before digits
  for (const std::string& damage :
       {fraction, std::string("{"), std::string(), kept.substr(0, kept.size() / 2),
        std::string("[]"), std::string("{\"key\": 1, \"results\": 2}")}) {
    std::ofstream(file(), std::ios::trunc) << damage;
    EXPECT_EQ(choose_automatically(options()).backend, &slow);
    EXPECT_EQ(read_file(file()).bytes, kept) << "written again";
  }
  slow.info.driver_version = "2";
  choose_automatically(options());
  EXPECT_EQ(slow.opened, 2) << "another driver is another device";
}

TEST_F(Calibrate, without_a_folder_it_is_measured_once_in_a_process) {
  Other slow(Other::Kind::Slow, "snail");
  const RegisterForTest a(&slow);
  CacheOptions nowhere = options();
  nowhere.directory = "/proc/nothing/here";
  const Choice first = choose_automatically(nowhere);
  EXPECT_EQ(choose_automatically(nowhere).why, first.why);
  nowhere.enabled = false;
  choose_automatically(nowhere);
  choose_automatically(nowhere);
  EXPECT_EQ(slow.opened, 2);
}

TEST_F(Calibrate, what_fails_or_is_wrong_is_not_chosen) {
  Other failing(Other::Kind::Failing, "stuck"), wrong(Other::Kind::Wrong, "liar"),
      throwing(Other::Kind::Throwing, "thrower");
  const RegisterForTest a(&failing), b(&wrong), c(&throwing);
  const Choice choice = choose_automatically(options());
  EXPECT_EQ(choice.backend->name(), "interp");
  for (const char* part :
       {"interp is the only one that works", "stuck failed (the fan is stuck)",
        "liar failed (its results differ from the specification)", "thrower failed (no such luck)"})
    EXPECT_NE(choice.why.find(part), std::string::npos) << part << "\n" << choice.why;
}

}  // namespace
}  // namespace vyre::driver
