// Failures: missing drivers, lost devices, devices that refuse a call, and failed allocations. Each
// is a coded error, and the process continues.

#include "runtime/cache/cache.h"
#include "tests/runtime/vulkan/failing_vulkan.h"

namespace vyre::driver {
namespace {

const char* add_one =
    "kernel add_one(y: inout u32[]) workgroup(64) grid(len(y)) { y[global_id.x] += 1 }";

std::string example(const char* name) { return std::string(VYRE_SOURCE_DIR "/examples/") + name; }

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// ---- Nothing to open.

struct Absence {
  const char* environment;
  const char* reason;
};

TEST_F(VulkanTest, without_a_loader_or_a_driver_it_is_v0702_that_says_why) {
  const Absence absences[] = {
      {"VYRE_VULKAN_LIBRARY=/no/such/libvulkan.so.1", "the Vulkan loader cannot be opened"},
      {"VYRE_VULKAN_LIBRARY=libm.so.6", "libm.so.6 is no Vulkan loader"},
      {"VK_ICD_FILENAMES=/no/such/driver.json", "the Vulkan loader found no driver"}};
  for (const Absence& a : absences) {
    const Ran devices = run_vyre({a.environment}, "devices");
    EXPECT_EQ(devices.status, 0);
    EXPECT_TRUE(contains(devices.output, "not here, because ")) << devices.output;
    EXPECT_TRUE(contains(devices.output, a.reason)) << devices.output;
    const Ran run =
        run_vyre({a.environment},
                 "run --backend vulkan --set a=2 --in x=1,2 --in y=3,4 " + example("saxpy.vyre"));
    EXPECT_NE(run.status, 0);
    EXPECT_TRUE(contains(run.output, "V0702")) << run.output;
    EXPECT_TRUE(contains(run.output, a.reason)) << run.output;
  }
}

TEST_F(VulkanTest, devices_by_number_and_by_a_part_of_the_name) {
  EXPECT_TRUE(Device::open("vulkan:0"));
  EXPECT_TRUE(Device::open("vulkan:LLVMpipe"));
  EXPECT_EQ(code_of(Device::open("vulkan:7")), Code::DeviceIndex);
  const auto none = Device::open("vulkan:no such card");
  EXPECT_EQ(code_of(none), Code::UnknownDevice);
  EXPECT_TRUE(contains(render(none.errors(), {}), "llvmpipe"))
      << "the list of those that are there";
}

// ---- auto.

TEST_F(VulkanTest, auto_goes_on_to_the_next_backend_and_says_so) {
  struct Refuses : FailingVulkan {
    Result<std::unique_ptr<BackendDevice>> open(uint32_t) override {
      return diagnose(Code::DeviceLost, {}, "it fell off the bus");
    }
  } refuses;
  Choice second;
  second.backend = choose("interp")->backend;
  Choice first;
  first.backend = &refuses;
  first.why = "it was the fastest";
  first.others = {second};
  const Result<Device> d = Device::open(first, {});
  ASSERT_TRUE(d) << render(d.errors(), {});
  EXPECT_EQ(d->info().backend, "interp");
  EXPECT_TRUE(contains(d->chosen_because(), "it fell off the bus")) << d->chosen_because();
}

TEST_F(VulkanTest, auto_does_not_take_a_cpu_that_plays_a_gpu_and_says_so) {
  const Choice c = choose_automatically({});
  EXPECT_NE(c.backend->name(), "vulkan");
  EXPECT_TRUE(contains(c.why, "vulkan is passed over (it is the CPU")) << c.why;
}

// ---- A device that is lost.

class Lost : public VulkanTest {
 protected:
  void SetUp() override {
    VulkanTest::SetUp();
    if (IsSkipped()) return;
    device_ = failing_.device();
    add_ = *device_->compile(kernel(add_one));
    b_ = *device_->allocate(400);
    ASSERT_TRUE(device_->submit({Launch{add_, {b_}, {}, true}})->wait());
  }
  void TearDown() override {
    device_.reset();
    add_ = {};
    vulkan::take_validation_messages();  // the layers do not know that it is lost
  }
  /// Everything says that it is lost, nothing hangs, and another device works.
  void expect_lost() {
    const auto more = device_->submit({Fill{b_, 0}});
    EXPECT_EQ(code_of(more), Code::DeviceLost);
    EXPECT_EQ(code_of(device_->allocate(4)), Code::DeviceLost);
    EXPECT_EQ(
        code_of(device_->compile(kernel("kernel other(y: inout u32[]) workgroup(64) grid(len(y)) { "
                                        "y[global_id.x] += 2 }"))),
        Code::DeviceLost);
    failing_.heal();
    Device again = open();
    const Executable add = *again.compile(kernel(add_one));
    const Buffer b = *again.allocate(400);
    U got(100);
    ASSERT_TRUE(again.submit({Launch{add, {b}, {}, true}, Readback{b, out(got)}})->wait());
    EXPECT_EQ(got, U(100, 1));
  }
  FailingVulkan failing_;
  std::optional<Device> device_;
  Executable add_;
  Buffer b_;
};

TEST_F(Lost, while_something_runs) {
  failing_.fail(Function::WaitSemaphores, VK_ERROR_DEVICE_LOST);
  U got(100, 7);
  const auto r = device_->submit({Launch{add_, {b_}, {}, true}, Readback{b_, out(got)}})->wait();
  EXPECT_EQ(code_of(r), Code::DeviceLost) << render(r.errors(), {});
  EXPECT_TRUE(contains(message_of(r), "llvmpipe")) << message_of(r);
  EXPECT_EQ(got, U(100, 7)) << "the caller's memory stays as it was";
  expect_lost();
}

TEST_F(Lost, when_something_is_submitted) {
  failing_.fail(Function::QueueSubmit, VK_ERROR_DEVICE_LOST);
  EXPECT_EQ(code_of(device_->submit({Launch{add_, {b_}, {}, true}})), Code::DeviceLost);
  expect_lost();
}

TEST_F(Lost, with_submissions_waiting_on_several_streams) {
  std::vector<Ticket> tickets;
  for (uint32_t s = 0; s < 3; ++s)
    tickets.push_back(*device_->submit({Launch{add_, {b_}, {}, true}}, {.stream = s}));
  failing_.fail(Function::WaitSemaphores, VK_ERROR_DEVICE_LOST);
  for (const Ticket& t : tickets) EXPECT_FALSE(t.wait());
  expect_lost();
}

// ---- A driver that refuses.

TEST_F(VulkanTest, every_call_that_can_fail_is_a_coded_error_and_the_device_goes_on) {
  FailingVulkan failing;
  OpenOptions no_cache;
  no_cache.use_cache = false;
  for (size_t i = 0; i < size_t(Function::Count); ++i) {
    const Function f = Function(i);
    SCOPED_TRACE(name(f));
    failing.heal();
    Device d = failing.device(no_cache);
    int failed = 0;
    const auto attempt = [&]() -> Result<> {
      const auto add = d.compile(
          kernel("kernel some(y: inout u32[]) workgroup(64) grid(64) { y[global_id.x] += 1 }"));
      if (!add) return add.errors();
      const auto b = d.allocate(33 << 20);  // a separate block
      if (!b) return b.errors();
      Result<> r = Ok{};
      for (int twice = 0; twice < 2 && r; ++twice) {  // what the first has made is used again
        U got(10);
        const auto t =
            d.submit({Fill{*b, 3, 0, 40}, Launch{*add, {*b}, {}, true}, Readback{*b, out(got)}},
                     {.stream = uint32_t(failed + 1)});
        if (!t) {
          r = t.errors();
        } else if (const auto w = t->wait(); !w) {
          r = w.errors();
        } else {
          EXPECT_EQ(got, U(10, 0x03030304));
        }
      }
      d.finish();
      EXPECT_TRUE(d.free(*b));
      return r;
    };
    for (int allowed = 0; allowed < 20; ++allowed) {
      failing.fail(f, VK_ERROR_OUT_OF_HOST_MEMORY, allowed);
      const Result<> r = attempt();
      if (!r) {
        ++failed;
        const Code code = r.errors()[0].code;
        EXPECT_TRUE(code == Code::DeviceFailed || code == Code::DeviceMemoryExceeded ||
                    code == Code::CodeRejected)
            << render(r.errors(), {});
        EXPECT_FALSE(r.errors()[0].fix.empty());
      } else if (failing.calls(f) <= allowed) {
        break;  // it is not called so often
      }
    }
    // A pipeline cache is optional, and a wait that fails is replaced by polling.
    EXPECT_EQ(failed > 0, f != Function::CreatePipelineCache && f != Function::WaitSemaphores);
    failing.heal();
    const Result<> r = attempt();
    EXPECT_TRUE(r) << render(r.errors(), {});
  }
}

TEST_F(VulkanTest, memory_that_the_driver_does_not_give_is_v0718_with_numbers) {
  FailingVulkan failing;
  Device d = failing.device();
  failing.fail(Function::AllocateMemory, VK_ERROR_OUT_OF_DEVICE_MEMORY);
  const auto r = d.allocate(200 << 20);
  EXPECT_EQ(code_of(r), Code::DeviceMemoryExceeded);
  EXPECT_TRUE(contains(message_of(r), std::to_string(200 << 20))) << message_of(r);
  failing.heal();
  EXPECT_TRUE(d.allocate(200 << 20));
}

TEST_F(VulkanTest, code_that_the_driver_refuses_is_v0732) {
  FailingVulkan failing;
  OpenOptions o;
  o.use_cache = false;
  Device d = failing.device(o);
  failing.fail(Function::CreateComputePipelines, VK_ERROR_UNKNOWN);
  const auto r = d.compile(kernel(add_one));
  EXPECT_EQ(code_of(r), Code::CodeRejected);
  EXPECT_TRUE(contains(render(r.errors(), {}), "add_one")) << message_of(r);
  EXPECT_TRUE(contains(render(r.errors(), {}), "Mesa")) << "the notes name the driver";
}

// ---- Kernels that do not fit.

TEST_F(VulkanTest, a_workgroup_that_is_too_large_is_v0721_with_numbers) {
  Device d = open();
  CompileOptions checked;  // check() has the same limit
  checked.checked = true;
  const auto r = d.compile(
      kernel("kernel k(y: inout u32[]) workgroup(2048) grid(len(y)) { y[global_id.x] = 1 }"),
      checked);
  EXPECT_EQ(code_of(r), Code::KernelTooLarge);
  EXPECT_TRUE(contains(message_of(r), "2048") && contains(message_of(r), "1024")) << message_of(r);
}

TEST_F(VulkanTest, a_feature_that_cannot_be_made_of_others_is_v0734) {
  Device d = open();
  CompileOptions without;
  without.extra = {"profile=-float64"};
  const auto r = d.compile(kernel("kernel k(y: inout f64[]) workgroup(64) grid(len(y)) { "
                                  "y[global_id.x] = y[global_id.x] * 3.0 }"),
                           without);
  EXPECT_EQ(code_of(r), Code::MissingFeature);
  EXPECT_TRUE(contains(message_of(r), "f64")) << message_of(r);
  EXPECT_FALSE(r.errors()[0].fix.empty());
}

TEST_F(VulkanTest, an_op_that_the_device_gets_wrong_in_every_form_is_v0735) {
  FailingVulkan failing;
  failing.change = [](vulkan::VulkanDevice& d) { d.inexact["sqrt f32"] = "sqrt(2.0) gave 1.5"; };
  OpenOptions o;
  o.use_cache = false;
  Device d = failing.device(o);
  const auto r =
      d.compile(kernel("kernel k(y: inout f32[]) workgroup(64) grid(len(y)) {\n  y[global_id.x] = "
                       "sqrt(y[global_id.x])\n}"));
  EXPECT_EQ(code_of(r), Code::NotExact);
  EXPECT_EQ(r.errors()[0].place.line, 2u);
  EXPECT_TRUE(contains(render(r.errors(), {}), "sqrt(2.0) gave 1.5"));
  EXPECT_TRUE(d.compile(kernel(add_one)));
}

TEST_F(VulkanTest, a_profile_with_more_than_the_device_reports_is_refused) {
  Device d = open();
  CompileOptions more;
  more.extra = {"profile=most_workgroups=4000000000"};
  EXPECT_EQ(code_of(d.compile(kernel(add_one), more)), Code::BadOptionValue);
  more.extra = {"profile=no_such_word"};
  EXPECT_EQ(code_of(d.compile(kernel(add_one), more)), Code::BadOptionValue);
}

TEST_F(VulkanTest, switches_are_0_or_1) {
  Device d = open();
  CompileOptions options;
  for (const char* bad : {"unroll=", "unroll=x", "unroll=2", "functions=yes"}) {
    options.extra = {bad};
    EXPECT_EQ(code_of(d.compile(kernel(add_one), options)), Code::BadOptionValue) << bad;
  }
}

}  // namespace
}  // namespace vyre::driver
