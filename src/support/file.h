#pragma once

// Reads and writes whole files. Errors are values: a FileError holds errno and the failed step, and
// the caller turns it into a diagnostic with a code of its layer.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace vyre {

/// The error of a file operation. `code` is an errno value (EFBIG if a size cap was exceeded).
struct FileError {
  int code = 0;
  std::string what;  // "open 'a.vyre': No such file or directory"
};

/// The bytes of a file, or why they could not be read.
struct FileContents {
  std::string bytes;
  std::optional<FileError> error;

  explicit operator bool() const { return !error; }
};

/// The cap of read_file when the caller has no opinion: 1 GiB.
inline constexpr std::uint64_t kDefaultFileCap = std::uint64_t{1} << 30;

/// Reads the whole of `path`; "-" is standard input. Never holds much more than `max_bytes`: a
/// longer file is EFBIG, also when it is a pipe or a device whose size is not known beforehand. A
/// directory is EISDIR.
FileContents read_file(const std::string& path, std::uint64_t max_bytes = kDefaultFileCap);

/// Reads the whole of a regular file, and refuses everything else: a pipe or a device may block,
/// have no end, or act on being opened.
FileContents read_regular_file(const std::string& path, std::uint64_t max_bytes = kDefaultFileCap);

/// Replaces `path` by `bytes`, or leaves it as it was (OutputFile, support/output_file.h).
std::optional<FileError> write_file(const std::string& path, std::span<const std::byte> bytes);
std::optional<FileError> write_file(const std::string& path, std::string_view bytes);

}  // namespace vyre
