#pragma once

// Toy programs, code and folders for the tests of the compile cache.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "runtime/cache/cache.h"

namespace vyre::driver {

/// A kernel with two buffers and a shared array whose body stores `constant`.
Program toy_program(uint32_t constant, uint32_t shared_count = 64, bool swap_buffers = false);
DeviceInfo toy_device();
/// The only right code for a seed; `bytes` 0: a size that depends on the seed.
CacheBytes toy_code(uint32_t seed, size_t bytes = 0);
bool is_code(std::span<const std::byte> got, std::span<const std::byte> wanted);

/// A separate folder for each test, because ctest runs tests in parallel.
class CacheTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// A cache in folder_/cache, which does not exist at first.
  CacheOptions options() const;
  std::string directory() const { return (folder_ / "cache").string(); }
  /// The subdirectory that vyre makes.
  std::string entries() const { return directory() + "/" + CacheDirectory::entries_name; }
  std::string path_of(const CacheKey& key) const {
    return entries() + "/" + CacheDirectory::file_name(key.hash);
  }
  /// Files of the subdirectory, its tag left out.
  size_t files() const;

  std::filesystem::path folder_;
  const Program program_ = toy_program(1);
  const CacheKey key_ = make_key(program_, toy_device(), {});
};

}  // namespace vyre::driver
