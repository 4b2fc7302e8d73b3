#include "tests/runner/transport_mode.h"

#include "check/check.h"
#include "text/parse.h"
#include "text/print.h"
#include "wire/wire.h"

namespace vyre::runner {
namespace {

Result<Module> checked(Module module) {
  Diagnostics errors;
  for (Diagnostic& d : check(module))
    if (d.severity == Severity::Error) errors.push_back(std::move(d));
  if (!errors.empty()) return errors;
  return module;
}

}  // namespace

Result<Module> through_text(const Module& module) {
  ParseOptions options;
  options.file_name = "<printed>";
  ParseOutcome outcome = parse(print(module), options);
  if (!outcome.module) return std::move(outcome.diagnostics);
  return checked(std::move(*outcome.module));
}

Result<Module> through_wire(const Module& module) {
  auto decoded = decode_module(encode(module));
  if (!decoded) return decoded;
  return checked(std::move(*decoded));
}

}  // namespace vyre::runner
