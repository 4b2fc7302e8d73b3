#include "differential/observation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "differential/expected_codes.h"
#include "text/lower/literal.h"

namespace vyre::lab {
namespace {

std::string short_list(const Diagnostics& errors) {
  return errors.empty() ? "it succeeded" : "it failed:\n" + brief(errors);
}

std::string mismatch_out(const std::string& text, const Observation& o) {
  if (!o.errors.empty()) return "expected outputs, but it failed:\n" + brief(o.errors);
  if (text.empty()) return "";  // a kernel without outputs only has to succeed
  const auto expected = parse_out(text);
  if (!expected)
    return fmt::format("`out: {}` is not of the form `name = v v v` or `name:n = v v v`", text);
  const auto* output = o.find(expected->name);
  if (!output) return fmt::format("there is no output called `{}`", expected->name);

  const uint64_t there = output->elements();
  const uint64_t count = std::min(there, expected->first.value_or(there));
  std::string differences;
  if (count != expected->values.size())
    differences += fmt::format("`{}`: expected {} elements, got {}\n", expected->name,
                               expected->values.size(), count);
  size_t differing = 0;
  constexpr size_t most = 8;
  for (uint64_t i = 0; i < std::min<uint64_t>(count, expected->values.size()); ++i) {
    const std::string got = output->text_of(i);
    uint64_t bits = 0;
    const bool valid = text::parse_value(expected->values[i], output->element, &bits);
    // Compares values, so that `1.0` equals `1`.
    if (valid && text::print_value(output->element, bits) == got) continue;
    if (differing++ < most)
      differences +=
          fmt::format("`{}[{}]`: expected {}{}, got {}\n", expected->name, i, expected->values[i],
                      valid ? "" : fmt::format(" (which is no {})", name(output->element)), got);
  }
  if (differing > most) differences += fmt::format("and {} more differ\n", differing - most);
  if (!differences.empty()) differences.pop_back();
  return differences;
}

std::string mismatch_traps(const std::string& text, const Observation& o) {
  const auto trap = trap_of(o);
  if (!trap) return fmt::format("expected trap {}, but {}", text, short_list(o.errors));
  const bool with_place = text.find(" at ") != std::string::npos;
  const std::string got = with_place ? *trap : trap->substr(0, trap->find(' '));
  return got == text ? "" : fmt::format("expected trap {}, got {}", text, *trap);
}

std::string mismatch_fails(const std::string& text, const Observation& o) {
  auto expected = parse_codes(text);
  if (!expected || expected->empty()) return fmt::format("`fails: {}` is no list of codes", text);
  std::vector<ExpectedCode> missing;
  Diagnostics rest;
  for (const Diagnostic& d : o.errors)
    if (d.severity == Severity::Error) rest.push_back(d);
  for (const ExpectedCode& code : *expected) {
    const auto at = std::find_if(rest.begin(), rest.end(),
                                 [&](const Diagnostic& d) { return code.matches(d); });
    if (at == rest.end())
      missing.push_back(code);
    else
      rest.erase(at);
  }
  if (missing.empty() && rest.empty()) return "";
  if (missing.empty()) return "it also failed with:\n" + brief(rest);
  return fmt::format("expected {}, but {}", print_codes(missing), short_list(o.errors));
}

}  // namespace

std::optional<OutText> parse_out(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return std::nullopt;
  const std::string_view name = trimmed(std::string_view(text).substr(0, equals));
  OutText out;
  out.name = std::string(name.substr(0, name.find(':')));
  if (const size_t colon = name.find(':'); colon != name.npos) {
    out.first = text::parse_integer(name.substr(colon + 1));
    if (!out.first) return std::nullopt;
  }
  out.values = split_words(std::string_view(text).substr(equals + 1));
  return out;
}

const Observation::Output* Observation::find(std::string_view name) const {
  const auto at =
      std::find_if(outputs.begin(), outputs.end(), [&](const auto& o) { return o.name == name; });
  return at == outputs.end() ? nullptr : &*at;
}

std::string Observation::Output::text_of(uint64_t i) const {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + i * size_of(element), size_of(element));
  return text::print_value(element, bits);
}

std::optional<std::string> trap_of(const Observation& o) {
  if (o.errors.empty() || o.errors[0].code != Code::Trapped) return std::nullopt;
  // Only the interpreter's message has the numbers; its wording is tested here.
  const std::string& m = o.errors[0].message;
  const size_t code = m.find("code ");
  const size_t at = m.find("invocation (");
  unsigned long c = 0, x = 0, y = 0, z = 0;
  if (code == m.npos || at == m.npos || std::sscanf(m.c_str() + code, "code %lu", &c) != 1 ||
      std::sscanf(m.c_str() + at, "invocation (%lu, %lu, %lu)", &x, &y, &z) != 3)
    return "a trap whose message cannot be read: " + m;
  return fmt::format("{} at {},{},{}", c, x, y, z);
}

std::string difference(const Observation& a, const Observation& b) {
  if (a.errors.empty() != b.errors.empty())
    return "once " + short_list(a.errors) + "\nand once " + short_list(b.errors);
  if (!a.errors.empty()) {
    const bool trapped = trap_of(a) && trap_of(b);
    const bool same = trapped ? trap_of(a) == trap_of(b) : a.errors[0].code == b.errors[0].code;
    return same ? "" : "once " + short_list(a.errors) + "\nand once " + short_list(b.errors);
  }
  if (a.outputs.size() != b.outputs.size()) return "the outputs are not the same";
  for (size_t k = 0; k < a.outputs.size(); ++k) {
    const auto& x = a.outputs[k];
    const auto& y = b.outputs[k];
    if (x == y) continue;
    if (x.bytes.size() != y.bytes.size())
      return fmt::format("`{}` has once {} bytes and once {}", x.name, x.bytes.size(),
                         y.bytes.size());
    const auto at =
        static_cast<uint64_t>(std::mismatch(x.bytes.begin(), x.bytes.end(), y.bytes.begin()).first -
                              x.bytes.begin()) /
        size_of(x.element);
    return fmt::format("`{}[{}]` is once {} and once {}", x.name, at, x.text_of(at), y.text_of(at));
  }
  return "";
}

std::string mismatch(const Expectation& e, const Observation& o) {
  switch (e.kind) {
    case Expect::Out: return mismatch_out(e.text, o);
    case Expect::Traps: return mismatch_traps(e.text, o);
    case Expect::Fails: return mismatch_fails(e.text, o);
    default: return "";  // of plans: tests/runner/plan_mode.cc
  }
}

}  // namespace vyre::lab
