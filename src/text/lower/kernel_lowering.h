#pragma once

// The state of lowering one kernel body: scopes, the stack of inlined calls, and the builder.

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "text/lower/lower.h"

namespace vyre::text {

/// Operator of a binary token; nullptr for && and ||.
const Opcode* binary_op(Tok t);

class KernelLowering {
 public:
  KernelLowering(ModuleContext& context, std::string name);
  KernelLowering(const KernelLowering&) = delete;
  KernelLowering& operator=(const KernelLowering&) = delete;
  ~KernelLowering();

  SsaBuilder builder;

  /// Parameters, workgroup, grid; binds the parameters' names.
  void header(const Decl& decl);
  void body(const Decl& decl);
  /// Lowers a function that has no caller, to find its errors.
  void function_alone(const Decl& decl);
  /// Lowers an expression to the given type (Void: the expression's own type). none if it failed
  /// (reported).
  ValueId expression(ExprId id, Type expected);
  /// Removes unused constants and returns the program.
  Program finish();

 private:
  friend Constant evaluate_constant(ModuleContext&, ExprId, Type, const ConstantResolver&);

  using Kind = BindingKind;
  /// One function being inlined; calls_[0] is the kernel itself.
  struct Call {
    const Decl* decl = nullptr;
    VarId result = none;
    VarId returned = none;  // set when a `return` was taken inside a loop or in mid-block
    uint32_t id = 0;
    uint32_t loops = 0;  // open loops of the function's body
    uint32_t top = 1;    // nesting depth of its body's own statements
    LocId at = none;     // of the call
  };

  // Places.
  void at(TokenId token);
  Diagnostic& error(TokenId token, Code code, std::string message);

  // Limits.
  /// Counts a level of recursion while it lives. Throws GiveUp at the limit.
  class Deeper;
  void poll();
  void count_ops();
  void check_size(TokenId token);
  [[noreturn]] void too_large(TokenId token, std::string message, std::string_view fix);

  // Scopes.
  void enter_kernel(const Decl& decl);  // calls_[0]
  void bind(Binding b, TokenId name);
  const Binding* lookup(uint32_t symbol) const;
  uint32_t call_id() const { return calls_.empty() ? base_call_ : calls_.back().id; }
  /// Returns whether the token is part of what an earlier fix replaces as a whole.
  bool is_replaced(TokenId token) const {
    return token > replaced_.first && token < replaced_.second;
  }
  /// `declare`: the fix if no known name is near.
  ValueId unknown_name(TokenId token, std::string_view declare);
  ValueId not_constant(TokenId token);

  // Expressions.
  ValueId literal(ExprId id, Type type);
  Diagnostic& literal_error(const Expr& e, bool negative, Code code, std::string message);
  ValueId integer_literal(const Expr& e, bool negative, Type type);
  ValueId float_literal(const Expr& e, bool negative, Type type);
  ValueId bits_literal(const Expr& e, Type type);
  ValueId name_value(const Expr& e);
  ValueId member(const Expr& e);
  ValueId unary(const Expr& e, Type expected);
  ValueId binary(ExprId id, Type expected);
  /// `left`: the first token of the left side.
  ValueId combine(const Expr& e, TokenId left, ValueId a, ExprId right);
  ValueId logical(const Expr& e, ValueId a);
  ValueId apply(Opcode op, Type type, std::span<const ValueId> operands, TokenId token,
                uint64_t attr = 0);
  bool cheap(ExprId id) const;
  ValueId cast(const Expr& e);
  ValueId index(ExprId id);
  ValueId load(const Expr& e);
  ValueId call(const Expr& e, Type expected, bool statement);
  ValueId table_call(const Expr& e, Opcode op, Type expected);
  ValueId memory_call(const Expr& e, Opcode op, bool statement);
  ValueId load_as(const Expr& e);
  ValueId bitcast(const Expr& e);
  ValueId length(const Expr& e, Opcode op);
  bool options(const Expr& e, uint32_t from, Opcode op, MemoryRef* ref, Role role);
  ValueId inline_call(const Expr& e, const Decl& decl, bool statement);
  ValueId inline_body(const Decl& decl, const std::vector<Binding>& args);
  ValueId unexpanded(const Expr& e, const Decl& decl);
  const Binding* buffer(uint32_t symbol, TokenId token);
  bool writable(const Binding& b, TokenId token);
  /// `declared`: the declaration that determines the expected type.
  ValueId expect(ValueId v, Type expected, TokenId token, std::string_view what,
                 TokenId declared = none);
  ExprId arg(const Expr& e, uint32_t i) const { return context_.ast.ids[e.args.begin + i]; }
  bool count(const Expr& e, uint32_t least, uint32_t most, std::string_view form);
  BufferId table(uint32_t decl, const Table& t, TokenId name);

  // Warnings about code that is legal but almost certainly unintended (lint.cc).
  bool is_fixed(ExprId id, bool names) const;
  bool find_literal(ExprId id, ValueId v, uint64_t* bits);
  void lint_operator(const Expr& e, TokenId left, ValueId a, ValueId b, ExprId right);
  void lint_comparison(TokenId at, Opcode op, Type t, uint64_t bits, bool literal_left);
  void lint_index(const Binding& b, TokenId name, ExprId index, ValueId value);
  void lint_loop(const Stmt& s, Type t, const ValueId* bounds);
  bool is_argument(const Binding& b) const;

  // Statements.
  void block(Range list);
  void nest(TokenId token);
  void statements(Range list);
  void statement(const Stmt& s);
  void let(const Stmt& s);
  void assign(const Stmt& s);
  void immutable(TokenId token, const Binding& b);
  void store(const Stmt& s);
  void if_(const Stmt& s);
  void for_(const Stmt& s);
  void while_(const Stmt& s);
  void array(const Stmt& s, Role role);
  void local_constant(const Stmt& s);
  ConstantResolver constants() const;  // names visible here, for sizes and constants
  void return_(const Stmt& s);
  bool condition(ExprId id, ValueId* out);
  bool structured_returns(Range list) const;
  bool rest_joins_else(const Stmt& s) const;
  bool rest_joins_then(const Stmt& s) const;
  bool ends(Range list) const;
  bool has_return(Range list) const;
  BufferId add_array(const Stmt& s, Role role);
  std::string unique_name(std::string_view base);
  BufferId add_buffer(Buffer b);

  ModuleContext& context_;
  Ast& ast_;
  Scopes& scopes_;
  KernelLowering* around_;  // suspended until this one finishes
  size_t scope_base_;
  uint32_t base_call_;  // the id of calls_[0]
  std::vector<Call> calls_;
  uint32_t inlined_ = 0;
  uint32_t fixed_branches_ = 0;  // open branches of an `if` on constants: possibly never taken
  size_t counted_ops_ = 0;       // in context_.expanded_ops
  uint32_t depth_ = 0;
  std::vector<StringId> file_names_;
  std::map<uint32_t, BufferId> tables_;  // declaration to buffer
  std::unordered_set<std::string> buffer_names_;
  std::unordered_map<std::string, uint32_t> last_suffix_;  // by base of a unique name
  std::pair<TokenId, TokenId> replaced_;     // the tokens that the latest fix replaces
  bool constant_mode_ = false;               // nothing of a launch is known
  bool alone_ = false;                       // a function is checked: its calls are not expanded
  const ConstantResolver* outer_ = nullptr;  // in constant mode: the names around the expression
};

/// Thrown inside the lowering only: the declaration is too large or too deep to continue.
struct GiveUp {};

class KernelLowering::Deeper {
 public:
  Deeper(KernelLowering& k, TokenId token);
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  ~Deeper() { --depth_; }

 private:
  uint32_t& depth_;
};

}  // namespace vyre::text
