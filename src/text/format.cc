#include "text/format.h"

#include <initializer_list>

#include "support/big_stack.h"
#include "text/ast.h"
#include "text/parser.h"

namespace vyre {
namespace {

using namespace text;

bool is_open(Tok t) { return t == Tok::LParen || t == Tok::LBracket; }
bool is_operator(Tok t) {
  return t >= Tok::Assign && t <= Tok::Ge && t != Tok::Tilde && t != Tok::Bang;
}

/// Returns whether the token may end an operand. A `-` or `%` after it is then binary.
bool ends_operand(Tok t) {
  return t == Tok::Ident || t == Tok::Integer || t == Tok::Float || t == Tok::RParen ||
         t == Tok::RBracket || t == Tok::String;
}

struct Formatter {
  std::string_view source;
  const std::vector<Token>& tokens;
  bool ir_values;  // `%7` is a value here, not a remainder

  std::string out;
  std::string line;
  int depth = 0;  // braces
  int parens = 0;
  int blank = 0;
  bool continued = false;
  bool header = false;  // of a declaration, up to its brace

  std::string_view text(const Token& t) const { return source.substr(t.offset, t.length); }
  bool one_of(size_t i, std::initializer_list<std::string_view> words) const {
    if (tokens[i].kind != Tok::Ident) return false;
    for (auto w : words)
      if (text(tokens[i]) == w) return true;
    return false;
  }
  /// Returns whether the name is a keyword at this position. Most keywords are contextual and may
  /// be names elsewhere.
  bool word(size_t i) const {
    if (one_of(i, {"return", "if", "while", "for", "else"})) return true;
    const Tok before = i > 0 ? tokens[i - 1].kind : Tok::Newline;
    if (one_of(i, {"trap", "repeat", "yield", "test"}))
      return before == Tok::Newline || before == Tok::LBrace || before == Tok::RBrace ||
             before == Tok::Semicolon;
    return one_of(i, {"in", "step", "with", "limit"}) && i > 0 && ends_operand(before) &&
           !one_of(i - 1,
                   {"kernel", "fn", "graph", "call", "let", "var", "const", "shared", "buffer"});
  }

  bool unary(size_t i) const {
    if (tokens[i].kind == Tok::Bang || tokens[i].kind == Tok::Tilde) return true;
    if (tokens[i].kind != Tok::Minus && !(tokens[i].kind == Tok::Percent && value_at(i)))
      return false;
    if (tokens[i].kind == Tok::Percent) return true;
    return i == 0 || !ends_operand(tokens[i - 1].kind) || word(i - 1);
  }
  bool value_at(size_t i) const {
    return ir_values && tokens[i].kind == Tok::Percent && tokens[i + 1].kind == Tok::Integer &&
           tokens[i + 1].offset == tokens[i].offset + 1;
  }
  bool type_bracket(size_t i) const {  // the < and > of bitcast<T>
    if (tokens[i].kind == Tok::Lt)
      return i > 0 && tokens[i - 1].kind == Tok::Ident &&
             (text(tokens[i - 1]) == "bitcast" || text(tokens[i - 1]) == "load_as");
    return tokens[i].kind == Tok::Gt && i > 2 && type_bracket(i - 2);
  }

  bool space_before(size_t i) const {
    const Token &a = tokens[i - 1], &b = tokens[i];
    if (is_open(a.kind) || b.kind == Tok::RParen || b.kind == Tok::RBracket ||
        b.kind == Tok::Comma || b.kind == Tok::Semicolon)
      return false;
    if (a.kind == Tok::Dot || b.kind == Tok::Dot || a.kind == Tok::DotDot ||
        b.kind == Tok::DotDot || a.kind == Tok::At)
      return false;
    if (b.kind == Tok::Colon)
      return ir_values && !(a.kind == Tok::Ident && i + 1 < tokens.size() && is_declaration(i));
    if (i > 0 && unary(i - 1)) return false;
    if (type_bracket(i) || type_bracket(i - 1)) return false;
    if (b.kind == Tok::LBracket)
      return a.kind != Tok::Ident || word(i - 1) ? !ends_operand(a.kind) || word(i - 1) : false;
    if (b.kind == Tok::LParen) return !(a.kind == Tok::Ident && !word(i - 1));
    return true;
  }
  /// `name: T` of a parameter or array in IR-form text, not the `: T` of an op.
  bool is_declaration(size_t colon) const {
    if (parens > 0) return true;
    return colon >= 2 && tokens[colon - 2].kind == Tok::Ident &&
           (text(tokens[colon - 2]) == "shared" || text(tokens[colon - 2]) == "var" ||
            text(tokens[colon - 2]) == "const" || text(tokens[colon - 2]) == "let" ||
            text(tokens[colon - 2]) == "buffer");
  }

  void flush() {
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (line.empty()) return;
    if (blank > 0 && !out.empty() && out.back() == '\n' &&
        !(out.size() > 1 && out[out.size() - 2] == '{')) {
      if (line[0] != '}') out += '\n';
    }
    blank = 0;
    int level = depth + (continued ? 2 : 0);
    if (line[0] == '}' || line[0] == '{') level = depth;
    out.append(size_t(level) * 2, ' ');
    out += line;
    out += '\n';
    line.clear();
  }

  std::string run() {
    int line_depth = 0;
    for (size_t i = 0; i < tokens.size(); ++i) {
      const Token& t = tokens[i];
      if (t.kind == Tok::End) break;
      if (t.kind == Tok::Newline) {
        if (line.empty()) {
          ++blank;
        } else {
          const int after = depth;
          depth = line_depth;
          flush();
          depth = after;
          const Tok last = i > 0 ? tokens[i - 1].kind : Tok::Newline;
          Tok before = last;
          for (size_t k = i; k-- > 0 && before == Tok::Comment;) before = tokens[k].kind;
          continued = parens > 0 || header || before == Tok::Comma || (is_operator(before));
        }
        continue;
      }
      if (t.kind == Tok::RBrace && depth > 0) --depth;
      if (line.empty()) {
        line_depth = depth;
        if (t.kind == Tok::RParen || t.kind == Tok::RBracket) continued = false;
      } else if (t.kind == Tok::RBrace && depth < line_depth) {
        line_depth = depth < line_depth && line[0] == '}' ? depth : line_depth;
      }
      if (!line.empty()) {
        if (t.kind == Tok::Comment)
          line += "  ";
        else if (space_before(i))
          line += ' ';
      }
      std::string_view w = text(t);
      if (t.kind == Tok::Comment)
        while (!w.empty() && (w.back() == ' ' || w.back() == '\r' || w.back() == '\t'))
          w.remove_suffix(1);
      line += w;
      if (is_open(t.kind)) ++parens;
      if ((t.kind == Tok::RParen || t.kind == Tok::RBracket) && parens > 0) --parens;
      if (depth == 0 && one_of(i, {"kernel", "fn", "graph"}) &&
          (i == 0 || tokens[i - 1].kind != Tok::Ident))
        header = true;
      if (t.kind == Tok::LBrace) {
        ++depth;
        header = false;
      }
    }
    const int after = depth;
    depth = line_depth;
    flush();
    depth = after;
    return std::move(out);
  }
};

}  // namespace

Result<std::string> format_source(std::string_view source, const std::string& file_name) {
  Diagnostics errors;
  Ast ast;
  std::string text(source);
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.erase(0, 3);
  if (text.size() > max_source_bytes)
    return diagnose(Code::SourceTooLarge, {file_name, 1, 1, 1}, "the source is too large to format")
        .with_fix("split the file");
  if (find_invalid_utf8(text) != std::string::npos)
    return diagnose(Code::InvalidUtf8, {file_name, 1, 1, 1}, "the file is no UTF-8 text")
        .with_fix("save the file as UTF-8 text");
  ast.files.push_back({file_name, text});
  std::vector<Import> imports;
  lex(ast.files[0].text, {0, file_name, false}, ast.symbols, ast.tokens, errors);
  run_on_big_stack([&] { parse_file(ast, 0, imports, errors); });
  if (has_errors(errors)) return errors;
  bool ir = false;
  for (const Decl& d : ast.decls) ir |= d.ir_body != 0;
  std::vector<Token> tokens;
  Symbols symbols;
  lex(ast.files[0].text, {0, file_name, true}, symbols, tokens, errors);
  return Formatter{ast.files[0].text, tokens, ir, {}, {}}.run();
}

}  // namespace vyre
