#include "support/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>

namespace vyre {
namespace {

constexpr CodeInfo table[] = {
#define VYRE_CODE(number, name, severity, title, page) \
  {Code::name, #name, Severity::severity, title, page},
#include "support/codes/all.def"
#undef VYRE_CODE
};

const CodeInfo* lookup(uint32_t number) {
  const auto* end = std::end(table);
  const auto* row = std::lower_bound(
      std::begin(table), end, number,
      [](const CodeInfo& c, uint32_t n) { return static_cast<uint32_t>(c.code) < n; });
  return row != end && static_cast<uint32_t>(row->code) == number ? row : nullptr;
}

}  // namespace

std::span<const CodeInfo> all_codes() { return table; }

const CodeInfo& info(Code code) {
  const CodeInfo* row = lookup(static_cast<uint32_t>(code));
  assert(row && "a Code that is no row of codes/*.def, or rows out of order");
  return *row;
}

std::string to_string(Code code) { return fmt::format("V{:04}", static_cast<uint32_t>(code)); }

const CodeInfo* find_code(std::string_view text) {
  if (!text.empty() && (text[0] == 'V' || text[0] == 'v')) text.remove_prefix(1);
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return nullptr;
  return lookup(number);
}

Diagnostic& Diagnostic::note(std::string text, Place at) {
  notes.push_back({std::move(text), std::move(at)});
  return *this;
}

Diagnostic& Diagnostic::with_fix(std::string text) {
  fix = std::move(text);
  return *this;
}

Diagnostic diagnose(Code code, Place place, std::string message) {
  Diagnostic d;
  d.code = code;
  d.severity = info(code).severity;
  d.message = std::move(message);
  d.place = std::move(place);
  return d;
}

bool has_errors(const Diagnostics& list) {
  return std::any_of(list.begin(), list.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::Error; });
}

}  // namespace vyre
