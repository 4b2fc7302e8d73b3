#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "support/output_file.h"

namespace vyre {
namespace {

namespace fs = std::filesystem;

// A separate folder for each test, because ctest runs tests in parallel.
class File : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "vyre_file_test.XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  int entries() const {
    return static_cast<int>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(File, reads_regular_files_only_where_asked_to) {
  ASSERT_FALSE(write_file(path("a"), std::string_view("text")));
  EXPECT_EQ(read_regular_file(path("a")).bytes, "text");
  EXPECT_EQ(read_regular_file(path("a"), 4).bytes, "text");
  EXPECT_EQ(read_regular_file(path("a"), 3).error->code, EFBIG);
  EXPECT_EQ(read_regular_file(path("missing")).error->code, ENOENT);
  EXPECT_EQ(read_regular_file(folder_.string()).error->code, EISDIR);
  EXPECT_EQ(read_regular_file("/dev/zero").error->code, EINVAL);
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_regular_file(path("pipe")).error->code, EINVAL);      // does not wait for a writer
  EXPECT_FALSE(read_regular_file("/proc/self/status").bytes.empty());  // its stated size is 0
}

TEST_F(File, reads_back_every_byte_it_wrote) {
  std::string bytes;
  for (int i = 0; i < 300'000; ++i) bytes.push_back(static_cast<char>(i * 7));
  ASSERT_FALSE(write_file(path("a"), bytes));
  const FileContents read = read_file(path("a"));
  ASSERT_TRUE(read) << read.error->what;
  EXPECT_EQ(read.bytes, bytes);
  EXPECT_EQ(entries(), 1) << "the temporary file is still there";
}

TEST_F(File, reads_an_empty_file) {
  ASSERT_FALSE(write_file(path("a"), std::string_view()));
  const FileContents read = read_file(path("a"));
  EXPECT_TRUE(read);
  EXPECT_EQ(read.bytes, "");
}

TEST_F(File, missing_file_is_an_error_that_names_it) {
  const FileContents read = read_file(path("nothing"));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error->code, ENOENT);
  EXPECT_NE(read.error->what.find(path("nothing")), std::string::npos) << read.error->what;
}

TEST_F(File, folder_is_an_error) {
  EXPECT_EQ(read_file(folder_.string()).error->code, EISDIR);
  EXPECT_EQ(write_file(folder_.string(), "x")->code, EISDIR);
}

TEST_F(File, cap_is_inclusive) {
  ASSERT_FALSE(write_file(path("a"), "12345"));
  EXPECT_EQ(read_file(path("a"), 5).bytes, "12345");
  const FileContents over = read_file(path("a"), 4);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error->code, EFBIG);
  EXPECT_EQ(over.bytes, "");
}

TEST_F(File, cap_holds_for_an_endless_file) {
  const FileContents read = read_file("/dev/zero", 100'000);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error->code, EFBIG);
}

TEST_F(File, sparse_giant_is_refused_without_reading_it) {
  const int fd = ::open(path("big").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  ASSERT_GE(fd, 0);
  const bool grown = ::ftruncate(fd, off_t{1} << 42) == 0;
  ::close(fd);
  if (!grown) GTEST_SKIP() << "the file system has no files of 4 TiB";
  EXPECT_EQ(read_file(path("big")).error->code, EFBIG);
}

TEST_F(File, failed_write_leaves_the_old_file) {
  const auto error = write_file(path("no/such/folder/a"), "new");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, ENOENT);
  EXPECT_EQ(entries(), 0);
}

TEST_F(File, replacing_keeps_permissions_and_links) {
  ASSERT_FALSE(write_file(path("a"), "old"));
  ASSERT_EQ(::chmod(path("a").c_str(), 0640), 0);
  fs::create_symlink(path("a"), path("link"));
  ASSERT_FALSE(write_file(path("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("a")).bytes, "new");
  struct stat info{};
  ASSERT_EQ(::stat(path("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(File, new_file_has_the_permissions_of_the_umask) {
  const mode_t before = ::umask(027);
  const auto error = write_file(path("a"), "x");
  ::umask(before);
  ASSERT_FALSE(error);
  struct stat info{};
  ASSERT_EQ(::stat(path("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(File, writes_to_what_is_no_regular_file) {
  EXPECT_FALSE(write_file("/dev/null", "x"));
  EXPECT_EQ(write_file("/dev/full", "x")->code, ENOSPC);
}

TEST_F(File, opened_output_changes_nothing_until_it_is_committed) {
  ASSERT_FALSE(write_file(path("a"), "before"));
  const std::string bytes = "after";
  {
    OutputFile old, created, null;
    ASSERT_FALSE(OutputFile::open(path("a"), old));
    ASSERT_FALSE(OutputFile::open(path("new"), created));
    ASSERT_FALSE(OutputFile::open("/dev/null", null));
    EXPECT_FALSE(old.is_direct() || created.is_direct());
    EXPECT_TRUE(null.is_direct());
    EXPECT_FALSE(old.is_same(created));
    ASSERT_FALSE(old.write(std::as_bytes(std::span(bytes))));
    ASSERT_FALSE(created.write(std::as_bytes(std::span(bytes))));
    EXPECT_EQ(read_file(path("a")).bytes, "before");
    EXPECT_FALSE(fs::exists(path("new")));
    ASSERT_FALSE(created.commit());
    EXPECT_EQ(read_file(path("new")).bytes, "after");
  }
  EXPECT_EQ(read_file(path("a")).bytes, "before");
  EXPECT_EQ(entries(), 2) << "the temporary file is still there";
  OutputFile file;
  EXPECT_EQ(OutputFile::open(path("missing/a"), file)->code, ENOENT);
  EXPECT_EQ(OutputFile::open(folder_.string(), file)->code, EISDIR);
  EXPECT_EQ(OutputFile::open("", file)->code, ENOENT);
}

// So that a process that is killed leaves nothing.
TEST_F(File, opened_output_has_no_name) {
  const int fd = ::open(folder_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) GTEST_SKIP() << "the file system has no files without a name";
  ::close(fd);
  OutputFile file;
  ASSERT_FALSE(OutputFile::open(path("a"), file));
  ASSERT_FALSE(file.write(std::as_bytes(std::span("x"))));
  EXPECT_EQ(entries(), 0);
}

}  // namespace
}  // namespace vyre
