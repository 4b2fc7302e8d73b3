#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ir/eval/eval.h"
#include "text/foreign_syntax.h"
#include "text/lower/kernel_lowering.h"
#include "text/lower/literal.h"
#include "text/parser.h"

namespace vyre::text {
namespace {

constexpr std::string_view id_names[] = {"global_id", "local_id", "workgroup_id", "num_workgroups",
                                         "workgroup_size"};

/// Ops that the language writes as operators or statements, not as calls.
std::string_view operator_for(Opcode op) {
  switch (op) {
    case Opcode::Add: return "a + b";
    case Opcode::Sub: return "a - b";
    case Opcode::Mul: return "a * b";
    case Opcode::Div: return "a / b";
    case Opcode::Rem: return "a % b";
    case Opcode::And: return "a & b";
    case Opcode::Or: return "a | b";
    case Opcode::Xor: return "a ^ b";
    case Opcode::Not: return "~a";
    case Opcode::Neg: return "-a";
    case Opcode::Shl: return "a << b";
    case Opcode::Shr: return "a >> b";
    case Opcode::Eq: return "a == b";
    case Opcode::Ne: return "a != b";
    case Opcode::Lt: return "a < b";
    case Opcode::Le: return "a <= b";
    case Opcode::Gt: return "a > b";
    case Opcode::Ge: return "a >= b";
    case Opcode::Cast: return "T(a)";
    case Opcode::Load: return "b[i]";
    case Opcode::Store: return "b[i] = e";
    default: return "";
  }
}

/// Returns whether the language calls the op by its mnemonic.
bool is_callable(Opcode op) {
  const OpInfo& i = info(op);
  if (!operator_for(op).empty()) return false;
  return (i.effect == Effect::Pure && i.attribute == AttrKind::None && !i.operands.empty() &&
          op != Opcode::Bitcast) ||
         i.effect == Effect::Convergent;
}

/// The call of an op that the language writes as an operator, with the call's arguments.
std::string operator_text(const Ast& ast, Opcode op, TokenId name) {
  const std::string_view form = operator_for(op);
  const bool prefix = form.size() == 2;
  if (!prefix && form.substr(0, 2) != "a ") return std::string(form);
  const std::vector<std::string> arguments = argument_texts(ast, name);
  if (arguments.size() != (prefix ? 1 : 2)) return std::string(form);
  std::string text;
  for (const char c : form) {
    const bool is_operand = c == 'a' || c == 'b';
    const std::string operand = is_operand ? arguments[size_t(c - 'a')] : std::string(1, c);
    const bool compound = operand.find(' ') != operand.npos && is_operand;
    text += compound ? "(" + operand + ")" : operand;
  }
  return text;
}

std::string cast_fix(Type to) { return fmt::format("convert it: `{}(…)`", name(to)); }

}  // namespace

std::string operator_text(const Ast& ast, const Expr& call) {
  const Opcode* op = find_op(ast.text(call.token));
  if (!op || operator_for(*op).empty()) return "";
  return operator_text(ast, *op, call.token);
}

const Opcode* binary_op(Tok t) {
  static constexpr std::pair<Tok, Opcode> table[] = {
      {Tok::Plus, Opcode::Add},  {Tok::Minus, Opcode::Sub},   {Tok::Star, Opcode::Mul},
      {Tok::Slash, Opcode::Div}, {Tok::Percent, Opcode::Rem}, {Tok::Amp, Opcode::And},
      {Tok::Pipe, Opcode::Or},   {Tok::Caret, Opcode::Xor},   {Tok::Shl, Opcode::Shl},
      {Tok::Shr, Opcode::Shr},   {Tok::EqEq, Opcode::Eq},     {Tok::BangEq, Opcode::Ne},
      {Tok::Lt, Opcode::Lt},     {Tok::Le, Opcode::Le},       {Tok::Gt, Opcode::Gt},
      {Tok::Ge, Opcode::Ge}};
  for (const auto& row : table)
    if (row.first == t) return &row.second;
  return nullptr;
}

ValueId KernelLowering::expression(ExprId id, Type expected) {
  const Expr e = ast_.exprs[id];
  const Deeper deeper(*this, e.token);
  if (e.literal) {
    Type t = expected;
    if (t == Type::Void) t = e.float_literal ? Type::F32 : Type::U32;
    return literal(id, t);
  }
  switch (e.kind) {
    case ExprKind::Integer: at(e.token); return integer_literal(e, false, e.type);
    case ExprKind::Float: at(e.token); return float_literal(e, false, e.type);
    case ExprKind::Bool: at(e.token); return builder.constant(Type::Bool, e.bits);
    case ExprKind::Name: return name_value(e);
    case ExprKind::Member: return member(e);
    case ExprKind::Unary: return unary(e, expected);
    case ExprKind::Binary: return binary(id, expected);
    case ExprKind::Call: return call(e, expected, false);
    case ExprKind::Cast: return cast(e);
    case ExprKind::Index: return load(e);
    case ExprKind::Error: return none;
  }
  return none;
}

ValueId KernelLowering::expect(ValueId v, Type expected, TokenId token, std::string_view what,
                               TokenId declared) {
  if (v == none || expected == Type::Void) return v;
  const Type t = builder.type(v);
  if (t == expected) return v;
  Diagnostic& d = error(token, Code::TypeMismatch,
                        fmt::format("{} is {}, this is {}", what, name(expected), name(t)));
  if (declared != none) d.note(fmt::format("{} is declared here", what), ast_.place(declared));
  d.note("there is no implicit conversion between types").with_fix(cast_fix(expected));
  return none;
}

// ---- Literals.

ValueId KernelLowering::literal(ExprId id, Type type) {
  const Expr e = ast_.exprs[id];
  switch (e.kind) {
    case ExprKind::Integer: at(e.token); return integer_literal(e, false, type);
    case ExprKind::Float: at(e.token); return float_literal(e, false, type);
    case ExprKind::Unary: {
      const Expr& a = ast_.exprs[e.a];
      at(e.token);
      if (e.op == Tok::Minus && a.kind == ExprKind::Integer) return integer_literal(a, true, type);
      if (e.op == Tok::Minus && a.kind == ExprKind::Float) return float_literal(a, true, type);
      return unary(e, type);
    }
    case ExprKind::Binary: return binary(id, type);
    case ExprKind::Call: return call(e, type, false);
    default: return none;
  }
}

/// Reports an error about a literal. The sign belongs to the literal if it stands directly before
/// it.
Diagnostic& KernelLowering::literal_error(const Expr& e, bool negative, Code code,
                                          std::string message) {
  Diagnostic& d = error(e.token, code, std::move(message));
  const Token& number = ast_.tokens[e.token];
  if (!negative || e.token == 0) return d;
  const Token& sign = ast_.tokens[e.token - 1];
  if (sign.kind != Tok::Minus || sign.line != number.line) return d;
  d.place.column = sign.column;
  d.place.length = number.column + number.length - sign.column;
  return d;
}

ValueId KernelLowering::integer_literal(const Expr& e, bool negative, Type type) {
  const std::string shown =
      fmt::format("{}{}", negative ? "-" : "", ast_.text(e.token).substr(0, 40));
  const auto error = [&](Code code, std::string message) -> Diagnostic& {
    return literal_error(e, negative, code, std::move(message));
  };
  if (is_float(type)) {
    const bool decimal = ast_.text(e.token).find_first_of("xXbB") == std::string_view::npos;
    error(Code::IntegerLiteralAsFloat,
          fmt::format("the integer literal `{}` where {} is needed", shown, name(type)))
        .with_fix(decimal ? fmt::format("write `{}.0`", shown)
                          : fmt::format("write `{}{}.0`", negative ? "-" : "", e.bits));
    return none;
  }
  if (!is_integer(type)) {
    error(Code::TypeMismatch,
          fmt::format("the integer literal `{}` where {} is needed", shown, name(type)))
        .with_fix(type == Type::Bool ? "write `true` or `false`" : "write a value of that type");
    return none;
  }
  uint64_t bits = 0;
  if (!fit_integer(e.bits, negative, type, &bits)) {
    Diagnostic& d =
        error(Code::LiteralDoesNotFit, fmt::format("`{}` does not fit {}", shown, name(type)));
    const uint32_t w = width_of(type);
    d.note(is_signed(type) ? fmt::format("{} holds {} to {}", name(type),
                                         -int64_t(low_mask(w - 1)) - 1, low_mask(w - 1))
                           : fmt::format("{} holds 0 to {}", name(type), low_mask(w)));
    d.with_fix(negative && !is_signed(type)
                   ? fmt::format("use a signed type: `{}i32`", shown)
                   : "write a smaller number, or give it a wider type: `7u64`");
    return none;
  }
  return builder.constant(type, bits);
}

ValueId KernelLowering::float_literal(const Expr& e, bool negative, Type type) {
  const std::string_view text = ast_.text(e.token);
  if (!is_float(type)) {
    literal_error(
        e, negative, is_integer(type) ? Code::FloatLiteralAsInteger : Code::TypeMismatch,
        fmt::format("the float literal `{}` where {} is needed", text.substr(0, 40), name(type)))
        .with_fix(is_integer(type)
                      ? "write an integer, or convert: " + std::string(name(type)) + "(…)"
                      : "write a value of that type");
    return none;
  }
  uint64_t bits = 0;
  if (text == "inf")
    bits = type == Type::F64 ? 0x7ff0000000000000ull : 0x7f800000u;
  else if (text == "nan")
    bits = type == Type::F64 ? canonical_nan_f64 : canonical_nan_f32;
  else if (!parse_float(split_number(text, true)->digits, type, &bits)) {
    literal_error(e, negative, Code::LiteralDoesNotFit,
                  fmt::format("`{}` is beyond the largest {}", text.substr(0, 40), name(type)))
        .with_fix("write a smaller number, or `inf`");
    return none;
  }
  if (negative && text != "nan") bits ^= 1ull << (width_of(type) - 1);
  return builder.constant(type, bits);
}

ValueId KernelLowering::bits_literal(const Expr& e, Type type) {
  if (!count(e, 1, 1, "bits(0x7f800001)")) return none;
  if (!is_float(type)) {
    error(e.token, Code::TypeMismatch,
          fmt::format("`bits` is a float literal, {} is needed", name(type)))
        .with_fix("write the integer itself");
    return none;
  }
  const Expr& a = ast_.exprs[arg(e, 0)];
  if (a.kind != ExprKind::Integer) {
    error(a.token, Code::NotConstant, "`bits` takes an integer literal")
        .with_fix("write the bits as a hexadecimal number");
    return none;
  }
  if (a.bits > low_mask(width_of(type))) {
    error(a.token, Code::LiteralDoesNotFit,
          fmt::format("`{}` has more than the {} bits of {}", ast_.text(a.token).substr(0, 40),
                      width_of(type), name(type)))
        .with_fix("write fewer bits, or give it to an f64");
    return none;
  }
  return builder.constant(type, a.bits);
}

// ---- Names.

ValueId KernelLowering::unknown_name(TokenId token, std::string_view declare) {
  if (is_replaced(token)) return none;
  const std::string_view w = ast_.text(token);
  const bool is_shown = !context_.full();
  Diagnostic& d = error(token, Code::UnknownName, fmt::format("`{}` is not declared", w));
  if (!is_shown) return none;
  d.with_fix(std::string(declare));
  if (const ForeignValue v = foreign_value(ast_, token); !v.vyre.empty()) {
    const bool one = v.end <= token + 3;  // `threadIdx.x`
    d.with_fix(fmt::format("{}{}", v.fix(),
                           one ? "" : fmt::format(" for `{}`", source_text(ast_, token, v.end))));
    replaced_ = {token, v.end};
    return none;
  }
  if (!context_.may_suggest()) return none;
  std::vector<uint32_t> bound;
  scopes_.each(call_id(), [&](uint32_t symbol) { bound.push_back(symbol); });
  std::sort(bound.begin(), bound.end());
  std::vector<std::string> names = {"lane_id", "subgroup_size", "true", "false"};
  for (auto n : id_names) names.emplace_back(n);
  for (uint32_t symbol : bound) names.emplace_back(ast_.symbols.text(symbol));
  for (const Decl& other : ast_.decls)
    if (other.kind == DeclKind::Const) names.emplace_back(ast_.text(other.name));
  const auto near = context_.nearest_name(w, names);
  if (!near.empty()) d.with_fix(fmt::format("did you mean `{}`?", near));
  return none;
}

ValueId KernelLowering::not_constant(TokenId token) {
  error(token, Code::NotConstant,
        fmt::format("`{}` is not known before the launch", ast_.text(token)))
      .with_fix("use literals and `const` names only");
  return none;
}

ValueId KernelLowering::name_value(const Expr& e) {
  at(e.token);
  if (outer_ && *outer_) {
    const ConstantName n = (*outer_)(e.symbol);
    if (n.known)
      return n.value.type == Type::Void ? not_constant(e.token)
                                        : builder.constant(n.value.type, n.value.bits);
  }
  if (const Binding* b = lookup(e.symbol)) {
    switch (b->kind) {
      case Kind::Let: return ValueId(b->id);
      case Kind::Var: return b->id == none ? ValueId() : builder.get(b->id);
      case Kind::Const:
        return b->constant.type == Type::Void
                   ? none
                   : builder.constant(b->constant.type, b->constant.bits);
      case Kind::Buffer:
        if (b->role == Role::Scalar) {
          const Buffer& buffer = builder.program.buffers[b->id];
          return builder.op(Opcode::Scalar, value_type(buffer.element), {}, b->id);
        }
        error(e.token, Code::NotAValue,
              fmt::format("`{}` is a buffer, not a value", ast_.text(e.token)))
            .with_fix(fmt::format("read an element, `{}[i]`, or its length, `len({})`",
                                  ast_.text(e.token), ast_.text(e.token)));
        return none;
    }
  }
  const uint32_t decl = context_.decl_of_symbol[e.symbol];
  if (decl != none && ast_.decls[decl].kind == DeclKind::Const) {
    const auto* c = context_.constant(decl, e.token);
    if (!c) return none;
    if (c->table) {
      error(e.token, Code::NotAValue,
            fmt::format("`{}` is a table, not a value", ast_.text(e.token)))
          .with_fix(fmt::format("read an element, `{}[i]`", ast_.text(e.token)));
      return none;
    }
    return c->value.type == Type::Void ? none : builder.constant(c->value.type, c->value.bits);
  }
  const std::string_view w = ast_.text(e.token);
  if (decl != none) {
    error(e.token, Code::NotAValue, fmt::format("`{}` is no value", w))
        .with_fix("call a function with `( )`; kernels are called in a graph");
    return none;
  }
  if (w == "lane_id" || w == "subgroup_size") {
    if (constant_mode_) return not_constant(e.token);
    return builder.op(w == "lane_id" ? Opcode::LaneId : Opcode::SubgroupSize, Type::Void, {});
  }
  for (auto n : id_names)
    if (w == n) {
      error(e.token, Code::NotAValue, fmt::format("`{}` has three components", w))
          .with_fix(fmt::format("write `{}.x`, `{}.y` or `{}.z`", w, w, w));
      return none;
    }
  return unknown_name(e.token, fmt::format("declare it: `let {} = …`", w));
}

ValueId KernelLowering::member(const Expr& e) {
  at(e.token);
  const std::string_view w = ast_.text(e.token);
  for (auto n : id_names)
    if (w == n && !lookup(e.symbol)) {
      if (constant_mode_) return not_constant(e.token);
      return builder.op(*find_op(w), Type::Void, {}, e.bits);
    }
  if (lookup(e.symbol) || context_.decl_of_symbol[e.symbol] != none || w == "lane_id" ||
      w == "subgroup_size") {
    error(e.token, Code::UnknownComponent, fmt::format("`{}` has no components", w))
        .with_fix("remove the `.x`");
    return none;
  }
  return unknown_name(e.token, fmt::format("declare it: `let {} = …`", w));
}

// ---- Operators.

ValueId KernelLowering::apply(Opcode op, Type type, std::span<const ValueId> operands,
                              TokenId token, uint64_t attr) {
  for (ValueId v : operands)
    if (v == none) return none;
  at(token);
  if (!contains(info(op).types, type) && info(op).types != TypeSet::None) {
    if (op == Opcode::Neg && is_unsigned(type)) {
      error(token, Code::NegateUnsigned,
            fmt::format("unary minus on the unsigned type {}", name(type)))
          .with_fix("subtract from zero, `0 - x`, or convert to a signed type");
      return none;
    }
    Diagnostic& d = error(token, Code::WrongOperandType,
                          fmt::format("`{}` is for {}, not {}", ast_.text(token),
                                      describe(info(op).types), name(type)));
    if (op == Opcode::Rem && is_float(type))
      d.with_fix("`%` is for integers; write `x - trunc(x / y) * y`");
    else if (op == Opcode::Xor && is_float(type))
      d.with_fix("`^` is for bits; write `pow(x, y)` for a power");
    else if (type == Type::F64 && info(op).types == TypeSet::F32)
      d.with_fix("convert: `f64(" + std::string(ast_.text(token)) + "(f32(x)))`");
    else
      d.with_fix("convert the operands first");
    return none;
  }
  return builder.op(op, type, operands, attr);
}

ValueId KernelLowering::unary(const Expr& e, Type expected) {
  if (e.op == Tok::Minus) {  // a suffixed literal and its sign are one literal
    const Expr& a = ast_.exprs[e.a];
    at(e.token);
    if (a.kind == ExprKind::Integer && a.type != Type::Void)
      return integer_literal(a, true, a.type);
    if (a.kind == ExprKind::Float && a.type != Type::Void) return float_literal(a, true, a.type);
  }
  const ValueId v = e.op == Tok::Bang ? expression(e.a, Type::Void) : expression(e.a, expected);
  if (v == none) return none;
  const Type t = builder.type(v);
  if (e.op == Tok::Bang && t != Type::Bool) {
    error(e.token, Code::WrongOperandType, fmt::format("`!` is for bool, not {}", name(t)))
        .with_fix("compare with zero, or use `~` for the complement of bits");
    return none;
  }
  if (e.op == Tok::Tilde && t == Type::Bool) {
    error(e.token, Code::WrongOperandType, "`~` is for integers, not bool").with_fix("write `!`");
    return none;
  }
  return apply(e.op == Tok::Minus ? Opcode::Neg : Opcode::Not, t, {&v, 1}, e.token);
}

/// A chain a + b + c … leans to the left: walk down to its first operand, then build upwards. A
/// long chain thus uses no stack.
ValueId KernelLowering::binary(ExprId id, Type expected) {
  std::vector<ExprId> spine;
  ExprId left = id;
  while (ast_.exprs[left].kind == ExprKind::Binary &&
         (left == id || ast_.exprs[left].literal == ast_.exprs[id].literal)) {
    spine.push_back(left);
    left = ast_.exprs[left].a;
  }
  // A literal on the left takes its type from the first operand that has one.
  const ExprId first_op = spine.back();
  const Expr& f = ast_.exprs[first_op];
  // Without a comparison in the chain its operands have the type of the whole.
  bool compares = false;
  for (ExprId s : spine) {
    const Opcode* op = binary_op(ast_.exprs[s].op);
    compares |= !op || info(*op).result == 'B';
  }
  const Type hint = compares ? Type::Void : expected;
  ValueId a = none;
  bool done_first = false;
  if (ast_.exprs[left].literal && !ast_.exprs[f.b].literal && binary_op(f.op)) {
    const ValueId b = expression(f.b, hint);
    if (b != none) {
      a = literal(left, builder.type(b));
      if (a != none) {
        const ValueId ops[] = {a, b};
        uint64_t bits = 0;
        if (find_literal(left, a, &bits))
          lint_comparison(f.token, *binary_op(f.op), builder.type(b), bits, true);
        a = apply(*binary_op(f.op), builder.type(b), ops, f.token);
      }
    }
    done_first = true;
  } else {
    a = expression(left, hint);
  }
  for (size_t i = spine.size(); i-- > 0;) {
    if (i + 1 == spine.size() && done_first) continue;
    const Expr e = ast_.exprs[spine[i]];
    a = combine(e, ast_.exprs[e.a].token, a, e.b);
  }
  return a;
}

ValueId KernelLowering::combine(const Expr& e, TokenId left, ValueId a, ExprId right) {
  const Opcode* op = binary_op(e.op);
  if (!op) return logical(e, a);
  const ValueId b = expression(right, a != none ? builder.type(a) : Type::Void);
  if (a == none || b == none) return none;
  const Type t = builder.type(a);
  if (t != builder.type(b)) {
    const auto label = [&](Type type) { return fmt::format("this side is {}", name(type)); };
    error(e.token, Code::TypeMismatch,
          fmt::format("`{}` of {} and {}", ast_.text(e.token), name(t), name(builder.type(b))))
        .note(label(t), ast_.place(left))
        .note(label(builder.type(b)), ast_.place(ast_.exprs[right].token))
        .note("there is no implicit conversion between types")
        .with_fix(
            fmt::format("convert one side: `{}(…)` or `{}(…)`", name(t), name(builder.type(b))));
    return none;
  }
  lint_operator(e, left, a, b, right);
  const ValueId ops[] = {a, b};
  return apply(*op, t, ops, e.token);
}

/// Returns whether the right side of && may be evaluated although it is not needed. Pure ops are
/// total; loads stay guarded by the test so that the sanitizer sees the accesses of the source.
bool KernelLowering::cheap(ExprId id) const {
  std::vector<ExprId> todo = {id};
  for (size_t n = 0; !todo.empty(); ++n) {
    if (n > 16) return false;
    const Expr& e = ast_.exprs[todo.back()];
    todo.pop_back();
    switch (e.kind) {
      case ExprKind::Call: {
        const Opcode* op = find_op(ast_.text(e.token));
        if (!op || info(*op).effect != Effect::Pure || context_.decl_of_symbol[e.symbol] != none)
          return false;
        for (uint32_t i = 0; i < e.args.count; ++i) todo.push_back(arg(e, i));
        break;
      }
      case ExprKind::Index:
      case ExprKind::Error: return false;
      default: break;
    }
    if (e.a != none) todo.push_back(e.a);
    if (e.b != none) todo.push_back(e.b);
  }
  return true;
}

ValueId KernelLowering::logical(const Expr& e, ValueId a) {
  const bool is_and = e.op == Tok::AmpAmp;
  const auto check = [&](ValueId v, TokenId token) {
    if (v == none || builder.type(v) == Type::Bool) return v;
    error(token, Code::WrongOperandType,
          fmt::format("`{}` is for bool, not {}", ast_.text(e.token), name(builder.type(v))))
        .with_fix("compare with zero: `x != 0`");
    return ValueId();
  };
  a = check(a, e.token);
  const TokenId right = ast_.exprs[e.b].token;
  if (a == none || cheap(e.b)) {
    const ValueId b = check(expression(e.b, Type::Void), right);
    if (a == none || b == none) return none;
    at(e.token);
    return builder.op(is_and ? Opcode::And : Opcode::Or, Type::Bool, {a, b});
  }
  at(e.token);
  const VarId result = builder.declare(a);
  ValueId test = a;
  if (!is_and) test = builder.op(Opcode::Not, Type::Bool, {a});
  builder.begin_if(test);
  const ValueId b = check(expression(e.b, Type::Void), right);
  if (b != none) builder.set(result, b);
  at(e.token);
  builder.end_if();
  return b == none ? none : builder.get(result);
}

ValueId KernelLowering::cast(const Expr& e) {
  if (is_storage_only(e.type)) {
    error(e.token, Code::StorageTypeAsValue,
          fmt::format("{} is a storage type: no value has it", name(e.type)))
        .with_fix("keep the value as f32; a store to the buffer rounds it");
    return none;
  }
  // A literal takes the cast's type if it is of the same kind; otherwise its own type, and is
  // converted.
  const Expr& a = ast_.exprs[e.a];
  Type hint = Type::Void;
  if (a.literal && (a.float_literal ? is_float(e.type) : is_integer(e.type))) hint = e.type;
  const ValueId v = expression(e.a, hint);
  if (v == none) return none;
  at(e.token);
  return builder.type(v) == e.type ? v : builder.op(Opcode::Cast, e.type, {v});
}

// ---- Memory.

const Binding* KernelLowering::buffer(uint32_t symbol, TokenId token) {
  if (outer_ && *outer_ && (*outer_)(symbol).known) return not_constant(token), nullptr;
  const Binding* b = lookup(symbol);
  if (!b) {
    const uint32_t decl = context_.decl_of_symbol[symbol];
    if (decl != none && ast_.decls[decl].kind == DeclKind::Const) {
      const auto* c = context_.constant(decl, token);
      if (!c) return nullptr;
      if (c->table) {
        const BufferId id = table(decl, *c->table, ast_.decls[decl].name);
        static thread_local Binding made;
        made = {};
        made.kind = Kind::Buffer;
        made.id = id.value();
        made.role = Role::Table;
        made.declared = ast_.decls[decl].name;
        return &made;
      }
    } else if (decl == none && std::find(std::begin(id_names), std::end(id_names),
                                         ast_.text(token)) != std::end(id_names)) {
      error(token, Code::NotABuffer,
            fmt::format("`{}` has components, not elements", ast_.text(token)))
          .with_fix(fmt::format("write `{}.x`", ast_.text(token)));
      return nullptr;
    } else if (decl == none) {
      unknown_name(token,
                   fmt::format("declare a parameter `{0}: in T[]` or an array `var {0}: T[n]`",
                               ast_.text(token)));
      return nullptr;
    }
  }
  if (b && b->kind == Kind::Const && b->constant.type == Type::Void)
    return nullptr;  // its declaration failed
  if (!b || b->kind != Kind::Buffer || b->role == Role::Scalar) {
    Diagnostic& d =
        error(token, Code::NotABuffer, fmt::format("`{}` is no buffer or array", ast_.text(token)));
    if (b && b->declared) d.note("declared here", ast_.place(b->declared));
    d.with_fix("index a buffer parameter, a shared or private array, or a table");
    return nullptr;
  }
  return b;
}

ValueId KernelLowering::index(ExprId id) {
  const ValueId v = expression(id, Type::Void);
  if (v == none) return none;
  if (!is_integer(builder.type(v))) {
    error(ast_.exprs[id].token, Code::IndexNotInteger,
          fmt::format("an index is an integer, this is {}", name(builder.type(v))))
        .with_fix("convert it: `u32(…)`");
    return none;
  }
  return v;
}

ValueId KernelLowering::load(const Expr& e) {
  const Binding* found = buffer(e.symbol, e.token);
  const Binding b = found ? *found : Binding{};
  const ValueId i = index(e.a);
  if (!found || i == none) return none;
  lint_index(b, e.token, e.a, i);
  at(e.token);
  MemoryRef ref;
  ref.buffer = BufferId(b.id);
  return builder.op(Opcode::Load, value_type(builder.program.buffers[b.id].element), {i},
                    ref.pack());
}

bool KernelLowering::writable(const Binding& b, TokenId token) {
  if (is_writable(b.role)) return true;
  error(token, Code::WriteToReadOnly,
        fmt::format("`{}` has the role `{}` and is only read", ast_.text(token), name(b.role)))
      .with_fix(b.role == Role::In
                    ? "declare it `inout` or `out`"
                    : "write to an `inout`, `out`, `scratch`, shared or private array");
  return false;
}

/// Trailing words of an atomic or uniform_load.
bool KernelLowering::options(const Expr& e, uint32_t from, Opcode op, MemoryRef* ref, Role role) {
  const bool load = op == Opcode::UniformLoad;
  ref->scope = role == Role::Shared || load ? Scope::Workgroup : Scope::Grid;
  for (uint32_t i = from; i < e.args.count; ++i) {
    const Expr& o = ast_.exprs[arg(e, i)];
    const std::string_view w = o.kind == ExprKind::Name ? ast_.text(o.token) : std::string_view();
    if (!load && w == "acq_rel")
      ref->acq_rel = true;
    else if (w == "workgroup")
      ref->scope = Scope::Workgroup;
    else if (load && w == "grid")
      ref->scope = Scope::Grid;
    else if (!load && w == "device" && role != Role::Shared)
      ref->scope = Scope::Grid;
    else if (!load && w == "device")
      ref->scope = Scope::Workgroup;  // shared memory is visible to its workgroup only
    else {
      error(o.token, Code::AtomicOption,
            fmt::format("`{}` takes no such option", ast_.text(e.token)))
          .with_fix(load ? "write `grid` or nothing"
                         : "options are `acq_rel`, `workgroup` and `device`");
      return false;
    }
  }
  return true;
}

ValueId KernelLowering::memory_call(const Expr& e, Opcode op, bool statement) {
  const OpInfo& row = info(op);
  const uint32_t values = uint32_t(row.operands.size()) - 1;
  if (!count(e, 1 + values, 3 + values,
             fmt::format("{}(b[i]{})", row.mnemonic,
                         values == 2 ? ", expected, v"
                         : values    ? ", v"
                                     : "")))
    return none;
  const Expr target = ast_.exprs[arg(e, 0)];
  if (target.kind != ExprKind::Index) {
    if (target.kind != ExprKind::Error)
      error(target.token, Code::AtomicTarget,
            fmt::format("`{}` works on an element of a buffer", row.mnemonic))
          .with_fix("write `b[i]` as its first argument");
    return none;
  }
  const Binding* found = buffer(target.symbol, target.token);
  const Binding b = found ? *found : Binding{};
  ValueId operands[3] = {index(target.a), none, none};
  if (!found) return none;
  lint_index(b, target.token, target.a, operands[0]);
  const Type element = builder.program.buffers[b.id].element;
  const Type t = value_type(element);
  bool ok = operands[0] != none;
  for (uint32_t i = 1; i <= values; ++i) {
    const ExprId a = arg(e, i);
    operands[i] = expect(expression(a, t), t, ast_.exprs[a].token,
                         fmt::format("the element of `{}`", ast_.text(target.token)), b.declared);
    ok &= operands[i] != none;
  }
  MemoryRef ref;
  ref.buffer = BufferId(b.id);
  if (!options(e, 1 + values, op, &ref, b.role)) return none;
  if (op != Opcode::UniformLoad) {
    if (b.role == Role::Private) {
      error(target.token, Code::AtomicTarget,
            "a private array is seen by one invocation only: it has no atomics")
          .with_fix("use a plain load and store");
      return none;
    }
    if (!writable(b, target.token)) return none;
    if (!contains(row.types, element)) {
      error(e.token, Code::WrongOperandType,
            fmt::format("`{}` is for elements of {}, not {}", row.mnemonic, describe(row.types),
                        name(element)))
          .with_fix("use a buffer of i32, u32, i64 or u64");
      return none;
    }
  } else if (b.role == Role::Private) {
    error(target.token, Code::NotABuffer,
          "`uniform_load` reads memory that invocations share, not a private array")
        .with_fix("read it with a plain load");
    return none;
  }
  if (!ok) return none;
  at(e.token);
  const ValueId r = builder.op(op, t, std::span<const ValueId>(operands, 1 + values), ref.pack());
  if (r == none && !statement) {
    error(e.token, Code::VoidFunctionAsValue, fmt::format("`{}` gives no value", row.mnemonic))
        .with_fix("write it as a statement");
    return none;
  }
  return r;
}

ValueId KernelLowering::load_as(const Expr& e) {
  if (!count(e, 2, 2, "load_as<u32>(b, byte)")) return none;
  if (e.type == Type::Void) {
    error(e.token, Code::MissingTypeArgument, "`load_as` needs the type to read")
        .with_fix("write `load_as<u32>(b, byte)`");
    return none;
  }
  const Expr target = ast_.exprs[arg(e, 0)];
  if (target.kind != ExprKind::Name) {
    error(target.token, Code::NotABuffer, "`load_as` reads from a buffer")
        .with_fix("write the buffer's name as the first argument");
    return none;
  }
  const Binding* found = buffer(target.symbol, target.token);
  const Binding b = found ? *found : Binding{};
  const ValueId i = index(arg(e, 1));
  if (!found || i == none) return none;
  if (!is_integer(builder.program.buffers[b.id].element)) {
    error(target.token, Code::WrongOperandType,
          fmt::format("`load_as` reads buffers of integers, not {}",
                      name(builder.program.buffers[b.id].element)))
        .with_fix("declare the buffer as u8");
    return none;
  }
  if (is_storage_only(e.type)) {
    error(e.token, Code::StorageTypeAsValue,
          fmt::format("`load_as` gives a value, and no value is {}", name(e.type)))
        .with_fix("read u16, or declare a buffer of that type");
    return none;
  }
  at(e.token);
  MemoryRef ref;
  ref.buffer = BufferId(b.id);
  return builder.op(Opcode::LoadAs, e.type, {i}, ref.pack());
}

ValueId KernelLowering::bitcast(const Expr& e) {
  if (!count(e, 1, 1, "bitcast<u32>(x)")) return none;
  if (e.type == Type::Void) {
    error(e.token, Code::MissingTypeArgument, "`bitcast` needs the type to give")
        .with_fix("write `bitcast<u32>(x)`");
    return none;
  }
  if (is_storage_only(e.type)) {
    error(e.token, Code::StorageTypeAsValue,
          fmt::format("{} is a storage type: no value has it", name(e.type)))
        .with_fix("use u16 for the bits");
    return none;
  }
  const ValueId v = expression(arg(e, 0), Type::Void);
  if (v == none) return none;
  const Type from = builder.type(v);
  if (width_of(from) != width_of(e.type)) {
    error(e.token, Code::BitcastWidth,
          fmt::format("{} has {} bits and {} has {}", name(from), width_of(from), name(e.type),
                      width_of(e.type)))
        .with_fix("bit-cast between types of one width, or convert: `" + std::string(name(e.type)) +
                  "(x)`");
    return none;
  }
  at(e.token);
  return builder.op(Opcode::Bitcast, e.type, {v});
}

ValueId KernelLowering::length(const Expr& e, Opcode op) {
  if (!count(e, 1, 1, "len(b)")) return none;
  const Expr target = ast_.exprs[arg(e, 0)];
  if (target.kind != ExprKind::Name) {
    error(target.token, Code::NotABuffer, "`len` is for a buffer or array")
        .with_fix("write its name");
    return none;
  }
  const Binding* b = buffer(target.symbol, target.token);
  if (!b) return none;
  at(e.token);
  return builder.op(op, Type::Void, {}, b->id);
}

// ---- Calls.

bool KernelLowering::count(const Expr& e, uint32_t least, uint32_t most, std::string_view form) {
  if (e.args.count >= least && e.args.count <= most) return true;
  error(e.token, Code::WrongArgumentCount,
        fmt::format("`{}` takes {} argument{}, not {}", ast_.text(e.token),
                    least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most),
                    most == 1 ? "" : "s", e.args.count))
      .with_fix(fmt::format("write `{}`", form));
  return false;
}

ValueId KernelLowering::call(const Expr& e, Type expected, bool statement) {
  const std::string_view w = ast_.text(e.token);
  const uint32_t decl = context_.decl_of_symbol[e.symbol];
  if (decl != none && ast_.decls[decl].kind == DeclKind::Function)
    return inline_call(e, ast_.decls[decl], statement);
  if (w == "bits") return bits_literal(e, expected == Type::Void ? Type::F32 : expected);
  const Opcode* op = find_op(w);
  if (op) {
    const OpInfo& row = info(*op);
    if (constant_mode_ && row.effect != Effect::Pure) return not_constant(e.token);
    if (*op == Opcode::Len || *op == Opcode::Len64) return length(e, *op);
    if (*op == Opcode::LoadAs) return load_as(e);
    if (*op == Opcode::Bitcast) return bitcast(e);
    if (row.effect == Effect::Atomic || *op == Opcode::UniformLoad)
      return memory_call(e, *op, statement);
    if (is_callable(*op)) return table_call(e, *op, expected);
  }
  if (is_replaced(e.token)) return none;
  const bool is_shown = !context_.full();
  Diagnostic& d = error(e.token, Code::UnknownFunction,
                        fmt::format("there is no function `{}`", w.substr(0, 60)));
  if (!is_shown) return none;
  std::vector<std::string> names;
  if (context_.may_suggest()) {
    names = {"len", "len64", "load_as", "bitcast", "uniform_load"};
    for (size_t i = 0; i < all_ops().size(); ++i)
      if (is_callable(static_cast<Opcode>(i)) || all_ops()[i].effect == Effect::Atomic)
        names.emplace_back(all_ops()[i].mnemonic);
    for (const Decl& other : ast_.decls)
      if (other.kind == DeclKind::Function) names.emplace_back(ast_.text(other.name));
  }
  const auto near = context_.nearest_name(w, names);
  const ForeignValue foreign = foreign_value(ast_, e.token);
  if (w.find("barrier") != w.npos)
    d.with_fix("write `barrier workgroup`, without parentheses");
  else if (decl != none && ast_.decls[decl].kind != DeclKind::Const)
    d.with_fix("kernels are called in a graph; make it a `fn` to call it here");
  else if (!foreign.vyre.empty())
    replaced_ = {e.token, foreign.end}, d.with_fix(foreign.fix());
  else if (op && !operator_for(*op).empty())
    d.with_fix(fmt::format("write `{}`", operator_text(ast_, *op, e.token)));
  else if (!near.empty())
    d.with_fix(fmt::format("did you mean `{}`?", near));
  else
    d.with_fix(fmt::format("define it: `fn {}(…) {{ … }}`", w.substr(0, 60)));
  return none;
}

/// A pure or subgroup op by its row: T is the type that its T operands have.
ValueId KernelLowering::table_call(const Expr& e, Opcode op, Type expected) {
  const OpInfo& row = info(op);
  const uint32_t n = uint32_t(row.operands.size());
  std::string form(row.mnemonic);
  form += '(';
  for (uint32_t i = 0; i < n; ++i) form += fmt::format("{}{}", i ? ", " : "", char('a' + char(i)));
  if (!count(e, n, n, form + ")")) return none;
  Type t = Type::Void;
  ValueId operands[4] = {none, none, none, none};
  TokenId typed_by = e.token;
  bool ok = true;
  for (uint32_t i = 0; i < n; ++i) {  // arguments with their own type, in order
    const ExprId a = arg(e, i);
    const Expr& x = ast_.exprs[a];
    if (row.operands[i] != 'T') {
      const Type need = row.operands[i] == 'U' ? Type::U32 : Type::Bool;
      operands[i] = expect(expression(a, need), need, x.token,
                           fmt::format("argument {} of `{}`", i + 1, row.mnemonic));
      ok &= operands[i] != none;
      continue;
    }
    if (x.literal) continue;
    operands[i] = expression(a, expected);
    if (operands[i] == none) {
      ok = false;
      continue;
    }
    const Type mine = builder.type(operands[i]);
    if (t == Type::Void) {
      t = mine;
      typed_by = x.token;
    } else if (mine != t) {
      error(x.token, Code::TypeMismatch,
            fmt::format("`{}` takes operands of one type, here {} and {}", row.mnemonic, name(t),
                        name(mine)))
          .note(fmt::format("this operand is {}", name(t)), ast_.place(typed_by))
          .with_fix(cast_fix(t));
      ok = false;
    }
  }
  if (t == Type::Void && ok) {
    t = expected;
    bool any_float = false;
    for (uint32_t i = 0; i < n; ++i) any_float |= ast_.exprs[arg(e, i)].float_literal;
    // The result may have another type than the operands (is_nan): then the context determines
    // nothing.
    if (row.result != 'T' || t == Type::Void) t = any_float ? Type::F32 : Type::U32;
  }
  for (uint32_t i = 0; i < n && ok; ++i)
    if (operands[i] == none) {
      operands[i] = literal(arg(e, i), t);
      ok &= operands[i] != none;
    }
  if (!ok) return none;
  const bool has_t = row.operands.find('T') != std::string_view::npos;
  return apply(op, has_t ? t : Type::Void, std::span<const ValueId>(operands, n), e.token);
}

}  // namespace vyre::text
