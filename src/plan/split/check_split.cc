#include "plan/split/check_split.h"

#include <fmt/format.h>

#include <set>

#include "check/check.h"
#include "ir/eval/eval.h"
#include "plan/split/segment_chains.h"
#include "transform/structure_exits.h"

namespace vyre::plan {
namespace {

class PlanCheck {
 public:
  PlanCheck(const Program& program, const SplitPlan& plan) : p_(program), plan_(plan) {}

  Result<> run() {
    for (size_t i = 0; i < plan_.segments.size(); ++i) check_segment(i);
    check_host();
    check_steps();
    if (errors_.empty()) check_chains();
    if (errors_.empty()) check_launches();
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
    const size_t first = p_.buffers.size() + plan_.hidden.size();
    if (s.buffers.size() != first + plan_.parameters.size()) {
      about("has another number of buffers");
      return;
    }
    for (const BufferId b : p_.buffers.ids())
      if (!same(s.buffers[b], p_.buffers[b])) about("has other buffers than the program");
    for (size_t h = 0; h < plan_.hidden.size(); ++h) {
      const Buffer& b = s.buffers[p_.buffers.size() + h];
      if (b.role != Role::Scratch || b.element != plan_.hidden[h].element || b.count != no_formula)
        about("has other hidden buffers than the plan");
    }
    for (size_t k = 0; k < plan_.parameters.size(); ++k) {
      const Buffer& b = s.buffers[first + k];
      if (b.role != Role::Scalar || b.element != plan_.parameters[k])
        about("has other parameters than the plan");
    }
    if (plan_.is_split() && has_grid_barrier(s)) about("waits for the grid");
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
          if (s.piece >= plan_.pieces.size()) wrong("a launch of a piece that is not there");
          break;
        case Step::Kind::Barrier: break;
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
    check_order();
  }

  /// Checks that the steps have the barriers and the enclosing loops of the program.
  void check_order() {
    std::string wanted, found;
    const IdMap<OpId, bool> splits = find_split_ops(p_);
    walk_blocks(p_, body_block, [&](Visit what, OpId op, BlockId block) {
      if (what == Visit::Op && is_grid_sync(p_, op)) wanted += '|';
      if (what == Visit::Op && splits[op] && is_loop(p_.op(op).code)) wanted += '(';
      if (what != Visit::LeaveBlock || block == body_block) return;
      const Op& o = p_.op(op);
      const bool last = block + 1 == o.first_block + o.n_blocks;
      if (last && splits[op] && is_loop(o.code)) wanted += ')';
    });
    for (const Step& s : plan_.steps) {
      if (s.kind == Step::Kind::Barrier) found += '|';
      if (s.kind == Step::Kind::LoopBegin) found += '(';
      if (s.kind == Step::Kind::LoopEnd) found += ')';
    }
    // A uniform load of the grid is one barrier or two.
    size_t at = 0;
    for (const char c : wanted) {
      while (at < found.size() && c != '|' && found[at] == '|') ++at;
      if (at == found.size() || found[at] != c) return wrong("a barrier or a loop is lost");
      ++at;
    }
    while (at < found.size() && found[at] == '|') ++at;
    if (at != found.size()) wrong("steps have more loops than the program");
  }

  void check_chains() {
    if (plan_.chains.empty()) return wrong("there are no chains");
    std::vector<bool> runs(plan_.segments.size(), false);
    for (uint32_t i = 1; i < plan_.chains.size(); ++i) {
      const Chain& c = plan_.chains[i];
      if (c.parent >= i || c.piece >= plan_.pieces.size())
        return wrong("a chain has pieces that are not there");
      std::set<uint32_t> used;
      for (uint32_t at = c.parent; at != 0; at = plan_.chains[at].parent)
        used.insert(plan_.chains[at].slots.begin(), plan_.chains[at].slots.end());
      const auto& parameters = plan_.pieces[c.piece].parameters;
      bool fits = parameters.size() == c.slots.size();
      for (size_t k = 0; fits && k < parameters.size(); ++k)
        fits = c.slots[k] < plan_.parameters.size() && used.insert(c.slots[k]).second &&
               plan_.parameters[c.slots[k]] == parameters[k].type &&
               parameters[k].node < plan_.host.size();
      if (!fits) return wrong("the parameters of a chain do not fit");
      for (const uint32_t next : c.next)
        if (next <= i || next >= plan_.chains.size() || plan_.chains[next].parent != i)
          return wrong("chains are not a tree");
      if (c.segment == none) continue;
      if (c.segment >= runs.size() || runs[c.segment]) return wrong("a chain without a segment");
      runs[c.segment] = true;
    }
    for (const bool has_chain : runs)
      if (!has_chain) wrong("a segment that is never launched");
  }

  /// Checks that every piece finds a segment for all outcomes of tests: follows all pairs of a step
  /// and a chain.
  void check_launches() {
    using State = std::pair<uint32_t, uint32_t>;
    std::set<State> seen;
    std::vector<State> stack;
    bool complete = true;
    const auto go = [&](uint32_t step, uint32_t chain) {
      if (seen.emplace(step, chain).second) stack.emplace_back(step, chain);
    };
    const auto launch = [&](uint32_t chain) {
      complete &= chain == 0 || plan_.chains[chain].segment != none;
      return 0u;
    };
    const auto follow = [&](uint32_t chain, uint32_t piece) {
      for (const uint32_t next : plan_.chains[chain].next)
        if (plan_.chains[next].piece == piece) return next;
      return 0u;
    };
    go(0, 0);
    while (!stack.empty()) {
      const auto [at, chain] = stack.back();
      stack.pop_back();
      if (at == plan_.steps.size()) {
        launch(chain);
        continue;
      }
      const Step& s = plan_.steps[at];
      const bool polls =
          s.match != none && s.kind == Step::Kind::LoopEnd && plan_.steps[s.match].test == none;
      switch (s.kind) {
        case Step::Kind::Launch: {
          uint32_t next = follow(chain, s.piece);
          if (next == 0) next = follow(launch(chain), s.piece);
          complete &= next != 0;
          go(at + 1, next);
          break;
        }
        case Step::Kind::Barrier: go(at + 1, launch(chain)); break;
        case Step::Kind::LoopBegin:
        case Step::Kind::IfBegin: {
          std::optional<bool> taken;
          if (s.kind == Step::Kind::LoopBegin)
            taken = s.test == none ? std::optional(true) : first_test(plan_, at);
          if (taken.value_or(true)) go(at + 1, chain);
          if (!taken.value_or(false)) go(s.match + 1, chain);
          break;
        }
        case Step::Kind::LoopEnd:
          go(s.match + 1, chain);
          go(at + 1, polls ? launch(chain) : chain);
          if (polls) go(s.match + 1, 0);
          break;
        case Step::Kind::IfEnd:
        case Step::Kind::Set: go(at + 1, chain); break;
      }
    }
    if (!complete) wrong("a piece may be reached that no segment runs");
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
