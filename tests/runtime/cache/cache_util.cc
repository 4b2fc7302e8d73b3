#include "tests/runtime/cache/cache_util.h"

#include <algorithm>
#include <random>

#include "ir/ssa_builder.h"

namespace vyre::driver {

namespace fs = std::filesystem;

Program toy_program(uint32_t constant, uint32_t shared_count, bool swap_buffers) {
  SsaBuilder b("toy");
  Program& p = b.program;
  p.buffers.push_back({.name = "x", .role = Role::Out, .element = Type::U32});
  p.buffers.push_back({.name = "y", .role = Role::InOut, .element = Type::U32});
  if (swap_buffers) std::swap(p.buffers[0], p.buffers[1]);
  p.buffers.push_back({.name = "tile",
                       .role = Role::Shared,
                       .element = Type::U32,
                       .count = p.formulas.constant(shared_count)});
  p.workgroup = {64, 1, 1};
  p.grid_dims = 1;
  p.grid[0] = p.formulas.len(1);
  b.loc = p.add_location({.file = p.add_string("toy.vyre"), .line = 2, .column = 3});
  b.begin_region("body");
  const ValueId i = b.op(Opcode::GlobalId, Type::Void, {}, 0);
  b.effect(Opcode::Store, Type::U32, {i, b.constant_u32(constant)},
           MemoryRef{.buffer = BufferId(1)}.pack());
  b.end_region();
  return b.finish();
}

DeviceInfo toy_device() {
  DeviceInfo info;
  info.backend = "toy";
  info.target = "toy_1";
  info.driver_version = "1.0";
  return info;
}

CacheBytes toy_code(uint32_t seed, size_t bytes) {
  std::mt19937 random(seed);
  CacheBytes code(bytes ? bytes : 1 + random() % 20'000);
  for (std::byte& b : code) b = std::byte(random());
  return code;
}

bool is_code(std::span<const std::byte> got, std::span<const std::byte> wanted) {
  return std::equal(got.begin(), got.end(), wanted.begin(), wanted.end());
}

void CacheTest::SetUp() {
  std::string pattern = (fs::temp_directory_path() / "vyre_cache_test.XXXXXX").string();
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  folder_ = pattern;
}

void CacheTest::TearDown() { fs::remove_all(folder_); }

CacheOptions CacheTest::options() const {
  CacheOptions options;
  options.directory = directory();
  return options;
}

size_t CacheTest::files() const {
  if (!fs::exists(entries())) return 0;
  return size_t(std::distance(fs::directory_iterator(entries()), fs::directory_iterator())) - 1;
}

}  // namespace vyre::driver
