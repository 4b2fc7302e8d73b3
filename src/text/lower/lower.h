#pragma once

// Syntax to IR: names, types, literals, inlining. One Lowering per module; one KernelLowering per
// kernel, which also evaluates constant expressions (it lowers and folds them).

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "diagnostics/budget.h"
#include "ir/module.h"
#include "ir/ssa_builder.h"
#include "text/ast.h"
#include "text/lower/scopes.h"
#include "text/parse.h"

namespace vyre::text {

/// Nested expressions, blocks and inlined calls, constants that depend on constants included: the
/// recursion depth of the lowering, at up to 600 bytes of stack for each level.
inline constexpr uint32_t max_recursion = 10'000;
inline constexpr uint32_t max_constant_chain = 1000;
inline constexpr uint64_t max_table_bytes = 64u << 10;

struct Table {
  Type element = Type::Void;
  uint64_t count = 0;
  std::vector<std::byte> bytes;
};

class KernelLowering;

/// The state of a declared name.
enum NameUse : uint8_t { name_bound = 1, name_used = 2 };

/// A call in a function that is checked without being expanded.
struct FunctionCall {
  uint32_t caller = none;  // declarations
  uint32_t callee = none;
  TokenId token = 0;
};

/// The state that all kernels of a module share: declarations by name, constants, tables, errors.
struct ModuleContext {
  /// `diagnostics` may hold errors of the parser.
  ModuleContext(Ast& ast, const ParseOptions& options, Diagnostics& diagnostics, Budget& budget)
      : ast(ast),
        options(options),
        diagnostics(diagnostics),
        budget(budget),
        errors(diagnostics.size()),
        has_syntax_errors(!diagnostics.empty()) {}

  Ast& ast;
  const ParseOptions& options;
  Diagnostics& diagnostics;
  Budget& budget;
  std::vector<uint32_t> decl_of_symbol;  // none if the symbol names no declaration
  enum class State : uint8_t { New, Busy, Done };
  struct ConstDecl {
    State state = State::New;
    Constant value;
    std::optional<Table> table;
  };
  std::vector<ConstDecl> constants;  // by declaration
  std::vector<uint8_t> called;       // by declaration: a function that was inlined somewhere
  std::vector<uint8_t> has_return;   // by statement: a `return` somewhere inside
  std::vector<uint8_t> ends;      // by statement: never continues (returns or traps on every path)
  std::vector<uint8_t> uses;      // by token of a name's declaration: NameUse
  bool unreachable_code = false;  // some was found
  std::unordered_set<uint64_t> warned;                      // token and code
  std::unordered_map<uint32_t, uint32_t> kernel_of_symbol;  // index into Module::kernels
  std::unordered_map<std::string, FileContents> table_files;
  Scopes scopes;
  KernelLowering* innermost = nullptr;      // of the active ones
  std::vector<FunctionCall> checked_calls;  // of functions that no kernel calls

  // Limits.
  size_t errors = 0;  // in `diagnostics`
  bool has_syntax_errors = false;
  std::unordered_set<uint64_t> left_out;  // errors over max_errors: token and code
  size_t warnings = 0;                    // in `diagnostics`
  uint32_t constant_chain = 0;            // constants being evaluated
  bool chain_reported = false;
  uint32_t recursion = 0;
  uint64_t expanded_ops = 0;
  uint64_t expanded_calls = 0;
  uint64_t compared_names = 0;  // for suggestions
  uint64_t kept_bytes = 0;      // of the syntax and of finished kernels
  bool ended = false;           // nothing more is lowered: too large

  Diagnostic& error(TokenId at, Code code, std::string message);
  void warning(Diagnostic d);
  /// Adds a warning about the file itself, once per location; ignored for imported files.
  void lint(TokenId at, Code code, std::string message, std::string fix);
  bool full() const;
  /// Counts an error over the limit, once per location. The diagnostic is dropped.
  Diagnostic& leave_out(TokenId at, Code code);
  /// The file of a table, read once.
  const FileContents& table_file(const std::string& path, const std::string& from);
  /// Returns whether names may be compared with an unknown one. All comparisons of a module are
  /// limited, so that its errors cost time linear in its size.
  bool may_suggest() const;
  /// The candidate nearest to `name`, or "".
  std::string_view nearest_name(std::string_view name, const std::vector<std::string>& candidates);

  /// Evaluates a constant declaration once. Null if it failed or is part of a cycle.
  const ConstDecl* constant(uint32_t decl, TokenId use);
  Diagnostics scratch;
};

/// Returns whether an error of that code may be only a consequence of a syntax error.
bool follows_from_syntax(Code code);

/// Determines the names and types of the module's declarations and analyses its statements.
void analyse(ModuleContext& context);

/// Finds the errors of a function that no kernel calls, without expanding the functions it calls.
/// report_recursion finds cycles of calls, once all such functions are known.
void lower_function_alone(ModuleContext& context, const Decl& decl);
void report_recursion(ModuleContext& context);
/// Lowers one kernel declaration. Errors go to the context; the program is then meaningless.
Program lower_kernel(ModuleContext& context, const Decl& decl);
Graph lower_graph(ModuleContext& context, const Decl& decl, const Module& module);

/// The call of an op that is written as an operator, `mul(3, 4)`, as the language writes it: `3 *
/// 4`; "" if the callee is not such an op.
std::string operator_text(const Ast& ast, const Expr& call);

/// Warns of names that nothing uses. Needs a lowered module without errors.
void check_unused(ModuleContext& context);

/// A formula of a size or grid. `resolve` maps a parameter's name to its index (none: not found)
/// and returns whether it is a scalar.
struct FormulaName {
  uint32_t index = none;
  bool scalar = false;
  bool later = false;               // it exists but may not be used here
  FormulaId constant = no_formula;  // it is a constant visible here
  std::string refused;              // it exists but is not a size, because …
  std::string fix;                  // of the refusal; "": the one of all sizes
  Code code = Code::NotAFormula;    // of the refusal
};
using FormulaResolver = std::function<FormulaName(uint32_t symbol)>;
FormulaId lower_formula(ModuleContext& context, FormulaPool& pool, ExprId expr,
                        const FormulaResolver& resolve);

/// A name visible in a constant expression: a local constant, or a name that has no value before
/// the launch (Void). The module's own constants need no resolver.
struct ConstantName {
  bool known = false;
  Constant value;
};
using ConstantResolver = std::function<ConstantName(uint32_t symbol)>;

/// A constant expression of the given type (Void: its own).
Constant evaluate_constant(ModuleContext& context, ExprId expr, Type expected,
                           const ConstantResolver& resolve = {});
/// The table a `const T: U[n] = …` statement describes.
std::optional<Table> evaluate_table(ModuleContext& context, const Stmt& stmt,
                                    const ConstantResolver& resolve = {});
/// Names in the length of an array or table: only constants.
FormulaResolver constant_sizes(FormulaPool& pool, const ConstantResolver& resolve);

/// The body of a kernel in IR form, into a program whose header is done. Names are the program's.
void read_ir_body(ModuleContext& context, const Decl& decl, Program& program);

}  // namespace vyre::text
