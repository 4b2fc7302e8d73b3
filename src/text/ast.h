#pragma once

// The parser's result and the lowering's input: flat arrays, 32-bit ids. Nothing here is resolved
// or typed yet.

#include <cstdint>
#include <string>
#include <vector>

#include "diagnostics/budget.h"
#include "ir/module.h"
#include "ir/ops.h"
#include "text/lexer.h"

namespace vyre::text {

using ExprId = uint32_t;
using StmtId = uint32_t;
using TokenId = uint32_t;

enum class ExprKind : uint8_t {
  Integer,  // bits, type = suffix or Void
  Float,    // token text, type = suffix or Void
  Bool,     // bits
  Name,     // symbol
  Member,   // symbol . c (0 x, 1 y, 2 z)
  Unary,    // op, a
  Binary,   // op, a, b (operators; && and || too)
  Call,     // symbol, args; type = the one in < >
  Cast,     // type, a
  Index,    // symbol [ a ]
  Error,
};

struct Expr {
  ExprKind kind = ExprKind::Error;
  Tok op = Tok::End;
  Type type = Type::Void;
  bool literal = false;        // only literals without a suffix: takes its type from its context
  bool float_literal = false;  // and one of them is a float
  TokenId token = 0;           // where a caret points
  uint32_t symbol = 0;
  ExprId a = none;
  ExprId b = none;
  Range args;  // in Ast::ids
  uint64_t bits = 0;
};

enum class StmtKind : uint8_t {
  Let,
  Var,
  Const,
  Array,
  Shared,
  Assign,
  Store,
  If,
  For,
  While,
  Break,
  Continue,
  Return,
  Call,
  Barrier,
  Region,
  Trap,
  Assert,
};

struct Stmt {
  StmtKind kind = StmtKind::Break;
  Tok op = Tok::Assign;    // of an assignment
  Type type = Type::Void;  // declared type or element
  Scope scope = Scope::Workgroup;
  TokenId token = 0;  // the statement's first token
  TokenId name = 0;   // token of the name it declares or assigns; of a region's string
  ExprId a = none;    // value, condition, lo, array size, index
  ExprId b = none;    // hi, stored value, assert code
  ExprId c = none;    // step
  Range body;         // statements in Ast::ids
  Range other;        // of an else; table elements
  bool has_else = false;
};

struct Param {
  TokenId name = 0;
  Role role = Role::Scalar;
  Type type = Type::Void;
  bool array = false;
  ExprId size = none;
};

enum class DeclKind : uint8_t { Kernel, Function, Const, Graph };

struct Decl {
  DeclKind kind = DeclKind::Kernel;
  TokenId name = 0;
  std::vector<Param> params;
  Type result = Type::Void;       // Function
  std::vector<ExprId> workgroup;  // Kernel
  std::vector<ExprId> grid;
  ExprId subgroup = none;
  std::string op_id;
  bool forward_progress = false;
  Range body;              // statements
  TokenId ir_body = 0;     // a kernel in IR form: its `{`; 0 if it is not
  TokenId end = 0;         // its closing brace
  StmtId constant = none;  // Const: the statement
  std::vector<struct GraphStmt> graph;
};

/// buffer[index] in a graph.
struct GraphRef {
  TokenId name = 0;
  ExprId index = none;
};

enum class GraphStmtKind : uint8_t { Buffer, Node, End };

struct GraphStmt {
  GraphStmtKind kind = GraphStmtKind::Node;
  GraphNodeKind node = GraphNodeKind::Call;
  TokenId token = 0;
  TokenId name = 0;  // buffer or kernel
  Type type = Type::Void;
  ExprId count = none;  // size, times, limit
  std::vector<ExprId> args;
  std::vector<GraphRef> grid;
  GraphRef flag;
  Tok compare = Tok::BangEq;
  ExprId value = none;
};

struct SourceFile {
  std::string name;
  std::string text;
};

struct Ast {
  std::vector<SourceFile> files;  // files[0] is the requested one
  Symbols symbols;
  std::vector<Token> tokens;
  std::vector<Expr> exprs;
  std::vector<Stmt> stmts;
  std::vector<uint32_t> ids;
  std::vector<Decl> decls;
  uint64_t source_bytes = 0;
  uint64_t errors_left_out = 0;  // over max_errors
  Budget* budget = nullptr;      // for the whole of parsing and lowering; null: none

  /// Bytes of memory that the tree takes, or soon takes while it grows.
  uint64_t bytes() const {
    constexpr uint64_t lists = 128;  // of a declaration: parameters, sizes
    return source_bytes + symbols.bytes() + bytes_of_vector(tokens) + bytes_of_vector(exprs) +
           bytes_of_vector(stmts) + bytes_of_vector(ids) + bytes_of_vector(decls) +
           lists * decls.size();
  }
  void poll() {
    if (budget && budget->due()) budget->check(bytes());
  }
  std::string_view text(TokenId t) const {
    const Token& k = tokens[t];
    return std::string_view(files[k.file].text).substr(k.offset, k.length);
  }
  Place place(TokenId t) const {
    const Token& k = tokens[t];
    return {files[k.file].name, k.line, k.column, k.length ? k.length : 1};
  }
  Range add_list(const std::vector<uint32_t>& list) {
    const Range r{uint32_t(ids.size()), uint32_t(list.size())};
    ids.insert(ids.end(), list.begin(), list.end());
    return r;
  }
};

}  // namespace vyre::text
