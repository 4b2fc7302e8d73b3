#include "differential/differential.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "check/check.h"
#include "text/lower/literal.h"

namespace vyre::lab {
namespace {

struct NamedBuffer {
  std::string name;
  Type element;
};

NamedBuffer buffer_of(const Generated& g, size_t i) {
  if (g.is_graph())
    return {g.module.graphs[0].buffers[i].name, g.module.graphs[0].buffers[i].element};
  return {g.module.kernels[0].buffers[i].name, g.module.kernels[0].buffers[i].element};
}

std::string element_text(Type element, const std::vector<std::byte>& bytes, size_t i) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + i * size_of(element), size_of(element));
  return fmt::format("{} (0x{:0{}x})", text::print_value(element, bits), bits,
                     size_of(element) * 2);
}

template <class Outcome>
Result<Outputs> outputs_of(Result<Outcome> outcome) {
  if (outcome) return Outputs{std::move(outcome->buffers), "", ""};
  const Diagnostic& first = outcome.errors().front();
  if (first.code != Code::Trapped) return std::move(outcome.errors());
  return Outputs{{}, first.message, ""};
}

Diagnostic failed(const std::string& who, const Diagnostics& errors) {
  Diagnostic d =
      diagnose(Code::SubjectFailed, {},
               fmt::format("{} failed: {} {}", who, to_string(errors[0].code), errors[0].message));
  for (const Note& n : errors[0].notes) d.note(n.message);
  return d;
}

/// A device that splits at grid barriers names the segment of a trap. That is additional
/// information, not a difference.
std::string without_segment(std::string trap) {
  const size_t at = trap.find("segment ");
  const size_t end = trap.find(": ", at);
  if (at != trap.npos && end != trap.npos && trap.find(" of ", at) < end)
    trap.erase(at, end + 2 - at);
  return trap;
}

}  // namespace

Result<Outputs> run_interpreter(const Module& module, const Generated& g,
                                const interp::Options& given) {
  interp::Options options = given;
  options.time_limit = g.limits.seconds;
  options.lane_op_limit = g.limits.lane_ops;
  if (!g.is_graph()) return outputs_of(interp::run(module.kernels[0], g.inputs, options));
  return outputs_of(
      interp::run(module, module.graphs[0], {g.inputs.data, g.inputs.lengths}, options));
}

Result<Outputs> reference(const Generated& g, uint32_t subgroup_size) {
  return run_interpreter(g.module, g, {.subgroup_size = subgroup_size});
}

std::string difference(const Generated& g, const Outputs& expected, const Outputs& got) {
  if (without_segment(expected.trap) != without_segment(got.trap)) {
    const auto say = [](const Outputs& o) {
      return o.trap.empty() ? std::string("no trap") : o.trap;
    };
    return fmt::format("expected {}, got {}", say(expected), say(got));
  }
  if (!expected.trap.empty()) return "";
  if (expected.buffers.size() != got.buffers.size())
    return fmt::format("expected {} buffers, got {}", expected.buffers.size(), got.buffers.size());
  for (size_t b = 0; b < expected.buffers.size(); ++b) {
    const auto& x = expected.buffers[b];
    const auto& y = got.buffers[b];
    if (x == y) continue;
    const NamedBuffer named = buffer_of(g, b);
    if (x.size() != y.size())
      return fmt::format("`{}`: expected {} bytes, got {}", named.name, x.size(), y.size());
    const auto at = std::mismatch(x.begin(), x.end(), y.begin()).first - x.begin();
    const size_t i = static_cast<size_t>(at) / size_of(named.element);
    size_t differing = 0;
    for (size_t k = 0; k < x.size(); k += size_of(named.element))
      differing += std::memcmp(x.data() + k, y.data() + k, size_of(named.element)) != 0;
    return fmt::format("`{}[{}]`: expected {}, got {}; {} of {} elements differ", named.name, i,
                       element_text(named.element, x, i), element_text(named.element, y, i),
                       differing, x.size() / size_of(named.element));
  }
  return "";
}

Verdict compare(const Generated& g, const std::vector<Subject>& subjects) {
  Verdict verdict;
  Diagnostics errors;
  for (Diagnostic& d : check(g.module))
    if (d.severity == Severity::Error) errors.push_back(std::move(d));
  if (!errors.empty()) {
    Diagnostic d = diagnose(Code::GeneratedRejected, {},
                            fmt::format("the checker refuses the program: {} {}",
                                        to_string(errors[0].code), errors[0].message));
    verdict.mismatches.push_back({"check", std::move(d)});
    return verdict;
  }
  // A program that fixes its subgroup, or does not observe it, has one result for all sizes.
  std::map<uint32_t, Result<Outputs>> references;
  const bool one_result = !g.observes_subgroup || g.fixed_subgroup() != 0;
  const auto expected = [&](uint32_t size) -> const Result<Outputs>& {
    if (one_result) size = 32;
    return references.try_emplace(size, reference(g, size)).first->second;
  };
  const Result<Outputs>& first = expected(32);
  if (!first) {
    verdict.mismatches.push_back({"reference", failed("the reference", first.errors())});
    return verdict;
  }
  verdict.expected = *first;
  for (const Subject& s : subjects) {
    if (g.seed % s.turns != s.turn || (s.applies && !s.applies(g))) continue;
    ++verdict.runs;
    const auto it = references.find(one_result ? 32 : s.subgroup_size);
    const Result<Outputs>& wanted = it != references.end() ? it->second : expected(s.subgroup_size);
    const Result<Outputs> got = s.run(g);
    if (!got) {
      const bool round_trip = got.errors()[0].code == Code::RoundTripChanged;
      verdict.mismatches.push_back(
          {s.name, round_trip ? got.errors()[0] : failed(s.name, got.errors())});
      continue;
    }
    if (!got->refused.empty()) {
      ++verdict.refused;
      continue;
    }
    if (!wanted) continue;  // sizes differ only in their subgroups: the error was reported above
    const std::string d = difference(g, *wanted, *got);
    if (!d.empty())
      verdict.mismatches.push_back(
          {s.name, diagnose(Code::ResultDiffers, {}, fmt::format("{}: {}", s.name, d))});
  }
  return verdict;
}

}  // namespace vyre::lab
