#include "diagnostics/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "diagnostics/diagnostic.h"

namespace vyre {
namespace {

struct Layer {
  uint32_t last;  // the highest code of the layer
  std::string_view title;
  std::string_view about;
};

// In the order of codes.def.
constexpr Layer layers[] = {
    {299, "Language", "The text could not be read as a vyre program."},
    {399, "Checker", "The program can be read, but breaks a rule of the language."},
    {449, "Wire files", "Bytes that should be an encoded program are not one."},
    {599, "Launch", "The program is fine; what it was launched with, or what it did, is not."},
    {649, "Command line", "The command itself, or a file that it names, is wrong."},
    {9999, "Other", "Everything else."},
};

/// The chapter of docs/language.md that describes the rule of a code; codes without a row have only
/// their page.
struct Chapter {
  Code first, last;
  std::string_view anchor;
};

constexpr Chapter chapters[] = {
    {Code::ReservedName, Code::UnknownName, "names-and-scopes"},
    {Code::UnknownAttribute, Code::WrongRole, "kernels"},
    {Code::MissingArrayLength, Code::ArrayInitializer, "arrays"},
    {Code::UnknownScope, Code::UnknownScope, "barriers-and-uniformity"},
    {Code::IndexNotInteger, Code::WriteToReadOnly, "memory"},
    {Code::TypeMismatch, Code::TypeMismatch, "types"},
    {Code::LiteralDoesNotFit, Code::FloatLiteralAsInteger, "literals"},
    {Code::StorageTypeAsValue, Code::StorageTypeAsValue, "types"},
    {Code::ReturnValueInKernel, Code::VoidFunctionAsValue, "functions"},
    {Code::NotConstant, Code::TableFile, "constants-and-tables"},
    {Code::NotAFormula, Code::LaterParameter, "sizes"},
    {Code::SharedNotAtTop, Code::SharedNotAtTop, "arrays"},
    {Code::AtomicTarget, Code::AtomicOption, "atomics"},
    {Code::UnknownKernel, Code::GraphElement, "graphs"},
    {Code::UnknownOp, Code::MalformedOp, "ir-form"},
    {Code::BarrierInDivergentFlow, Code::GridBarrierInDivergentFlow, "barriers-and-uniformity"},
    {Code::OldValueOrder, Code::FloatAddNotExact, "atomics"},
    {Code::NestingOverLimit, Code::LargeSharedMemory, "limits"},
    {Code::FunctionOfF64, Code::FunctionOfF64, "functions-of-floats"},
    {Code::CalledKernelMissing, Code::GraphBufferRole, "graphs"},
    {Code::FormulaFails, Code::FormulaFails, "sizes"},
    {Code::MissingInput, Code::BadSubgroupSize, "launches"},
    {Code::ArgumentLengthDiffers, Code::ArgumentCount, "graphs"},
    {Code::Trapped, Code::Trapped, "traps"},
    {Code::TimeLimitExceeded, Code::OutputLimitExceeded, "limits"},
    {Code::DataRace, Code::DataRace, "races"},
    {Code::BarrierMismatch, Code::BarrierMismatch, "barriers-and-uniformity"},
    {Code::OutOfBounds, Code::OutOfBounds, "out-of-bounds"},
    {Code::NeverWritten, Code::NeverWritten, "memory"},
};

std::string_view word(Severity s) {
  switch (s) {
    case Severity::Error: return "error";
    case Severity::Warning: return "warning";
    case Severity::Note: return "note";
  }
  return "error";
}

std::string_view trimmed(std::string_view page) {
  const auto first = page.find_first_not_of('\n');
  if (first == page.npos) return {};
  return page.substr(first, page.find_last_not_of(" \n") - first + 1);
}

std::string anchor(Code code) {
  std::string text = to_string(code);
  text[0] = 'v';
  return text;
}

void append_index(std::string& out, std::span<const CodeInfo> codes) {
  out += "| code | severity | what |\n|---|---|---|\n";
  for (const CodeInfo& c : codes)
    out += fmt::format("| [{}](#{}) | {} | {} |\n", to_string(c.code), anchor(c.code),
                       word(c.severity), c.title);
  out += '\n';
}

void append_pages(std::string& out, std::span<const CodeInfo> codes) {
  for (const CodeInfo& c : codes)
    out += fmt::format("<a id=\"{}\"></a>\n\n### {}: {}\n\n{}\n\n", anchor(c.code),
                       to_string(c.code), c.title, trimmed(c.page));
}

}  // namespace

std::string explain_text(const CodeInfo& code) {
  std::string out =
      fmt::format("{}[{}]: {}\n\n", word(code.severity), to_string(code.code), code.title);
  bool in_example = false;
  for (std::string_view rest = trimmed(code.page); !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.starts_with("```")) {  // a terminal shows an example by its indentation
      in_example = !in_example;
      continue;
    }
    if (in_example && !line.empty()) out += "    ";
    out += line;
    out += '\n';
  }
  return out;
}

std::string explain_links(const CodeInfo& code) {
  std::string out = fmt::format("See docs/errors.md#{}\n", anchor(code.code));
  for (const Chapter& c : chapters)
    if (c.first <= code.code && code.code <= c.last)
      out += fmt::format("and docs/language.md#{}\n", c.anchor);
  return out;
}

std::string errors_markdown() {
  std::string out =
      "# Error codes\n\n"
      "`vyre explain CODE` prints these pages. This file is generated from "
      "`src/diagnostics/codes/*.md`;\n"
      "`build/release/bin/vyre explain --markdown > docs/errors.md` makes it again.\n\n";
  std::span<const CodeInfo> rest = all_codes();
  for (const Layer& layer : layers) {
    const auto end = std::find_if(rest.begin(), rest.end(), [&](const CodeInfo& c) {
      return static_cast<uint32_t>(c.code) > layer.last;
    });
    const auto codes = rest.first(static_cast<size_t>(end - rest.begin()));
    rest = rest.subspan(codes.size());
    if (codes.empty()) continue;
    out += fmt::format("## {}\n\n{}\n\n", layer.title, layer.about);
    append_index(out, codes);
    append_pages(out, codes);
  }
  out.pop_back();  // one newline at the end
  return out;
}

}  // namespace vyre
