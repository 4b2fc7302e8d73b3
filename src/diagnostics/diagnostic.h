#pragma once

// Every error of every layer is a Diagnostic: a stable code, a location, a message, and a fix. The
// codes are rows of codes.def, their pages Markdown files (code_table.h).

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostics/code.h"

namespace vyre {

/// "V0102".
std::string to_string(Code code);
Severity severity_of(Code code);

/// A location in a source file. line 0: unknown (an API call, a wire file).
struct Place {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;  // 1-based, in bytes
  uint32_t length = 1;  // bytes under the caret
};

struct Note {
  std::string message;
  Place place;
};

struct Diagnostic {
  Code code;
  Severity severity = Severity::Error;
  std::string message;
  Place place;
  std::vector<Note> notes;  // "declared here", the chain of calls, …
  std::string fix;          // in the imperative: "write `u32(x)`"
  std::string op;           // mnemonic of the IR op, if one is to blame

  Diagnostic& note(std::string text, Place at = {});
  Diagnostic& with_fix(std::string text);
};

/// Creates a diagnostic with the severity of the code in codes.def.
Diagnostic diagnose(Code code, Place place, std::string message);

using Diagnostics = std::vector<Diagnostic>;

bool has_errors(const Diagnostics& list);

/// The texts of the files that diagnostics point into, by the name used in Place.
using Sources = std::map<std::string, std::string, std::less<>>;

struct RenderOptions {
  bool colour = false;
};

/// Readable text: message, location, the line with a caret, notes, fix.
std::string render(const Diagnostic& d, const Sources& sources, RenderOptions options = {});
std::string render(const Diagnostics& list, const Sources& sources, RenderOptions options = {});

/// For programs: a JSON array of objects {code, name, severity, message, file, line, column,
/// length, op, notes, fix}.
std::string to_json(const Diagnostics& list);

/// The candidate nearest to `name` by edit distance (at most a third of its length), or "".
std::string_view nearest(std::string_view name, std::span<const std::string> candidates);

}  // namespace vyre
