#pragma once

// What must hold for any text with imports and tables, over files in memory: it ends, every file is
// read once, or once as an import and once as a table, and what it gives is a module or errors with
// codes and fixes. libFuzzer calls it with what it finds, the tests with seeded texts.

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "check/check.h"
#include "check_errors.h"
#include "text/parse.h"

namespace vyre {

/// Files by name, and the main one. In the fuzzed text a line "--- NAME" begins each of the others.
struct ImportedFiles {
  std::string main;
  std::map<std::string, std::string> others;
};
inline ImportedFiles split_files(std::string_view text) {
  constexpr std::string_view mark = "\n--- ";
  ImportedFiles files;
  size_t at = text.find(mark);
  files.main = std::string(text.substr(0, at));
  while (at != text.npos) {
    const size_t name = at + mark.size(), line_end = std::min(text.find('\n', name), text.size());
    at = text.find(mark, line_end);
    files.others[std::string(text.substr(name, line_end - name))] =
        std::string(text.substr(line_end, at == text.npos ? at : at - line_end));
  }
  return files;
}

/// "" or what is wrong.
inline std::string check_import_resolver(std::string_view text) {
  const ImportedFiles files = split_files(text);
  std::string problem;
  std::set<std::string> read;
  ParseOptions options{.file_name = "main.vyre", .memory_limit = 256u << 20};
  // Of each file the names are those of the disk; none is opened.
  options.resolver.name = file_resolver().name;
  options.resolver.read = [&](const std::string& name, uint64_t max_bytes) -> FileContents {
    const bool is_table = max_bytes <= 65536;  // imports may have hundreds of MiB
    if (!read.insert(name + (is_table ? "@" : "")).second)
      problem = "a file is read twice: " + name;
    if (read.size() > 2000) problem = "more than 2,000 files are read";
    const auto file = files.others.find(name);
    if (file == files.others.end()) return {"", FileError{ENOENT, "not found"}};
    if (file->second.size() > max_bytes) return {"", FileError{EFBIG, "larger than the limit"}};
    return {file->second, std::nullopt};
  };
  const ParseOutcome outcome = parse(files.main, options);
  if (!problem.empty()) return problem;
  for (const Diagnostic& d : outcome.diagnostics) (void)render(d, outcome.sources);
  if (!outcome.module) return check_errors(outcome.diagnostics);
  if (has_errors(outcome.diagnostics)) return "a module with errors";
  if (outcome.own_kernels > outcome.module->kernels.size() ||
      outcome.own_graphs > outcome.module->graphs.size())
    return "more kernels or graphs of its own than there are";
  const Diagnostics found = check(*outcome.module);
  return has_errors(found) ? check_errors(found) : "";
}

}  // namespace vyre
