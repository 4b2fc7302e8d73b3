#include "plan/check_split.h"

#include <fmt/format.h>

#include "check/check.h"
#include "ir/eval.h"

namespace vyre::plan {
namespace {

class PlanCheck {
 public:
  PlanCheck(const Program& program, const SplitPlan& plan) : p_(program), plan_(plan) {}

  Result<> run() {
    for (size_t i = 0; i < plan_.segments.size(); ++i) check_segment(i);
    check_host();
    check_steps();
    if (!errors_.empty()) return errors_;
    return Ok{};
  }

 private:
  void wrong(std::string message) {
    errors_.push_back(diagnose(Code::InternalError, p_.place(p_.loc),
                               fmt::format("the split of `{}` is wrong: {}", p_.name, message)));
  }

  static bool same(const Buffer& a, const Buffer& b) {
    return a.name == b.name && a.role == b.role && a.element == b.element && a.count == b.count &&
           a.table_offset == b.table_offset;
  }

  void check_segment(size_t i) {
    const Program& s = plan_.segments[i];
    const auto about = [&](std::string_view what) {
      wrong(fmt::format("segment {} {}", i + 1, what));
    };
    if (s.name != p_.name || s.op_id != p_.op_id || s.workgroup != p_.workgroup ||
        s.subgroup != p_.subgroup || s.grid != p_.grid || s.grid_dims != p_.grid_dims ||
        s.requires_forward_progress != p_.requires_forward_progress ||
        !(s.formulas == p_.formulas) || s.table_bytes != p_.table_bytes)
      about("has another head than the program");
    if (s.buffers.size() != p_.buffers.size() + plan_.hidden.size()) {
      about("has another number of buffers");
      return;
    }
    for (size_t b = 0; b < p_.buffers.size(); ++b)
      if (!same(s.buffers[b], p_.buffers[b])) about("has other buffers than the program");
    for (size_t h = 0; h < plan_.hidden.size(); ++h) {
      const Buffer& b = s.buffers[p_.buffers.size() + h];
      if (b.role != Role::Scratch || b.element != plan_.hidden[h].element || b.count != no_formula)
        about("has other hidden buffers than the plan");
    }
    if (has_grid_barrier(s)) about("waits for the grid");
    for (Diagnostic& d : check(s)) {
      if (d.severity != Severity::Error) continue;
      d.message = fmt::format("segment {} of {}: {}", i + 1, plan_.segments.size(), d.message);
      errors_.push_back(std::move(d));
    }
  }

  void check_host() {
    for (size_t i = 0; i < plan_.host.size(); ++i) {
      const HostNode& n = plan_.host[i];
      for (const uint32_t operand : n.operands)
        if (operand >= i) wrong("a node of the host refers to a later one");
      if (n.is_variable) {
        if (n.attr >= plan_.host_variables) wrong("a variable of the host is not there");
        continue;
      }
      const AttrKind attribute = info(n.code).attribute;
      if (attribute == AttrKind::Buffer && n.attr >= p_.buffers.size())
        wrong("the host asks for a buffer that is not there");
      const bool leaf = attribute == AttrKind::Buffer || n.code == Opcode::Const ||
                        n.code == Opcode::NumWorkgroups || n.code == Opcode::WorkgroupSize ||
                        n.code == Opcode::SubgroupSize;
      if (!leaf && !find_eval(n.code, n.type, n.source))
        wrong(fmt::format("the host cannot compute `{}`", mnemonic(n.code)));
    }
  }

  void check_steps() {
    uint64_t words = 0;
    for (const HiddenBuffer& h : plan_.hidden)
      if (h.rate == HiddenBuffer::Rate::Once) words = h.per;
    std::vector<uint32_t> open;
    for (uint32_t i = 0; i < plan_.steps.size(); ++i) {
      const Step& s = plan_.steps[i];
      switch (s.kind) {
        case Step::Kind::Launch:
          if (s.segment >= plan_.segments.size()) wrong("a launch of a segment that is not there");
          break;
        case Step::Kind::LoopBegin:
        case Step::Kind::IfBegin:
          open.push_back(i);
          if (s.test == none ? s.kind == Step::Kind::IfBegin || s.word >= words
                             : s.test >= plan_.host.size())
            wrong("a test that is not there");
          break;
        case Step::Kind::LoopEnd:
        case Step::Kind::IfEnd: {
          const bool loop = s.kind == Step::Kind::LoopEnd;
          const bool fits = !open.empty() && s.match == open.back() &&
                            plan_.steps[open.back()].match == i &&
                            (plan_.steps[open.back()].kind == Step::Kind::LoopBegin) == loop;
          if (!fits) return wrong("steps are not nested");
          open.pop_back();
          break;
        }
        case Step::Kind::Set:
          for (const HostAssignment& a : s.set)
            if (a.variable >= plan_.host_variables || a.node >= plan_.host.size())
              wrong("the host sets a variable that is not there");
          break;
      }
    }
    if (!open.empty()) wrong("steps are not nested");
  }

  const Program& p_;
  const SplitPlan& plan_;
  Diagnostics errors_;
};

}  // namespace

Result<> check_split(const Program& program, const SplitPlan& plan) {
  return PlanCheck(program, plan).run();
}

}  // namespace vyre::plan
