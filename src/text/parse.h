#pragma once

// The vyre language, from text to IR: the one entry that readers of programs call.

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "ir/module.h"
#include "support/diagnostic.h"

namespace vyre {

/// Gives the text of an imported file, or why not. `from` is the name of the importing file;
/// `resolved` receives the name under which the file is known from now on.
using ImportResolver =
    std::function<std::optional<std::string>(const std::string& path, const std::string& from, std::string* resolved, std::string* why)>;

struct ParseOptions {
  std::string file_name = "<input>";
  std::map<std::string, std::string> constants;  // --const N=8: overrides by name
  ImportResolver resolver;                       // none: imports and table files are refused
  bool trusted = false;                          // keep facts (in_bounds, …) of IR-form text
};

struct ParseOutcome {
  std::optional<Module> module;  // none if there are errors
  Sources sources;               // every file read, for rendering diagnostics
  Diagnostics diagnostics;       // errors and warnings, in order of place
  size_t own_kernels = 0;        // kernels and graphs of the file itself come first in the module,
  size_t own_graphs = 0;         // imported ones after them
};

/// Reads a module. Imported declarations join those of the file. Kernels are not checked yet beyond
/// names and types: src/check has the rest.
ParseOutcome parse(std::string source, const ParseOptions& options = {});

/// Resolves imports relative to the importing file on disk.
ImportResolver file_resolver();

}  // namespace vyre
