// Compiled code of the CUDA backend in the compile cache.

#include <filesystem>
#include <fstream>

#include "runtime/cache/cache.h"
#include "runtime/cuda/cuda_util.h"

namespace vyre::driver {
namespace {

namespace fs = std::filesystem;
using cuda::Status;

constexpr const char* add_one = R"(
kernel add_one(x: inout u32[]) workgroup(64) grid(len(x)) {
  assert(x[global_id.x] != 99, 7)
  x[global_id.x] += 1
}
)";

class CudaCache : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "vyre_cuda_cache.XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// Compiles and runs once as a separate process would; returns where the code came from.
  std::string compile_and_run(FakeGpu& gpu, const std::string& source = add_one) {
    CacheOptions options;
    options.directory = folder_.string();
    CompileCache cache(options);
    OpenOptions open;
    open.cache = &cache;
    Device d = gpu.open(open);
    const auto e = d.compile(kernel(source));
    EXPECT_TRUE(e);
    if (!e) return message_of(e);
    const Buffer x = *d.allocate(256);
    U back(64);
    EXPECT_TRUE(d.submit({Launch{*e, {x}}, Readback{x, out(back)}})->wait());
    EXPECT_EQ(back, U(64, 1));
    U bad(64, 99);
    const auto r = d.submit({Upload{x, in(bad)}, Launch{*e, {x}}})->wait();
    EXPECT_EQ(code_of(r), Code::Trapped) << "what is known of the kernel is kept with it";
    return std::string(e->origin());
  }

  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& f : fs::recursive_directory_iterator(folder_))
      if (f.is_regular_file() && f.file_size() > 500) all.push_back(f.path());
    return all;
  }

  fs::path folder_;
};

TEST_F(CudaCache, keeps_code_for_the_next_process) {
  FakeGpu gpu;
  EXPECT_EQ(compile_and_run(gpu), "compiled");
  EXPECT_EQ(gpu.calls("cuLinkComplete"), 1u);
  EXPECT_EQ(compile_and_run(gpu), "disk cache");
  EXPECT_EQ(gpu.calls("cuLinkComplete"), 1u);
  EXPECT_EQ(gpu.calls("cuModuleLoadDataEx"), 2u);
}

TEST_F(CudaCache, compiles_again_what_was_damaged) {
  FakeGpu gpu;
  EXPECT_EQ(compile_and_run(gpu), "compiled");
  ASSERT_FALSE(files().empty());
  for (const fs::path& path : files()) {
    std::fstream f(path, std::ios::in | std::ios::out | std::ios::binary);
    f.seekp(-20, std::ios::end);
    f.write("damage", 6);
  }
  EXPECT_EQ(compile_and_run(gpu), "compiled");
  EXPECT_EQ(gpu.calls("cuLinkComplete"), 2u);
}

TEST_F(CudaCache, compiles_again_what_the_driver_does_not_take_any_more) {
  FakeGpu gpu;
  EXPECT_EQ(compile_and_run(gpu), "compiled");
  gpu.control().fail("cuModuleLoadDataEx", 1, int(Status::NoBinaryForGpu));
  EXPECT_EQ(compile_and_run(gpu), "compiled");
  EXPECT_EQ(gpu.calls("cuLinkComplete"), 2u);
}

TEST_F(CudaCache, is_not_for_another_driver_or_device) {
  {
    FakeGpu gpu;
    EXPECT_EQ(compile_and_run(gpu), "compiled");
  }
  fake_cuda::Config config;
  config.driver_version = 12080;
  {
    FakeGpu gpu(config);
    EXPECT_EQ(compile_and_run(gpu), "compiled");
  }
  config.devices[0].capability = 80;
  FakeGpu gpu(config);
  EXPECT_EQ(compile_and_run(gpu), "compiled");
  EXPECT_EQ(compile_and_run(gpu), "disk cache");
}

}  // namespace
}  // namespace vyre::driver
