#pragma once

// A file that a command will write: opened before the work, so that a path that cannot be written
// costs no work, and replaced after it, whole or not at all.

#include <sys/stat.h>

#include <optional>
#include <span>
#include <string>

#include "support/file.h"

namespace vyre {

/// The target of an output. Bytes for a regular file go to a temporary file in the same folder,
/// which commit() renames; where the file system can, it has no name before, so that a process that
/// is killed leaves nothing. A symbolic link is followed, and an existing file keeps its
/// permissions. Something else (a device, a pipe, the file that is standard output) is written
/// directly.
class OutputFile {
 public:
  OutputFile() = default;
  OutputFile(OutputFile&& other) noexcept { swap(other); }
  OutputFile& operator=(OutputFile&& other) noexcept {
    swap(other);
    return *this;
  }
  ~OutputFile();

  /// Changes nothing at `path`. A pipe is only opened by write(): that waits for its reader.
  static std::optional<FileError> open(const std::string& path, OutputFile& into);

  /// True if both are the same file, by device and inode: names, links and folders do not matter.
  bool is_same(const OutputFile& other) const;
  /// True if write() changes the target itself.
  bool is_direct() const { return direct_; }

  /// Writes all bytes of the output. Called once.
  std::optional<FileError> write(std::span<const std::byte> bytes);
  /// Replaces the target with the written contents.
  std::optional<FileError> commit();

 private:
  struct Id {
    dev_t device = 0;
    ino_t inode = 0;
    std::string name;  // of a file that does not exist: its name in the folder `inode`
    bool operator==(const Id&) const = default;
  };
  void swap(OutputFile& other) noexcept;
  std::optional<FileError> open_direct(const struct stat& info, int stream);
  std::optional<FileError> open_temporary(bool exists);

  std::string path_;       // as it was given, for messages
  std::string target_;     // with links resolved
  std::string temporary_;  // its name; "": none yet
  Id id_;
  mode_t mode_ = 0;
  int fd_ = -1;
  bool direct_ = false;
};

}  // namespace vyre
