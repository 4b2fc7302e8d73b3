#include "diagnostics/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>

namespace vyre {

Severity severity_of(Code code) {
  switch (code) {
#define VYRE_CODE(number, name, severity) \
  case Code::name: return Severity::severity;
#include "diagnostics/codes.def"
#undef VYRE_CODE
  }
  return Severity::Error;
}

std::string to_string(Code code) { return fmt::format("V{:04}", static_cast<uint32_t>(code)); }

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
  d.severity = severity_of(code);
  d.message = std::move(message);
  d.place = std::move(place);
  return d;
}

bool has_errors(const Diagnostics& list) {
  return std::any_of(list.begin(), list.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::Error; });
}

}  // namespace vyre
