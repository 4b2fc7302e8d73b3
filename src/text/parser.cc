#include "text/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "text/foreign_syntax.h"
#include "text/foreign_words.h"
#include "text/lower/literal.h"

namespace vyre::text {

std::string unquote(std::string_view token) {
  std::string r;
  if (token.size() < 2) return r;
  for (size_t i = 1; i + 1 < token.size(); ++i) {
    if (token[i] == '\\' && i + 2 < token.size()) {
      ++i;
      r += token[i] == 'n' ? '\n' : token[i] == 't' ? '\t' : token[i];
    } else {
      r += token[i];
    }
  }
  return r;
}

namespace {

constexpr std::array reserved = {"kernel",   "fn",     "const", "graph", "import", "let",
                                 "var",      "if",     "else",  "for",   "while",  "break",
                                 "continue", "return", "true",  "false", "inf",    "nan"};

/// Binding strength of a binary operator, 0 for other tokens. Comparisons (level 2) do not chain.
int precedence(Tok t) {
  switch (t) {
    case Tok::PipePipe: return 1;
    case Tok::AmpAmp: return 2;
    case Tok::EqEq:
    case Tok::BangEq:
    case Tok::Lt:
    case Tok::Le:
    case Tok::Gt:
    case Tok::Ge: return 3;
    case Tok::Pipe: return 4;
    case Tok::Caret: return 5;
    case Tok::Amp: return 6;
    case Tok::Shl:
    case Tok::Shr: return 7;
    case Tok::Plus:
    case Tok::Minus: return 8;
    case Tok::Star:
    case Tok::Slash:
    case Tok::Percent: return 9;
    default: return 0;
  }
}
constexpr int comparison_level = 3;

struct Bail {};  // thrown inside the parser only: nested too deeply, skip this declaration

class Parser {
 public:
  Parser(Ast& ast, TokenId begin, std::vector<Import>& imports, Diagnostics& errors)
      : ast_(ast), at_(begin), imports_(imports), errors_(errors) {
    for (const Diagnostic& d : errors)
      if (d.place.file == ast.files.back().name && d.code != Code::NameTooLong)
        unreadable_.push_back(d.place.line);
  }

  void file() {
    version();
    while (true) {
      skip_newlines();
      if (is(Tok::End)) return;
      ast_.poll();
      const TokenId before = at_;
      try {
        declaration();
      } catch (Bail) {
        skip_declaration();
      }
      if (at_ == before) ++at_;
    }
  }

 private:
  // ---- Tokens.
  const Token& token() const { return ast_.tokens[at_]; }
  const Token& ahead(uint32_t n) const {
    TokenId i = at_;
    while (n-- > 0 && ast_.tokens[i].kind != Tok::End) ++i;
    return ast_.tokens[i];
  }
  bool is(Tok k) const { return token().kind == k; }
  std::string_view token_text() const { return ast_.text(at_); }
  bool is_word(std::string_view w) const { return is(Tok::Ident) && ast_.text(at_) == w; }
  bool ahead_is_word(uint32_t n, std::string_view w) const {
    const Token& t = ahead(n);
    return t.kind == Tok::Ident &&
           std::string_view(ast_.files[t.file].text).substr(t.offset, t.length) == w;
  }
  bool accept(Tok k) {
    if (!is(k)) return false;
    ++at_;
    return true;
  }
  bool accept_word(std::string_view w) {
    if (!is_word(w)) return false;
    ++at_;
    return true;
  }
  void skip_newlines() {
    while (is(Tok::Newline) || is(Tok::Semicolon)) ++at_;
  }
  std::string found() const {
    if (is(Tok::Ident) || is(Tok::Integer) || is(Tok::Float)) {
      const std::string_view t = ast_.text(at_);
      return fmt::format("`{}`", t.substr(0, 60));
    }
    return std::string(describe(token().kind));
  }
  Diagnostic& error(Code code, std::string message) {
    return error_at(at_, code, std::move(message));
  }
  Diagnostic& error_at(TokenId t, Code code, std::string message) {
    // A token that the lexer dropped leaves a hole in its line; no further errors are reported
    // there.
    const bool hole =
        std::binary_search(unreadable_.begin(), unreadable_.end(), ast_.tokens[t].line);
    if (errors_.size() >= max_errors || hole) {
      if (!hole) ++ast_.errors_left_out;
      scratch_ = {};
      scratch_.push_back(diagnose(code, {}, ""));
      return scratch_.back();
    }
    scratch_.clear();
    errors_.push_back(diagnose(code, ast_.place(t), std::move(message)));
    return errors_.back();
  }
  /// The number of errors, including those over the limit.
  size_t num_errors() const { return errors_.size() + ast_.errors_left_out; }
  /// The diagnostic that error_at returned last.
  Diagnostic& last_error() { return scratch_.empty() ? errors_.back() : scratch_.back(); }
  /// If the errors since the one numbered `first` come from a construct of another language that
  /// begins at `begin`, keeps one of them, which has the vyre form as its fix.
  void explain(size_t first, TokenId begin, ForeignConstruct (*recognize)(const Ast&, TokenId)) {
    if (errors_.size() <= first || errors_[first].place.line != ast_.tokens[begin].line) return;
    ForeignConstruct found = recognize(ast_, begin);
    if (found.fix.empty()) return;
    if (!found.what.empty()) errors_[first].message = std::move(found.what);
    errors_[first].with_fix(std::move(found.fix));
    errors_.erase(errors_.begin() + long(first) + 1, errors_.end());
  }
  /// `open`: the opening bracket if `k` is a closing one.
  bool expect(Tok k, std::string_view where, TokenId open = none) {
    if (accept(k)) return true;
    Diagnostic& d = error(Code::ExpectedToken,
                          fmt::format("expected {} {}, found {}", describe(k), where, found()));
    if (open != none && ast_.tokens[open].line != token().line)
      d.note("opened here", ast_.place(open));
    d.with_fix(fmt::format("write {} here", describe(k)));
    return false;
  }
  bool is_reserved(std::string_view w) const {
    for (auto r : reserved)
      if (w == r) return true;
    return find_type(w).has_value();
  }
  /// A name that is being declared.
  bool declared_name(TokenId* out, std::string_view what) {
    *out = at_;
    if (!is(Tok::Ident)) {
      error(Code::ExpectedToken, fmt::format("expected the name of {}, found {}", what, found()))
          .with_fix("write a name: letters, digits and `_`, not beginning with a digit");
      return false;
    }
    const std::string_view w = ast_.text(at_);
    if (is_reserved(w))
      error(Code::ReservedName,
            fmt::format("`{}` is a word of the language and cannot name {}", w, what))
          .with_fix(fmt::format("choose another name, `{}_`", w));
    ++at_;
    return true;
  }
  /// Counts blocks (a body and 1,000 in it) or parts of an expression, so that the stack is safe.
  struct Deeper {
    Parser& p;
    uint32_t& depth;
    explicit Deeper(Parser& parser, bool block = false)
        : p(parser), depth(block ? p.block_depth_ : p.depth_) {
      if (++depth > max_nesting + (block ? 1 : 0)) {
        p.error(Code::NestingTooDeep, fmt::format("nested more than {} deep", max_nesting))
            .with_fix("split the expression or move inner blocks into a `fn`");
        p.depth_ = p.block_depth_ = 0;
        throw Bail{};
      }
    }
    ~Deeper() {
      if (depth > 0) --depth;
    }
  };

  // ---- Blocks that are not closed.
  /// Returns whether a declaration begins here, at the start of a line that is not indented.
  bool begins_declaration() const {
    if (token().column != 1 || at_ == 0 || ast_.tokens[at_ - 1].kind != Tok::Newline) return false;
    const Tok next = ahead(1).kind;
    return ((is_word("kernel") || is_word("fn") || is_word("graph")) && next == Tok::Ident) ||
           (is_word("import") && next == Tok::String);
  }
  struct OpenBlock {
    TokenId brace = none;
    uint32_t indent = 0;  // column of the statement that it belongs to
    TokenId line = none;  // the line before which it should end
  };
  /// The block of the current body that is not closed, judged by the indentation of the lines.
  OpenBlock find_unclosed() const {
    std::vector<OpenBlock> open;
    uint32_t indent = ast_.tokens[declaration_].column;
    for (TokenId t = body_; t < at_ + (is(Tok::End) ? 0 : 1); ++t) {
      const Token& k = ast_.tokens[t];
      if (ast_.tokens[t - 1].kind == Tok::Newline) {
        indent = k.column;
        const bool closes = k.kind == Tok::RBrace;
        if (!open.empty() && k.kind != Tok::Newline && indent < open.back().indent + !closes) {
          open.back().line = t;
          return open.back();
        }
      }
      if (k.kind == Tok::LBrace) open.push_back({t, indent, none});
      if (k.kind == Tok::RBrace && !open.empty()) open.pop_back();
    }
    return {};
  }
  /// Reports that a block is not closed, once per body. `open`: the innermost open block.
  void unclosed(TokenId open, std::string_view what) {
    if (body_ == none) return;
    const OpenBlock found = find_unclosed();
    body_ = none;
    const bool other = found.brace != none && found.brace != open;
    Diagnostic& d = error_at(other ? found.brace : open, Code::UnclosedBlock,
                             fmt::format("{} is not closed", other ? "this block" : what));
    d.with_fix("add the missing `}`");
    if (found.line == none) return;
    d.note("the indentation asks for a `}` before this line", ast_.place(found.line));
    d.with_fix(fmt::format("write `}}` before line {}", ast_.tokens[found.line].line));
  }

  // ---- Recovery.
  void skip_statement() {
    int depth = 0;
    while (!is(Tok::End)) {
      if (is(Tok::LBrace)) ++depth;
      if (is(Tok::RBrace)) {
        if (depth == 0) return;
        if (--depth == 0) {
          ++at_;
          return;
        }
      }
      if (depth == 0 && (is(Tok::Newline) || is(Tok::Semicolon))) return;
      ++at_;
    }
  }
  /// Skips to the next line that begins a declaration.
  void skip_declaration() {
    depth_ = block_depth_ = 0;
    bool line_start = false;
    while (!is(Tok::End)) {
      if (line_start && token().column == 1 &&
          (is_word("kernel") || is_word("fn") || is_word("graph") || is_word("const") ||
           is_word("import")))
        return;
      line_start = is(Tok::Newline) || is(Tok::RBrace);
      ++at_;
    }
  }

  // ---- Declarations.
  void version() {
    skip_newlines();
    if (!is_word("vyre") || ahead(1).kind != Tok::Integer) return;
    ++at_;
    if (ast_.text(at_) != "1")
      error(Code::LanguageVersion,
            fmt::format("language version {} is not known; this is version 1", ast_.text(at_)))
          .with_fix("write `vyre 1`, or use a newer vyre");
    ++at_;
  }

  void declaration() {
    if (accept_word("kernel")) return kernel();
    if (accept_word("fn")) return function();
    if (accept_word("graph")) return graph();
    if (accept_word("import")) return import();
    if (is_word("const")) {
      Decl d;
      d.kind = DeclKind::Const;
      d.constant = constant();
      if (d.constant != none) {
        d.name = ast_.stmts[d.constant].name;
        ast_.decls.push_back(std::move(d));
      }
      end_of_statement();
      return;
    }
    const std::vector<std::string> words = {"kernel", "fn", "const", "graph", "import"};
    const auto near = is(Tok::Ident) ? nearest(ast_.text(at_), words) : std::string_view();
    const size_t before = errors_.size();
    error(Code::ExpectedDeclaration, fmt::format("expected a declaration, found {}", found()))
        .with_fix(near.empty() ? "a file holds `kernel`, `fn`, `const`, `graph` and `import`"
                               : fmt::format("did you mean `{}`?", near));
    explain(before, at_, foreign_declaration);
    skip_statement();
    accept(Tok::RBrace);
  }

  void import() {
    Import i;
    i.token = at_;
    if (!expect(Tok::String, "after `import`")) return skip_statement();
    i.path = unquote(ast_.text(i.token));
    imports_.push_back(std::move(i));
    end_of_statement();
  }

  void parameters(std::vector<Param>& params) {
    if (!expect(Tok::LParen, "before the parameters")) throw Bail{};
    bool reported = false;
    size_t before = errors_.size();  // the number of errors before the parameter that begins at
    TokenId first = at_;
    while (!is(Tok::RParen) && !is(Tok::End)) {
      Param p;
      before = errors_.size();
      first = at_;
      if (!declared_name(&p.name, "a parameter") ||
          !expect(Tok::Colon, "after a parameter's name")) {
        reported = true;
        break;
      }
      parameter_type(p);
      params.push_back(p);
      if (!accept(Tok::Comma)) break;
    }
    if (!accept(Tok::RParen)) {
      if (!reported)
        error(Code::ExpectedToken,
              fmt::format("expected `,` or `)` in the parameters, found {}", found()))
            .with_fix("separate parameters with `,` and end them with `)`");
      explain(before, first, foreign_parameter);
      int depth = 0;  // to the matching parenthesis, if it is on the way to the body
      while (!is(Tok::End) && !is(Tok::LBrace) && !(is(Tok::RParen) && depth == 0)) {
        if (is(Tok::LParen)) ++depth;
        if (is(Tok::RParen)) --depth;
        ++at_;
      }
      accept(Tok::RParen);
    }
  }

  void parameter_type(Param& p) {
    static constexpr std::pair<std::string_view, Role> roles[] = {
        {"in", Role::In},           {"inout", Role::InOut},     {"out", Role::Out},
        {"scratch", Role::Scratch}, {"uniform", Role::Uniform}, {"shared", Role::Shared},
        {"private", Role::Private}};
    bool has_role = false;
    for (const auto& [word, role] : roles)
      if (is_word(word)) {
        p.role = role;
        has_role = true;
      }
    if (!has_role && ahead(1).kind == Tok::Ident)
      if (const ForeignWord* w = find_foreign(token_text(), ForeignUse::Role)) {
        error(Code::UnknownType, fmt::format("`{}` is not a role", w->word))
            .with_fix(fmt::format("write `{}`", w->vyre));
        has_role = true;
        p.role = Role::InOut;  // its name is wrong, its use may be valid
      }
    if (has_role) ++at_;
    p.type = type_name();
    if (accept(Tok::LBracket)) {
      p.array = true;
      if (!is(Tok::RBracket)) p.size = expression();
      expect(Tok::RBracket, "after a length");
    }
    if (has_role && !p.array)
      error(Code::ExpectedToken,
            fmt::format("a parameter with a role is a buffer: expected `[`, found {}", found()))
          .with_fix("write `[]` after the element type, or drop the role to make it a scalar");
    if (!has_role && p.array)
      error_at(p.name, Code::MissingRole, "a buffer parameter needs a role")
          .with_fix("write `in`, `inout`, `out`, `scratch` or `uniform` before the element type");
    if (!has_role && p.array) p.role = Role::In;  // one report is enough
  }

  Type type_name() {
    if (is(Tok::Ident)) {
      if (const auto t = find_type(ast_.text(at_))) {
        ++at_;
        return *t;
      }
      std::vector<std::string> names;
      for (int i = 1; i < type_count; ++i) names.emplace_back(name(static_cast<Type>(i)));
      Diagnostic& d =
          error(Code::UnknownType, fmt::format("`{}` is no type", ast_.text(at_).substr(0, 60)));
      const auto near = nearest(ast_.text(at_), names);
      d.with_fix(fix_of_type(near));
      ++at_;
      if (ahead_is_type_list())  // array<f32, 64>
        while (!accept(Tok::Gt)) ++at_;
      return Type::Void;
    }
    error(Code::UnknownType, fmt::format("expected a type, found {}", found()))
        .with_fix("types are bool i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64");
    return Type::Void;
  }

  /// Returns the fix for the unknown type at the current token.
  std::string fix_of_type(std::string_view near) const {
    const std::string_view w = token_text();
    if (const ForeignWord* type = find_foreign(w, ForeignUse::Type))
      return is_storage_only(*find_type(type->vyre))
                 ? fmt::format("write `{}` for the elements of a buffer, `f32` for a value",
                               type->vyre)
                 : fmt::format("write `{}`", type->vyre);
    if (is_vector_type(w)) return "vyre has no vectors: write one value for each component";
    if (w == "array" && ahead(1).kind == Tok::Lt) return "write `in f32[]`";
    if (!near.empty()) return fmt::format("did you mean `{}`?", near);
    return "types are bool i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64";
  }
  /// Returns whether types in `<` `>` follow, on this line.
  bool ahead_is_type_list() const {
    if (!is(Tok::Lt)) return false;
    TokenId i = at_ + 1;
    while (ast_.tokens[i].kind == Tok::Ident || ast_.tokens[i].kind == Tok::Integer ||
           ast_.tokens[i].kind == Tok::Comma)
      ++i;
    return ast_.tokens[i].kind == Tok::Gt;
  }

  std::vector<ExprId> list(std::string_view where) {
    std::vector<ExprId> r;
    const TokenId open = at_;
    if (!expect(Tok::LParen, where)) return r;
    while (!is(Tok::RParen) && !is(Tok::End)) {
      r.push_back(expression());
      if (!accept(Tok::Comma)) break;
    }
    expect(Tok::RParen, at_ > open + 1 ? "or `,` in the list" : "at the end of the list", open);
    return r;
  }

  void attributes(Decl& d) {
    bool seen[5] = {};
    while (true) {
      const TokenId before = at_;
      if (is(Tok::Newline)) {  // attributes may be on their own lines
        skip_newlines();
        if (!is(Tok::Ident) || is_reserved(ast_.text(at_))) {
          if (!is(Tok::LBrace)) at_ = before;
          return;
        }
      }
      if (!is(Tok::Ident)) return;
      static constexpr std::string_view words[] = {"workgroup", "subgroup", "grid", "op_id",
                                                   "requires"};
      size_t which = 5;
      for (size_t i = 0; i < 5; ++i)
        if (is_word(words[i])) which = i;
      if (which == 5) {
        std::vector<std::string> names(std::begin(words), std::end(words));
        Diagnostic& e =
            error(Code::UnknownAttribute,
                  fmt::format("`{}` is no attribute of a kernel", ast_.text(at_).substr(0, 60)));
        const auto near = nearest(ast_.text(at_), names);
        if (const ForeignWord* w = find_foreign(token_text(), ForeignUse::Attribute))
          e.with_fix(fmt::format("write `{}(64)`", w->vyre));
        else
          e.with_fix(near.empty() ? "attributes are workgroup, subgroup, grid, op_id, requires"
                                  : fmt::format("did you mean `{}`?", near));
        ++at_;
        if (is(Tok::LParen)) list("");
        continue;
      }
      if (seen[which])
        error(Code::DuplicateAttribute, fmt::format("`{}` is given twice", words[which]))
            .with_fix("remove one of them");
      seen[which] = true;
      const TokenId word = at_++;
      if (which == 0) d.workgroup = list("after `workgroup`");
      if (which == 1) {
        const auto l = list("after `subgroup`");
        if (l.size() == 1)
          d.subgroup = l[0];
        else
          error_at(word, Code::WrongAttribute, "`subgroup` takes one size")
              .with_fix("write `subgroup(32)`");
      }
      if (which == 2) d.grid = list("after `grid`");
      if (which == 3 && expect(Tok::LParen, "after `op_id`")) {
        const TokenId t = at_;
        if (expect(Tok::String, "as the op_id")) d.op_id = unquote(ast_.text(t));
        expect(Tok::RParen, "after the op_id");
      }
      if (which == 4 && expect(Tok::LParen, "after `requires`")) {
        if (is_word("forward_progress"))
          d.forward_progress = true;
        else
          error(Code::WrongAttribute,
                fmt::format("{} is nothing that a kernel can require", found()))
              .with_fix("write `requires(forward_progress)`");
        if (!is(Tok::RParen)) ++at_;
        expect(Tok::RParen, "after the requirement");
      }
      if ((which == 0 && (d.workgroup.empty() || d.workgroup.size() > 3)) ||
          (which == 2 && (d.grid.empty() || d.grid.size() > 3)))
        error_at(word, Code::WrongAttribute,
                 fmt::format("`{}` takes one to three sizes", words[which]))
            .with_fix(fmt::format("write `{}(x)`, `{}(x, y)` or `{}(x, y, z)`", words[which],
                                  words[which], words[which]));
    }
  }

  void kernel() {
    Decl d;
    d.kind = DeclKind::Kernel;
    if (!declared_name(&d.name, "a kernel")) return skip_declaration();
    parameters(d.params);
    attributes(d);
    skip_newlines();
    if (!is(Tok::LBrace)) {
      expect(Tok::LBrace, "before the kernel's body");
      return skip_declaration();
    }
    if (is_ir_body()) {
      d.ir_body = at_;
      skip_braces(d);
    } else {
      d.body = body("the kernel's body", d);
    }
    ast_.decls.push_back(std::move(d));
  }

  /// A body in IR form defines values: some statement begins with `%7 =` or `%7,`.
  bool is_ir_body() const {
    int depth = 0;
    Tok before = Tok::Newline;
    for (TokenId i = at_; ast_.tokens[i].kind != Tok::End; ++i) {
      const Tok k = ast_.tokens[i].kind;
      if (k == Tok::LBrace) ++depth;
      if (k == Tok::RBrace && --depth == 0) return false;
      const bool begins =
          before == Tok::Newline || before == Tok::LBrace || before == Tok::Semicolon;
      if (k == Tok::Percent && begins && ast_.tokens[i + 1].kind == Tok::Integer &&
          (ast_.tokens[i + 2].kind == Tok::Assign || ast_.tokens[i + 2].kind == Tok::Comma))
        return true;
      before = k;
    }
    return false;
  }
  void skip_braces(Decl& d) {
    int depth = 0;
    while (!is(Tok::End)) {
      if (is(Tok::LBrace)) ++depth;
      if (is(Tok::RBrace) && --depth == 0) {
        d.end = at_++;
        return;
      }
      ++at_;
    }
    d.end = at_;
    error_at(d.ir_body, Code::UnclosedBlock, "the kernel's body is not closed")
        .with_fix("add the missing `}`");
  }

  void function() {
    Decl d;
    d.kind = DeclKind::Function;
    if (!declared_name(&d.name, "a function")) return skip_declaration();
    parameters(d.params);
    if (accept(Tok::Arrow)) d.result = type_name();
    skip_newlines();
    if (!is(Tok::LBrace)) {
      expect(Tok::LBrace, "before the function's body");
      if (is(Tok::Colon)) last_error().with_fix("write `->` in place of `:`");
      return skip_declaration();
    }
    d.body = body("the function's body", d);
    ast_.decls.push_back(std::move(d));
  }

  StmtId add(Stmt s) {
    ast_.poll();
    ast_.stmts.push_back(s);
    return StmtId(ast_.stmts.size() - 1);
  }

  /// const N: T = e, const T: U[n] = [ … ], const T: U[n] = @"file".
  StmtId constant() {
    Stmt s;
    s.kind = StmtKind::Const;
    s.token = at_++;
    if (!declared_name(&s.name, "a constant")) {
      skip_statement();
      return none;
    }
    bool array = false;
    if (accept(Tok::Colon)) {
      s.type = type_name();
      if (accept(Tok::LBracket)) {
        array = true;
        if (!is(Tok::RBracket)) s.a = expression();
        expect(Tok::RBracket, "after a table's length");
      }
    }
    if (!expect(Tok::Assign, "before the constant's value")) {
      skip_statement();
      return none;
    }
    if (!array) {
      s.b = expression();
      return add(s);
    }
    s.op = Tok::LBracket;
    if (accept(Tok::At)) {
      s.op = Tok::At;
      s.other.begin = at_;  // the string's token
      if (!expect(Tok::String, "after `@`")) return none;
      return add(s);
    }
    if (is_word("bytes") && ahead(1).kind == Tok::LParen) {  // the printer's form of a table
      ++at_;
      s.op = Tok::LParen;
      s.other = ast_.add_list(list("after `bytes`"));
      return add(s);
    }
    if (!expect(Tok::LBracket, "before the table's elements")) {
      skip_statement();
      return none;
    }
    std::vector<uint32_t> elements;
    while (!is(Tok::RBracket) && !is(Tok::End)) {
      elements.push_back(expression());
      if (!accept(Tok::Comma)) break;
    }
    expect(Tok::RBracket, "after the table's elements");
    s.other = ast_.add_list(elements);
    return add(s);
  }

  // ---- Graphs.
  void graph() {
    Decl d;
    d.kind = DeclKind::Graph;
    if (!declared_name(&d.name, "a graph")) return skip_declaration();
    parameters(d.params);
    skip_newlines();
    if (!expect(Tok::LBrace, "before the graph's body")) return skip_declaration();
    uint32_t depth = 1;
    while (depth > 0) {
      skip_newlines();
      if (is(Tok::End) || begins_declaration()) {
        error_at(d.name, Code::UnclosedBlock, "the graph's body is not closed")
            .with_fix("add the missing `}`");
        break;
      }
      if (accept(Tok::RBrace)) {
        if (--depth > 0) {
          GraphStmt s;
          s.kind = GraphStmtKind::End;
          s.token = at_ - 1;
          d.graph.push_back(s);
        }
        continue;
      }
      if (!graph_statement(d, depth)) skip_statement();
    }
    d.end = at_;
    ast_.decls.push_back(std::move(d));
  }

  bool graph_statement(Decl& d, uint32_t& depth) {
    GraphStmt s;
    s.token = at_;
    if (accept_word("buffer")) {
      s.kind = GraphStmtKind::Buffer;
      if (!declared_name(&s.name, "a buffer") || !expect(Tok::Colon, "after the buffer's name"))
        return false;
      s.type = type_name();
      if (!expect(Tok::LBracket, "before the buffer's length")) return false;
      s.count = expression();
      if (!expect(Tok::RBracket, "after the buffer's length")) return false;
    } else if (accept_word("call")) {
      s.name = at_;
      if (!expect(Tok::Ident, "as the kernel to call")) return false;
      s.args = list("before the arguments");
      if (accept_word("grid")) {
        if (!expect(Tok::LParen, "after `grid`")) return false;
        do {
          s.grid.push_back(graph_ref());
        } while (accept(Tok::Comma));
        if (!expect(Tok::RParen, "after the grid")) return false;
      }
    } else if (accept_word("repeat")) {
      s.node = GraphNodeKind::Repeat;
      s.count = expression();
    } else if (accept_word("while")) {
      s.node = GraphNodeKind::While;
      s.flag = graph_ref();
      s.compare = token().kind;
      if (precedence(s.compare) != comparison_level) {
        error(Code::ExpectedToken,
              fmt::format("expected a comparison after the flag, found {}", found()))
            .with_fix("write `while flag[0] != 0 limit 100 { … }`");
        return false;
      }
      ++at_;
      s.value = binary(comparison_level + 1);
      if (!accept_word("limit")) {
        error(Code::ExpectedToken, fmt::format("expected `limit`, found {}", found()))
            .with_fix("say how often the loop may run: `while flag[0] != 0 limit 100 { … }`");
        return false;
      }
      s.count = expression();
    } else {
      error(Code::ExpectedStatement, fmt::format("{} begins no statement of a graph", found()))
          .with_fix("a graph holds `buffer`, `call`, `repeat` and `while`");
      return false;
    }
    const bool opens = s.kind == GraphStmtKind::Node && info(s.node).has_body;
    d.graph.push_back(std::move(s));
    if (opens) {
      skip_newlines();
      if (!expect(Tok::LBrace, "before the loop's body")) return false;
      if (++depth > max_nesting) {
        error(Code::NestingTooDeep, fmt::format("nested more than {} deep", max_nesting))
            .with_fix("use fewer nested loops");
        throw Bail{};
      }
    }
    return true;
  }

  GraphRef graph_ref() {
    GraphRef r;
    r.name = at_;
    if (!expect(Tok::Ident, "as a buffer")) return r;
    if (expect(Tok::LBracket, "after the buffer")) {
      r.index = expression();
      expect(Tok::RBracket, "after the index");
    }
    return r;
  }

  // ---- Statements.
  Range body(std::string_view what, Decl& d) {
    declaration_ = d.name - 1;  // `kernel` or `fn`
    body_ = at_;
    return block(what, &d.end);
  }
  Range block(std::string_view what, TokenId* end = nullptr) {
    Deeper d(*this, true);
    const TokenId open = at_;
    std::vector<uint32_t> list;
    if (!is(Tok::LBrace) && num_errors() != errors_before_)
      return {};  // the head is broken: reported
    if (!is(Tok::LBrace)) {
      expect(Tok::LBrace, fmt::format("before {}", what));
      if (is(Tok::Assign)) last_error().with_fix("write `==` to compare");
      if (is(Tok::Colon) || find_foreign(token_text(), ForeignUse::Opening))
        last_error().with_fix(fmt::format("write `{{` in place of `{}`", token_text()));
      return {};
    }
    ++at_;
    while (true) {
      skip_newlines();
      if (is(Tok::RBrace)) {
        if (end) *end = at_;
        ++at_;
        break;
      }
      if (is(Tok::End) || begins_declaration()) {
        if (end) *end = at_;
        unclosed(open, what);
        break;
      }
      const TokenId before = at_;
      const size_t errors_before = errors_before_ = num_errors(), kept_before = errors_.size();
      const StmtId s = statement();
      if (s != none) list.push_back(s);
      if (num_errors() != errors_before) {
        if (!is(Tok::Newline) && !is(Tok::RBrace) && !begins_declaration()) skip_statement();
        while (is_word("else")) skip_statement();  // of an `if` that could not be read
      } else {
        end_of_statement();
      }
      explain(kept_before, before, foreign_statement);
      if (at_ == before) ++at_;
    }
    return ast_.add_list(list);
  }

  void end_of_statement() {
    if (is(Tok::Newline) || is(Tok::Semicolon) || is(Tok::RBrace) || is(Tok::End)) return;
    // After a block's closing brace the next statement may follow on the line.
    if (at_ > 0 && ast_.tokens[at_ - 1].kind == Tok::RBrace) return;
    error(Code::ExpectedEnd, fmt::format("expected the end of the statement, found {}", found()))
        .with_fix(is_word("as")
                      ? "convert with a cast: `u32(x)`"
                      : "put the next statement on a line of its own, or `;` between them");
    skip_statement();
  }

  StmtId statement() {
    Stmt s;
    s.token = at_;
    if (is(Tok::Ident)) {
      if (accept_word("let")) return declare(s, StmtKind::Let);
      if (accept_word("var")) return declare(s, StmtKind::Var);
      if (is_word("const")) return constant();
      if (accept_word("if")) return if_(s);
      if (accept_word("for")) return for_(s);
      if (accept_word("while")) {
        s.kind = StmtKind::While;
        s.a = expression();
        skip_newlines_before_brace();
        s.body = block("the loop's body");
        return add(s);
      }
      if (accept_word("break")) return s.kind = StmtKind::Break, add(s);
      if (accept_word("continue")) return s.kind = StmtKind::Continue, add(s);
      if (accept_word("return")) {
        s.kind = StmtKind::Return;
        if (!is(Tok::Newline) && !is(Tok::Semicolon) && !is(Tok::RBrace) && !is(Tok::End))
          s.a = expression();
        return add(s);
      }
      const Tok next = ahead(1).kind;
      if (is_word("shared") && next == Tok::Ident) return ++at_, declare(s, StmtKind::Shared);
      if (is_word("barrier") && (next == Tok::Ident || next == Tok::Newline || next == Tok::RBrace))
        return ++at_, barrier(s);
      if (is_word("region") && next == Tok::String) {
        ++at_;
        s.kind = StmtKind::Region;
        s.name = at_++;
        skip_newlines_before_brace();
        s.body = block("the region");
        return add(s);
      }
      const bool alone = next == Tok::Newline || next == Tok::Semicolon || next == Tok::RBrace;
      if ((is_word("trap") && alone) || (is_word("region") && next == Tok::LBrace)) {
        error(Code::ExpectedToken, is_word("trap") ? "a trap has a code" : "a region has a name")
            .with_fix(is_word("trap") ? "write `trap 1`" : "write `region \"name\" { … }`");
        return none;
      }
      if (is_word("trap") && begins_expression(next)) {
        ++at_;
        s.kind = StmtKind::Trap;
        s.a = expression();
        return add(s);
      }
      if (is_word("assert") && next == Tok::LParen) {
        ++at_;
        s.kind = StmtKind::Assert;
        const auto args = list("after `assert`");
        if (args.size() != 2) {
          error_at(
              s.token, Code::WrongArgumentCount,
              fmt::format("`assert` takes a condition and a code, not {} arguments", args.size()))
              .with_fix("write `assert(condition, code)`");
          return none;
        }
        s.a = args[0];
        s.b = args[1];
        return add(s);
      }
      if (is_word("else")) {
        error(Code::ExpectedStatement, "`else` without an `if` before it")
            .with_fix("put it behind the closing `}` of an `if`");
        return none;
      }
      return assignment_or_call(s);
    }
    if (is(Tok::LBrace)) {
      error(Code::ExpectedStatement, "a block needs a head")
          .with_fix("write `region \"name\" { … }`, or drop the braces");
      return none;
    }
    Diagnostic& d = error(Code::ExpectedStatement, fmt::format("{} begins no statement", found()));
    if (is(Tok::Slash) && ahead(1).kind == Tok::Star)
      d.with_fix("a comment begins with `//` and ends with its line");
    else if (precedence(token().kind))
      d.with_fix("end the line before with the operator, so that the statement goes on");
    else
      d.with_fix("write a statement: let, var, an assignment, if, for, while, a call, …");
    return none;
  }

  static bool begins_expression(Tok t) {
    return t == Tok::Ident || t == Tok::Integer || t == Tok::LParen || t == Tok::Minus ||
           t == Tok::Tilde || t == Tok::Float || t == Tok::Bang;
  }
  void skip_newlines_before_brace() {
    TokenId i = at_;
    while (ast_.tokens[i].kind == Tok::Newline) ++i;
    if (ast_.tokens[i].kind == Tok::LBrace) at_ = i;
  }

  StmtId declare(Stmt s, StmtKind kind) {
    s.kind = kind;
    const std::string_view what = kind == StmtKind::Shared ? "a shared array" : "a variable";
    if (!declared_name(&s.name, what)) return none;
    if (accept(Tok::Colon)) {
      s.type = type_name();
      if (accept(Tok::LBracket)) {
        if (!is(Tok::RBracket)) s.a = expression();
        if (!expect(Tok::RBracket, "after the array's length")) return none;
        if (s.a == none) {
          error_at(s.name, Code::MissingArrayLength,
                   fmt::format("the array `{}` needs a length", ast_.text(s.name)))
              .with_fix("write a constant between the brackets");
          return none;
        }
        if (kind == StmtKind::Let) {
          error_at(s.name, Code::ExpectedStatement, "`let` cannot declare an array")
              .with_fix("write `var` for a private array, `shared` for one a workgroup");
          return none;
        }
        if (kind == StmtKind::Var) s.kind = StmtKind::Array;
        if (is(Tok::Assign)) {
          error(Code::ArrayInitializer, "an array starts as zeros and takes no initial value")
              .with_fix("drop the `=` and what follows, and store the elements");
          return none;
        }
        return add(s);
      }
    }
    if (kind == StmtKind::Shared) {
      error(Code::MissingArrayLength, "`shared` declares an array")
          .with_fix("write `shared name: T[n]`");
      return none;
    }
    if (!expect(Tok::Assign, "before the initial value")) return none;
    s.a = expression();
    return add(s);
  }

  StmtId if_(Stmt s) {
    s.kind = StmtKind::If;
    s.a = expression();
    skip_newlines_before_brace();
    s.body = block("the body of the `if`");
    TokenId i = at_;
    while (ast_.tokens[i].kind == Tok::Newline) ++i;
    if (ast_.tokens[i].kind == Tok::Ident && ast_.text(i) == "else") {
      at_ = i + 1;
      s.has_else = true;
      if (is_word("if")) {
        Deeper d(*this, true);  // a branch is a block in the `else` of the previous one
        Stmt inner;
        inner.token = at_++;
        const StmtId id = if_(inner);
        s.other = ast_.add_list({id});
      } else {
        skip_newlines_before_brace();
        s.other = block("the body of the `else`");
      }
    }
    return add(s);
  }

  StmtId for_(Stmt s) {
    s.kind = StmtKind::For;
    if (!is(Tok::Ident)) {
      error(Code::ExpectedToken,
            fmt::format("expected the name of the loop's counter, found {}", found()))
          .with_fix("write `for i in lo..hi { … }`");
      while (!is(Tok::LBrace) && !is(Tok::Newline) && !is(Tok::End)) ++at_;
      return none;
    }
    if (!declared_name(&s.name, "the loop's counter")) return none;
    if (!accept_word("in")) {
      error(Code::ExpectedToken, fmt::format("expected `in`, found {}", found()))
          .with_fix("write `for i in lo..hi { … }`");
      return none;
    }
    s.a = expression();
    if (!expect(Tok::DotDot, "between the loop's bounds"))
      return last_error().with_fix("write `for i in lo..hi { … }`"), none;
    s.b = expression();
    if (accept_word("step")) s.c = expression();
    skip_newlines_before_brace();
    s.body = block("the loop's body");
    return add(s);
  }

  StmtId barrier(Stmt s) {
    s.kind = StmtKind::Barrier;
    if (is_word("workgroup"))
      s.scope = Scope::Workgroup;
    else if (is_word("subgroup"))
      s.scope = Scope::Subgroup;
    else if (is_word("grid"))
      s.scope = Scope::Grid;
    else {
      error(Code::UnknownScope, fmt::format("a barrier has a scope, not {}", found()))
          .with_fix("write `barrier workgroup`, `barrier subgroup` or `barrier grid`");
      return none;
    }
    ++at_;
    return add(s);
  }

  StmtId assignment_or_call(Stmt s) {
    const ExprId target = postfix();
    const Expr& e = ast_.exprs[target];
    if (token().kind >= Tok::Assign && token().kind <= Tok::ShrAssign) {
      s.op = token().kind;
      ++at_;
      if (e.kind == ExprKind::Name) {
        s.kind = StmtKind::Assign;
        s.name = e.token;
        s.a = expression();
        return add(s);
      }
      if (e.kind == ExprKind::Index) {
        s.kind = StmtKind::Store;
        s.name = e.token;
        s.a = e.a;
        s.b = expression();
        return add(s);
      }
      if (e.kind != ExprKind::Error)
        error_at(s.token, Code::NotAssignable,
                 "only a variable or an element of a buffer can be assigned")
            .with_fix("put a `var` or `b[i]` on the left");
      expression();
      return none;
    }
    if (e.kind == ExprKind::Call) {
      s.kind = StmtKind::Call;
      s.a = target;
      return add(s);
    }
    if (e.kind != ExprKind::Error) {
      Diagnostic& d = error_at(s.token, Code::UnusedValue, "this value goes nowhere");
      if (e.kind == ExprKind::Name) {
        std::vector<std::string> words = {"break", "continue", "return",
                                          "barrier"};  // those that may stand alone
        if (is(Tok::Ident)) words.insert(words.end(), reserved.begin(), reserved.end());
        if (is(Tok::Ident) || is(Tok::String))
          words.insert(words.end(), {"shared", "region", "trap", "assert"});
        const auto near = nearest(ast_.text(s.token), words);
        if (!near.empty()) {
          d.with_fix(fmt::format("did you mean `{}`?", near));
          return none;
        }
      }
      d.with_fix("assign it, or remove it");
    }
    return none;
  }

  // ---- Expressions.
  ExprId make(ExprKind kind, TokenId token) {
    ast_.poll();
    Expr e;
    e.kind = kind;
    e.token = token;
    ast_.exprs.push_back(e);
    return ExprId(ast_.exprs.size() - 1);
  }
  Expr& at(ExprId id) { return ast_.exprs[id]; }

  ExprId expression() {
    Deeper d(*this);
    return binary(1);
  }

  ExprId binary(int least) {
    ExprId left = unary();
    while (true) {
      const int level = precedence(token().kind);
      if (level < least || level == 0) return left;
      const TokenId op = at_++;
      const ExprId right = binary_operand(level + 1);
      const ExprId id = make(ExprKind::Binary, op);
      Expr& e = at(id);
      e.op = ast_.tokens[op].kind;
      e.a = left;
      e.b = right;
      const bool arithmetic = level > comparison_level;
      e.literal = arithmetic && at(left).literal && at(right).literal;
      e.float_literal = e.literal && (at(left).float_literal || at(right).float_literal);
      left = id;
      if (level == comparison_level && precedence(token().kind) == comparison_level) {
        error(Code::ChainedComparison, "comparisons do not chain")
            .with_fix("compare twice: `a < b && b < c`, or use parentheses");
        // Continue as if it were intended, so that the rest of the file is still read.
      }
    }
  }
  ExprId binary_operand(int least) {
    Deeper d(*this);
    return binary(least);
  }

  ExprId unary() {
    if (is(Tok::Minus) || is(Tok::Bang) || is(Tok::Tilde)) {
      Deeper d(*this);
      const TokenId op = at_++;
      const ExprId operand = unary();
      const ExprId id = make(ExprKind::Unary, op);
      Expr& e = at(id);
      e.op = ast_.tokens[op].kind;
      e.a = operand;
      e.literal = e.op != Tok::Bang && at(operand).literal;
      e.float_literal = e.literal && at(operand).float_literal;
      return id;
    }
    if (is(Tok::Plus)) {
      error(Code::ExpectedExpression, "there is no unary `+`").with_fix("remove it");
      ++at_;
      return unary();
    }
    return postfix();
  }

  ExprId postfix() {
    const TokenId begin = at_;
    const ExprId e = primary();
    if (is(Tok::LBracket) && at(e).kind != ExprKind::Error) {
      error(Code::NotIndexable, "only a buffer or array can be indexed")
          .with_fix("index a buffer by its name: `b[i]`");
      const size_t reported = errors_.size();
      const TokenId bracket = at_++;
      expression();
      if (at(e).kind == ExprKind::Index && errors_.size() == reported) {
        ForeignConstruct found = element_of_row(ast_, begin, bracket, at_);
        last_error().message = std::move(found.what);
        last_error().with_fix(std::move(found.fix));
      }
      expect(Tok::RBracket, "after the index");
    }
    return e;
  }

  ExprId failed(TokenId t) { return make(ExprKind::Error, t); }

  ExprId number() {
    const TokenId t = at_++;
    const bool is_float = ast_.tokens[t].kind == Tok::Float;
    const auto parts = split_number(ast_.text(t), is_float);
    if (!parts) {
      error_at(t, Code::MalformedNumber,
               fmt::format("`{}` is no number", ast_.text(t).substr(0, 60)))
          .with_fix(
              "write digits, and a type as suffix if one is needed: `7u64`, `0x1f`, `1.5f64`");
      if (const std::string n = foreign_number(ast_.text(t)); !n.empty())
        last_error().with_fix(fmt::format("write `{}`", n));
      return failed(t);
    }
    if (is_storage_only(parts->suffix) || parts->suffix == Type::Bool) {
      error_at(t, Code::StorageTypeAsValue,
               fmt::format("`{}` is no type of a number literal", name(parts->suffix)))
          .with_fix(parts->suffix == Type::Bool ? "write `true` or `false`"
                                                : "write an f32; the store rounds it");
      return failed(t);
    }
    if ((is_float && is_integer(parts->suffix)) || (!is_float && vyre::is_float(parts->suffix))) {
      error_at(
          t, Code::MalformedNumber,
          fmt::format("{} literal with the suffix of {} type", is_float ? "a float" : "an integer",
                      is_float ? "an integer" : "a float"))
          .with_fix(is_float ? "remove the fraction or the suffix"
                             : fmt::format("write `{}.0{}`", parts->digits, name(parts->suffix)));
      return failed(t);
    }
    const ExprId id = make(is_float ? ExprKind::Float : ExprKind::Integer, t);
    Expr& e = at(id);
    e.type = parts->suffix;
    e.literal = parts->suffix == Type::Void;
    e.float_literal = is_float;
    if (!is_float) {
      const auto v = parse_integer(parts->digits);
      if (!v) {
        error_at(t, Code::MalformedNumber,
                 fmt::format("`{}` is no integer, or more than 64 bits hold",
                             ast_.text(t).substr(0, 60)))
            .with_fix("write a number of at most 64 bits");
        e.kind = ExprKind::Error;
        return id;
      }
      e.bits = *v;
    }
    return id;
  }

  ExprId primary() {
    const TokenId t = at_;
    switch (token().kind) {
      case Tok::Integer:
      case Tok::Float: return number();
      case Tok::LParen: {
        Deeper d(*this);
        ++at_;
        const ExprId e = binary(1);
        if (!expect(Tok::RParen, "after the expression", t)) return failed(t);
        return e;
      }
      case Tok::Ident: return named();
      default: break;
    }
    Diagnostic& d =
        error(Code::ExpectedExpression, fmt::format("expected an expression, found {}", found()))
            .with_fix("write a value here");
    const Tok k = token().kind;
    if ((k == Tok::Amp || k == Tok::Star) && ahead(1).kind == Tok::Ident)
      d.with_fix(fmt::format("vyre has no pointers: write `{}{}`", ast_.text(t + 1),
                             k == Tok::Star ? "[0]" : ""));
    if (k == Tok::String) ++at_;
    return failed(t);
  }

  ExprId named() {
    const TokenId t = at_++;
    const std::string_view w = ast_.text(t);
    if (w == "true" || w == "false") {
      const ExprId id = make(ExprKind::Bool, t);
      at(id).bits = w == "true";
      return id;
    }
    if (w == "inf" || w == "nan") {
      const ExprId id = make(ExprKind::Float, t);
      at(id).literal = at(id).float_literal = true;
      return id;
    }
    if (const auto type = find_type(w)) {
      if (!is(Tok::LParen)) {
        error_at(t, Code::ExpectedExpression, fmt::format("the type `{}` is no value", w))
            .with_fix(fmt::format("write a cast, `{}(x)`", w));
        return failed(t);
      }
      const auto args = list("after the type");
      if (args.size() != 1) {
        error_at(t, Code::WrongArgumentCount,
                 fmt::format("a cast takes one value, not {}", args.size()))
            .with_fix(fmt::format("write `{}(x)`", w));
        return failed(t);
      }
      const ExprId id = make(ExprKind::Cast, t);
      at(id).type = *type;
      at(id).a = args[0];
      return id;
    }
    for (auto r : reserved)
      if (w == r) {
        --at_;
        error(Code::ExpectedExpression, fmt::format("expected an expression, found `{}`", w))
            .with_fix("write a value here");
        ++at_;
        return failed(t);
      }
    if (is(Tok::Dot)) {
      ++at_;
      const ExprId id = make(ExprKind::Member, t);
      at(id).symbol = ast_.tokens[t].symbol;
      const std::string_view c = is(Tok::Ident) ? ast_.text(at_) : std::string_view();
      at(id).bits = c == "x" ? 0 : c == "y" ? 1 : c == "z" ? 2 : 9;
      if (at(id).bits == 9) {
        const ForeignValue v = foreign_value(ast_, t);
        const std::string message = v.vyre.empty()
                                        ? fmt::format("{} is not a component", found())
                                        : fmt::format("`{}.{}` is not known", w, token_text());
        error(Code::UnknownComponent, message)
            .with_fix(!v.vyre.empty() ? v.fix()
                      : c == "len" || c == "length" || c == "size"
                          ? fmt::format("write `len({})`", w)
                          : "write `.x`, `.y` or `.z`");
        at(id).kind = ExprKind::Error;
      }
      if (is(Tok::Ident)) ++at_;
      return id;
    }
    if (is(Tok::LBracket)) {
      ++at_;
      const ExprId index = expression();
      if (at(index).kind == ExprKind::Error && !is(Tok::RBracket)) return failed(t);
      if (!expect(Tok::RBracket, "after the index")) return failed(t);
      const ExprId id = make(ExprKind::Index, t);
      at(id).symbol = ast_.tokens[t].symbol;
      at(id).a = index;
      return id;
    }
    Type type = Type::Void;
    if ((w == "bitcast" || w == "load_as") && is(Tok::Lt)) {
      ++at_;
      type = type_name();
      if (!expect(Tok::Gt, "after the type")) return failed(t);
    }
    if (is(Tok::LParen)) {
      const std::vector<ExprId> args = list("before the arguments");
      const ExprId id = make(ExprKind::Call, t);
      Expr& e = at(id);
      e.symbol = ast_.tokens[t].symbol;
      e.type = type;
      e.args = ast_.add_list(args);
      call_literal(e, w, args);
      return id;
    }
    const ExprId id = make(ExprKind::Name, t);
    at(id).symbol = ast_.tokens[t].symbol;
    return id;
  }

  /// bits(…) is a float literal; an op whose operands and result are all of one type, applied only
  /// to literals, takes its type from its context as operators do.
  void call_literal(Expr& e, std::string_view w, const std::vector<ExprId>& args) {
    if (w == "bits") {
      e.literal = e.float_literal = true;
      return;
    }
    const Opcode* op = find_op(w);
    if (!op || info(*op).effect != Effect::Pure || info(*op).result != 'T' || args.empty()) return;
    for (char c : info(*op).operands)
      if (c != 'T') return;
    bool all = true, any_float = false;
    for (ExprId a : args) {
      all &= at(a).literal;
      any_float |= at(a).float_literal;
    }
    e.literal = all;
    e.float_literal = all && any_float;
  }

  Ast& ast_;
  TokenId at_;
  std::vector<Import>& imports_;
  Diagnostics& errors_;
  Diagnostics scratch_;
  size_t errors_before_ = 0;          // the number of errors when the current statement began
  std::vector<uint32_t> unreadable_;  // lines with characters that the lexer rejected
  TokenId declaration_ = 0;           // the first token of the current kernel or function
  TokenId body_ = none;               // its `{`; none once a block in it is known to be open
  uint32_t depth_ = 0;                // of an expression
  uint32_t block_depth_ = 0;
};

}  // namespace

void parse_file(Ast& ast, TokenId begin, std::vector<Import>& imports, Diagnostics& errors) {
  Parser(ast, begin, imports, errors).file();
}

}  // namespace vyre::text
