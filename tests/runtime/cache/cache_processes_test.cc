// Many processes and one folder: 8 of them look up and store, one damages and deletes what it
// finds, and the parent kills them with SIGKILL in the middle of their writes. The children are
// this test binary again, running a disabled test.

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "support/file.h"
#include "tests/runtime/cache/cache_util.h"

extern char** environ;

namespace vyre::driver {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr uint32_t n_programs = 40;
constexpr uint64_t disk_bytes = 300'000;  // fewer than all programs' code: evictions happen
constexpr const char* folder_variable = "VYRE_CACHE_TEST_FOLDER";

CacheOptions crowded(const std::string& folder) {
  CacheOptions o;
  o.directory = folder;
  o.disk_bytes = disk_bytes;
  o.memory_bytes = 0;  // every lookup goes to the disk
  return o;
}

/// Is what was found wrong? Stores what was not found.
bool use_once(CompileCache& cache, uint32_t i) {
  const Program p = toy_program(i);
  const CacheKey key = make_key(p, toy_device(), {});
  const CacheBytes code = toy_code(i);
  if (const auto entry = cache.find(key, p)) return !is_code(entry->code, code);
  cache.store(key, p, code);
  return false;
}

/// Children are killed, and also go with their parent; the time is for the moment in between.
Clock::time_point end_of_child() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return Clock::now() + std::chrono::minutes(1);
}

// Runs until it is killed. Writes in small pieces with pauses, so that most kills hit a write.
TEST(CacheChild, DISABLED_uses) {
  const char* folder = std::getenv(folder_variable);
  if (!folder) GTEST_SKIP() << "only for the test below";
  std::mt19937 random{uint32_t(::getpid())};
  CacheOptions o = crowded(folder);
  o.write = [](int fd, const void* bytes, size_t n) {
    ::usleep(100);
    return ::write(fd, bytes, std::min<size_t>(n, 2000));
  };
  CompileCache cache(o);
  for (const auto end = end_of_child(); Clock::now() < end;)
    if (use_once(cache, random() % n_programs)) ::_exit(7);
}

void damage(const std::string& path, std::mt19937& random) {
  switch (random() % 5) {
    case 0: ::unlink(path.c_str()); return;
    case 1: (void)!::truncate(path.c_str(), long(random() % 3000)); return;
    case 2:
      (void)!::truncate(path.c_str(), 50'000);  // longer, with zeros
      return;
    case 3: {  // noise in its place, in one go
      std::string noise(random() % 5000, 0);
      for (char& c : noise) c = char(random());
      (void)write_file(path, noise);
      return;
    }
    default: {  // bytes that change while others read them
      const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      if (fd < 0) return;
      const uint32_t noise = uint32_t(random());
      (void)!::pwrite(fd, &noise, sizeof noise, long(random() % 5000));
      ::close(fd);
    }
  }
}

TEST(CacheChild, DISABLED_damages) {
  const char* folder = std::getenv(folder_variable);
  if (!folder) GTEST_SKIP() << "only for the test below";
  std::mt19937 random(1);
  for (const auto end = end_of_child(); Clock::now() < end;) {
    std::vector<std::string> paths;
    std::error_code error;
    const fs::path entries = fs::path(folder) / CacheDirectory::entries_name;
    for (fs::directory_iterator it(entries, error), end; !error && it != end; it.increment(error))
      if (it->path().filename() != "CACHEDIR.TAG") paths.push_back(it->path().string());
    if (!paths.empty()) damage(paths[random() % paths.size()], random);
    ::usleep(2000);
  }
}

class Children {
 public:
  explicit Children(const std::string& folder) { ::setenv(folder_variable, folder.c_str(), 1); }
  ~Children() {
    ::unsetenv(folder_variable);
    for (const pid_t pid : running_) kill_one(pid);
  }

  pid_t start(const std::string& test) {
    const std::string filter = "--gtest_filter=CacheChild.DISABLED_" + test;
    const char* words[] = {"/proc/self/exe", filter.c_str(), "--gtest_also_run_disabled_tests",
                           nullptr};
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    pid_t pid = -1;
    const int error = ::posix_spawn(&pid, self_.c_str(), &files, nullptr,
                                    const_cast<char* const*>(words), environ);
    ::posix_spawn_file_actions_destroy(&files);
    EXPECT_EQ(error, 0);
    if (error == 0) running_.insert(pid);
    return pid;
  }

  /// It must have been alive until now: it ends only when it found wrong bytes or crashed.
  void stop(pid_t pid) {
    running_.erase(pid);
    const int status = kill_one(pid);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        << (WIFEXITED(status) && WEXITSTATUS(status) == 7 ? "wrong bytes" : "a crash")
        << ", status " << status;
  }

 private:
  static int kill_one(pid_t pid) {
    int status = 0;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, &status, 0);
    return status;
  }

  const std::string self_ = fs::read_symlink("/proc/self/exe").string();
  std::set<pid_t> running_;
};

class CacheProcesses : public CacheTest {};

TEST_F(CacheProcesses, never_give_wrong_bytes_while_entries_are_damaged_and_writers_killed) {
  Children children(directory());
  std::vector<pid_t> users;
  for (int i = 0; i < 8; ++i) users.push_back(children.start("uses"));
  const pid_t vandal = children.start("damages");
  std::mt19937 random(2);
  CompileCache own(crowded(directory()));  // the parent is a user too
  const auto stop = Clock::now() + std::chrono::seconds(4);
  while (Clock::now() < stop) {
    const auto pause = Clock::now() + std::chrono::milliseconds(40);
    while (Clock::now() < pause) EXPECT_FALSE(use_once(own, random() % n_programs));
    pid_t& victim = users[random() % users.size()];
    children.stop(victim);
    victim = children.start("uses");
  }
  for (const pid_t pid : users) children.stop(pid);
  children.stop(vandal);
  const CacheStats s = own.stats();
  EXPECT_GT(s.disk_hits, 0u);
  EXPECT_GT(s.misses, 0u);
  EXPECT_GT(s.bad_entries, 0u) << "the vandal did nothing";

  // Usable afterwards: everything can be stored and found, what the dead left goes with time, and
  // the size holds.
  size_t left = 0;
  for (const auto& file : fs::directory_iterator(entries()))
    if (file.path().filename().string().starts_with("tmp-")) {
      ++left;
      std::fstream(file.path(), std::ios::in | std::ios::out) << "VYRC";  // what the vandal damaged
      fs::last_write_time(file.path(), fs::file_time_type::clock::now() - std::chrono::hours(2));
    }
  EXPECT_GT(left, 0u) << "no writer was killed in the middle of a write";
  for (uint32_t i = 0; i < n_programs; ++i) {
    CompileCache cache(crowded(directory()));
    EXPECT_FALSE(use_once(cache, i));
    EXPECT_FALSE(use_once(cache, i));
    EXPECT_EQ(cache.stats().disk_hits, cache.stats().stores == 1 ? 1u : 2u) << i;
  }
  uint64_t bytes = 0;
  for (const auto& file : fs::directory_iterator(entries())) {
    if (file.path().filename() == "CACHEDIR.TAG") continue;
    EXPECT_FALSE(file.path().filename().string().starts_with("tmp-")) << file.path();
    bytes += file.file_size();
  }
  EXPECT_LE(bytes, disk_bytes);
}

}  // namespace
}  // namespace vyre::driver
