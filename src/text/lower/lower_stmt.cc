#include <fmt/format.h>

#include <algorithm>

#include "text/lower/kernel_lowering.h"
#include "text/parser.h"

namespace vyre::text {
namespace {

/// The operator inside a compound assignment.
Tok plain_op(Tok t) {
  constexpr Tok table[] = {Tok::Plus, Tok::Minus, Tok::Star,  Tok::Slash, Tok::Percent,
                           Tok::Amp,  Tok::Pipe,  Tok::Caret, Tok::Shl,   Tok::Shr};
  return table[static_cast<int>(t) - static_cast<int>(Tok::PlusAssign)];
}

}  // namespace

// ---- Scopes.

const Binding* KernelLowering::lookup(uint32_t symbol) const {
  const Binding* b = scopes_.find(symbol, call_id());
  if (b) context_.uses[b->declared] |= name_used;
  return b;
}

void KernelLowering::bind(Binding b, TokenId token) {
  b.symbol = ast_.tokens[token].symbol;
  b.declared = token;
  b.call = call_id();
  context_.uses[token] |= name_bound;
  const Binding* old = scopes_.find(b.symbol, b.call);
  if (old && old->block == scopes_.depth())
    error(token, Code::DuplicateName,
          fmt::format("`{}` is declared twice in this block", ast_.text(token)))
        .note("declared here first", ast_.place(old->declared))
        .with_fix("rename one of them, or assign to a `var`");
  scopes_.bind(b);
}

// ---- Blocks.

void KernelLowering::nest(TokenId token) {
  if (++depth_ <= max_nesting + 1) return;  // a body, and max_nesting blocks in it
  error(token, Code::NestingTooDeep,
        fmt::format("nested more than {} deep after inlining", max_nesting))
      .with_fix("use fewer nested blocks, and fewer early returns in functions");
  throw GiveUp{};
}

void KernelLowering::block(Range list) {
  const TokenId first = list.count ? ast_.stmts[ast_.ids[list.begin]].token : 0;
  const Deeper deeper(*this, first);
  scopes_.open();
  nest(first);
  statements(list);
  --depth_;
  scopes_.close();
}

bool KernelLowering::ends(Range list) const {
  for (uint32_t i = 0; i < list.count; ++i)
    if (context_.ends[ast_.ids[list.begin + i]]) return true;
  return false;
}

bool KernelLowering::has_return(Range list) const {
  for (uint32_t i = 0; i < list.count; ++i)
    if (context_.has_return[ast_.ids[list.begin + i]]) return true;
  return false;
}

/// `if c { …return } rest`: the rest is the else block.
bool KernelLowering::rest_joins_else(const Stmt& s) const {
  return s.kind == StmtKind::If && ends(s.body) && !has_return(s.other);
}
bool KernelLowering::rest_joins_then(const Stmt& s) const {
  return s.kind == StmtKind::If && s.has_else && ends(s.other) && !has_return(s.body);
}

/// Returns whether ifs alone can express the returns of a function. It then needs no flag.
bool KernelLowering::structured_returns(Range list) const {
  for (uint32_t i = 0; i < list.count; ++i) {
    const StmtId id = ast_.ids[list.begin + i];
    if (!context_.has_return[id]) continue;
    const Stmt& s = ast_.stmts[id];
    const bool last = i + 1 == list.count;
    if (s.kind == StmtKind::Return) return true;
    if (s.kind == StmtKind::If) {
      if (!structured_returns(s.body) || !structured_returns(s.other)) return false;
      if (last || rest_joins_else(s) || rest_joins_then(s) ||
          (s.has_else && ends(s.body) && ends(s.other)))
        continue;
      return false;
    }
    if (s.kind == StmtKind::Region && last) return structured_returns(s.body);
    return false;
  }
  return true;
}

/// Lowers the statements of a block. In a function, the statements after one that may have returned
/// run only if it did not.
void KernelLowering::statements(Range list) {
  uint32_t opened = 0;
  for (uint32_t i = 0; i < list.count; ++i) {
    const StmtId id = ast_.ids[list.begin + i];
    const Stmt s = ast_.stmts[id];
    check_size(s.token);
    const bool in_function = calls_.back().decl->kind == DeclKind::Function;
    const bool may_return = in_function && context_.has_return[id] && s.kind != StmtKind::Return;
    if (may_return && calls_.back().returned == none && i + 1 < list.count &&
        s.kind == StmtKind::If && (rest_joins_else(s) || rest_joins_then(s))) {
      // The branch that returns comes first; the other branch and the rest of the block are the
      // else block.
      const bool then_ends = rest_joins_else(s);
      ValueId c = none;
      if (!condition(s.a, &c)) c = builder.constant(Type::Bool, 0);
      at(s.token);
      builder.begin_if(then_ends ? c : builder.op(Opcode::Not, Type::Bool, {c}));
      block(then_ends ? s.body : s.other);
      builder.begin_else();
      nest(s.token);
      ++opened;
      ++calls_.back().top;  // deeper, but written at the same level: `shared` may follow
      block(then_ends ? s.other : s.body);
      continue;
    }
    statement(s);
    const bool stopped = !builder.reachable() || (in_function && s.kind == StmtKind::Return) ||
                         (in_function && context_.ends[id]);
    if (stopped) {
      if (i + 1 < list.count) {
        const Stmt& next = ast_.stmts[ast_.ids[list.begin + i + 1]];
        Diagnostic d =
            diagnose(Code::UnreachableCode, ast_.place(next.token), "this code is never reached");
        d.with_fix("remove it");
        context_.warning(std::move(d));
        context_.unreachable_code = true;
      }
      break;
    }
    if (may_return && calls_.back().returned != none) {
      Call& call = calls_.back();
      at(s.token);
      const bool loop = s.kind == StmtKind::For || s.kind == StmtKind::While;
      if (call.loops > 0) {
        if (!loop) continue;  // the return has left the innermost loop already
        // Also after a loop that is the last statement: the enclosing loop must not continue.
        builder.begin_if(builder.get(call.returned));
        builder.break_loop();
        builder.end_if();
      } else if (i + 1 < list.count) {
        const ValueId returned = builder.get(call.returned);
        builder.begin_if(builder.op(Opcode::Not, Type::Bool, {returned}));
        nest(s.token);
        ++opened;
        ++call.top;
      }
    }
  }
  depth_ -= opened;
  calls_.back().top -= opened;
  while (opened-- > 0) builder.end_if();
}

void KernelLowering::statement(const Stmt& s) {
  at(s.token);
  switch (s.kind) {
    case StmtKind::Let:
    case StmtKind::Var: return let(s);
    case StmtKind::Const: return local_constant(s);
    case StmtKind::Array: return array(s, Role::Private);
    case StmtKind::Shared:
      if (depth_ != calls_.back().top)
        error(s.token, Code::SharedNotAtTop,
              "shared memory is declared at the top level of a kernel or function")
            .with_fix("move it to the beginning of the body");
      return array(s, Role::Shared);
    case StmtKind::Assign: return assign(s);
    case StmtKind::Store: return store(s);
    case StmtKind::If: return if_(s);
    case StmtKind::For: return for_(s);
    case StmtKind::While: return while_(s);
    case StmtKind::Break:
    case StmtKind::Continue:
      if (calls_.back().loops == 0) {
        error(s.token, Code::BreakOutsideLoop,
              fmt::format("`{}` outside a loop", ast_.text(s.token)))
            .with_fix("remove it, or write `return`");
        return;
      }
      return s.kind == StmtKind::Break ? builder.break_loop() : builder.continue_loop();
    case StmtKind::Return: return return_(s);
    case StmtKind::Call: {
      const Expr e = ast_.exprs[s.a];
      const size_t before = context_.diagnostics.size();
      const ValueId v = call(e, Type::Void, true);
      const Opcode* op = find_op(ast_.text(e.token));
      const uint32_t decl = context_.decl_of_symbol[e.symbol];
      if (v != none && context_.diagnostics.size() == before && op && decl == none &&
          info(*op).effect != Effect::Atomic)
        error(s.token, Code::UnusedValue,
              fmt::format("the value of `{}` goes nowhere", ast_.text(e.token)))
            .with_fix("assign it, or remove it");
      return;
    }
    case StmtKind::Barrier:
      return builder.effect(Opcode::Barrier, Type::Void, {}, uint64_t(s.scope));
    case StmtKind::Region:
      builder.begin_region(unquote(ast_.text(s.name)));
      block(s.body);
      at(s.token);
      return builder.end_region();
    case StmtKind::Trap: {
      const ValueId code =
          expect(expression(s.a, Type::U32), Type::U32, ast_.exprs[s.a].token, "a trap's code");
      at(s.token);
      if (code != none) builder.trap(code);
      return;
    }
    case StmtKind::Assert: {
      ValueId c = none;
      const bool ok = condition(s.a, &c);
      const ValueId code =
          expect(expression(s.b, Type::U32), Type::U32, ast_.exprs[s.b].token, "an assert's code");
      at(s.token);
      if (ok && code != none) builder.effect(Opcode::Assert, Type::Void, {c, code});
      return;
    }
  }
}

// ---- Declarations and assignments.

void KernelLowering::let(const Stmt& s) {
  if (is_storage_only(s.type)) {
    error(s.name, Code::StorageTypeAsValue,
          fmt::format("{} is a storage type: no value has it", name(s.type)))
        .with_fix("write f32");
  }
  const Type want = is_storage_only(s.type) ? Type::Void : s.type;
  const ValueId v = expect(expression(s.a, want), want, ast_.exprs[s.a].token,
                           fmt::format("`{}`", ast_.text(s.name)), s.name);
  Binding b;
  b.kind = s.kind == StmtKind::Let ? Kind::Let : Kind::Var;
  if (s.kind == StmtKind::Let)
    b.id = v.value();
  else if (v != none)
    b.id = builder.declare(v);
  bind(b, s.name);
}

void KernelLowering::local_constant(const Stmt& s) {
  Binding b;
  if (s.op == Tok::LBracket || s.op == Tok::At || s.op == Tok::LParen) {
    const auto t = evaluate_table(context_, s, constants());
    b.kind = Kind::Const;  // without a value: failed and reported
    if (!t) return bind(b, s.name);
    b.kind = Kind::Buffer;
    b.role = Role::Table;
    b.id = table(none, *t, s.name).value();
  } else {
    b.kind = Kind::Const;
    b.constant = evaluate_constant(context_, s.b, s.type, constants());
  }
  bind(b, s.name);
}

ConstantResolver KernelLowering::constants() const {
  return [this](uint32_t symbol) {
    const Binding* b = lookup(symbol);
    return ConstantName{b != nullptr, b && b->kind == Kind::Const ? b->constant : Constant{}};
  };
}

BufferId KernelLowering::add_buffer(Buffer b) {
  buffer_names_.insert(b.name);
  builder.program.buffers.push_back(std::move(b));
  return BufferId(builder.program.buffers.size() - 1);
}

std::string KernelLowering::unique_name(std::string_view base) {
  std::string n(base);
  if (!buffer_names_.contains(n)) return n;
  uint32_t& suffix = last_suffix_[n];  // smaller ones are taken
  do n = fmt::format("{}_{}", base, ++suffix);
  while (buffer_names_.contains(n));
  return n;
}

BufferId KernelLowering::table(uint32_t decl, const Table& t, TokenId name) {
  if (decl != none)
    if (const auto it = tables_.find(decl); it != tables_.end()) return it->second;
  Buffer b;
  b.name = unique_name(ast_.text(name));
  b.role = Role::Table;
  b.element = t.element;
  b.count = builder.program.formulas.constant(t.count);
  b.table_offset = builder.program.table_bytes.size();
  b.loc = builder.loc;
  builder.program.table_bytes.insert(builder.program.table_bytes.end(), t.bytes.begin(),
                                     t.bytes.end());
  const BufferId id = add_buffer(std::move(b));
  if (decl != none) tables_[decl] = id;
  return id;
}

BufferId KernelLowering::add_array(const Stmt& s, Role role) {
  FormulaPool& pool = builder.program.formulas;
  const FormulaId size = lower_formula(context_, pool, s.a, constant_sizes(pool, constants()));
  uint64_t count = 0;
  if (size != no_formula && !pool.is_constant(size, &count))
    error(ast_.exprs[s.a].token, Code::NotConstant,
          fmt::format("the length of `{}` must be a constant", ast_.text(s.name)))
        .with_fix("use literals and `const` names only");
  Buffer b;
  b.name = unique_name(ast_.text(s.name));
  b.role = role;
  b.element = s.type;
  b.count = size == no_formula ? pool.constant(1) : size;
  b.loc = builder.loc;
  return add_buffer(std::move(b));
}

void KernelLowering::array(const Stmt& s, Role role) {
  if (s.type == Type::Void) return;
  Binding b;
  b.kind = Kind::Buffer;
  b.role = role;
  b.id = add_array(s, role).value();
  bind(b, s.name);
}

/// The error of an assignment to a name that is not a variable.
void KernelLowering::immutable(TokenId token, const Binding& b) {
  const std::string_view w = ast_.text(token);
  const std::vector<Param>& params = calls_.back().decl->params;
  const bool is_parameter =
      b.role == Role::Scalar || std::any_of(params.begin(), params.end(),
                                            [&](const Param& p) { return p.name == b.declared; });
  std::string what = fmt::format("`{}` cannot be assigned", w);
  std::string fix = b.kind == Kind::Let ? "declare it with `var`" : "copy it into a `var`";
  if (b.counter) {
    what = fmt::format("the counter `{}` of a loop cannot be assigned", w);
    fix = "use a `while` loop with a variable of your own";
  } else if (b.kind == Kind::Buffer && b.role != Role::Scalar) {
    what = fmt::format("`{}` is a buffer: assign to its elements", w);
    fix = fmt::format("write `{}[i] = …`", w);
  } else if (is_parameter) {
    what = fmt::format("`{}` cannot be assigned: it is a parameter", w);
    fix = fmt::format("copy it into a `var`: write `var {0} = {0}` before this", w);
  }
  error(token, Code::AssignToImmutable, std::move(what))
      .note("declared here", ast_.place(b.declared))
      .with_fix(std::move(fix));
}

void KernelLowering::assign(const Stmt& s) {
  const Binding* found = lookup(ast_.tokens[s.name].symbol);
  if (!found) {
    const uint32_t decl = context_.decl_of_symbol[ast_.tokens[s.name].symbol];
    if (decl != none)
      error(s.name, Code::AssignToImmutable,
            fmt::format("`{}` cannot be assigned", ast_.text(s.name)))
          .note("declared here", ast_.place(ast_.decls[decl].name))
          .with_fix("assign to a `var`");
    else
      unknown_name(s.name, fmt::format("declare it: `var {} = …`", ast_.text(s.name)));
    expression(s.a, Type::Void);
    return;
  }
  const Binding b = *found;
  if (b.kind != Kind::Var) {
    immutable(s.name, b);
    expression(s.a, Type::Void);
    return;
  }
  if (b.id == none) {  // its declaration failed
    expression(s.a, Type::Void);
    return;
  }
  const Type t = builder.type(builder.get(b.id));
  ValueId v;
  if (s.op == Tok::Assign) {
    v = expect(expression(s.a, t), t, ast_.exprs[s.a].token, fmt::format("`{}`", ast_.text(s.name)),
               b.declared);
  } else {
    Expr e;
    e.op = plain_op(s.op);
    e.token = s.name + 1;  // the operator
    e.b = s.a;
    v = combine(e, s.name, builder.get(b.id), s.a);
  }
  if (v != none) builder.set(b.id, v);
}

void KernelLowering::store(const Stmt& s) {
  const Binding* found = buffer(ast_.tokens[s.name].symbol, s.name);
  const Binding b = found ? *found : Binding{};
  const ValueId i = index(s.a);
  if (!found) {
    expression(s.b, Type::Void);
    return;
  }
  lint_index(b, s.name, s.a, i);
  const Type t = value_type(builder.program.buffers[b.id].element);
  MemoryRef ref;
  ref.buffer = BufferId(b.id);
  ValueId v;
  if (s.op == Tok::Assign) {
    v = expect(expression(s.b, t), t, ast_.exprs[s.b].token,
               fmt::format("the element of `{}`", ast_.text(s.name)), b.declared);
  } else {
    at(s.name);
    const ValueId old = i == none ? none : builder.op(Opcode::Load, t, {i}, ref.pack());
    Expr e;
    e.op = plain_op(s.op);
    e.token = s.name;
    e.b = s.b;
    // The operator's token, for carets: after the index.
    for (TokenId k = ast_.exprs[s.b].token; k > s.name; --k)
      if (ast_.tokens[k].kind == s.op) {
        e.token = k;
        break;
      }
    v = combine(e, s.name, old, s.b);
  }
  if (!writable(b, s.name) || i == none || v == none) return;
  at(s.token);
  builder.effect(Opcode::Store, t, {i, v}, ref.pack());
}

// ---- Control.

bool KernelLowering::condition(ExprId id, ValueId* out) {
  const ValueId v = expression(id, Type::Void);
  *out = v;
  if (v == none) return false;
  if (builder.type(v) == Type::Bool) return true;
  error(ast_.exprs[id].token, Code::ConditionNotBool,
        fmt::format("a condition is a bool, this is {}", name(builder.type(v))))
      .with_fix("compare it: `x != 0`");
  return false;
}

void KernelLowering::if_(const Stmt& s) {
  ValueId c = none;
  if (!condition(s.a, &c)) c = builder.constant(Type::Bool, 0);  // continue, to find more errors
  const bool fixed = is_fixed(s.a, true);
  fixed_branches_ += fixed;
  at(s.token);
  builder.begin_if(c);
  block(s.body);
  at(s.token);
  builder.begin_else();
  if (s.has_else) block(s.other);
  fixed_branches_ -= fixed;
  at(s.token);
  builder.end_if();
}

void KernelLowering::for_(const Stmt& s) {
  // One type for lo, hi and step: the type of the first one that is not a literal.
  Type t = Type::Void;
  TokenId typed_by = s.token;
  ValueId v[3] = {none, none, none};
  const ExprId e[3] = {s.a, s.b, s.c};
  bool ok = true;
  for (int i = 0; i < 3; ++i) {
    if (e[i] == none || ast_.exprs[e[i]].literal) continue;
    v[i] = expression(e[i], Type::Void);
    if (v[i] == none) {
      ok = false;
    } else if (t == Type::Void) {
      t = builder.type(v[i]);
      typed_by = ast_.exprs[e[i]].token;
    } else if (builder.type(v[i]) != t) {
      error(ast_.exprs[e[i]].token, Code::TypeMismatch,
            fmt::format("the bounds and step of a loop have one type, here {} and {}", name(t),
                        name(builder.type(v[i]))))
          .note(fmt::format("this is {}", name(t)), ast_.place(typed_by))
          .with_fix(fmt::format("convert it: `{}(…)`", name(t)));
      ok = false;
    }
  }
  if (t == Type::Void) t = Type::U32;
  if (!is_integer(t)) {
    error(s.name, Code::WrongOperandType, fmt::format("a loop counts in integers, not {}", name(t)))
        .with_fix("use integer bounds");
    ok = false;
    t = Type::U32;
  }
  for (int i = 0; i < 3; ++i)
    if (ok && e[i] != none && ast_.exprs[e[i]].literal && (v[i] = literal(e[i], t)) == none)
      ok = false;
  if (ok) lint_loop(s, t, v);
  at(s.token);
  if (!ok)
    for (ValueId& x : v) x = builder.constant(t, 0);
  else if (e[2] == none)
    v[2] = builder.constant(t, 1);
  const ValueId i = builder.begin_for(v[0], v[1], v[2]);
  ++calls_.back().loops;
  scopes_.open();
  Binding b;
  b.kind = Kind::Let;
  b.id = i.value();
  b.counter = true;
  bind(b, s.name);
  block(s.body);
  scopes_.close();
  --calls_.back().loops;
  at(s.token);
  builder.end_for();
}

void KernelLowering::while_(const Stmt& s) {
  at(s.token);
  builder.begin_while();
  ++calls_.back().loops;
  ValueId c = none;
  if (!condition(s.a, &c)) c = builder.constant(Type::Bool, 0);
  const Expr& test = ast_.exprs[s.a];
  if (test.kind == ExprKind::Bool && test.bits == 0)
    context_.lint(s.token, Code::LoopNeverRuns, "this loop never runs: its condition is `false`",
                  "remove it");
  at(s.token);
  builder.begin_body(c);
  block(s.body);
  --calls_.back().loops;
  at(s.token);
  builder.end_while();
}

void KernelLowering::return_(const Stmt& s) {
  Call& call = calls_.back();
  if (call.decl->kind == DeclKind::Kernel) {
    if (s.a != none) {
      error(s.token, Code::ReturnValueInKernel, "a kernel returns nothing")
          .with_fix("store the result in an `out` buffer");
      return;
    }
    return builder.return_();
  }
  const Type want = value_type(call.decl->result);
  if (want == Type::Void && s.a != none) {
    error(s.token, Code::ReturnValueInKernel,
          fmt::format("`{}` declares no result", ast_.text(call.decl->name)))
        .with_fix("declare it: `fn … -> T`");
    return;
  }
  if (want != Type::Void && s.a == none) {
    error(s.token, Code::MissingReturnValue,
          fmt::format("`{}` returns {}", ast_.text(call.decl->name), name(want)))
        .with_fix("write the value behind `return`");
    return;
  }
  if (s.a != none) {
    const TokenId declared = call.decl->name;  // the expression may move `call`
    const ValueId v = expect(expression(s.a, want), want, ast_.exprs[s.a].token,
                             "the function's result", declared);
    if (v != none) builder.set(calls_.back().result, v);
  }
  at(s.token);
  if (calls_.back().returned == none) return;
  builder.set(calls_.back().returned, builder.constant(Type::Bool, 1));
  if (calls_.back().loops > 0) builder.break_loop();
}

// ---- Inlining.

ValueId KernelLowering::inline_call(const Expr& e, const Decl& decl, bool statement) {
  const std::string_view fn = ast_.text(decl.name);
  for (const Call& c : calls_)
    if (c.decl == &decl) {
      error(e.token, Code::RecursiveFunction, fmt::format("`{}` calls itself", fn))
          .note("functions are always inlined, so they cannot recurse")
          .with_fix("write a loop");
      return none;
    }
  context_.uses[decl.name] |= name_used;
  ++context_.expanded_calls;
  if (++inlined_ > context_.options.max_ops)
    too_large(e.token, fmt::format("more than {} calls are inlined", context_.options.max_ops),
              "call fewer functions from functions");
  if (e.args.count != decl.params.size()) {
    error(e.token, Code::WrongArgumentCount,
          fmt::format("`{}` takes {} argument{}, not {}", fn, decl.params.size(),
                      decl.params.size() == 1 ? "" : "s", e.args.count))
        .note("declared here", ast_.place(decl.name))
        .with_fix("give one argument for each parameter");
    return none;
  }
  if (!statement && decl.result == Type::Void) {
    error(e.token, Code::VoidFunctionAsValue, fmt::format("`{}` gives no value", fn))
        .note("declared here", ast_.place(decl.name))
        .with_fix("declare its result: `-> T`");
    return none;
  }
  std::vector<Binding> args;
  bool ok = true;
  for (uint32_t i = 0; i < e.args.count; ++i) {
    const Param& p = decl.params[i];
    const Expr a = ast_.exprs[arg(e, i)];
    Binding b;
    if (!p.array) {
      b.kind = Kind::Let;
      const Type t = value_type(p.type);  // a storage type is reported at the declaration
      b.id = expect(expression(arg(e, i), t), t, a.token,
                    fmt::format("parameter `{}`", ast_.text(p.name)), p.name)
                 .value();
      ok &= b.id != none;
      args.push_back(b);
      continue;
    }
    const Binding* given = a.kind == ExprKind::Name ? buffer(a.symbol, a.token) : nullptr;
    if (!given) {
      if (a.kind != ExprKind::Name && a.kind != ExprKind::Error)
        error(a.token, Code::NotABuffer,
              fmt::format("parameter `{}` of `{}` takes a buffer", ast_.text(p.name), fn))
            .with_fix("write the name of a buffer or array");
      ok = false;
      continue;
    }
    b = *given;
    const Type element = builder.program.buffers[b.id].element;
    if (element != p.type) {
      error(a.token, Code::TypeMismatch,
            fmt::format("parameter `{}` has elements of {}, this buffer of {}", ast_.text(p.name),
                        name(p.type), name(element)))
          .with_fix("pass a buffer of that type");
      ok = false;
    }
    const bool fits = p.role == Role::In || p.role == b.role ||
                      ((p.role == Role::InOut || p.role == Role::Out) && is_writable(b.role)) ||
                      (p.role == Role::Uniform && b.role == Role::Table);
    if (!fits) {
      error(a.token, Code::WrongRole,
            fmt::format("parameter `{}` is `{}`, this buffer is `{}`", ast_.text(p.name),
                        name(p.role), name(b.role)))
          .with_fix(p.role == Role::InOut || p.role == Role::Out
                        ? "pass a buffer that can be written"
                        : "declare the parameter `in`");
      ok = false;
    }
    if (p.role == Role::In) b.role = is_writable(b.role) ? Role::In : b.role;
    args.push_back(b);
  }
  if (!ok) return none;

  at(e.token);
  if (alone_) return unexpanded(e, decl);
  const ValueId result = inline_body(decl, args);
  at(e.token);
  return result;
}

/// A call in a function that is checked alone: a value of the result's type replaces it.
ValueId KernelLowering::unexpanded(const Expr& e, const Decl& decl) {
  const auto index = [&](const Decl* d) { return uint32_t(d - ast_.decls.data()); };
  context_.checked_calls.push_back({index(calls_.back().decl), index(&decl), e.token});
  return decl.result == Type::Void ? none : builder.constant(value_type(decl.result), 0);
}

ValueId KernelLowering::inline_body(const Decl& decl, const std::vector<Binding>& args) {
  context_.called[size_t(&decl - ast_.decls.data())] = 1;
  Call c;
  c.decl = &decl;
  c.id = scopes_.new_call();
  c.at = builder.loc;
  c.top = depth_ + 1;
  const bool flag = has_return(decl.body) && !structured_returns(decl.body);
  if (decl.result != Type::Void)
    c.result = builder.declare(builder.constant(value_type(decl.result), 0));
  if (flag) c.returned = builder.declare(builder.constant(Type::Bool, 0));
  const uint32_t depth_before = depth_;
  calls_.push_back(c);
  scopes_.open();
  for (uint32_t i = 0; i < args.size(); ++i) bind(args[i], decl.params[i].name);
  block(decl.body);
  scopes_.close();
  calls_.pop_back();
  depth_ = depth_before;
  return decl.result == Type::Void ? none : builder.get(c.result);
}

/// Lowers the function as if a kernel called it with zeros and buffers of the right roles.
void KernelLowering::function_alone(const Decl& decl) {
  Decl kernel;
  enter_kernel(kernel);
  std::vector<Binding> args;
  for (const Param& q : decl.params) {
    Binding b;
    if (q.type == Type::Void) return;  // reported
    if (q.array) {
      Buffer buffer;
      buffer.name = std::string(ast_.text(q.name));
      buffer.role = b.role = q.role;
      buffer.element = q.type;
      b.kind = Kind::Buffer;
      b.id = add_buffer(std::move(buffer)).value();
    } else {
      b.id = builder.constant(value_type(q.type), 0).value();
    }
    args.push_back(b);
  }
  alone_ = true;
  inline_body(decl, args);
}

void lower_function_alone(ModuleContext& context, const Decl& decl) {
  KernelLowering k(context, std::string(context.ast.text(decl.name)));
  try {
    k.function_alone(decl);
  } catch (GiveUp) {  // reported
  }
}

}  // namespace vyre::text
