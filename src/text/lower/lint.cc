// Warnings about programs that are legal but almost certainly unintended. Each condition is certain
// from the text alone: literals, declared lengths, names. Conditions that depend on a `const` are
// skipped, because `--const` may change it.

#include <fmt/format.h>

#include "text/foreign_syntax.h"
#include "text/lower/kernel_lowering.h"

namespace vyre::text {
namespace {

/// The smallest and largest value of an integer type as bits.
uint64_t min_bits(Type t) { return is_signed(t) ? uint64_t{1} << (width_of(t) - 1) : 0; }
uint64_t max_bits(Type t) {
  return is_signed(t) ? low_mask(width_of(t) - 1) : low_mask(width_of(t));
}

/// A value of an integer type as a number.
__int128 number(Type t, uint64_t bits) {
  if (is_signed(t) && (bits & min_bits(t)) != 0) return __int128{bits} - low_mask(width_of(t)) - 1;
  return bits;
}

std::string_view wider(Type t) { return width_of(t) < 32 ? "u32" : "u64"; }

}  // namespace

/// Returns whether it is made of literals and, with `names`, of constants.
bool KernelLowering::is_fixed(ExprId id, bool names) const {
  std::vector<ExprId> todo = {id};
  while (!todo.empty()) {
    const Expr& e = ast_.exprs[todo.back()];
    todo.pop_back();
    switch (e.kind) {
      case ExprKind::Integer:
      case ExprKind::Float:
      case ExprKind::Bool: break;
      case ExprKind::Name: {
        const Binding* b = scopes_.find(e.symbol, call_id());
        const uint32_t decl = context_.decl_of_symbol[e.symbol];
        const bool constant =
            b ? b->kind == Kind::Const : decl != none && ast_.decls[decl].kind == DeclKind::Const;
        if (!constant || !names) return false;
        break;
      }
      case ExprKind::Unary:
      case ExprKind::Cast: todo.push_back(e.a); break;
      case ExprKind::Binary:
        todo.push_back(e.a);
        todo.push_back(e.b);
        break;
      default: return false;
    }
  }
  return true;
}

/// The value of an expression of literals alone.
bool KernelLowering::find_literal(ExprId id, ValueId v, uint64_t* bits) {
  if (!context_.options.lint || v == none || !is_fixed(id, false)) return false;
  const Program& p = builder.program;
  const OpId def = p.values[v].def;
  if (def != none && p.op(def).code == Opcode::Const) {
    *bits = p.op(def).attr;
    return true;
  }
  const Constant c = evaluate_constant(context_, id, p.type(v));
  *bits = c.bits;
  return c.type != Type::Void;
}

/// `left`: the first token of the left side, if that is a name, an element or a call.
void KernelLowering::lint_operator(const Expr& e, TokenId left, ValueId a, ValueId b,
                                   ExprId right) {
  const Type t = builder.type(a);
  uint64_t bits = 0;
  if (!is_integer(t) || fixed_branches_ > 0 || !find_literal(right, b, &bits)) return;
  const Opcode op = *binary_op(e.op);
  if (op != Opcode::Shl && op != Opcode::Shr) return lint_comparison(e.token, op, t, bits, false);
  const uint32_t width = width_of(t);
  if (number(t, bits) >= 0 && number(t, bits) < width) return;
  const std::string side =
      ast_.tokens[left].kind == Tok::Ident ? source_text(ast_, left, e.token) : "…";
  const std::string_view sign = op == Opcode::Shl ? "<<" : ">>";
  context_.lint(e.token, Code::ShiftByWidth,
                fmt::format("{} has {} bits, and a shift counts modulo that: this shifts by {}",
                            name(t), width, bits % width),
                width < 64 ? fmt::format("convert before the shift: `{}({}) {} {}`", wider(t), side,
                                         sign, bits)
                           : fmt::format("shift by 0 to {}", width - 1));
}

/// `x > 255` on a u8 and the like; `literal_left`: `255 < x`.
void KernelLowering::lint_comparison(TokenId at, Opcode op, Type t, uint64_t bits,
                                     bool literal_left) {
  if (!is_integer(t) || fixed_branches_ > 0) return;
  if (literal_left)
    op = op == Opcode::Lt   ? Opcode::Gt
         : op == Opcode::Le ? Opcode::Ge
         : op == Opcode::Gt ? Opcode::Lt
         : op == Opcode::Ge ? Opcode::Le
                            : op;
  const bool lowest = bits == min_bits(t), highest = bits == max_bits(t);
  const bool never = (op == Opcode::Gt && highest) || (op == Opcode::Lt && lowest);
  const bool always = (op == Opcode::Le && highest) || (op == Opcode::Ge && lowest);
  if (!never && !always) return;
  const std::string range = is_signed(t)
                                ? fmt::format("{} to {}", -int64_t(max_bits(t)) - 1, max_bits(t))
                                : fmt::format("0 to {}", max_bits(t));
  context_.lint(at, Code::ConstantComparison,
                fmt::format("this comparison is always {}: {} holds {}", never ? "false" : "true",
                            name(t), range),
                lowest || width_of(t) >= 64
                    ? "remove it, or compare with another number"
                    : fmt::format("convert each operand first: `{}(x)`",
                                  is_signed(t) ? (width_of(t) < 32 ? "i32" : "i64") : wider(t)));
}

/// Returns whether the buffer is an argument of the call being inlined. Its length belongs to the
/// caller.
bool KernelLowering::is_argument(const Binding& b) const {
  if (calls_.size() < 2) return false;
  for (const Param& p : calls_.back().decl->params)
    if (p.name == b.declared) return true;
  return false;
}

void KernelLowering::lint_index(const Binding& b, TokenId name, ExprId index, ValueId value) {
  uint64_t bits = 0, count = 0;
  const Buffer& buffer = builder.program.buffers[b.id];
  if (value == none || fixed_branches_ > 0 || is_argument(b) || buffer.count == no_formula ||
      !find_literal(index, value, &bits) ||
      !builder.program.formulas.is_constant(buffer.count, &count))
    return;
  const __int128 i = number(builder.type(value), bits);
  if (i >= 0 && i < __int128{count}) return;
  const std::string_view w = ast_.text(name);
  context_.lint(
      ast_.exprs[index].token, Code::IndexOutsideLength,
      fmt::format("`{}` has {} element{}: index {} is outside", w, count, count == 1 ? "" : "s",
                  i < 0 ? "-" + std::to_string(uint64_t(-i)) : std::to_string(uint64_t(i))),
      count == 0
          ? fmt::format("declare `{}` longer", w)
          : fmt::format("write an index from 0 to {}, or declare `{}` longer", count - 1, w));
}

/// `bounds`: lo, hi and step.
void KernelLowering::lint_loop(const Stmt& s, Type t, const ValueId* bounds) {
  uint64_t lo = 0, hi = 0, step = 1;
  if (!find_literal(s.a, bounds[0], &lo) || !find_literal(s.b, bounds[1], &hi)) return;
  if (s.c != none && !find_literal(s.c, bounds[2], &step)) return;
  const bool empty = number(t, lo) >= number(t, hi);
  if (!empty && number(t, step) > 0) return;
  const bool backward = number(t, lo) > number(t, hi);
  context_.lint(s.token, Code::LoopNeverRuns,
                empty ? "this loop never runs: its first bound is not below the second"
                      : "this loop never runs: its step is not above zero",
                backward ? "count up and compute the index from the counter: `for i in 0..n` and "
                           "`n - 1 - i`"
                         : "correct the range, or remove the loop");
}

// ---- Names.

void check_unused(ModuleContext& c) {
  if (c.unreachable_code) return;  // a name may be used there
  const Ast& ast = c.ast;
  const auto check = [&](TokenId name, std::string_view what) {
    if (ast.text(name).starts_with('_') || (c.uses[name] & name_used)) return;
    c.lint(name, Code::UnusedName, fmt::format("the {} `{}` is never used", what, ast.text(name)),
           fmt::format("remove it, or name it `_{}`", ast.text(name)));
  };
  for (const Stmt& s : ast.stmts) {
    if (s.kind != StmtKind::Let && s.kind != StmtKind::Shared) continue;
    if (c.uses[s.name] & name_bound)
      check(s.name, s.kind == StmtKind::Let ? "value" : "shared array");
  }
  for (const Decl& d : ast.decls) {
    if (d.kind == DeclKind::Function) check(d.name, "function");
    if (d.kind != DeclKind::Function && (d.kind != DeclKind::Kernel || d.ir_body)) continue;
    for (const Param& p : d.params)
      if (c.uses[p.name] & name_bound) check(p.name, "parameter");
  }
}

}  // namespace vyre::text
