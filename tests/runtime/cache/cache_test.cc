// labels: threads

#include "runtime/cache/cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "support/file.h"
#include "tests/runtime/cache/cache_util.h"
#include "tests/wire/samples_util.h"

namespace vyre::driver {
namespace {

namespace fs = std::filesystem;
using Origin = CacheEntry::Origin;

class Cache : public CacheTest {};

CacheKey key_of(const Program& p) { return make_key(p, toy_device(), {}); }

/// As if it had been used this many seconds ago.
void set_idle(const std::string& path, int64_t seconds) {
  const int64_t then = unix_now_ns() / 1'000'000'000 - seconds;
  const timespec times[2] = {{.tv_sec = then, .tv_nsec = 0}, {.tv_sec = then, .tv_nsec = 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0) << path;
}

TEST_F(Cache, finds_what_it_stored_in_memory_and_the_next_process_on_disk) {
  const CacheBytes code = toy_code(1);
  CompileCache cache(options());
  EXPECT_FALSE(cache.find(key_, program_));
  EXPECT_EQ(files(), 0u) << "looking makes no folder";
  cache.store(key_, program_, code);
  auto entry = cache.find(key_, program_);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->origin, Origin::Memory);
  EXPECT_TRUE(is_code(entry->code, code));

  CompileCache next(options());
  entry = next.find(key_, program_);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->origin, Origin::Disk);
  EXPECT_TRUE(is_code(entry->code, code));
  EXPECT_EQ(next.find(key_, program_)->origin, Origin::Memory);

  EXPECT_EQ(cache.stats().misses, 1u);
  EXPECT_EQ(cache.stats().stores, 1u);
  EXPECT_EQ(next.stats().disk_hits, 1u);
  EXPECT_EQ(next.stats().memory_hits, 1u);
  EXPECT_EQ(next.stats().problem, "");
  EXPECT_EQ(files(), 1u) << "a temporary file is still there";
}

TEST_F(Cache, code_outlives_the_cache) {
  std::optional<CacheEntry> entry;
  {
    CompileCache cache(options());
    cache.store(key_, program_, toy_code(1));
    entry = cache.find(key_, program_);
  }
  ASSERT_TRUE(entry);
  EXPECT_TRUE(is_code(entry->code, toy_code(1)));
}

TEST_F(Cache, is_for_this_user_alone) {
  CompileCache(options()).store(key_, program_, toy_code(1));
  struct stat info{};
  ASSERT_EQ(::stat(directory().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
  ASSERT_EQ(::stat(path_of(key_).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
}

TEST_F(Cache, renamed_program_is_a_hit) {
  CompileCache cache(options());
  cache.store(key_, program_, toy_code(1));
  Program renamed = program_;
  renamed.name = "other";
  renamed.buffers[1].name = "z";
  EXPECT_TRUE(cache.find(key_of(renamed), renamed));
}

TEST_F(Cache, renumbered_program_is_a_hit_in_memory) {
  const Program p = rich_program(), other = renumbered(p, 5);
  ASSERT_FALSE(same_but_for_names(p, other)) << "the fast way would do";
  CompileCache cache(options());
  cache.store(key_of(p), p, toy_code(1));
  const auto entry = cache.find(key_of(other), other);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->origin, Origin::Memory);
}

TEST_F(Cache, collision_of_hashes_is_a_miss) {
  const Program other = toy_program(2);
  CacheKey forged = key_of(other);
  forged.hash = key_.hash;
  CompileCache cache(options());
  cache.store(key_, program_, toy_code(1));
  EXPECT_FALSE(cache.find(forged, other)) << "memory";
  EXPECT_FALSE(CompileCache(options()).find(forged, other)) << "disk";
  EXPECT_EQ(cache.stats().bad_entries, 0u);

  // The same program with another option.
  CacheKey option = make_key(program_, toy_device(), {.stoppable = false});
  option.hash = key_.hash;
  EXPECT_FALSE(cache.find(option, program_));
  EXPECT_FALSE(CompileCache(options()).find(option, program_));

  // A fingerprint that collides: the same key, to the byte, for another program.
  EXPECT_FALSE(cache.find(key_, other));
  EXPECT_FALSE(CompileCache(options()).find(key_, other));
  ASSERT_TRUE(cache.find(key_, program_)) << "the entry is still good";
  cache.store(forged, other, toy_code(2));
  EXPECT_FALSE(cache.find(key_, program_)) << "it was replaced";
  EXPECT_TRUE(is_code(cache.find(forged, other)->code, toy_code(2)));
}

TEST_F(Cache, memory_keeps_what_was_used_last) {
  CacheOptions o = options();
  o.directory.clear();
  o.memory_bytes = 45'000;  // three entries: 10,000 bytes of code, and the program
  CompileCache cache(o);
  std::vector<Program> programs;
  for (uint32_t i = 0; i < 4; ++i) programs.push_back(toy_program(i));
  const auto store = [&](uint32_t i) {
    cache.store(key_of(programs[i]), programs[i], toy_code(i, 10'000));
  };
  const auto has = [&](uint32_t i) { return bool(cache.find(key_of(programs[i]), programs[i])); };
  store(0), store(1), store(2);
  EXPECT_TRUE(has(0));  // 1 is the oldest now
  store(3);
  EXPECT_TRUE(has(0) && has(2) && has(3));
  EXPECT_FALSE(has(1));
  EXPECT_EQ(cache.stats().memory_evictions, 1u);
  EXPECT_LE(cache.stats().memory_bytes, o.memory_bytes);
  cache.store(key_of(programs[0]), programs[0], toy_code(0, 45'000));
  EXPECT_FALSE(has(0)) << "larger than everything";
  EXPECT_TRUE(has(2) && has(3)) << "and nothing had to go for it";
}

TEST_F(Cache, disk_keeps_what_was_used_last) {
  CacheOptions o = options();
  o.memory_bytes = 0;
  o.disk_bytes = 40'000;
  std::vector<Program> programs;
  for (uint32_t i = 0; i < 4; ++i) programs.push_back(toy_program(i));
  CompileCache cache(o);
  for (uint32_t i = 0; i < 3; ++i) {
    cache.store(key_of(programs[i]), programs[i], toy_code(i, 10'000));
    set_idle(path_of(key_of(programs[i])), 1000 - i);
  }
  EXPECT_TRUE(cache.find(key_of(programs[0]), programs[0])) << "which touches it";
  EXPECT_EQ(cache.stats().evictions, 0u);
  cache.store(key_of(programs[3]), programs[3], toy_code(3, 10'000));
  EXPECT_EQ(cache.stats().evictions, 1u);
  EXPECT_FALSE(fs::exists(path_of(key_of(programs[1]))));
  for (uint32_t i : {0, 2, 3}) EXPECT_TRUE(cache.find(key_of(programs[i]), programs[i])) << i;
  EXPECT_EQ(cache.stats().disk_hits, 4u);
}

TEST_F(Cache, other_processes_entries_count_too) {
  CacheOptions small = options();
  small.disk_bytes = 100'000;
  for (uint32_t i = 0; i < 30; ++i) {  // each a new process as far as the folder can tell
    const Program p = toy_program(i);
    CompileCache(small).store(key_of(p), p, toy_code(i, 10'000));
  }
  uint64_t bytes = 0;
  for (const auto& file : fs::directory_iterator(entries())) bytes += file.file_size();
  EXPECT_LE(bytes, small.disk_bytes);
  EXPECT_GT(bytes, small.disk_bytes / 2);
}

TEST_F(Cache, entry_as_large_as_the_cache_stays_and_a_larger_one_is_not_written) {
  CacheOptions o = options();
  o.disk_bytes = 40'000;
  CompileCache cache(o);
  cache.store(key_, program_, toy_code(1, 39'000));
  EXPECT_TRUE(CompileCache(o).find(key_, program_));
  const Program other = toy_program(2);
  cache.store(key_of(other), other, toy_code(2, 40'000));
  EXPECT_EQ(files(), 1u);
  EXPECT_TRUE(cache.find(key_of(other), other)) << "memory has room for it";
}

/// A name that vyre gives to temporary files.
const char* const temporary = "/tmp-12-0123456789abcdef-7";

TEST_F(Cache, stale_temporary_files_go_and_new_ones_stay) {
  CompileCache(options()).store(key_, program_, toy_code(1));
  const std::string old = entries() + temporary, fresh = entries() + temporary + "1";
  const std::string empty = entries() + temporary + "2";
  ASSERT_FALSE(write_file(old, std::string_view("VYRC and more")));
  ASSERT_FALSE(write_file(fresh, std::string_view("VY")));
  ASSERT_FALSE(write_file(empty, std::string_view()));
  set_idle(old, 3700);
  set_idle(empty, 3700);
  CompileCache(options()).store(key_, program_, toy_code(1));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_FALSE(fs::exists(empty));
  EXPECT_TRUE(fs::exists(fresh));

  std::string why;
  const auto cleared =
      CacheDirectory::open(directory(), CacheDirectory::Open::Existing, why)->clear();
  EXPECT_EQ(cleared.files, 2u);
  EXPECT_EQ(files(), 0u);
}

TEST_F(Cache, files_of_others_stay) {
  CacheOptions small = options();
  small.disk_bytes = 20'000;  // one entry
  small.memory_bytes = 0;
  CompileCache(small).store(key_, program_, toy_code(1, 10'000));
  std::vector<std::string> foreign;
  for (const std::string& folder : {directory(), entries()}) {
    for (const char* name :
         {"/tmp-thesis.tex", "/tmp-1-old", "/README", "/tmp-1-0123456789abcdeg-7",
          "/tmp-1-0123456789abcdef-7", "/0123456789abcdef0123456789abcdef.vyc"})
      foreign.push_back(folder + name);
  }
  for (const std::string& path : foreign) {
    ASSERT_FALSE(write_file(path, std::string_view("mine")));
    set_idle(path, 1'000'000);
  }
  // Ours by content, but not by name or place.
  for (const std::string& path : {directory() + temporary, entries() + "/tmp-12"}) {
    ASSERT_FALSE(write_file(path, std::string_view("VYRC")));
    set_idle(path, 1'000'000);
    foreign.push_back(path);
  }
  // Ours by name, but not a regular file.
  fs::create_directory(entries() + "/tmp-2-0123456789abcdef-7");
  fs::create_symlink(path_of(key_), entries() + "/tmp-3-0123456789abcdef-7");
  ASSERT_EQ(::mkfifo((entries() + "/tmp-4-0123456789abcdef-7").c_str(), 0600), 0);
  const size_t others = files() - 1;

  const Program other = toy_program(2);
  CompileCache(small).store(key_of(other), other, toy_code(2, 15'000));  // evicts and trims
  EXPECT_FALSE(fs::exists(path_of(key_)));
  for (const std::string& path : foreign) EXPECT_TRUE(fs::exists(path)) << path;
  std::string why;
  const auto cleared =
      CacheDirectory::open(directory(), CacheDirectory::Open::Existing, why)->clear();
  EXPECT_EQ(cleared.files, 1u);
  EXPECT_EQ(cleared.left, 0u);
  for (const std::string& path : foreign) EXPECT_TRUE(fs::exists(path)) << path;
  EXPECT_EQ(files(), others);
}

TEST_F(Cache, temporary_files_of_other_users_stay) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  CompileCache(options()).store(key_, program_, toy_code(1));
  const std::string path = entries() + temporary;
  ASSERT_FALSE(write_file(path, std::string_view("VYRC")));
  ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
  std::string why;
  EXPECT_EQ(CacheDirectory::open(directory(), CacheDirectory::Open::Existing, why)->clear().files,
            1u);
  EXPECT_TRUE(fs::exists(path));
}

// ---- folders that cannot be used

void expect_no_disk(const CacheOptions& options, const std::string& words) {
  const Program p = toy_program(1);
  CompileCache cache(options);
  EXPECT_FALSE(cache.find(key_of(p), p));
  cache.store(key_of(p), p, toy_code(1));
  const auto entry = cache.find(key_of(p), p);
  ASSERT_TRUE(entry) << "memory still works";
  EXPECT_EQ(entry->origin, Origin::Memory);
  EXPECT_NE(cache.stats().problem.find(words), std::string::npos) << cache.stats().problem;
  EXPECT_FALSE(CompileCache(options).find(key_of(p), p));
}

TEST_F(Cache, file_in_place_of_the_folder_is_no_error) {
  ASSERT_FALSE(write_file(directory(), std::string_view("x")));
  expect_no_disk(options(), "Not a directory");
  CacheOptions below = options();
  below.directory += "/a/b";
  expect_no_disk(below, "Not a directory");
}

TEST_F(Cache, folder_of_entries_that_vyre_did_not_make_is_not_used) {
  fs::create_directories(entries());
  ASSERT_EQ(::chmod(directory().c_str(), 0700), 0);
  ASSERT_EQ(::chmod(entries().c_str(), 0700), 0);
  ASSERT_FALSE(write_file(entries() + "/notes", std::string_view("mine")));
  expect_no_disk(options(), "was not made by vyre");
  ASSERT_FALSE(write_file(entries() + "/CACHEDIR.TAG",
                          std::string_view("Signature: 8a477f597d28d172789f06886806bc55\n")));
  expect_no_disk(options(), "was not made by vyre");
  EXPECT_EQ(read_file(entries() + "/notes").bytes, "mine");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory()), fs::directory_iterator()), 1)
      << "a folder that was begun is left";
}

TEST_F(Cache, folder_of_entries_is_not_followed_as_a_link) {
  CompileCache(options()).store(key_, program_, toy_code(1));
  fs::rename(entries(), folder_ / "elsewhere");
  fs::create_directory_symlink(folder_ / "elsewhere", entries());
  expect_no_disk(options(), "vyre-entries");
}

TEST_F(Cache, unwritable_folder_is_no_error) {
  CacheOptions o = options();
  o.directory = "/proc/self/vyre";  // no user can create folders there, not even root
  expect_no_disk(o, "No such file");
  o.directory = "/proc/self/fd";
  expect_no_disk(o, "/proc/self/fd");
}

TEST_F(Cache, folder_that_others_may_write_to_is_not_trusted) {
  CompileCache(options()).store(key_, program_, toy_code(1));
  for (const std::string& folder : {directory(), entries()}) {
    ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
    expect_no_disk(options(), "may be written to by other users");
    ASSERT_EQ(::chmod(folder.c_str(), 0700), 0);
  }
  EXPECT_TRUE(CompileCache(options()).find(key_, program_));
}

TEST_F(Cache, files_and_folders_of_another_user_are_not_trusted) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  CompileCache(options()).store(key_, program_, toy_code(1));
  ASSERT_EQ(::chown(path_of(key_).c_str(), 12345, 12345), 0);
  CompileCache cache(options());
  EXPECT_FALSE(cache.find(key_, program_));
  EXPECT_EQ(cache.stats().bad_entries, 1u);
  for (const std::string& folder : {entries(), directory()}) {
    ASSERT_EQ(::chown(folder.c_str(), 12345, 12345), 0);
    expect_no_disk(options(), "belongs to user 12345");
  }
}

TEST_F(Cache, file_that_others_may_write_to_is_a_miss) {
  CompileCache(options()).store(key_, program_, toy_code(1));
  ASSERT_EQ(::chmod(path_of(key_).c_str(), 0666), 0);
  CompileCache cache(options());
  EXPECT_FALSE(cache.find(key_, program_));
  EXPECT_EQ(cache.stats().bad_entries, 1u);
}

TEST_F(Cache, odd_things_in_place_of_an_entry_are_misses) {
  const std::string good = folder_ / "good", path = path_of(key_);
  CompileCache(options()).store(key_, program_, toy_code(1));
  fs::rename(path, good);
  const auto expect_miss = [&](const char* what) {
    CompileCache cache(options());
    EXPECT_FALSE(cache.find(key_, program_)) << what;
    EXPECT_EQ(cache.stats().bad_entries, 1u) << what;
    cache.store(key_, program_, toy_code(1));
    EXPECT_TRUE(cache.find(key_, program_)) << what;
  };
  fs::create_symlink(good, path);
  expect_miss("a link");
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  expect_miss("a pipe");
  fs::remove(path);
  fs::create_directory(path);
  expect_miss("a folder");
  EXPECT_TRUE(fs::exists(good));
}

TEST_F(Cache, folder_that_vanishes_is_made_again) {
  CompileCache cache(options());
  cache.store(key_, program_, toy_code(1));
  fs::remove_all(directory());
  EXPECT_TRUE(cache.find(key_, program_));
  const Program other = toy_program(2);
  EXPECT_FALSE(cache.find(key_of(other), other));
  cache.store(key_of(other), other, toy_code(2));
  EXPECT_TRUE(CompileCache(options()).find(key_of(other), other));
}

TEST_F(Cache, full_disk_is_no_error_wherever_it_happens) {
  CompileCache probe(options());
  probe.store(key_, program_, toy_code(1, 3000));
  const size_t size = fs::file_size(path_of(key_));
  fs::remove_all(directory());
  for (size_t room = 0; room < size; room += 97) {
    CacheOptions o = options();
    size_t left = room;
    o.write = [&](int fd, const void* bytes, size_t n) -> ssize_t {
      n = std::min({n, left, size_t{100}});
      left -= n;
      if (n != 0) return ::write(fd, bytes, n);
      errno = ENOSPC;
      return -1;
    };
    CompileCache cache(o);
    cache.store(key_, program_, toy_code(1, 3000));
    EXPECT_NE(cache.stats().problem.find("No space left"), std::string::npos);
    EXPECT_EQ(cache.stats().stores, 0u);
    EXPECT_EQ(files(), 0u) << "a piece of a file is left";
    EXPECT_TRUE(cache.find(key_, program_)) << "memory has it";
    left = size;
    cache.store(key_, program_, toy_code(1, 3000));
    EXPECT_EQ(cache.stats().problem, "") << "there is room again";
    fs::remove(path_of(key_));
  }
}

// ---- many threads

TEST_F(Cache, threads_share_one_cache) {
  CacheOptions o = options();
  o.memory_bytes = 60'000;
  o.disk_bytes = 120'000;
  CompileCache cache(o);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (uint32_t n = 0; n < 200; ++n) {
        const uint32_t i = (n * 7 + t * 3) % 24;
        const Program p = toy_program(i);
        const CacheKey key = key_of(p);
        const CacheBytes code = toy_code(i);
        if (const auto entry = cache.find(key, p))
          wrong += !is_code(entry->code, code);
        else
          cache.store(key, p, code);
        (void)cache.stats();
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  const CacheStats s = cache.stats();
  EXPECT_EQ(s.memory_hits + s.disk_hits + s.misses, 800u);
  EXPECT_EQ(s.bad_entries, 0u);
  EXPECT_GT(s.memory_hits, 0u);
}

// ---- settings

class CacheSettings : public CacheTest {
 protected:
  static constexpr const char* names[] = {"VYRE_CACHE", "VYRE_CACHE_DIR", "VYRE_CACHE_SIZE",
                                          "XDG_CACHE_HOME", "HOME"};
  void SetUp() override {
    CacheTest::SetUp();
    for (const char* name : names) {
      const char* value = std::getenv(name);
      before_.push_back(value ? std::optional<std::string>(value) : std::nullopt);
      ::unsetenv(name);
    }
  }
  void TearDown() override {
    for (size_t i = 0; i < before_.size(); ++i)
      before_[i] ? ::setenv(names[i], before_[i]->c_str(), 1) : ::unsetenv(names[i]);
    CacheTest::TearDown();
  }
  static void set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }

  std::vector<std::optional<std::string>> before_;
};

TEST_F(CacheSettings, choose_the_folder) {
  EXPECT_EQ(CacheOptions::from_environment().directory, "");
  EXPECT_NE(CompileCache(CacheOptions::from_environment()).stats().problem.find("HOME"),
            std::string::npos);
  set("HOME", "/h");
  EXPECT_EQ(CacheOptions::from_environment().directory, "/h/.cache/vyre");
  set("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(CacheOptions::from_environment().directory, "/h/.cache/vyre");
  set("XDG_CACHE_HOME", "/x");
  EXPECT_EQ(CacheOptions::from_environment().directory, "/x/vyre");
  set("VYRE_CACHE_DIR", "/v");
  EXPECT_EQ(CacheOptions::from_environment().directory, "/v");
  set("VYRE_CACHE_DIR", "here");
  EXPECT_EQ(CacheOptions::from_environment().directory, fs::current_path() / "here");
}

TEST_F(CacheSettings, choose_the_size) {
  const auto size = [](const char* text) {
    set("VYRE_CACHE_SIZE", text);
    std::string problem;
    const uint64_t bytes = CacheOptions::from_environment(&problem).disk_bytes;
    return problem.empty() ? bytes : ~0ull;
  };
  EXPECT_EQ(CacheOptions::from_environment().disk_bytes, 512u << 20);
  EXPECT_EQ(size("1000"), 1000u);
  EXPECT_EQ(size("64K"), 64u << 10);
  EXPECT_EQ(size("3m"), 3u << 20);
  EXPECT_EQ(size("2G"), 2ull << 30);
  EXPECT_EQ(size("0"), 0u);
  for (const char* bad :
       {"lots", "-1", "1.5G", "1KB", "K", "99999999999999999999", "99999999T", " 1"})
    EXPECT_EQ(size(bad), ~0ull) << bad;
  EXPECT_EQ(CacheOptions::from_environment().disk_bytes, 512u << 20) << "the default holds";
}

TEST_F(CacheSettings, turn_it_off) {
  set("VYRE_CACHE_DIR", directory());
  set("VYRE_CACHE", "off");
  CompileCache& cache = CompileCache::shared();
  cache.store(key_, program_, toy_code(1));
  EXPECT_FALSE(cache.find(key_, program_));
  EXPECT_EQ(files(), 0u);
  EXPECT_NE(cache.stats().problem.find("off"), std::string::npos);
}

TEST_F(CacheSettings, one_shared_cache_a_folder) {
  set("VYRE_CACHE_DIR", directory());
  CompileCache& cache = CompileCache::shared();
  EXPECT_EQ(&CompileCache::shared(), &cache);
  set("VYRE_CACHE_DIR", directory() + "2");
  EXPECT_NE(&CompileCache::shared(), &cache);
  set("VYRE_CACHE_DIR", directory());
  EXPECT_EQ(&CompileCache::shared(), &cache);
}

}  // namespace
}  // namespace vyre::driver
