// Code from the disk cache is the code that was compiled: other processes find it, and it gives the
// same bytes.

#include <unistd.h>

#include <filesystem>

#include "runtime/cache/cache.h"
#include "tests/runtime/gpu/gpu_util.h"

namespace vyre::driver {
namespace {

namespace fs = std::filesystem;

class cache_on_device : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    std::string name = (fs::temp_directory_path() / "vyre-gpu-cache-XXXXXX").string();
    ASSERT_TRUE(::mkdtemp(name.data()));
    folder_ = name;
  }
  void TearDown() override {
    OnDevice::TearDown();
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  CacheOptions options() const {
    CacheOptions o;
    o.directory = folder_;
    return o;
  }
  size_t files() const {
    size_t n = 0;
    for (const auto& e : fs::recursive_directory_iterator(folder_)) n += e.is_regular_file();
    return n;
  }

  std::string folder_;
};

const char* source = R"(
kernel k(a: u32, x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  shared t: u32[64]
  t[local_id.x] = x[global_id.x]
  barrier workgroup
  y[global_id.x] = t[63 - local_id.x] * a + subgroup_add(x[global_id.x]) / 7
}
)";

TEST_F(cache_on_device, the_second_compile_is_from_disk_and_gives_the_same_bytes) {
  if (!device().info().keeps_code) GTEST_SKIP() << "the backend keeps no code";
  const Program p = kernel(source);
  const LaunchInputs inputs = inputs_of(p, {bytes(U{3}), bytes(noise(1000, 1))});
  std::vector<std::vector<std::byte>> first;
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    CompileCache cache(options());  // its memory is empty: what it finds is on disk
    OpenOptions o;
    o.cache = &cache;
    Result<Device> d = Device::open(backend_name(), o);
    ASSERT_TRUE(d);
    const Result<Executable> code = d->compile(p);
    ASSERT_TRUE(code) << text_of(code.errors());
    EXPECT_EQ(code->origin(), round == 0 ? "compiled" : "disk cache");
    const Result<RunOutcome> got = run(*d, p, inputs);
    ASSERT_TRUE(got) << text_of(got.errors());
    EXPECT_EQ(got->origin, "memory cache");
    if (round == 0) first = got->buffers;
    EXPECT_TRUE(got->buffers == first);
    same(*d, p, inputs);
  }
  EXPECT_GE(files(), 1u);
}

TEST_F(cache_on_device, a_damaged_file_is_compiled_again) {
  if (!device().info().keeps_code) GTEST_SKIP() << "the backend keeps no code";
  const Program p = kernel(source);
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    CompileCache cache(options());
    OpenOptions o;
    o.cache = &cache;
    Result<Device> d = Device::open(backend_name(), o);
    ASSERT_TRUE(d);
    const Result<Executable> code = d->compile(p);
    ASSERT_TRUE(code) << text_of(code.errors());
    EXPECT_EQ(code->origin(), "compiled");
    same(*d, p, inputs_of(p, {bytes(U{3}), bytes(noise(1000, 1))}));
    for (const auto& e : fs::recursive_directory_iterator(folder_)) {
      if (!e.is_regular_file()) continue;
      const uint64_t size = e.file_size();
      if (round == 0) {  // cut, then flipped
        fs::resize_file(e.path(), size / 2);
      } else if (std::FILE* f = std::fopen(e.path().c_str(), "r+b")) {
        std::fseek(f, long(size * 3 / 4), SEEK_SET);
        const int c = std::fgetc(f);
        std::fseek(f, long(size * 3 / 4), SEEK_SET);
        std::fputc(c ^ 0x40, f);
        std::fclose(f);
      }
    }
  }
}

/// Kernels that differ in so little that a careless key takes one for the other.
TEST_F(cache_on_device, neighbours_are_told_apart) {
  CompileCache cache(options());
  OpenOptions o;
  o.cache = &cache;
  Result<Device> d = Device::open(backend_name(), o);
  ASSERT_TRUE(d);
  for (int turn = 0; turn < 2; ++turn)
    for (const uint32_t c : {7u, 8u, 9u}) {
      const Program p =
          kernel(fmt::format("kernel k(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) "
                             "{{ y[global_id.x] = "
                             "x[global_id.x] * {} }}",
                             c));
      same(*d, p, inputs_of(p, {bytes(counting(100))}));
    }
}

}  // namespace
}  // namespace vyre::driver
