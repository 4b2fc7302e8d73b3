#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "ir/eval/eval.h"
#include "ir/stats.h"
#include "text/lower/kernel_lowering.h"
#include "text/lower/literal.h"
#include "text/parser.h"

namespace vyre::text {

// ---- The module.

bool ModuleContext::full() const { return errors >= max_errors; }

/// An unknown name after a syntax error may be one whose declaration could not be read.
bool follows_from_syntax(Code code) {
  return code == Code::UnknownName || code == Code::UnknownFunction || code == Code::UnknownKernel;
}

Diagnostic& ModuleContext::leave_out(TokenId at, Code code) {
  const bool is_new = left_out.insert(uint64_t{at} << 16 | uint64_t(code)).second;
  if (is_new && !(has_syntax_errors && follows_from_syntax(code))) ++ast.errors_left_out;
  scratch.clear();
  scratch.push_back(diagnose(code, {}, {}));
  return scratch.back();
}

Diagnostic& ModuleContext::error(TokenId at, Code code, std::string message) {
  if (full()) return leave_out(at, code);
  ++errors;
  diagnostics.push_back(diagnose(code, ast.place(at), std::move(message)));
  return diagnostics.back();
}

void ModuleContext::lint(TokenId at, Code code, std::string message, std::string fix) {
  if (!options.lint || ast.tokens[at].file != 0) return;
  if (!warned.insert(uint64_t{at} << 16 | uint64_t(code)).second) return;
  warning(diagnose(code, ast.place(at), std::move(message)).with_fix(std::move(fix)));
}

void ModuleContext::warning(Diagnostic d) {
  if (warnings < max_errors) diagnostics.push_back(std::move(d)), ++warnings;
}

const FileContents& ModuleContext::table_file(const std::string& path, const std::string& from) {
  static const FileContents refused{"", FileError{EACCES, "no files can be read here"}};
  if (!options.resolver) return refused;
  const std::string name = options.resolver.name(path, from);
  const auto [entry, is_new] = table_files.try_emplace(name);
  if (is_new) {
    budget.check(kept_bytes);
    entry->second = options.resolver.read(name, max_table_bytes);
    kept_bytes += entry->second.bytes.size();
  }
  return entry->second;
}

bool ModuleContext::may_suggest() const { return compared_names < 100'000; }

std::string_view ModuleContext::nearest_name(std::string_view name,
                                             const std::vector<std::string>& candidates) {
  if (!may_suggest()) return {};
  compared_names += candidates.size();
  return nearest(name, candidates);
}

void analyse(ModuleContext& c) {
  Ast& ast = c.ast;
  c.decl_of_symbol.assign(ast.symbols.size(), none);
  c.scopes.reset(ast.symbols.size());
  c.constants.resize(ast.decls.size());
  c.called.assign(ast.decls.size(), 0);
  c.uses.assign(ast.tokens.size(), 0);
  for (uint32_t i = 0; i < ast.decls.size(); ++i) {
    const Decl& d = ast.decls[i];
    uint32_t& slot = c.decl_of_symbol[ast.tokens[d.name].symbol];
    if (slot != none)
      c.error(d.name, Code::DuplicateName, fmt::format("`{}` is declared twice", ast.text(d.name)))
          .note("declared here first", ast.place(ast.decls[slot].name))
          .with_fix("rename one of them");
    else
      slot = i;
    if (d.kind == DeclKind::Function && find_op(ast.text(d.name)))
      c.error(d.name, Code::ReservedName,
              fmt::format("`{}` is an operation of the language and cannot be defined again",
                          ast.text(d.name)))
          .with_fix("choose another name");
  }
  // A statement's parts have smaller ids than the statement.
  c.has_return.assign(ast.stmts.size(), 0);
  c.ends.assign(ast.stmts.size(), 0);
  for (StmtId i = 0; i < ast.stmts.size(); ++i) {
    const Stmt& s = ast.stmts[i];
    const auto any = [&](const std::vector<uint8_t>& flags, Range r) {
      for (uint32_t k = 0; k < r.count; ++k)
        if (ast.ids[r.begin + k] < flags.size() && flags[ast.ids[r.begin + k]]) return true;
      return false;
    };
    if (s.kind == StmtKind::Return) c.has_return[i] = c.ends[i] = 1;
    if (s.kind == StmtKind::Trap) c.ends[i] = 1;
    const bool has_body = s.kind == StmtKind::If || s.kind == StmtKind::For ||
                          s.kind == StmtKind::While || s.kind == StmtKind::Region;
    if (!has_body) continue;
    c.has_return[i] =
        any(c.has_return, s.body) || (s.kind == StmtKind::If && any(c.has_return, s.other));
    if (s.kind == StmtKind::If)
      c.ends[i] = s.has_else && any(c.ends, s.body) && any(c.ends, s.other);
    if (s.kind == StmtKind::Region) c.ends[i] = any(c.ends, s.body);
  }
  for (const Decl& d : ast.decls) {
    if (d.kind == DeclKind::Function && d.result != Type::Void) {
      bool ends = false;
      for (uint32_t k = 0; k < d.body.count; ++k) ends |= bool(c.ends[ast.ids[d.body.begin + k]]);
      if (!ends)
        c.error(d.name, Code::MissingReturn,
                fmt::format("`{}` has a path that returns no {}", ast.text(d.name), name(d.result)))
            .with_fix("end the function with a `return`");
      if (is_storage_only(d.result))
        c.error(d.name, Code::StorageTypeAsValue,
                fmt::format("{} is a storage type: no value has it", name(d.result)))
            .with_fix("return f32");
    }
    for (const Param& p : d.params)
      if (!p.array && is_storage_only(p.type))
        c.error(p.name, Code::StorageTypeAsValue,
                fmt::format("{} is a storage type: no value has it", name(p.type)))
            .with_fix("write f32");
  }
}

const ModuleContext::ConstDecl* ModuleContext::constant(uint32_t decl, TokenId use) {
  if (constants[decl].state == State::Busy) {
    error(use, Code::ConstantCycle, fmt::format("`{}` depends on itself", ast.text(use)))
        .with_fix("give one of the constants a value of its own");
    return nullptr;
  }
  if (constants[decl].state == State::New) {
    if (constant_chain == max_constant_chain) {
      if (!std::exchange(chain_reported, true))
        error(use, Code::NestingTooDeep,
              fmt::format("a chain of more than {} constants that depend on each other",
                          max_constant_chain))
            .with_fix("declare a constant before those that use it");
      return nullptr;
    }
    constants[decl].state = State::Busy;
    ++constant_chain;
    const Stmt s = ast.stmts[ast.decls[decl].constant];
    const std::string decl_name(ast.text(s.name));
    const auto override = options.constants.find(decl_name);
    ConstDecl made;
    if (s.op == Tok::LBracket || s.op == Tok::At || s.op == Tok::LParen) {
      made.table = evaluate_table(*this, s);
      if (override != options.constants.end())
        error(s.name, Code::BadConstantValue,
              fmt::format("`{}` is a table and cannot be overridden", decl_name))
            .with_fix("override a scalar constant");
    } else {
      made.value = evaluate_constant(*this, s.b, s.type);
      if (override != options.constants.end() && made.value.type != Type::Void &&
          !parse_value(override->second, made.value.type, &made.value.bits))
        error(s.name, Code::BadConstantValue,
              fmt::format("`{}` is no {} for the constant `{}`", override->second,
                          name(made.value.type), decl_name))
            .with_fix(fmt::format("give a value of {}: `--const {}=…`", name(made.value.type),
                                  decl_name));
    }
    made.state = State::Done;
    --constant_chain;
    if (made.table) kept_bytes += made.table->bytes.size();
    budget.check(kept_bytes);
    constants[decl] = std::move(made);
  }
  const ConstDecl& c = constants[decl];
  return c.table || c.value.type != Type::Void ? &c : nullptr;
}

// ---- Constants.

/// Lowers the expression and folds the result: operators have one definition, not two.
Constant evaluate_constant(ModuleContext& context, ExprId expr, Type expected,
                           const ConstantResolver& resolve) {
  if (context.ended) return {};
  KernelLowering k(context, "");
  k.constant_mode_ = true;
  k.outer_ = &resolve;
  Decl decl;
  k.enter_kernel(decl);
  decl.kind = DeclKind::Kernel;
  const Expr& e = context.ast.exprs[expr];
  if (is_storage_only(expected)) {
    context
        .error(e.token, Code::StorageTypeAsValue,
               fmt::format("{} is a storage type: no value has it", name(expected)))
        .with_fix("write f32");
    return {};
  }
  ValueId v = none;
  try {
    v = k.expect(k.expression(expr, expected), expected, e.token, "the constant");
  } catch (GiveUp) {  // reported
  }
  if (v == none) return {};
  const Program& p = k.builder.program;
  ExactFloats exact;
  IdMap<ValueId, uint64_t> bits(p.values.size(), 0);
  for (OpId id = p.blocks[body_block].first; id != none; id = p.op(id).next) {
    const Op& o = p.op(id);
    if (o.code == Opcode::Const) {
      bits[p.result(id)] = o.attr;
      continue;
    }
    const Type source = o.operands.count ? p.type(p.operand(id, 0)) : Type::Void;
    if (info(o.code).effect != Effect::Pure || !find_eval(o.code, o.type, source)) {
      context.error(e.token, Code::NotConstant, "this is not known before the launch")
          .with_fix("use literals and `const` names only");
      return {};
    }
    uint64_t in[4] = {};
    for (uint32_t i = 0; i < o.operands.count; ++i) in[i] = bits[p.operand(id, i)];
    bits[p.result(id)] = eval_bits(o.code, o.type, source, in, o.operands.count);
  }
  return {p.type(v), bits[v]};
}

namespace {

void append_element(std::vector<std::byte>& bytes, Type element, uint64_t bits) {
  if (element == Type::F16) bits = to_f16(std::bit_cast<float>(uint32_t(bits)));
  if (element == Type::BF16) bits = to_bf16(std::bit_cast<float>(uint32_t(bits)));
  for (uint32_t i = 0; i < size_of(element); ++i) bytes.push_back(std::byte(bits >> (8 * i)));
}

/// Plain literals, by far the most common table elements, without lowering.
bool plain_literal(const Ast& ast, ExprId id, Type t, uint64_t* bits) {
  const Expr* e = &ast.exprs[id];
  bool negative = false;
  if (e->kind == ExprKind::Unary && e->op == Tok::Minus) {
    negative = true;
    e = &ast.exprs[e->a];
  }
  if (e->kind == ExprKind::Integer && e->type == Type::Void && is_integer(t))
    return fit_integer(e->bits, negative, t, bits);
  return false;
}

}  // namespace

FormulaResolver constant_sizes(FormulaPool& pool, const ConstantResolver& resolve) {
  return [&pool, resolve](uint32_t symbol) {
    const ConstantName c = resolve ? resolve(symbol) : ConstantName{};
    FormulaName n;
    if (!c.known) return n;
    n.code = Code::NotConstant;
    if (!is_integer(c.value.type)) {
      n.refused = "is no integer";
      if (c.value.type == Type::Void) {
        n.refused = "is not known before the launch, and this length is a constant";
        n.fix =
            "declare `const N = 64` and write `N`, or pass the memory as a parameter, "
            "`t: scratch u32[n]`";
      }
      return n;
    }
    const uint32_t w = width_of(c.value.type);
    const bool negative = is_signed(c.value.type) && (c.value.bits >> (w - 1) & 1);
    n.constant = negative ? pool.constant((~c.value.bits + 1) & low_mask(w), true)
                          : pool.constant(c.value.bits);
    return n;
  };
}

std::optional<Table> evaluate_table(ModuleContext& context, const Stmt& s,
                                    const ConstantResolver& resolve) {
  Ast& ast = context.ast;
  Table t;
  t.element = s.type;
  if (s.type == Type::Void) return std::nullopt;
  std::optional<uint64_t> declared;
  if (s.a != none) {
    FormulaPool pool;
    const FormulaId f = lower_formula(context, pool, s.a, constant_sizes(pool, resolve));
    uint64_t n = 0;
    if (f == no_formula) return std::nullopt;
    if (!pool.is_constant(f, &n)) {
      context
          .error(ast.exprs[s.a].token, Code::NotConstant,
                 "the length of a table must be a constant")
          .with_fix("use literals and `const` names only");
      return std::nullopt;
    }
    declared = n;
  }
  if (s.op == Tok::At) {
    const std::string path = unquote(ast.text(s.other.begin));
    const FileContents& data = context.table_file(path, ast.files[ast.tokens[s.name].file].name);
    const size_t size = data.bytes.size();
    if (!data || size % size_of(t.element) != 0) {
      const bool too_large = !data && data.error->code == EFBIG;
      const std::string why = too_large ? "a table has at most 64 KiB; " + data.error->what
                              : !data
                                  ? data.error->what
                                  : fmt::format("its {} bytes are no multiple of the element's {}",
                                                size, size_of(t.element));
      context
          .error(s.other.begin, Code::TableFile,
                 fmt::format("the table's file `{}` cannot be used: {}", path, why))
          .with_fix(too_large
                        ? fmt::format("pass it as a parameter, `{}: in {}[]`", ast.text(s.name),
                                      name(t.element))
                        : "name a file of raw little-endian elements, relative to this source");
      return std::nullopt;
    }
    for (char c : data.bytes) t.bytes.push_back(std::byte(c));
  } else {
    bool ok = true;
    for (uint32_t i = 0; i < s.other.count; ++i) {
      const ExprId e = ast.ids[s.other.begin + i];
      uint64_t bits = 0;
      const Type each = s.op == Tok::LParen ? Type::U8 : value_type(t.element);
      if (!plain_literal(ast, e, each, &bits)) {
        const Constant c = evaluate_constant(context, e, each, resolve);
        if (c.type == Type::Void) {
          ok = false;
          continue;
        }
        bits = c.bits;
      }
      append_element(t.bytes, s.op == Tok::LParen ? Type::U8 : t.element, bits);
    }
    if (!ok) return std::nullopt;
  }
  t.count = t.bytes.size() / size_of(t.element);
  if (t.count * size_of(t.element) != t.bytes.size()) {
    context
        .error(s.name, Code::TableLength,
               fmt::format("the {} bytes of `{}` are no multiple of the element's {}",
                           t.bytes.size(), ast.text(s.name), size_of(t.element)))
        .with_fix("give whole elements");
    return std::nullopt;
  }
  if (declared && *declared != t.count) {
    context
        .error(s.name, Code::TableLength,
               fmt::format("`{}` is declared with {} element{} and has {}", ast.text(s.name),
                           *declared, *declared == 1 ? "" : "s", t.count))
        .with_fix(fmt::format("write `[{}]`, or leave the length out: `[]`", t.count));
    return std::nullopt;
  }
  return t;
}

// ---- Formulas.

namespace {

struct FormulaLowering {
  ModuleContext& context;
  FormulaPool& pool;
  const FormulaResolver& resolve;
  static constexpr size_t max_terms = 10000;       // of all sizes of a kernel
  bool too_large = pool.nodes.size() > max_terms;  // reported

  FormulaId fail(TokenId token, std::string why, Code code = Code::NotAFormula,
                 std::string fix = "") {
    if (fix.empty())
      fix = "sizes use integer constants, integer scalars, `len(b)`, + - * / %, ceil_div, min, max";
    context.error(token, code, std::move(why)).with_fix(std::move(fix));
    return no_formula;
  }
  FormulaId refuse(TokenId token, const FormulaName& n) {
    return fail(token, fmt::format("`{}` {}", context.ast.text(token), n.refused), n.code, n.fix);
  }

  FormulaId named(const Expr& e) {
    const FormulaName n = resolve(e.symbol);
    const std::string_view w = context.ast.text(e.token);
    if (!n.refused.empty()) return refuse(e.token, n);
    if (n.constant != no_formula) return n.constant;
    if (n.index != none && n.scalar && !n.later) return pool.scalar(n.index);
    if (n.index != none && n.later)
      return fail(e.token, fmt::format("`{}` is declared later", w), Code::LaterParameter);
    if (n.index != none) return fail(e.token, fmt::format("`{}` is a buffer, not a number", w));
    const uint32_t decl = context.decl_of_symbol[e.symbol];
    if (decl != none && context.ast.decls[decl].kind == DeclKind::Const) {
      const auto* c = context.constant(decl, e.token);
      if (!c) return no_formula;
      if (c->table || !is_integer(c->value.type))
        return fail(e.token, fmt::format("`{}` is no integer", w));
      const uint64_t bits = c->value.bits;
      const uint32_t width = width_of(c->value.type);
      if (is_signed(c->value.type) && (bits >> (width - 1) & 1))
        return pool.constant((~bits + 1) & low_mask(width), true);
      return pool.constant(bits);
    }
    return unknown(e.token, fmt::format("`{}` is not known in a size", w));
  }

  FormulaId unknown(TokenId token, std::string message) {
    fail(token, std::move(message), Code::UnknownName);
    if (context.full() || !context.may_suggest()) return no_formula;
    std::vector<std::string> names;
    for (uint32_t s = 0; s < context.ast.symbols.size(); ++s) {
      const uint32_t decl = context.decl_of_symbol[s];
      const FormulaName n = resolve(s);
      if (n.index != none || n.constant != no_formula ||
          (decl != none && context.ast.decls[decl].kind == DeclKind::Const))
        names.emplace_back(context.ast.symbols.text(s));
    }
    context.compared_names += context.ast.symbols.size();
    const auto near = context.nearest_name(context.ast.text(token), names);
    if (!near.empty()) context.diagnostics.back().with_fix(fmt::format("did you mean `{}`?", near));
    return no_formula;
  }

  std::string fix_of_call(const Expr& e) const {
    const std::string text = operator_text(context.ast, e);
    return text.empty() ? "" : fmt::format("write `{}`", text);
  }

  FormulaId call(const Expr& e) {
    const std::string_view w = context.ast.text(e.token);
    const auto arg = [&](uint32_t i) { return context.ast.ids[e.args.begin + i]; };
    if (w == "len") {
      const Expr* a = e.args.count == 1 ? &context.ast.exprs[arg(0)] : nullptr;
      if (!a || a->kind != ExprKind::Name) return fail(e.token, "`len` takes the name of a buffer");
      const FormulaName n = resolve(a->symbol);
      const std::string_view b = context.ast.text(a->token);
      if (!n.refused.empty()) return refuse(a->token, n);
      if (n.index == none) return unknown(a->token, fmt::format("`{}` is no parameter", b));
      if (n.scalar) return fail(a->token, fmt::format("`{}` is a scalar and has no length", b));
      if (n.later)
        return fail(a->token, fmt::format("`{}` is declared later", b), Code::LaterParameter);
      return pool.len(n.index);
    }
    const FormulaOp op = w == "ceil_div" ? FormulaOp::CeilDiv
                         : w == "min"    ? FormulaOp::Min
                                         : FormulaOp::Max;
    if ((op == FormulaOp::Max && w != "max") || e.args.count != 2)
      return fail(e.token, fmt::format("`{}` cannot be used like this in a size", w.substr(0, 60)),
                  Code::NotAFormula, fix_of_call(e));
    const FormulaId a = lower(arg(0)), b = lower(arg(1));
    return a == no_formula || b == no_formula ? no_formula : pool.binary(op, a, b);
  }

  /// Chains lean to the left and are walked without recursion; the rest is as deep as its nesting.
  FormulaId lower(ExprId id) {
    std::vector<ExprId> spine;
    while (context.ast.exprs[id].kind == ExprKind::Binary) {
      spine.push_back(id);
      id = context.ast.exprs[id].a;
    }
    FormulaId f = leaf(id);
    for (size_t i = spine.size(); i-- > 0;) {
      const Expr& e = context.ast.exprs[spine[i]];
      const FormulaId b = lower(e.b);
      FormulaOp op;
      switch (e.op) {
        case Tok::Plus: op = FormulaOp::Add; break;
        case Tok::Minus: op = FormulaOp::Sub; break;
        case Tok::Star: op = FormulaOp::Mul; break;
        case Tok::Slash: op = FormulaOp::Div; break;
        case Tok::Percent: op = FormulaOp::Rem; break;
        default:
          f = fail(e.token,
                   fmt::format("`{}` cannot be used in a size", context.ast.text(e.token)));
          continue;
      }
      f = f == no_formula || b == no_formula ? no_formula : pool.binary(op, f, b);
    }
    if (pool.nodes.size() > max_terms) {
      if (!std::exchange(too_large, true))
        context
            .error(context.ast.exprs[id].token, Code::ProgramTooLarge,
                   "the sizes of this kernel have more than 10000 terms")
            .with_fix("write shorter formulas");
      context.ended = true;
      return no_formula;
    }
    return f;
  }

  FormulaId leaf(ExprId id) {
    const Expr& e = context.ast.exprs[id];
    switch (e.kind) {
      case ExprKind::Integer: return pool.constant(e.bits);
      case ExprKind::Name: return named(e);
      case ExprKind::Call: return call(e);
      case ExprKind::Unary:
        if (e.op == Tok::Minus) {
          const FormulaId a = lower(e.a);
          return a == no_formula ? a : pool.binary(FormulaOp::Sub, pool.constant(0), a);
        }
        return fail(e.token, "this operator cannot be used in a size");
      case ExprKind::Error: return no_formula;
      default: return fail(e.token, "this cannot be part of a size");
    }
  }
};

}  // namespace

FormulaId lower_formula(ModuleContext& context, FormulaPool& pool, ExprId expr,
                        const FormulaResolver& resolve) {
  return FormulaLowering{context, pool, resolve}.lower(expr);
}

// ---- Kernels.

KernelLowering::KernelLowering(ModuleContext& context, std::string name)
    : builder(std::move(name)),
      context_(context),
      ast_(context.ast),
      scopes_(context.scopes),
      around_(context.innermost),
      scope_base_(context.scopes.depth()),
      base_call_(context.scopes.new_call()) {
  file_names_.assign(ast_.files.size(), none);
  context.innermost = this;
}

KernelLowering::~KernelLowering() {
  count_ops();
  scopes_.close_to(scope_base_);  // those open when lowering stopped
  context_.innermost = around_;
}

void KernelLowering::enter_kernel(const Decl& d) {
  calls_.push_back({});
  calls_.back().decl = &d;
  calls_.back().id = base_call_;
}

// ---- Limits.

KernelLowering::Deeper::Deeper(KernelLowering& k, TokenId token) : depth_(k.context_.recursion) {
  if (depth_ >= max_recursion) {
    // The links of one chain of constants are one mistake.
    if (k.context_.constant_chain == 0 || !std::exchange(k.context_.chain_reported, true))
      k.error(
           token, Code::NestingTooDeep,
           fmt::format("expressions, blocks and calls are nested more than {} deep after inlining",
                       max_recursion))
          .with_fix("use fewer nested calls, and name intermediate values");
    throw GiveUp{};
  }
  ++depth_;
}

void KernelLowering::poll() {
  if (!context_.budget.due()) return;
  uint64_t bytes = context_.kept_bytes;
  for (const KernelLowering* k = this; k; k = k->around_) bytes += k->builder.bytes();
  context_.budget.check(bytes);
}

void KernelLowering::count_ops() {
  const size_t ops = builder.program.ops.size();
  if (ops > counted_ops_) context_.expanded_ops += ops - std::exchange(counted_ops_, ops);
}

void KernelLowering::check_size(TokenId token) {
  count_ops();
  if (context_.ended) throw GiveUp{};
  const uint64_t max_ops = context_.options.max_ops, max_all = context_.options.max_module_ops;
  if (builder.program.ops.size() > max_ops)
    too_large(token, fmt::format("the program has more than {} operations after inlining", max_ops),
              "split it into several kernels");
  if (context_.expanded_ops > max_all || context_.expanded_calls > max_all)
    too_large(token,
              fmt::format("the kernels and constants of the module have more than {} operations or "
                          "calls after inlining",
                          max_all),
              "split it into several files");
}

void KernelLowering::too_large(TokenId token, std::string message, std::string_view fix) {
  error(token, Code::ProgramTooLarge, std::move(message)).with_fix(std::string(fix));
  context_.ended = true;
  throw GiveUp{};
}

void KernelLowering::at(TokenId token) {
  poll();
  const Token& t = ast_.tokens[token];
  if (file_names_[t.file] == none)
    file_names_[t.file] = builder.program.add_string(ast_.files[t.file].name);
  Location l;
  l.file = file_names_[t.file];
  l.line = t.line;
  l.column = t.column;
  l.length = t.length ? t.length : 1;
  l.inlined_at = calls_.empty() ? none : calls_.back().at;
  builder.loc = builder.program.add_location(l);
}

Diagnostic& KernelLowering::error(TokenId token, Code code, std::string message) {
  if (context_.full()) return context_.leave_out(token, code);
  // The same mistake in a function that is inlined twice is one mistake.
  for (const Diagnostic& d : context_.diagnostics)
    if (calls_.size() > 1 && d.code == code && d.place.line == ast_.tokens[token].line &&
        d.place.column == ast_.tokens[token].column &&
        d.place.file == ast_.files[ast_.tokens[token].file].name) {
      context_.scratch.clear();
      context_.scratch.push_back(d);
      return context_.scratch.back();
    }
  Diagnostic& d = context_.error(token, code, std::move(message));
  for (size_t i = calls_.size(); i-- > 1;)
    if (calls_[i].at != none) d.note("called from here", builder.program.place(calls_[i].at));
  return d;
}

namespace {

/// A size of `workgroup` or `subgroup`: a constant of at least 1.
uint32_t constant_size(ModuleContext& c, ExprId e, std::string_view what,
                       const FormulaResolver& resolve) {
  FormulaPool pool;
  const FormulaId f = lower_formula(c, pool, e, resolve);
  uint64_t v = 0;
  if (f == no_formula) return 1;
  if (!pool.is_constant(f, &v) || v == 0 || v > 0xffffffffull) {
    c.error(c.ast.exprs[e].token, Code::WrongAttribute,
            fmt::format("the size of a {} is a constant above zero", what))
        .with_fix(fmt::format("write a number: `{}(64)`", what));
    return 1;
  }
  return uint32_t(v);
}

}  // namespace

void KernelLowering::header(const Decl& d) {
  Program& p = builder.program;
  at(d.name);
  p.loc = builder.loc;
  p.op_id = d.op_id;
  p.requires_forward_progress = d.forward_progress;
  scopes_.open();
  std::unordered_map<uint32_t, uint32_t> parameter;  // by symbol; for equal names the first
  for (uint32_t i = 0; i < d.params.size(); ++i)
    parameter.emplace(ast_.tokens[d.params[i].name].symbol, i);
  const auto resolver = [&](uint32_t upto) {
    return [this, &d, &parameter, upto](uint32_t symbol) {
      const auto found = parameter.find(symbol);
      if (found == parameter.end()) return FormulaName{};
      const uint32_t i = found->second;
      context_.uses[d.params[i].name] |= name_used;
      const bool scalar = !d.params[i].array;
      if (scalar && !is_integer(d.params[i].type))
        return FormulaName{
            i, true, false, no_formula,
            fmt::format("is {}, a size is made of integers", name(d.params[i].type))};
      return FormulaName{i, scalar, i >= upto};
    };
  };
  for (uint32_t i = 0; i < d.params.size(); ++i) {
    const Param& q = d.params[i];
    at(q.name);
    Buffer b;
    b.name = std::string(ast_.text(q.name));
    b.role = q.array ? q.role : Role::Scalar;
    b.element = q.type;
    b.loc = builder.loc;
    if (q.array && (q.role == Role::Shared || q.role == Role::Private))
      context_
          .error(
              q.name, Code::WrongRole,
              fmt::format("`{}` memory is declared in the body, not as a parameter", name(q.role)))
          .with_fix(q.role == Role::Shared ? "write `shared t: T[n]` in the body"
                                           : "write `var w: T[n]` in the body");
    if (b.role == Role::Scalar)
      b.count = p.formulas.constant(1);
    else if (q.size != none)
      b.count = lower_formula(context_, p.formulas, q.size, resolver(i));
    Binding bind_to;
    bind_to.kind = Kind::Buffer;
    bind_to.role = b.role;
    bind_to.id = add_buffer(std::move(b)).value();
    bind(bind_to, q.name);
  }
  const FormulaResolver all = resolver(uint32_t(d.params.size()));
  if (d.workgroup.empty())
    context_
        .error(d.name, Code::MissingWorkgroup,
               fmt::format("the kernel `{}` has no workgroup size", ast_.text(d.name)))
        .with_fix("write `workgroup(64)` after the parameters");
  for (size_t i = 0; i < d.workgroup.size() && i < 3; ++i)
    p.workgroup[i] = constant_size(context_, d.workgroup[i], "workgroup", all);
  if (d.subgroup != none) p.subgroup = constant_size(context_, d.subgroup, "subgroup", all);
  for (size_t i = 0; i < d.grid.size() && i < 3; ++i) {
    p.grid[i] = lower_formula(context_, p.formulas, d.grid[i], all);
    p.grid_dims = uint32_t(i + 1);
  }
}

void KernelLowering::body(const Decl& d) {
  enter_kernel(d);
  // Parameters belong to the kernel's own call.
  block(d.body);
  at(d.end);
}

Program KernelLowering::finish() {
  count_ops();
  // Compacting needs the program twice.
  context_.budget.check(context_.kept_bytes + 2 * builder.bytes());
  Program p = builder.finish();
  context_.budget.check(context_.kept_bytes + 2 * memory_of(p));
  const IdMap<ValueId, uint32_t> uses = count_uses(p);
  std::vector<OpId> unused;
  walk(p, [&](OpId id) {
    if (p.op(id).code == Opcode::Const && uses[p.result(id)] == 0) unused.push_back(id);
  });
  for (OpId id : unused) p.unlink(id);
  if (!unused.empty()) compact(p);
  context_.kept_bytes += memory_of(p);
  return p;
}

Program lower_kernel(ModuleContext& context, const Decl& decl) {
  KernelLowering k(context, std::string(context.ast.text(decl.name)));
  const size_t errors = context.errors;
  try {
    k.header(decl);
    if (decl.ir_body) {
      Program p = std::move(k.builder.program);
      read_ir_body(context, decl, p);
      context.expanded_ops += p.ops.size();
      context.kept_bytes += memory_of(p);
      return p;
    }
    k.body(decl);
  } catch (GiveUp) {
    return std::move(k.builder.program);
  }
  // After errors only the header is usable: graphs are still checked against it.
  if (context.errors != errors) return std::move(k.builder.program);
  return k.finish();
}

}  // namespace vyre::text
