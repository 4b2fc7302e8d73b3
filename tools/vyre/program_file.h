#pragma once

// Loads the FILE of a command line as a checked module: text or wire form, from disk or from
// standard input.

#include <map>
#include <optional>
#include <string>

#include "check/check.h"
#include "diagnostics/diagnostic.h"
#include "ir/module.h"
#include "support/file.h"

namespace vyre::cli {

/// The parts of FILE[:name]; `name` is "" if there is none.
struct FileAndName {
  std::string file;
  std::string name;
};

/// Splits at the last colon if an identifier follows it, and if the file before the colon exists or
/// the whole text does not name a file: a file may have a colon in its name.
FileAndName split_file_and_name(const std::string& text);

/// The name under which a file appears in diagnostics.
std::string shown_name(const std::string& file);

/// The bytes of a program, or the diagnostic that says why it cannot be read. "-" is standard
/// input.
struct ProgramText {
  std::string bytes;
  std::optional<Diagnostic> error;
};
ProgramText read_program_text(const std::string& file, uint64_t max_bytes = kDefaultFileCap);

/// Memory that reading and checking a program may take beside that of --memory-limit, which counts
/// its buffers.
inline constexpr uint64_t program_allowance = 64u << 20;

struct LoadOptions {
  std::map<std::string, std::string> constants;  // --const
  CheckOptions check;                            // but for its limits
  bool illegal_too = false;                      // leave out checking
  bool imports = true;
  std::string import_root;    // FileAccess::root
  double time_limit = 0;      // seconds of reading, parsing and checking; 0: none
  uint64_t memory_limit = 0;  // bytes; 0: none
};

struct LoadedModule {
  std::optional<Module> module;  // none if there are errors
  Sources sources;
  Diagnostics diagnostics;  // of reading and of checking, warnings and notes included
  size_t own_kernels = 0;   // the file's own come first in the module, imported ones after them
  size_t own_graphs = 0;
  uint64_t parse_ns = 0;  // reading included
  uint64_t check_ns = 0;
};

/// Reads, parses or decodes, and checks.
LoadedModule load_module(const std::string& file, const LoadOptions& options = {});

/// The same for bytes that are already in memory; `name` is the file's for diagnostics and imports.
LoadedModule load_module_bytes(std::string bytes, const std::string& name,
                               const LoadOptions& options = {});

}  // namespace vyre::cli
