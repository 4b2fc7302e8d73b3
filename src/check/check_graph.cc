#include "check/check_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "check/check_call.h"
#include "check/check_formulas.h"
#include "check/check_limits.h"
#include "check/check_report.h"
#include "ir/graph_walk.h"

namespace vyre {
namespace {

std::vector<SizeName> names_of(const Graph& g) {
  std::vector<SizeName> names;
  for (const GraphBuffer& b : g.buffers) names.push_back({b.name, b.role, b.element, b.parameter});
  return names;
}

class GraphCheck {
 public:
  GraphCheck(const Module& m, const Graph& g, const std::vector<bool>& legal)
      : m_(m), g_(g), legal_(legal) {}

  Diagnostics run() {
    check_name("graph's name", g_.name, g_.place);
    if (!check_arrays()) return std::move(list_);
    const FormulaFacts formulas(g_.formulas, names_of(g_));
    formulas_ = &formulas;
    for (const GraphBufferId i : g_.buffers.ids())
      if (!full()) check_buffer(i);
    for (const GraphStep& step : flatten(g_))
      if (!full()) check_step(step);
    if (full())
      add(Code::MoreNotShown, g_.place, "there is more to say about this graph than is shown");
    return std::move(list_);
  }

 private:
  bool full() const { return list_.size() >= Reporter::max_kept; }
  Diagnostic& add(Code code, const Place& place, std::string message) {
    list_.push_back(diagnose(code, place, std::move(message)));
    return list_.back();
  }

  void check_name(std::string_view what, std::string_view name, const Place& place) {
    const std::string fault = fault_of_name(name);
    if (fault.empty()) return;
    add(name.size() > limits::name_bytes ? Code::NameOverLimit : Code::BadName, place,
        fmt::format("the {} {} {}", what, quoted(name), fault));
  }

  // Checks the fields that all other checks rely on.
  bool check_arrays() {
    std::string fault = fault_of_pool(g_.formulas, g_.buffers.size());
    bool own = false;  // the graph's own buffers have begun
    for (const GraphBuffer& b : g_.buffers) {
      if (b.role > Role::Table) fault = "the role of a buffer does not exist";
      if (static_cast<int>(b.element) >= type_count) fault = "the type of a buffer does not exist";
      if (!formula_exists(b.count)) fault = "the length of a buffer does not exist";
      if (b.parameter && own) fault = "a parameter comes after the graph's own buffers";
      own = own || !b.parameter;
    }
    for_each_node(g_.nodes, [&](const GraphNode& n) {
      if (uint32_t(n.kind) >= graph_node_kind_count) fault = "a node is of no kind that exists";
      if (!n.has_body() && !n.body.empty()) fault = "a call has a body";
      if (!formula_exists(n.count)) fault = "the count of a loop does not exist";
    });
    if (fault.empty()) return true;
    add(Code::BrokenProgram, g_.place, "the graph is broken: " + fault);
    return false;
  }

  bool formula_exists(FormulaId id) const {
    return id == no_formula || id < g_.formulas.nodes.size();
  }

  void check_buffer(GraphBufferId i) {
    const GraphBuffer& b = g_.buffers[i];
    check_name("name", b.name, b.place);
    if (!names_.insert(b.name).second)
      add(Code::DuplicateParameter, b.place,
          fmt::format("two buffers of the graph have the name {}", quoted(b.name)))
          .with_fix("rename one of them");
    const bool parameter_role = is_parameter(b.role) && b.role != Role::Scratch;
    if (b.parameter ? !parameter_role : b.role != Role::Scratch)
      add(Code::GraphBufferRole, b.place,
          fmt::format("{} cannot have the role `{}`", quoted(b.name), name(b.role)))
          .with_fix(b.parameter ? "use `in`, `inout`, `out`, `uniform` or a scalar"
                                : "declare it with `buffer`");
    const bool scalar = b.role == Role::Scalar;
    if (scalar ? !is_value(b.element) : b.element == Type::Void)
      add(Code::BadElementType, b.place,
          fmt::format("{} cannot be of type {}", quoted(b.name), name(b.element)));
    if (b.count != no_formula)
      // Parameters may use earlier parameters; the graph's own buffers may use all of them.
      check_formula(b.count, i.value(), fmt::format("length of {}", quoted(b.name)), b.place);
    else if (!b.parameter)
      add(Code::LengthNotConstant, b.place, fmt::format("{} has no length", quoted(b.name)))
          .with_fix("give it one: constants, scalars and `len` of the graph's parameters");
  }

  void check_formula(FormulaId id, uint32_t end, const std::string& what, const Place& place) {
    if (auto fault = formulas_->fault(id, end, what))
      add(fault->code, place, std::move(fault->message)).with_fix(std::move(fault->fix));
  }

  void check_step(const GraphStep& step) {
    const GraphNode& node = *step.node;
    if (step.kind == GraphStep::Kind::Begin) {
      num_skippable_ += may_skip(node);
      return check_loop(node, step.depth);
    }
    if (step.kind == GraphStep::Kind::End) {
      num_skippable_ -= may_skip(node);
      return;
    }
    if (node.kernel >= m_.kernels.size())
      add(Code::CalledKernelMissing, node.place, "the kernel of this call does not exist");
    else if (legal_[node.kernel])
      check_call(m_.kernels[node.kernel], g_, *formulas_, node, num_skippable_ == 0, list_);
  }

  /// Returns whether the body of a loop may run zero times.
  bool may_skip(const GraphNode& loop) const {
    const auto count = loop.kind == GraphNodeKind::Repeat && loop.count != no_formula
                           ? formulas_->constant(loop.count)
                           : std::nullopt;
    return !count || *count == 0;
  }

  void check_loop(const GraphNode& node, uint32_t depth) {
    if (depth == limits::nesting)
      add(Code::NestingOverLimit, node.place,
          fmt::format("more than {} loops of the graph are nested here", limits::nesting));
    const bool is_while = node.kind == GraphNodeKind::While;
    if (is_while) check_flag(node);
    if (node.count == no_formula)
      add(Code::UnclosedGraphLoop, node.place,
          is_while ? "this `while` has no limit" : "this `repeat` has no count")
          .with_fix(is_while ? "write `limit n`" : "write `repeat n`");
    else
      check_formula(node.count, uint32_t(g_.buffers.size()),
                    is_while ? "limit of the loop" : "count of the loop", node.place);
  }

  void check_flag(const GraphNode& node) {
    if (!g_.buffers.contains(node.flag.buffer)) {
      add(Code::BrokenProgram, node.place, "the buffer of this `while` does not exist");
      return;
    }
    const GraphBuffer& b = g_.buffers[node.flag.buffer];
    const bool is_bool = b.element == Type::Bool;
    if (b.role == Role::Scalar || (!is_bool && !is_integer(b.element))) {
      add(Code::FlagType, node.place,
          fmt::format("a `while` reads an integer or bool from a buffer, but {} is {} {}",
                      quoted(b.name), name(b.role), name(b.element)))
          .with_fix("use a buffer of u32");
      return;
    }
    const bool equality = node.compare == Opcode::Eq || node.compare == Opcode::Ne;
    const bool ordering = node.compare == Opcode::Lt || node.compare == Opcode::Le ||
                          node.compare == Opcode::Gt || node.compare == Opcode::Ge;
    if (!equality && !(ordering && !is_bool))
      add(Code::FlagType, node.place, "this comparison is not one that a `while` can make")
          .with_fix("use == or !=, or for integers also <, <=, > or >=");
    if ((node.bits & ~low_mask(width_of(b.element))) != 0)
      add(Code::ConstantTooWide, node.place,
          fmt::format("the constant {:#x} has more bits than {}", node.bits, name(b.element)));
  }

  const Module& m_;
  const Graph& g_;
  const std::vector<bool>& legal_;
  const FormulaFacts* formulas_ = nullptr;
  Diagnostics list_;
  std::unordered_set<std::string_view> names_;
  uint32_t num_skippable_ = 0;  // loops around the current step whose bodies may be skipped
};

}  // namespace

Diagnostics check_graph(const Module& module, const Graph& graph, const std::vector<bool>& legal) {
  return GraphCheck(module, graph, legal).run();
}

Diagnostics check_declarations(const Module& module) {
  Diagnostics list;
  std::unordered_set<std::string_view> names;
  const auto check = [&](const std::string& name, const Place& place) {
    if (names.insert(name).second || list.size() >= Reporter::max_kept) return;
    list.push_back(diagnose(Code::DuplicateDeclaration, place,
                            fmt::format("two kernels or graphs have the name {}", quoted(name))));
    list.back().with_fix("rename one of them");
  };
  for (const Program& kernel : module.kernels) check(kernel.name, kernel.place(kernel.loc));
  for (const Graph& graph : module.graphs) check(graph.name, graph.place);
  return list;
}

}  // namespace vyre
