#pragma once

// What must hold for any text given to the parser. libFuzzer calls it with what it finds, the tests
// with seeded corruptions of real sources.

#include <string>
#include <string_view>

#include "check/check.h"
#include "text/format.h"
#include "text/parse.h"
#include "text/print.h"
#include "wire/fingerprint.h"

namespace vyre {

/// "" or what is wrong. Errors come with a code, a place in the text and a fix; what is accepted
/// prints, comes back the same, and survives the checker and the formatter.
inline std::string check_parser(std::string_view source) {
  const ParseOutcome r = parse(std::string(source));
  for (const Diagnostic& d : r.diagnostics) {
    if (d.message.empty()) return "an error without a message: " + to_string(d.code);
    if (d.severity == Severity::Error && d.fix.empty())
      return "an error without a fix: " + d.message;
    (void)render(d, r.sources);
  }
  if (!r.module) return has_errors(r.diagnostics) ? "" : "no module and no error";
  const bool legal = !has_errors(check(*r.module));
  const Result<std::string> formatted = format_source(source, "<input>");
  if (!formatted) return "the formatter refuses what the parser takes";
  const ParseOutcome again = parse(*formatted);
  if (!again.module) return "formatting breaks the text:\n" + *formatted;
  for (size_t i = 0; i < r.module->kernels.size(); ++i)
    if (fingerprint(again.module->kernels[i]) != fingerprint(r.module->kernels[i]))
      return "formatting changes the meaning:\n" + *formatted;
  const Result<std::string> twice = format_source(*formatted, "<input>");
  if (!twice || *twice != *formatted) return "formatting twice differs:\n" + *formatted;
  if (!legal || (r.module->kernels.empty() && r.module->graphs.empty())) return "";
  const std::string text = print(*r.module);
  const ParseOutcome back = parse(text);
  if (!back.module)
    return "the print does not parse:\n" + text + render(back.diagnostics, back.sources);
  if (print(*back.module) != text) return "the print of the print differs:\n" + text;
  for (size_t i = 0; i < r.module->kernels.size(); ++i)
    if (fingerprint(back.module->kernels[i]) != fingerprint(r.module->kernels[i]))
      return "the print is another program:\n" + text;
  return "";
}

}  // namespace vyre
