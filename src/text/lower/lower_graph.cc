#include <fmt/format.h>

#include <unordered_map>

#include "ir/graph_walk.h"
#include "ir/stats.h"
#include "text/foreign_syntax.h"
#include "text/lower/kernel_lowering.h"
#include "text/parser.h"

namespace vyre::text {
namespace {

struct GraphLowering {
  ModuleContext& context;
  const Decl& decl;
  const Module& module;
  Graph graph;
  Ast& ast = context.ast;
  GraphAppender nodes{graph};
  uint64_t num_nodes = 0;
  std::unordered_map<uint32_t, GraphBufferId> buffer_of_symbol;  // for equal names the first
  std::unordered_map<uint32_t, const Param*> param_of_symbol;

  GraphBufferId find(uint32_t symbol) const {
    const auto found = buffer_of_symbol.find(symbol);
    return found == buffer_of_symbol.end() ? GraphBufferId() : found->second;
  }

  FormulaId formula(ExprId e) {
    return lower_formula(context, graph.formulas, e, [&](uint32_t symbol) {
      const GraphBufferId i = find(symbol);
      if (i == none) {  // possibly a later parameter
        const auto p = param_of_symbol.find(symbol);
        return p == param_of_symbol.end() ? FormulaName{} : FormulaName{0, !p->second->array, true};
      }
      const bool scalar = graph.buffers[i].role == Role::Scalar;
      if (scalar && !is_integer(graph.buffers[i].element))
        return FormulaName{
            i.value(), true, false, no_formula,
            fmt::format("is {}, a size is made of integers", name(graph.buffers[i].element))};
      return FormulaName{i.value(), scalar, false};
    });
  }

  void add(TokenId name, Role role, Type element, ExprId size, bool parameter) {
    if (find(ast.tokens[name].symbol) != none)
      context
          .error(name, Code::DuplicateName,
                 fmt::format("`{}` is declared twice in this graph", ast.text(name)))
          .with_fix("rename one of them");
    GraphBuffer b;
    b.name = std::string(ast.text(name));
    b.role = role;
    b.element = element;
    if (role == Role::Scalar)
      b.count = graph.formulas.constant(1);
    else if (size != none)
      b.count = formula(size);
    b.parameter = parameter;
    b.place = ast.place(name);
    graph.buffers.push_back(std::move(b));
    buffer_of_symbol.emplace(ast.tokens[name].symbol, GraphBufferId(graph.buffers.size() - 1));
  }

  GraphBufferId buffer(TokenId name) {
    const GraphBufferId i = find(ast.tokens[name].symbol);
    if (i != none) return i;
    std::vector<std::string> names;
    if (context.may_suggest())
      for (const GraphBuffer& b : graph.buffers) names.push_back(b.name);
    const auto near = context.nearest_name(ast.text(name), names);
    context
        .error(name, Code::UnknownName, fmt::format("the graph has no buffer `{}`", ast.text(name)))
        .with_fix(near.empty() ? fmt::format("declare it: `buffer {}: T[n]`", ast.text(name))
                               : fmt::format("did you mean `{}`?", near));
    return none;
  }

  GraphElement element(const GraphRef& r) {
    GraphElement e;
    e.buffer = buffer(r.name);
    if (e.buffer == none || r.index == none) return e;
    const GraphBuffer& b = graph.buffers[e.buffer];
    if (b.role == Role::Scalar || (!is_integer(b.element) && b.element != Type::Bool))
      context
          .error(r.name, Code::GraphElement, fmt::format("`{}` is no buffer of integers", b.name))
          .with_fix("use a buffer of u32");
    const Constant c = evaluate_constant(context, r.index, Type::Void);
    if (c.type == Type::Void) return e;
    if (!is_integer(c.type))
      context.error(ast.exprs[r.index].token, Code::IndexNotInteger, "the index is no integer")
          .with_fix("write a number");
    e.index = c.bits;
    return e;
  }

  /// `text`: the source of the argument.
  GraphArg argument(const Buffer& param, ExprId id, const std::string& text) {
    const Expr& e = ast.exprs[id];
    GraphArg a;
    if (e.kind == ExprKind::Name && find(e.symbol) != none) {
      a.buffer = find(e.symbol);
      return a;
    }
    if (param.role != Role::Scalar) {
      if (e.kind == ExprKind::Name) {
        buffer(e.token);
      } else if (e.kind != ExprKind::Error) {
        context
            .error(e.token, Code::GraphArgument,
                   fmt::format("the parameter `{}` takes a buffer", param.name))
            .with_fix("write the name of a buffer of the graph");
      }
      return a;
    }
    const size_t before = context.diagnostics.size();
    const Constant c = evaluate_constant(context, id, param.element, [&](uint32_t symbol) {
      return ConstantName{find(symbol) != none, {}};
    });
    if (context.diagnostics.size() == before + 1 &&
        context.diagnostics.back().code == Code::NotConstant)
      explain_formula(context.diagnostics.back(), param, text);
    a.bits = c.bits;
    return a;
  }

  /// An argument that is computed from scalars or lengths of the graph.
  void explain_formula(Diagnostic& d, const Buffer& param, const std::string& text) const {
    d.message = fmt::format(
        "the argument `{}` is a formula: `{}` takes a constant or a scalar of the graph", text,
        param.name);
    d.with_fix(
        fmt::format("compute `{}` in the kernel, or declare a scalar parameter of the graph "
                    "and write its name",
                    text));
  }

  void call(const GraphStmt& s) {
    GraphNode n;
    n.place = ast.place(s.name);
    const auto found = context.kernel_of_symbol.find(ast.tokens[s.name].symbol);
    if (found == context.kernel_of_symbol.end()) {
      std::vector<std::string> names;
      if (context.may_suggest())
        for (const Program& k : module.kernels) names.push_back(k.name);
      const auto near = context.nearest_name(ast.text(s.name), names);
      context
          .error(s.name, Code::UnknownKernel,
                 fmt::format("there is no kernel `{}`", ast.text(s.name)))
          .with_fix(near.empty() ? "declare it in this file, or import it"
                                 : fmt::format("did you mean `{}`?", near));
      return;
    }
    n.kernel = found->second;
    const Program& kernel = module.kernels[n.kernel];
    std::vector<const Buffer*> params;
    for (const Buffer& b : kernel.buffers)
      if (takes_argument(b)) params.push_back(&b);
    if (s.args.size() != params.size()) {
      context
          .error(s.name, Code::WrongArgumentCount,
                 fmt::format("`{}` takes {} arguments, not {}", kernel.name, params.size(),
                             s.args.size()))
          .note("declared here", kernel.place(kernel.loc))
          .with_fix("give one argument for each parameter, in order, but none for `scratch`");
      return;
    }
    const std::vector<std::string> texts = argument_texts(ast, s.name);
    for (size_t i = 0; i < params.size(); ++i)
      n.args.push_back(argument(*params[i], s.args[i], i < texts.size() ? texts[i] : ""));
    if (s.grid.size() > 3)
      context.error(s.name, Code::WrongAttribute, "`grid` takes one to three sizes")
          .with_fix("write `grid(count[0])`");
    for (size_t i = 0; i < s.grid.size() && i < 3; ++i) n.grid.push_back(element(s.grid[i]));
    nodes.add(std::move(n));
  }

  void loop(const GraphStmt& s) {
    GraphNode n;
    n.kind = s.node;
    n.place = ast.place(s.token);
    n.count = formula(s.count);
    if (info(s.node).has_flag) n.flag = element(s.flag);
    if (info(s.node).has_test) {
      n.compare = *binary_op(s.compare);
      if (n.flag.buffer != none)
        n.bits = evaluate_constant(context, s.value, graph.buffers[n.flag.buffer].element).bits;
    }
    nodes.add(std::move(n));
  }

  void run() {
    graph.name = std::string(ast.text(decl.name));
    graph.place = ast.place(decl.name);
    for (const Param& p : decl.params) param_of_symbol.emplace(ast.tokens[p.name].symbol, &p);
    for (const Param& p : decl.params) {
      if (p.array && (p.role == Role::Shared || p.role == Role::Private || p.role == Role::Scratch))
        context
            .error(p.name, Code::WrongRole,
                   fmt::format("a graph has no `{}` parameter", name(p.role)))
            .with_fix("write `buffer t: T[n]` in the body");
      add(p.name, p.array ? p.role : Role::Scalar, p.type, p.size, true);
    }
    for (const GraphStmt& s : decl.graph) {
      if (context.ended) return;
      if (context.budget.due())
        context.budget.check(context.kept_bytes + memory_of(graph, num_nodes));
      ++num_nodes;
      switch (s.kind) {
        case GraphStmtKind::Buffer: add(s.name, Role::Scratch, s.type, s.count, false); break;
        case GraphStmtKind::Node: s.node == GraphNodeKind::Call ? call(s) : loop(s); break;
        case GraphStmtKind::End: nodes.close()->end = ast.place(s.token); break;
      }
    }
  }
};

}  // namespace

Graph lower_graph(ModuleContext& context, const Decl& decl, const Module& module) {
  GraphLowering g{context, decl, module, {}};
  g.run();
  return std::move(g.graph);
}

}  // namespace vyre::text
