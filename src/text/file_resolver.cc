// Imports and table files on disk.

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "text/parse.h"

namespace vyre {
namespace {

namespace fs = std::filesystem;

/// The path without links and `..`, where it exists; the rest is unchanged.
fs::path without_links(const fs::path& path) {
  std::error_code failed;
  fs::path p = fs::weakly_canonical(fs::absolute(path, failed), failed);
  return failed ? path : p;
}

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto [rest, in_path] =
      std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  (void)in_path;
  return rest == folder.end() || (rest->empty() && std::next(rest) == folder.end());  // "folder/"
}

}  // namespace

ImportResolver file_resolver(const FileAccess& access) {
  ImportResolver resolver;
  resolver.name = [](const std::string& path, const std::string& from) {
    const fs::path p =
        fs::path(path).is_absolute() ? fs::path(path) : fs::path(from).parent_path() / path;
    return p.lexically_normal().string();
  };
  resolver.read = [root = access.root](const std::string& name,
                                       uint64_t max_bytes) -> FileContents {
    if (root.empty()) return read_regular_file(name, max_bytes);
    // The path without links is the one that is opened.
    const fs::path real = without_links(name);
    if (is_below(real, without_links(root))) return read_regular_file(real.string(), max_bytes);
    return {"", FileError{EACCES, fmt::format("'{}' is outside of the folder '{}'", name, root)}};
  };
  return resolver;
}

}  // namespace vyre
