#pragma once

// The vyre language, from text to IR: the single entry point for readers of programs.

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "diagnostics/diagnostic.h"
#include "ir/module.h"
#include "support/file.h"

namespace vyre {

/// Finds the files that a program names: `import "path"`, and tables `@"path"`. A file of one name
/// is read once per parse.
struct ImportResolver {
  /// The name that identifies a file. `path` is the path as written in the file called `from`.
  std::function<std::string(const std::string& path, const std::string& from)> name;
  /// The bytes of the file of that name, or the error; more than max_bytes are an error.
  std::function<FileContents(const std::string& name, uint64_t max_bytes)> read;

  explicit operator bool() const { return name && read; }
};

struct ParseOptions {
  std::string file_name = "<input>";
  std::map<std::string, std::string> constants = {};  // --const N=8: overrides by name
  ImportResolver resolver = {};                       // none: imports and table files are refused
  bool trusted = false;                               // keep proofs (in_bounds, …) of IR-form text
  bool lint = false;          // warn of code that is almost certainly unintended (V0181 …)
  double time_limit = 0;      // seconds; 0: none; less, or not a number: an error
  uint64_t memory_limit = 0;  // bytes; 0: none
  // The language's limits of operations and of inlined calls; lower values refuse more programs.
  uint64_t max_ops = 16u << 20;         // of a kernel
  uint64_t max_module_ops = 64u << 20;  // of all kernels and constants, while they are expanded
};

struct ParseOutcome {
  std::optional<Module> module;  // none if there are errors
  Sources sources;               // every file read, for rendering diagnostics
  Diagnostics diagnostics;       // errors and warnings, in source order
  size_t own_kernels = 0;        // kernels and graphs of the file itself come first in the module,
  size_t own_graphs = 0;         // imported ones after them
  uint64_t errors_left_out = 0;  // those over the limit of 100
};

/// Reads a module. Imported declarations are added to those of the file. Kernels are checked only
/// for names and types: src/check checks the rest.
ParseOutcome parse(std::string source, const ParseOptions& options = {});

struct FileAccess {
  std::string root;  // a folder: files outside of it are refused, symbolic links followed; "": none
};

/// Finds files on disk, relative to the file that names them. Only regular files are read.
ImportResolver file_resolver(const FileAccess& access = {});

}  // namespace vyre
