// The bandwidth of a device: measured once and kept.

#include "runtime/compile/bandwidth.h"

#include <fstream>

#include "runtime/registry.h"
#include "support/file.h"
#include "tests/runtime/cache/cache_util.h"

namespace vyre::driver {
namespace {

/// The interpreter under another name and with little memory; it counts how often it is opened.
class SmallDevice : public Backend {
 public:
  int opened = 0;
  bool fails = false;
  DeviceInfo info = choose("interp")->backend->probe(nullptr)[0];

  SmallDevice() {
    info.backend = info.name = "small";
    info.limits.buffer_bytes = 4096;
  }
  std::string_view name() const override { return "small"; }
  std::string_view summary() const override { return "a test"; }
  std::vector<DeviceInfo> probe(std::string*) override { return {info}; }
  Result<std::unique_ptr<BackendDevice>> open(uint32_t) override {
    ++opened;
    if (fails) return diagnose(Code::DeviceFailed, {}, "the fan is stuck");
    return std::unique_ptr<BackendDevice>(std::make_unique<Opened>(*this));
  }

 private:
  struct Opened : BackendDevice {
    SmallDevice& owner;
    std::unique_ptr<BackendDevice> inner = std::move(*choose("interp")->backend->open(0));
    explicit Opened(SmallDevice& o) : owner(o) {}
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
      return inner->submit(s, std::move(c), a, d);
    }
    bool is_done(SubmissionHandle h) override { return inner->is_done(h); }
    SubmissionOutcome wait(SubmissionHandle h) override { return inner->wait(h); }
  };
};

class Bandwidths : public CacheTest {
 protected:
  Bandwidth measure(const char* backend = "small", uint32_t index = 0) const {
    return measured_bandwidth(backend, index, options());
  }
  std::string file() const { return entries() + "/bandwidth.json"; }
  std::string contents() const { return read_file(file()).bytes; }

  SmallDevice device_;
  const RegisterForTest with_device_{&device_};
};

TEST_F(Bandwidths, are_measured_once_and_kept) {
  const Bandwidth first = measure();
  EXPECT_EQ(first.failure, "");
  EXPECT_GT(first.bytes_per_second, 0u);
  EXPECT_EQ(device_.opened, 1);
  EXPECT_EQ(measure().bytes_per_second, first.bytes_per_second);
  EXPECT_EQ(device_.opened, 1);
}

TEST_F(Bandwidths, are_measured_again_for_another_driver_and_both_are_kept) {
  const Bandwidth first = measure();
  device_.info.driver_version = "2";
  measure();
  EXPECT_EQ(device_.opened, 2);
  device_.info.driver_version = choose("interp")->backend->probe(nullptr)[0].driver_version;
  EXPECT_EQ(measure().bytes_per_second, first.bytes_per_second);
  EXPECT_EQ(device_.opened, 2);
}

TEST_F(Bandwidths, are_measured_again_where_the_file_is_damaged) {
  measure();
  int opened = 1;
  for (const char* text :
       {"", "[", "{}", "[1]", "[{\"key\": 1}]", "[{\"key\": [], \"bytes_per_second\": -1}]",
        "[{\"bytes_per_second\": 1}]"}) {
    std::ofstream(file()) << text;
    EXPECT_EQ(measure().failure, "") << text;
    EXPECT_EQ(device_.opened, ++opened) << text;
    EXPECT_NE(contents().find("bytes_per_second"), std::string::npos);
  }
}

TEST_F(Bandwidths, of_a_device_that_fails_are_not_kept) {
  device_.fails = true;
  const Bandwidth b = measure();
  EXPECT_EQ(b.bytes_per_second, 0u);
  EXPECT_EQ(b.failure, "the fan is stuck");
  EXPECT_EQ(contents(), "");
  device_.fails = false;
  EXPECT_GT(measure().bytes_per_second, 0u);
}

TEST_F(Bandwidths, are_none_of_the_interpreter_and_of_unknown_devices) {
  EXPECT_EQ(measure("interp").failure, "the reference interpreter is not measured");
  EXPECT_NE(measure("nothing").failure, "");
  EXPECT_NE(measure("small", 7).failure, "");
}

}  // namespace
}  // namespace vyre::driver
