#include "tools/vyre/output_files.h"

#include <fmt/format.h>

#include <algorithm>

namespace vyre::cli {

Diagnostic OutputFiles::cannot_write(const Entry& entry, const FileError& error) const {
  return diagnose(Code::CannotWrite, {}, fmt::format("cannot write {}: {}", entry.what, error.what))
      .with_fix("name a file in a folder that can be written to");
}

bool OutputFiles::open(std::string what, const std::string& path, Diagnostics& mistakes) {
  Entry entry{std::move(what), path, {}};
  if (const auto error = OutputFile::open(path, entry.file)) {
    mistakes.push_back(cannot_write(entry, *error));
    return false;
  }
  for (Entry& other : entries_) {
    if (!entry.file.is_same(other.file)) continue;
    Diagnostic d = diagnose(Code::GivenTwice, {}, fmt::format("two options write to `{}`", path));
    if (other.path != path) d.note(fmt::format("`{}` is the same file", other.path));
    mistakes.push_back(std::move(d.with_fix("name a different file for each")));
    other.is_contested = true;
    return false;
  }
  entries_.push_back(std::move(entry));
  return true;
}

bool OutputFiles::is_direct(const std::string& path) const {
  const auto it = std::find_if(entries_.begin(), entries_.end(),
                               [&](const Entry& e) { return e.path == path; });
  return it != entries_.end() && it->file.is_direct();
}

Diagnostics OutputFiles::write(const std::string& path, std::span<const std::byte> bytes) {
  for (Entry& e : entries_) {
    if (e.path != path || e.is_contested) continue;
    if (const auto error = e.file.write(bytes)) return {cannot_write(e, *error)};
    e.is_written = true;
  }
  return {};
}

Diagnostics OutputFiles::write(const std::string& path, std::string_view text) {
  return write(path, std::as_bytes(std::span(text)));
}

void OutputFiles::discard() {
  for (Entry& e : entries_) e.is_written = false;
}

Diagnostics OutputFiles::commit() {
  Diagnostics errors;
  for (Entry& e : entries_) {
    if (!e.is_written) continue;
    e.is_written = false;
    if (const auto error = e.file.commit()) errors.push_back(cannot_write(e, *error));
  }
  return errors;
}

}  // namespace vyre::cli
