#pragma once

// The files that a command writes: `--out`, `--report`, `--trace`, `--profile-out`. All of them are
// opened before the work, so that a misspelt folder does not cost an hour of computation. None is
// changed before all are written.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostics/result.h"
#include "support/output_file.h"

namespace vyre::cli {

class OutputFiles {
 public:
  /// Opens a file that an option names. Adds an error and returns false if it cannot be written, or
  /// if another option writes to the same file. `what` is for messages: "the report".
  bool open(std::string what, const std::string& path, Diagnostics& mistakes);

  /// True if writing changes the target at once (OutputFile::is_direct).
  bool is_direct(const std::string& path) const;
  /// Writes the bytes of a file that was opened by this path.
  Diagnostics write(const std::string& path, std::span<const std::byte> bytes);
  Diagnostics write(const std::string& path, std::string_view text);

  /// Discards the data written so far: those files stay as they were.
  void discard();
  /// Moves the written files to their final places, one after another.
  Diagnostics commit();

 private:
  struct Entry {
    std::string what;
    std::string path;
    OutputFile file;
    bool is_written = false;
    bool is_contested = false;  // two options name it: nothing is written
  };
  Diagnostic cannot_write(const Entry& entry, const FileError& error) const;

  std::vector<Entry> entries_;
};

}  // namespace vyre::cli
