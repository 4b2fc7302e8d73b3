#pragma once

// The state of lowering one kernel body: scopes, the stack of inlined calls, and the builder.

#include "text/lower.h"

namespace vyre::text {

/// Operator of a binary token; nullptr for && and ||.
const Opcode* binary_op(Tok t);

class KernelLowering {
 public:
  KernelLowering(ModuleContext& context, std::string name);

  Builder builder;

  /// Parameters, workgroup, grid; binds the parameters' names.
  void header(const Decl& decl);
  void body(const Decl& decl);
  /// A function that nobody calls, for its errors.
  void function_alone(const Decl& decl);
  /// Expression of the given type; Void: of its own. none if it failed (reported).
  ValueId expression(ExprId id, Type expected);
  /// Removes constants nobody uses and gives the program.
  Program finish();

 private:
  friend Constant evaluate_constant(ModuleContext&, ExprId, Type, const ConstantResolver&);

  enum class Kind : uint8_t { Let, Var, Buffer, Const };
  struct Binding {
    Kind kind = Kind::Let;
    uint32_t symbol = 0;
    uint32_t id = none;        // value, variable or buffer
    Role role = Role::In;      // a buffer as seen here: a fn's `in` parameter is not written through
    Constant constant;
    bool counter = false;      // a loop's counter
    uint32_t call = 0;         // the call it belongs to
    uint32_t block = 0;        // the block it was declared in
    uint32_t previous = none;  // binding of the same symbol outside
    TokenId declared = 0;
  };
  /// One function being inlined; calls_[0] is the kernel itself.
  struct Call {
    const Decl* decl = nullptr;
    VarId result = none;
    VarId returned = none;  // set when a `return` was taken inside a loop or in mid-block
    uint32_t id = 0;
    uint32_t loops = 0;     // loops of its own that are open
    uint32_t top = 1;       // nesting depth of its body's own statements
    LocId at = none;        // of the call
  };

  // Places.
  void at(TokenId token);
  Diagnostic& error(TokenId token, Code code, std::string message);

  // Scopes.
  void bind(Binding b, TokenId name);
  const Binding* lookup(uint32_t symbol) const;
  void open_scope();
  void close_scope();
  /// `declare`: the fix if no known name is near.
  ValueId unknown_name(TokenId token, std::string_view declare);
  ValueId not_constant(TokenId token);

  // Expressions.
  ValueId literal(ExprId id, Type type);
  ValueId integer_literal(const Expr& e, bool negative, Type type);
  ValueId float_literal(const Expr& e, bool negative, Type type);
  ValueId bits_literal(const Expr& e, Type type);
  ValueId name_value(const Expr& e);
  ValueId member(const Expr& e);
  ValueId unary(const Expr& e, Type expected);
  ValueId binary(ExprId id, Type expected);
  ValueId combine(const Expr& e, ValueId a, ExprId right);
  ValueId logical(const Expr& e, ValueId a);
  ValueId apply(Opcode op, Type type, std::span<const ValueId> operands, TokenId token, uint64_t attr = 0);
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
  const Binding* buffer(uint32_t symbol, TokenId token);
  bool writable(const Binding& b, TokenId token);
  ValueId expect(ValueId v, Type expected, TokenId token, std::string_view what);
  ExprId arg(const Expr& e, uint32_t i) const { return context_.ast.ids[e.args.begin + i]; }
  bool count(const Expr& e, uint32_t least, uint32_t most, std::string_view form);
  uint32_t table(uint32_t decl, const Table& t, TokenId name);

  // Statements.
  void block(Range list);
  void nest(TokenId token);
  void statements(Range list);
  void statement(const Stmt& s);
  void let(const Stmt& s);
  void assign(const Stmt& s);
  void store(const Stmt& s);
  void if_(const Stmt& s);
  void for_(const Stmt& s);
  void while_(const Stmt& s);
  void array(const Stmt& s, Role role);
  void local_constant(const Stmt& s);
  ConstantResolver constants() const;  // names of this place, for sizes and constants in it
  void return_(const Stmt& s);
  bool condition(ExprId id, ValueId* out);
  bool structured_returns(Range list) const;
  bool rest_joins_else(const Stmt& s) const;
  bool rest_joins_then(const Stmt& s) const;
  bool ends(Range list) const;
  bool has_return(Range list) const;
  uint32_t add_array(const Stmt& s, Role role);
  std::string unique_name(std::string_view base) const;

  ModuleContext& context_;
  Ast& ast_;
  std::vector<Binding> bindings_;
  std::vector<uint32_t> binding_of_;   // by symbol: innermost binding, or none
  std::vector<uint32_t> scope_begin_;
  std::vector<Call> calls_;
  uint32_t next_call_ = 0;
  uint32_t inlined_ = 0;
  uint32_t depth_ = 0;
  std::vector<StringId> file_names_;
  std::map<uint32_t, uint32_t> tables_;  // declaration to buffer
  bool constant_mode_ = false;           // nothing of a launch is known
  const ConstantResolver* outer_ = nullptr;  // in constant mode: the names around the expression
  Diagnostics ignored_;
};

/// Thrown inside the lowering only: the program is too large or too deep to go on.
struct GiveUp {};

}  // namespace vyre::text
