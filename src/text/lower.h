#pragma once

// Syntax to IR: names, types, literals, inlining. One Lowering per module; one KernelLowering per
// kernel, which also evaluates constant expressions (it lowers them and folds what comes out).

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/module.h"
#include "text/ast.h"
#include "text/parse.h"

namespace vyre::text {

inline constexpr uint32_t max_ops = 16u << 20;

struct Constant {
  Type type = Type::Void;  // Void: failed, reported
  uint64_t bits = 0;
};

struct Table {
  Type element = Type::Void;
  uint64_t count = 0;
  std::vector<std::byte> bytes;
};

/// What all kernels of a module share: declarations by name, constants, tables, errors.
struct ModuleContext {
  Ast& ast;
  const ParseOptions& options;
  Diagnostics& diagnostics;
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
  std::vector<uint8_t> ends;         // by statement: never goes on (returns or traps on every path)

  Diagnostic& error(TokenId at, Code code, std::string message);
  bool full() const;

  /// Evaluates a constant declaration once. Null if it failed or is part of a cycle.
  const ConstDecl* constant(uint32_t decl, TokenId use);
  Diagnostics scratch;
};

/// Names and types of the module's declarations are known, statements analysed.
void analyse(ModuleContext& context);

/// Lowers one kernel declaration. Errors go to the context; the program is then meaningless.
/// Finds the errors of a function that no kernel calls.
void lower_function_alone(ModuleContext& context, const Decl& decl);
Program lower_kernel(ModuleContext& context, const Decl& decl);
Graph lower_graph(ModuleContext& context, const Decl& decl, const Module& module);

/// A formula of a size or grid. `resolve` maps a parameter's name to its index (none: not there) and
/// says whether it is a scalar.
struct FormulaName {
  uint32_t index = none;
  bool scalar = false;
  bool later = false;  // it exists but may not be used here
  FormulaId constant = no_formula;  // it is a constant of the place
  std::string refused;  // it exists but is no size, because …
  Code code = Code::NotAFormula;  // of the refusal
};
using FormulaResolver = std::function<FormulaName(uint32_t symbol)>;
FormulaId lower_formula(ModuleContext& context, FormulaPool& pool, ExprId expr,
                        const FormulaResolver& resolve);

/// A name around a constant expression: a constant of the place, or something that has no value before
/// the launch (Void). The module's own constants need no resolver.
struct ConstantName {
  bool known = false;
  Constant value;
};
using ConstantResolver = std::function<ConstantName(uint32_t symbol)>;

/// A constant expression of the given type (Void: its own).
Constant evaluate_constant(ModuleContext& context, ExprId expr, Type expected, const ConstantResolver& resolve = {});
/// The table a `const T: U[n] = …` statement describes.
std::optional<Table> evaluate_table(ModuleContext& context, const Stmt& stmt, const ConstantResolver& resolve = {});
/// Names in the length of an array or table: only constants.
FormulaResolver constant_sizes(FormulaPool& pool, const ConstantResolver& resolve);

/// The body of a kernel in IR form, into a program whose header is done. Names are the program's.
void read_ir_body(ModuleContext& context, const Decl& decl, Program& program);

}  // namespace vyre::text
