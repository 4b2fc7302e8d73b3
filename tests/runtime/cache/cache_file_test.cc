#include "runtime/cache/cache_file.h"

#include <gtest/gtest.h>

#include <random>

#include "runtime/cache/cache_key.h"
#include "support/file.h"
#include "support/hash.h"
#include "tests/runtime/cache/cache_util.h"
#include "wire/wire_bytes.h"

namespace vyre::driver {
namespace {

EntryImage toy_entry() {
  const Program p = toy_program(1);
  return make_entry(make_key(p, toy_device(), {}).bytes, p.name, nameless_wire(p), toy_code(1, 50),
                    123);
}

void reseal(CacheBytes& bytes) {
  const size_t body = bytes.size() - 8;
  wire::store(bytes.data() + body, hash64(std::span<const std::byte>(bytes).first(body)));
}

void expect_inside(const EntryView& view, const CacheBytes& bytes) {
  const auto begin = reinterpret_cast<const char*>(bytes.data());
  const std::string_view program(reinterpret_cast<const char*>(view.program.data()),
                                 view.program.size());
  const std::string_view code(reinterpret_cast<const char*>(view.code.data()), view.code.size());
  for (const std::string_view part : {view.key, view.name, program, code})
    EXPECT_TRUE(part.data() >= begin && part.data() + part.size() <= begin + bytes.size());
}

TEST(CacheFile, gives_back_its_parts) {
  const EntryImage image = toy_entry();
  const auto view = parse_entry(*image.bytes);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->made_ns, 123u);
  EXPECT_EQ(view->name, "toy");
  EXPECT_EQ(view->key, make_key(toy_program(1), toy_device(), {}).bytes);
  EXPECT_TRUE(is_code(view->program, nameless_wire(toy_program(1))));
  EXPECT_TRUE(is_code(view->code, toy_code(1, 50)));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(view->code.data()) % 16, 0u);
  EXPECT_EQ(mistake_in_entry(*view), "");
}

TEST(CacheFile, holds_nothing_at_all) {
  const EntryImage image = make_entry("", "", {}, {}, 0);
  const auto view = parse_entry(*image.bytes);
  ASSERT_TRUE(view);
  EXPECT_TRUE(view->code.empty() && view->program.empty() && view->key.empty());
  EXPECT_NE(mistake_in_entry(*view), "");
}

TEST(CacheFile, resealed_lengths_never_lead_outside) {
  const CacheBytes good = *toy_entry().bytes;
  const uint64_t odd[] = {0,          1,     good.size(), good.size() - 1, good.size() + 1,
                          1ull << 31, ~0ull, ~0ull - 63,  1ull << 63};
  const struct {
    size_t at, bytes;
  } lengths[] = {{8, 8}, {24, 4}, {28, 4}, {32, 8}, {40, 8}};
  for (const auto& a : lengths)
    for (const auto& b : lengths)
      for (const uint64_t x : odd)
        for (const uint64_t y : odd) {
          CacheBytes bytes = good;
          std::memcpy(bytes.data() + a.at, &x, a.bytes);
          std::memcpy(bytes.data() + b.at, &y, b.bytes);
          reseal(bytes);
          (void)parse_entry_head(bytes);
          if (const auto view = parse_entry(bytes)) expect_inside(*view, bytes);
        }
}

TEST(CacheFile, resealed_noise_never_reads_outside) {
  const CacheBytes good = *toy_entry().bytes;
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    CacheBytes bytes = good;
    for (int n = 0; n < 3; ++n) bytes[random() % bytes.size()] = std::byte(random());
    reseal(bytes);
    if (const auto view = parse_entry(bytes)) (void)mistake_in_entry(*view);
  }
}

TEST(CacheFile, verification_finds_the_program_of_another_key) {
  const Program p = toy_program(1);
  const EntryImage image = make_entry(make_key(p, toy_device(), {}).bytes, "toy",
                                      nameless_wire(toy_program(2)), toy_code(1), 0);
  EXPECT_NE(mistake_in_entry(image.view).find("not the one of its key"), std::string::npos);
}

// F.14, for every byte of an entry and both levels of damage, through the cache itself.
class DamagedEntry : public CacheTest {
 protected:
  void SetUp() override {
    CacheTest::SetUp();
    CompileCache(options()).store(key_, program_, code_);
    good_ = read_file(path_of(key_)).bytes;
    ASSERT_FALSE(good_.empty());
  }

  void expect_miss(const std::string& bytes, const std::string& what) {
    ASSERT_FALSE(write_file(path_of(key_), bytes));
    CompileCache cache(options());
    EXPECT_FALSE(cache.find(key_, program_)) << what;
    EXPECT_EQ(cache.stats().bad_entries, 1u) << what;
    EXPECT_EQ(cache.stats().misses, 1u) << what;
    // A file that does not begin as ours may be another's.
    EXPECT_EQ(std::filesystem::exists(path_of(key_)), is_foreign(bytes)) << what;
  }

  static bool is_foreign(const std::string& bytes) {
    return bytes.substr(0, 4) != std::string("VYRC").substr(0, bytes.size());
  }

  const CacheBytes code_ = toy_code(1, 40);
  std::string good_;
};

TEST_F(DamagedEntry, truncated_at_every_byte_is_a_miss) {
  for (size_t n = 0; n < good_.size(); ++n)
    expect_miss(good_.substr(0, n), "truncated at " + std::to_string(n));
  expect_miss(good_ + "x", "too long");
}

TEST_F(DamagedEntry, flipped_at_every_byte_is_a_miss) {
  for (size_t n = 0; n < good_.size(); ++n) {
    std::string bytes = good_;
    bytes[n] = char(bytes[n] ^ (1 << n % 8));
    expect_miss(bytes, "flipped at " + std::to_string(n));
  }
  ASSERT_FALSE(write_file(path_of(key_), good_));
  EXPECT_TRUE(CompileCache(options()).find(key_, program_)) << "the undamaged one is a hit";
}

}  // namespace
}  // namespace vyre::driver
