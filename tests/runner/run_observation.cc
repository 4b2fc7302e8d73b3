#include "tests/runner/run_observation.h"

#include <fmt/format.h>

#include <algorithm>

#include "differential/expected_codes.h"

namespace vyre::runner {
namespace {

/// `// out: name = values`, broken into lines of about a hundred columns.
void append_out(std::vector<std::string>& lines, const std::string& head,
                const std::vector<std::string>& values) {
  std::string line = "// out: " + head + " =";
  for (const std::string& v : values) {
    if (line.size() + v.size() > 99) {
      lines.push_back(std::move(line));
      line = "//     ";
    }
    line += ' ' + v;
  }
  lines.push_back(std::move(line));
}

}  // namespace

Observation observe(const cli::Target& target, const Result<cli::RunResult>& result) {
  Observation o;
  if (!result) {
    o.errors = result.errors();
    return o;
  }
  for (const cli::Parameter& p : target.parameters)
    if (is_host_output(p.role)) o.outputs.push_back({p.name, p.element, result->buffers[p.buffer]});
  return o;
}

std::vector<std::string> expected_lines(const std::vector<Expectation>& before,
                                        const Observation& o) {
  std::vector<std::string> lines;
  if (const auto trap = trap_of(o)) return {"// traps: " + *trap};
  if (!o.errors.empty()) {
    std::vector<lab::ExpectedCode> codes;
    for (const Diagnostic& d : o.errors)
      if (d.severity == Severity::Error) codes.push_back({d.code, ""});
    return {"// fails: " + lab::print_codes(codes)};
  }
  const auto values = [](const Observation::Output& out, uint64_t count) {
    std::vector<std::string> list;
    for (uint64_t i = 0; i < std::min(count, out.elements()); ++i) list.push_back(out.text_of(i));
    return list;
  };
  for (const Expectation& e : before) {  // the same outputs, as much of them
    const auto old = e.kind == Expect::Out ? lab::parse_out(e.text) : std::nullopt;
    const auto* output = old ? o.find(old->name) : nullptr;
    if (!output) continue;
    append_out(lines, old->first ? fmt::format("{}:{}", old->name, *old->first) : old->name,
               values(*output, old->first.value_or(~uint64_t{0})));
  }
  if (lines.empty())
    for (const auto& out : o.outputs) append_out(lines, out.name, values(out, ~uint64_t{0}));
  if (lines.empty()) lines.push_back("// out:");
  return lines;
}

}  // namespace vyre::runner
