#include "tests/runner/markers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace vyre::runner {
namespace {

size_t find_marker(std::string_view line, size_t from) {
  return std::min(line.find("//!", from), line.find("//?", from));
}

std::optional<Marker> parse_marker(std::string_view text, size_t line, bool error) {
  Marker m{line, static_cast<long>(line) + 1, error, "", {}};
  if (const size_t at = text.find('@'); at != text.npos && text.find('"') > at) {
    const std::string_view where = text.substr(at, text.find_first_of(" \t", at) - at);
    m.where = std::string(where);
    long offset = 0;
    const char* digits = where.data() + (where.starts_with("@+") ? 2 : 1);
    const auto [end, bad] = std::from_chars(digits, where.data() + where.size(), offset);
    if (where == "@file")
      m.target = no_line;
    else if (bad != std::errc() || end != where.data() + where.size())
      return std::nullopt;
    else
      m.target += offset;
    auto codes =
        parse_codes(std::string(text.substr(0, at)) + std::string(text.substr(at + where.size())));
    if (!codes) return std::nullopt;
    m.codes = std::move(*codes);
    return m;
  }
  auto codes = parse_codes(text);
  if (!codes) return std::nullopt;
  m.codes = std::move(*codes);
  return m;
}

/// True if the diagnostic needs a marker.
bool is_marked(const Diagnostic& d, bool all) {
  return d.severity == Severity::Error || (all && d.severity == Severity::Warning);
}

}  // namespace

std::vector<Marker> read_markers(const TestFile& test, Verdict& verdict) {
  std::vector<Marker> markers;
  for (size_t i = 0; i < test.lines.size(); ++i) {
    const std::string_view line = test.lines[i];
    for (size_t at = find_marker(line, 0); at != line.npos;) {
      const size_t next = find_marker(line, at + 3);
      const auto marker =
          parse_marker(trimmed(line.substr(at + 3, next == line.npos ? next : next - at - 3)), i,
                       line[at + 2] == '!');
      if (marker)
        markers.push_back(*marker);
      else
        verdict.fail(
            fmt::format("line {}: this marker cannot be read: {}", i + 1, line.substr(at)));
      at = next;
    }
  }
  return markers;
}

long line_of(const Diagnostic& d, const TestFile& test) {
  return d.place.file == test.path || d.place.file.empty() ? static_cast<long>(d.place.line)
                                                           : no_line;
}

void compare_with_markers(const std::vector<Marker>& markers, std::vector<const Diagnostic*> found,
                          const TestFile& test, bool all, Verdict& verdict) {
  for (const Marker& m : markers) {
    for (const ExpectedCode& code : m.codes) {
      const auto at = std::find_if(found.begin(), found.end(), [&](const Diagnostic* d) {
        return line_of(*d, test) == m.target && (d->severity == Severity::Error) == m.error &&
               code.matches(*d);
      });
      if (at != found.end())
        found.erase(at);
      else
        verdict.fail(
            fmt::format("line {}: expected {}, which did not come", m.target, code.text()));
    }
  }
  for (const Diagnostic* d : found)
    if (is_marked(*d, all)) verdict.fail("not expected: " + brief({*d}));
}

std::string bless_markers(const TestFile& test, const std::vector<Marker>& markers,
                          const Diagnostics& diagnostics, bool all) {
  std::vector<Marker> fresh;
  const auto marker_for = [&](long target, bool error) -> Marker& {
    for (Marker& m : fresh)
      if (m.target == target && m.error == error) return m;
    Marker m{target == no_line ? 0 : static_cast<size_t>(target) - 1,
             target,
             error,
             target == no_line ? "@file" : "",
             {}};
    for (const Marker& old : markers)
      if (old.target == target && old.error == error) m.line = old.line, m.where = old.where;
    return fresh.emplace_back(std::move(m));
  };
  for (const Diagnostic& d : diagnostics) {
    if (!is_marked(d, all)) continue;
    Marker& m = marker_for(line_of(d, test), d.severity == Severity::Error);
    ExpectedCode code{d.code, ""};
    for (const Marker& old : markers)
      for (const ExpectedCode& c : old.codes)
        if (old.target == m.target && c.matches(d)) code.message = c.message;
    m.codes.push_back(std::move(code));
  }
  for (const Marker& old : markers)
    if (!old.error && !all) fresh.push_back(old);

  std::vector<std::string> lines;
  for (size_t i = 0; i < test.lines.size(); ++i) {
    const std::string& before = test.lines[i];
    const size_t cut = find_marker(before, 0);
    std::string line = before.substr(0, cut);
    if (cut != std::string::npos) line = line.substr(0, line.find_last_not_of(" \t") + 1);
    std::string
        own_line;  // for errors of the whole file, unless their marker shares a line already
    for (const Marker& m : fresh) {
      if (m.line != i || m.codes.empty()) continue;
      if (m.where == "@file" && cut == std::string::npos) {
        own_line = "//! @file " + print_codes(m.codes);
        continue;
      }
      line += fmt::format("{}//{} {}{}{}", line.empty() ? "" : "  ", m.error ? '!' : '?', m.where,
                          m.where.empty() ? "" : " ", print_codes(m.codes));
    }
    if (!line.empty() || cut == std::string::npos) lines.push_back(std::move(line));
    if (!own_line.empty()) lines.push_back(std::move(own_line));
  }
  return join_lines(lines);
}

}  // namespace vyre::runner
