#include "check/placement.h"

#include <fmt/format.h>

#include <optional>

#include "check/check_limits.h"

namespace vyre {
namespace {

using Kind = UniformityStep::Kind;

// The scope at which an op needs uniform flow.
std::optional<Scope> scope_of(const Program& p, OpId op) {
  const Op& o = p.ops[op];
  if (o.code == Opcode::Barrier) return static_cast<Scope>(o.attr);
  if (o.code == Opcode::UniformLoad) return p.memory(op).scope;
  if (info(o.code).effect == Effect::Convergent) return Scope::Subgroup;
  return std::nullopt;
}

std::string_view the(Scope scope) {
  constexpr std::string_view words[] = {"the subgroup", "the workgroup", "the grid"};
  return words[static_cast<int>(scope)];
}

std::string_view differs(Uniformity u) {
  constexpr std::string_view words[] = {"may differ between invocations",
                                        "may differ between subgroups",
                                        "may differ between workgroups", "is the same everywhere"};
  return words[static_cast<int>(u)];
}

class PlacementCheck {
 public:
  PlacementCheck(const Program& p, const UniformityInfo& u, Reporter& r) : p_(p), u_(u), r_(r) {}

  void check(OpId op) {
    const std::optional<Scope> scope = scope_of(p_, op);
    if (!scope || !u_.reachable(op)) return;
    const Uniformity needed = needed_for(*scope);
    if (u_.flow(op) < needed) report_flow(op, *scope);
    const Opcode code = p_.ops[op].code;
    if (code == Opcode::UniformLoad) check_operand(op, 0, *scope);
    if (code == Opcode::SubgroupBroadcast) check_operand(op, 1, *scope);
  }

 private:
  std::string title(OpId op, Scope scope) const {
    const Opcode code = p_.ops[op].code;
    if (code == Opcode::Barrier) return fmt::format("`barrier {}`", name(scope));
    return fmt::format("`{}`", mnemonic(code));
  }

  Code code_for(OpId op, Scope scope, bool after_exit) const {
    if (after_exit) return Code::DivergentExit;
    const Opcode code = p_.ops[op].code;
    if (code == Opcode::UniformLoad) return Code::UniformLoadInDivergentFlow;
    if (code != Opcode::Barrier) return Code::SubgroupOpInDivergentFlow;
    return scope == Scope::Grid ? Code::GridBarrierInDivergentFlow : Code::BarrierInDivergentFlow;
  }

  void report_flow(OpId op, Scope scope) {
    if (r_.full()) return;
    const auto steps = u_.why_flow(p_, op, needed_for(scope));
    const UniformityStep* exit = nullptr;
    for (const UniformityStep& s : steps)
      if (s.kind == Kind::Exit && !exit) exit = &s;
    // An exit matters if it is the reason for the flow; after a condition it is only the reason for
    // that condition's value.
    if (exit && steps[0].kind != Kind::Exit) exit = nullptr;
    std::string text =
        exit ? fmt::format("{} can be reached after a `{}` that not all invocations of {} take",
                           title(op, scope), mnemonic(p_.ops[exit->op].code), the(scope))
             : fmt::format("{} stands in flow that is not uniform over {}", title(op, scope),
                           the(scope));
    Diagnostic& d = r_.at_op(code_for(op, scope, exit != nullptr), op, std::move(text));
    add_notes(d, steps);
    d.with_fix(
        exit ? "drop the guard, because out-of-bounds accesses are harmless, or wrap the code "
               "between it and here in an `if`"
             : "move it out of the `if` or loop; all invocations of its scope must reach it");
  }

  void check_operand(OpId op, uint32_t i, Scope scope) {
    const ValueId v = p_.operand(op, i);
    if (u_.value(v) >= needed_for(scope) || r_.full()) return;
    const bool lane = p_.ops[op].code == Opcode::SubgroupBroadcast;
    Diagnostic& d =
        r_.at_op(lane ? Code::BroadcastLaneVaries : Code::UniformLoadIndexVaries, op,
                 fmt::format("the {} of `{}` is not uniform over {}", lane ? "lane" : "index",
                             mnemonic(p_.ops[op].code), the(scope)));
    add_notes(d, u_.why_value(p_, v, needed_for(scope)));
    d.with_fix(lane ? "use `subgroup_shuffle`, which takes any lane"
                    : "use an index that is the same for all of the scope");
  }

  // The steps up to the source; a long chain is shortened in the middle, because its ends matter
  // most.
  void add_notes(Diagnostic& d, std::span<const UniformityStep> steps) const {
    constexpr size_t most = 6;
    if (steps.empty()) return;
    const std::string source = source_text(steps.back());
    for (size_t i = 0; i < steps.size(); ++i) {
      const bool last = i + 1 == steps.size();
      if (i >= most && !last) continue;
      add_note(d, steps[i], source);
    }
  }

  std::string source_text(const UniformityStep& s) const {
    if (s.kind != Kind::Source || s.op == none) return "something that differs";
    return describe_source(p_, s.op);
  }

  void add_note(Diagnostic& d, const UniformityStep& s, const std::string& source) const {
    const Place at = place_of(s);
    switch (s.kind) {
      case Kind::Exit:
        d.note(fmt::format("not all invocations take this `{}`", mnemonic(p_.ops[s.op].code)), at);
        break;
      case Kind::Condition:
        d.note(fmt::format("the condition{} depends on {}", where(at), source), at);
        break;
      case Kind::Trips:
        d.note(fmt::format("how often the loop{} runs depends on {}", where(at), source), at);
        break;
      case Kind::Merge:
        d.note("a value that it depends on is assigned in only some of the invocations here", at);
        break;
      case Kind::Source:
        if (s.op != none)
          d.note(fmt::format("{} {}", source, differs(u_.value(p_.result(s.op)))), at);
        break;
    }
  }

  // A condition is best shown at its computation.
  Place place_of(const UniformityStep& s) const {
    if (s.value != none && p_.values[s.value].def != none) {
      const Place at = r_.place_of(p_.values[s.value].def);
      if (at.line != 0) return at;
    }
    return s.op == none ? Place{} : r_.place_of(s.op);
  }

  static std::string where(const Place& at) {
    return at.line == 0 ? "" : fmt::format(" at {}:{}", at.line, at.column);
  }

  const Program& p_;
  const UniformityInfo& u_;
  Reporter& r_;
};

}  // namespace

void check_placement(const Program& program, const UniformityInfo& uniformity, Reporter& report) {
  PlacementCheck check(program, uniformity, report);
  walk(program, [&](OpId op) { check.check(op); });
}

}  // namespace vyre
