// Readable assembly: without the directives that only an assembler needs, each instruction with the
// source location of its op.

#include <charconv>

#include "codegen/llvm/llvm_emit.h"

namespace vyre::emit_llvm {
namespace {

std::string_view trimmed(std::string_view line) {
  const size_t at = line.find_first_not_of(" \t");
  return at == line.npos ? std::string_view() : line.substr(at);
}

/// The second number of "1 42 0".
uint32_t line_of(std::string_view location) {
  const size_t space = location.find(' ');
  if (space == location.npos) return 0;
  uint32_t line = 0;
  std::from_chars(location.data() + space + 1, location.data() + location.size(), line);
  return line;
}

bool starts_with_one_of(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  for (const std::string_view b : beginnings)
    if (text.starts_with(b)) return true;
  return false;
}

/// True for labels of the line table and directives of the object file.
bool is_noise(std::string_view word) {
  return starts_with_one_of(word, {".file", ".cfi_", ".Ltmp", ".Lfunc_", ".loc", ".size", ".ident",
                                   ".addrsig", ".section\t\".note", ".section\t.debug"});
}

std::string with_spaces(std::string_view line) {
  std::string text;
  for (const char c : line) {
    if (c == '\t')
      text.append(8 - text.size() % 8, ' ');
    else
      text += c;
  }
  return text;
}

}  // namespace

Result<Listing> list_code(const Program& program, EmitOptions options) {
  options.lines = true;
  Result<Module> module = emit(program, options);
  if (!module) return module.errors();
  optimize(*module);
  const Result<std::string> assembly = to_assembly(*module);
  if (!assembly) return assembly.errors();

  Listing listing;
  listing.language = std::string(name(options.isa)) + " assembly";
  Place here;  // of the instructions that follow
  const std::string_view text = *assembly;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at), word = trimmed(line);
    at = end + 1;
    if (word.starts_with(".loc\t")) {
      const uint32_t number = line_of(word.substr(5));
      const bool known = number != 0 && number <= program.ops.size();
      here = known ? program.place(program.op(OpId(number - 1)).loc) : Place{};
    }
    if (word.empty() || is_noise(word)) continue;
    // A directive or a label is not an instruction. Functions without locations come one after the
    // other.
    const bool is_instruction = word.data() != line.data() && word[0] != '.';
    if (word.starts_with(".type")) here = {};
    listing.add(with_spaces(line), is_instruction ? here : Place{});
  }
  return listing;
}

}  // namespace vyre::emit_llvm
