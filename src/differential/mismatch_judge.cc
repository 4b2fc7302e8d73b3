#include "differential/mismatch_judge.h"

#include <fmt/format.h>

#include "check/check.h"
#include "differential/device_subject.h"
#include "differential/differential.h"
#include "runtime/device_name.h"
#include "sanitizer/sanitizer.h"

namespace vyre::lab {
namespace {

bool is_reference(const Subject& s) { return s.name == "interp"; }
/// The interpreter in another order or at another subgroup size.
bool is_interpreter(const Subject& s) { return s.group() == "interp" && !is_reference(s); }

Diagnostic agree(const ConfigurationPair& pair, std::string why) {
  return diagnose(Code::NothingDiffers, {}, std::move(why))
      .with_fix(fmt::format("name two configurations that disagree, or inputs for which `{}` and "
                            "`{}` do",
                            pair.first.name, pair.second.name));
}

Diagnostic undefined(const Diagnostic& why) {
  Diagnostic d = diagnose(Code::ResultNotDefined, {},
                          "the specification does not define the results of this program");
  d.note(fmt::format("{} {}", to_string(why.code), why.message), why.place);
  return d.with_fix("repair the program first: `vyre check --sanitize` says more");
}

interp::Options options_of(const Generated& g, uint32_t subgroup_size) {
  interp::Options options;
  options.subgroup_size = subgroup_size;
  options.time_limit = g.limits.seconds;
  options.lane_op_limit = g.limits.lane_ops;
  return options;
}

interp::Sanitized sanitized(const Generated& g, uint32_t subgroup_size, interp::Schedule schedule) {
  interp::Options options = options_of(g, subgroup_size);
  options.schedule = schedule;
  return g.is_graph() ? interp::sanitize(g.module, g.module.graphs[0],
                                         {g.inputs.data, g.inputs.lengths}, options)
                      : interp::sanitize(g.module.kernels[0], g.inputs, options);
}

/// The common subgroup size of both configurations: results may depend on it.
Result<uint32_t> common_subgroup_size(const ConfigurationPair& pair, const Generated& g) {
  if (!g.observes_subgroup || g.fixed_subgroup() != 0) return uint32_t{32};
  const uint32_t size = pair.second.subgroup_size;
  if (is_reference(pair.first) || pair.first.subgroup_size == size) return size;
  return diagnose(Code::ResultNotDefined, {},
                  fmt::format("the program observes its subgroup, which has {} lanes on `{}` and "
                              "{} on `{}`",
                              pair.first.subgroup_size, pair.first.name, size, pair.second.name))
      .with_fix("fix the size of subgroups in the kernel: `subgroup(32)`");
}

/// The outcome of one configuration: "" with buffers, else the kind of its failure.
std::string ending(const Subject& s, const Result<Outputs>& r) {
  if (!r) return fmt::format("`{}` fails with {}", s.name, to_string(r.errors()[0].code));
  if (!r->trap.empty()) return fmt::format("`{}` traps", s.name);
  return "";
}

std::string described(const Subject& s, const Result<Outputs>& r) {
  if (!r)
    return fmt::format("`{}` fails: {} {}", s.name, to_string(r.errors()[0].code),
                       r.errors()[0].message);
  return fmt::format("`{}` {}", s.name, r->trap.empty() ? "ends without a trap" : r->trap);
}

/// The name of the pass that broke a program is a part of the kind.
std::string culprit(const Result<Outputs>& r) {
  if (r || r.errors()[0].code != Code::PassBrokeProgram) return "";
  const std::string& m = r.errors()[0].message;
  return m.substr(0, m.find(" broke "));
}

std::optional<Disagreement> compare_runs(const ConfigurationPair& pair, const Generated& g,
                                         const Result<Outputs>& a, const Result<Outputs>& b) {
  const std::string first = ending(pair.first, a), second = ending(pair.second, b);
  if (first.empty() && second.empty()) {
    const std::string d = difference(g, *a, *b);
    if (d.empty()) return std::nullopt;
    return Disagreement{
        "bytes", diagnose(Code::ResultDiffers, {}, fmt::format("{}: {}", pair.second.name, d))};
  }
  if (a && b && difference(g, *a, *b).empty()) return std::nullopt;  // the same trap
  if (!a && !b && a.errors()[0].code == b.errors()[0].code) return std::nullopt;
  return Disagreement{
      first + "; " + second + culprit(a) + culprit(b),
      diagnose(a && b ? Code::ResultDiffers : Code::SubjectFailed, {},
               fmt::format("{}; {}", described(pair.first, a), described(pair.second, b)))};
}

/// Returns an error if the interpreter's result differs in other orders.
std::optional<Diagnostic> depends_on_order(const Generated& g, const Result<Outputs>& expected,
                                           uint32_t subgroup_size) {
  if (!expected) return std::nullopt;
  for (const interp::Schedule schedule : {interp::Schedule::Reverse, interp::Schedule::Random}) {
    interp::Options options;
    options.subgroup_size = subgroup_size;
    options.schedule = schedule;
    options.seed = 1;
    const auto other = run_interpreter(g.module, g, options);
    if (other && difference(g, *expected, *other).empty()) continue;
    return diagnose(Code::ResultsDiffer, {},
                    other ? "in another order the interpreter gives another result: " +
                                difference(g, *expected, *other)
                          : "in another order the interpreter fails: " + other.errors()[0].message);
  }
  return std::nullopt;
}

bool takes(const Subject& s, const Generated& g) { return !s.applies || s.applies(g); }

Result<std::vector<Subject>> members(const std::string& name) {
  if (name == "interp") return std::vector<Subject>{reference_subject()};
  return choose_subjects({name});
}

}  // namespace

Subject reference_subject() {
  return {"interp", [](const Generated& g) { return reference(g); }};
}

std::optional<Diagnostic> unspecified_result(const Generated& g, uint32_t subgroup_size) {
  for (const interp::Schedule schedule : {interp::Schedule::Order, interp::Schedule::Reverse}) {
    interp::Sanitized s = sanitized(g, subgroup_size, schedule);
    for (Diagnostic& d : s.findings)
      if (d.severity == Severity::Error || d.code == Code::OrderDependent ||
          d.code == Code::OldValueOrder)
        return std::move(d);
    for (Diagnostic& d : s.errors)
      if (d.code != Code::Trapped && d.code != Code::TooLargeToSanitize) return std::move(d);
  }
  return std::nullopt;
}

Result<Disagreement> judge(const ConfigurationPair& pair, const Generated& g,
                           const Disagreement* wanted) {
  const auto size = common_subgroup_size(pair, g);
  if (!size) return size.errors();
  uint64_t lane_ops = 0;
  const auto run_reference = [&]() -> Result<Outputs> {
    const auto keep = [&](auto outcome) -> Result<Outputs> {
      if (!outcome) {
        if (outcome.errors()[0].code != Code::Trapped) return std::move(outcome.errors());
        return Outputs{{}, outcome.errors()[0].message, ""};
      }
      lane_ops = outcome->lane_ops;
      return Outputs{std::move(outcome->buffers), "", ""};
    };
    const interp::Options options = options_of(g, *size);
    if (!g.is_graph()) return keep(interp::run(g.module.kernels[0], g.inputs, options));
    return keep(
        interp::run(g.module, g.module.graphs[0], {g.inputs.data, g.inputs.lengths}, options));
  };
  const Result<Outputs> expected = run_reference();
  if (!expected) return expected.errors();
  for (const Subject* s : {&pair.first, &pair.second})
    if (!is_reference(*s) && !takes(*s, g))
      return agree(pair, fmt::format("`{}` does not take this program", s->name));
  const Result<Outputs> a = is_reference(pair.first) ? expected : pair.first.run(g);
  const Result<Outputs> b = is_reference(pair.second) ? expected : pair.second.run(g);
  for (const auto& [s, r] : {std::pair{&pair.first, &a}, {&pair.second, &b}})
    if (*r && !(*r)->refused.empty())
      return agree(pair, fmt::format("`{}` refuses this program: {}", s->name, (*r)->refused));
  auto found = compare_runs(pair, g, a, b);
  if (!found)
    return agree(
        pair, fmt::format("`{}` and `{}` give the same result", pair.first.name, pair.second.name));
  if (wanted && found->kind != wanted->kind)
    return agree(pair, fmt::format("they disagree in another way: {}", found->what.message));
  if (auto why = unspecified_result(g, *size)) return undefined(*why);
  // If the order itself is compared, the sanitizer alone decides.
  if (!is_interpreter(pair.first) && !is_interpreter(pair.second))
    if (auto why = depends_on_order(g, expected, *size)) return undefined(*why);
  found->lane_ops = lane_ops;
  return std::move(*found);
}

Result<ConfigurationPair> choose_pair(const std::string& names, const Generated& g) {
  std::vector<std::string> list = driver::split_device_names(names);
  if (list.size() == 1) list.insert(list.begin(), "interp");
  if (list.size() != 2)
    return diagnose(Code::BadOptionValue, {},
                    fmt::format("`--mismatch {}` names {} configurations, not one or two", names,
                                list.size()))
        .with_fix("write two names, such as `--mismatch interp,cpu`");
  Diagnostics errors;
  std::vector<Subject> sides[2];
  for (int i = 0; i < 2; ++i) {
    auto found = members(list[size_t(i)]);
    if (found)
      sides[i] = std::move(*found);
    else
      errors.insert(errors.end(), found.errors().begin(), found.errors().end());
  }
  if (!errors.empty()) return errors;
  const ConfigurationPair first{sides[0].front(), sides[1].front()};
  if (sides[0].size() == 1 && sides[1].size() == 1) return first;
  for (const Subject& a : sides[0])
    for (const Subject& b : sides[1])
      if (const ConfigurationPair pair{a, b}; judge(pair, g)) return pair;
  return first;
}

}  // namespace vyre::lab
