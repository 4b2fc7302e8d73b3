#include "text/foreign_syntax.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "text/foreign_words.h"
#include "text/lower/literal.h"

namespace vyre::text {
namespace {

constexpr size_t max_shown = 60;  // bytes of source in a fix

std::string fix_of(std::string_view vyre, std::string_view note) {
  return fmt::format("write `{}`{}{}", vyre, note.empty() ? "" : " ", note);
}

const ForeignWord* find(const Ast& ast, TokenId t, ForeignUse use) {
  return ast.tokens[t].kind == Tok::Ident ? find_foreign(ast.text(t), use) : nullptr;
}

/// Walks over the tokens of one statement, declaration or parameter.
class Cursor {
 public:
  Cursor(const Ast& ast, TokenId at) : ast_(ast), at_(at) {}

  TokenId at() const { return at_; }
  void skip() {
    if (!is(Tok::End)) ++at_;
  }
  Tok kind(uint32_t ahead = 0) const {
    return at_ + ahead < ast_.tokens.size() ? ast_.tokens[at_ + ahead].kind : Tok::End;
  }
  bool is(Tok k) const { return kind() == k; }
  std::string_view word() const { return is(Tok::Ident) ? ast_.text(at_) : std::string_view(); }
  bool accept(Tok k) {
    if (!is(k)) return false;
    skip();
    return true;
  }
  bool accept_word(std::string_view w) {
    if (word() != w) return false;
    skip();
    return true;
  }
  const ForeignWord* foreign(ForeignUse use) const { return find(ast_, at_, use); }
  bool at_end() const {
    return is(Tok::Newline) || is(Tok::Semicolon) || is(Tok::End) || is(Tok::RBrace) ||
           is(Tok::LBrace);
  }
  /// Skips to the end of the statement, or to a token of kind `until` outside of brackets.
  void skip_to(Tok until) {
    int depth = 0;
    for (; !at_end() && !(depth == 0 && is(until)); skip()) {
      if (is(Tok::LParen) || is(Tok::LBracket)) ++depth;
      if (is(Tok::RParen) || is(Tok::RBracket)) --depth;
      if (depth < 0) return;
    }
  }

 private:
  const Ast& ast_;
  TokenId at_;
};

/// One id with a component: `threadIdx.x`, `get_local_id(0)`, and vyre's `local_id.x`.
struct Component {
  std::string_view id;
  char c = 'x';
  TokenId end = 0;
  bool is_foreign = false;

  std::string text() const { return fmt::format("{}.{}", id, c); }
};

std::optional<Component> component(const Ast& ast, TokenId t) {
  Cursor at(ast, t);
  if (const ForeignWord* w = at.foreign(ForeignUse::Dimension)) {
    if (at.kind(1) != Tok::LParen || at.kind(2) != Tok::Integer || at.kind(3) != Tok::RParen)
      return {};
    const std::string_view n = ast.text(t + 2);
    if (n != "0" && n != "1" && n != "2") return {};
    return Component{w->vyre, "xyz"[n[0] - '0'], t + 4, true};
  }
  const ForeignWord* w = at.foreign(ForeignUse::Id);
  constexpr std::string_view own[] = {"local_id", "workgroup_id", "workgroup_size"};
  const auto mine = std::find(std::begin(own), std::end(own), at.word());
  if (!w && mine == std::end(own)) return {};
  if (at.kind(1) != Tok::Dot || at.kind(2) != Tok::Ident) return {};
  const std::string_view c = ast.text(t + 2);
  if (c != "x" && c != "y" && c != "z") return {};
  return Component{w ? w->vyre : *mine, c[0], t + 3, w != nullptr};
}

/// `workgroup_id.c * workgroup_size.c + local_id.c` in any order, in words of any language.
std::optional<Component> global_id(const Ast& ast, TokenId t) {
  std::array<Component, 3> parts;
  std::array<Tok, 2> ops{};
  for (size_t i = 0; i < 3; ++i) {
    const auto c = component(ast, t);
    if (!c) return {};
    parts[i] = *c;
    t = c->end;
    if (i < 2) ops[i] = ast.tokens[t++].kind;
  }
  const bool sum_last = ops[0] == Tok::Star && ops[1] == Tok::Plus;
  const bool sum_first = ops[0] == Tok::Plus && ops[1] == Tok::Star;
  if (!sum_last && !sum_first) return {};
  const Component& added = parts[sum_last ? 2 : 0];
  const Component& a = parts[sum_last ? 0 : 1];
  const Component& b = parts[sum_last ? 1 : 2];
  const bool product = (a.id == "workgroup_id" && b.id == "workgroup_size") ||
                       (b.id == "workgroup_id" && a.id == "workgroup_size");
  if (!product || added.id != "local_id" || a.c != b.c || a.c != added.c) return {};
  return Component{"global_id", a.c, t, true};
}

/// The tokens with every word and number of another language replaced. `*ids`: set if an id was
/// replaced.
std::string translate(const Ast& ast, TokenId begin, TokenId end, bool* ids) {
  std::string r;
  for (TokenId t = begin; t < end;) {
    const Token& k = ast.tokens[t];
    if (t > begin && ast.tokens[t - 1].offset + ast.tokens[t - 1].length < k.offset) r += ' ';
    if (const ForeignValue v = foreign_value(ast, t); !v.vyre.empty() && v.end <= end) {
      *ids |= component(ast, t).has_value();
      r += v.vyre;
      t = v.end;
      continue;
    }
    const bool number = k.kind == Tok::Integer || k.kind == Tok::Float;
    const std::string mended = number ? foreign_number(ast.text(t)) : "";
    r += mended.empty() ? ast.text(t) : std::string_view(mended);
    ++t;
  }
  return r.size() <= max_shown ? r : "…";
}

/// The words before a declared name in C: qualifiers and a type.
struct CType {
  std::string_view first;      // the word that says that this is C
  std::string_view type;       // in vyre; "": `auto`
  std::string_view qualifier;  // shared or const; "": none
  bool pointer = false;
};

/// Reads qualifiers, a type and stars up to a name that is followed by `=`, `[`, an end, `,` or
/// `)`.
std::optional<CType> c_type(Cursor& at) {
  CType r;
  bool words = false;
  while (at.is(Tok::Ident) && (at.kind(1) == Tok::Ident || at.kind(1) == Tok::Star)) {
    const ForeignWord* type = at.foreign(ForeignUse::Type);
    const ForeignWord* qualifier = at.foreign(ForeignUse::Qualifier);
    const auto own = find_type(at.word());
    if (!type && !qualifier && !own) return {};
    if (r.first.empty()) r.first = at.word();
    if (qualifier && !qualifier->vyre.empty() && r.qualifier != "shared")
      r.qualifier = qualifier->vyre;
    if (own) r.type = at.word();
    if (type) {
      const bool is_unsigned = r.type == "u32" && words;
      r.type = is_unsigned && type->vyre == "i32"   ? "u32"
               : is_unsigned && type->vyre == "i8"  ? "u8"
               : is_unsigned && type->vyre == "i16" ? "u16"
               : is_unsigned && type->vyre == "i64" ? "u64"
               : type->vyre == "i32" && words       ? r.type  // long int
                                                    : type->vyre;
      words = true;
    }
    at.skip();
    while (at.accept(Tok::Star) || at.accept_word("const") || at.accept_word("restrict") ||
           at.accept_word("__restrict__"))
      r.pointer = true;
  }
  const Tok next = at.kind(1);
  const bool ends = next == Tok::Assign || next == Tok::LBracket || next == Tok::Newline ||
                    next == Tok::Semicolon || next == Tok::Comma || next == Tok::RParen ||
                    next == Tok::End || next == Tok::RBrace;
  const bool is_c = !r.type.empty() || r.first == "auto";  // `const t = 1` is valid vyre
  if (!is_c || !at.is(Tok::Ident) || !ends) return {};
  return r;
}

/// `[32][33]` as one length, `32 * 33`; "" without brackets.
std::string lengths(const Ast& ast, Cursor& at, std::string* last) {
  std::string product;
  while (at.accept(Tok::LBracket)) {
    const TokenId begin = at.at();
    at.skip_to(Tok::RBracket);
    *last = source_text(ast, begin, at.at());
    product += product.empty() ? *last : " * " + *last;
    at.accept(Tok::RBracket);
  }
  return product;
}

/// ` and index it as …` for an array of more than one dimension.
std::string flat_index(std::string_view name, const std::string& product, const std::string& last) {
  if (product == last) return "";
  return fmt::format(", and index it as `{}[row * {} + column]`", name, last);
}

ForeignConstruct c_declaration(const Ast& ast, TokenId begin, bool top) {
  Cursor at(ast, begin);
  const auto c = c_type(at);
  if (!c) return {};
  const std::string_view name = at.word();
  std::string_view type = c->type.empty() ? "f32" : c->type;
  const std::string what =
      fmt::format("`{}` does not begin a {} in vyre", c->first, top ? "declaration" : "statement");
  at.skip();
  std::string last;
  const std::string length = lengths(ast, at, &last);
  if (!length.empty() && !top)
    return {what,
            fmt::format("write `{} {}: {}[{}]`{}", c->qualifier == "shared" ? "shared" : "var",
                        name, type, length, flat_index(name, length, last))};
  if (type == "f16" || type == "bf16") type = "f32";  // no value has a storage type
  bool ids = false;
  std::string value = "0";
  if (type.front() == 'f' || type.front() == 'b') value = type == "bool" ? "false" : "0.0";
  if (at.accept(Tok::Assign)) {
    const TokenId from = at.at();
    const bool lone = at.is(Tok::Integer) && c->type.find('f') != c->type.npos;
    at.skip_to(Tok::Comma);
    value = translate(ast, from, at.at(), &ids);
    if (lone && at.at() == from + 1) value += ".0";
  }
  const bool typed = !c->type.empty() && !ids;  // an id has its own type
  const std::string rest =
      fmt::format("{}{} = {}", name, typed ? fmt::format(": {}", type) : "", value);
  if (top) return {what, fmt::format("write `const {}`", rest)};
  if (c->qualifier == "const") return {what, fmt::format("write `let {}`", rest)};
  return {what, fmt::format("write `let {0}`, or `var {0}` if it changes", rest)};
}

/// The end of `x` or `x[i]` that begins at `t`, or `t`.
TokenId end_of_target(const Ast& ast, TokenId t) {
  Cursor at(ast, t);
  if (!at.accept(Tok::Ident)) return t;
  if (at.accept(Tok::LBracket)) {
    at.skip_to(Tok::RBracket);
    at.accept(Tok::RBracket);
  }
  return at.at();
}

/// `i++`, `++i`, `x[i]--`.
ForeignConstruct increment(const Ast& ast, TokenId begin) {
  const auto adjacent = [&](TokenId t) {
    return t + 1 < ast.tokens.size() &&
           ast.tokens[t].offset + ast.tokens[t].length == ast.tokens[t + 1].offset;
  };
  const auto doubled = [&](TokenId t) {
    const Tok k = ast.tokens[t].kind;
    return (k == Tok::Plus || k == Tok::Minus) && adjacent(t) && ast.tokens[t + 1].kind == k;
  };
  const bool prefix = doubled(begin) && adjacent(begin + 1);
  const TokenId from = prefix ? begin + 2 : begin;
  const TokenId to = end_of_target(ast, from);
  if (to == from || (!prefix && !doubled(to))) return {};
  const std::string_view op = ast.text(prefix ? begin : to);
  return {fmt::format("vyre has no `{0}{0}`", op),
          fmt::format("write `{} {}= 1`", source_text(ast, from, to), op)};
}

/// `var<workgroup> t: array<f32, 64>`, `let t: array<f32, 64>`, `let mut i = 0`, `let i := 0`,
/// `var t[64]`, `shared f32 t[64]`.
ForeignConstruct declaration_form(const Ast& ast, TokenId begin) {
  Cursor at(ast, begin);
  const bool is_let = at.word() == "let", is_var = at.word() == "var";
  if (!is_let && !is_var && at.word() != "const") return {};
  at.skip();
  std::string_view word = is_let ? "let" : "var";
  const bool is_mutable = at.accept_word("mut");
  if (is_mutable) word = "var";
  if (at.accept(Tok::Lt)) {
    word = at.word() == "workgroup" ? "shared" : "var";
    at.skip();
    at.accept(Tok::Gt);
  }
  const std::string name(at.word());
  at.skip();
  at.accept(Tok::Colon);
  if (at.accept_word("array") && at.accept(Tok::Lt)) {
    const ForeignWord* w = at.foreign(ForeignUse::Type);
    const std::string type(w ? w->vyre : at.word());
    at.skip();
    at.accept(Tok::Comma);
    const TokenId from = at.at();
    at.skip_to(Tok::Gt);
    const std::string length = source_text(ast, from, at.at());
    return {"", fmt::format("write `{} {}: {}[{}]`", word == "let" ? "var" : word, name, type,
                            length.empty() ? "64" : length)};
  }
  if (at.is(Tok::LBracket)) {
    std::string last;
    const std::string length = lengths(ast, at, &last);
    return {"",
            fmt::format("write `var {}: f32[{}]`, with the type of its elements", name, length)};
  }
  if (!at.accept(Tok::Assign)) return {};
  const TokenId from = at.at();
  if (at.is(Tok::LBracket) || at.is(Tok::LBrace)) {
    const Tok close = at.is(Tok::LBracket) ? Tok::RBracket : Tok::RBrace;
    at.skip();
    const TokenId first = at.at();
    while (!at.is(close) && !at.is(Tok::End) && !at.is(Tok::Newline)) at.skip();
    return {"", fmt::format("write `const {}: u32[] = [{}]`, with the type of its elements", name,
                            source_text(ast, first, at.at()))};
  }
  if (!is_mutable) return {};
  at.skip_to(Tok::Semicolon);
  bool ids = false;
  return {"", fmt::format("write `{} {} = {}`", word, name, translate(ast, from, at.at(), &ids))};
}

/// `shared t: f32[32][33]`, `var t: f32[4][4]`.
ForeignConstruct array_of_arrays(const Ast& ast, TokenId begin) {
  Cursor at(ast, begin);
  const std::string_view word = at.word();
  if (word != "shared" && word != "var") return {};
  at.skip();
  const std::string_view name = at.word();
  at.skip();
  if (!at.accept(Tok::Colon) || !at.is(Tok::Ident)) return {};
  const std::string_view type = at.word();
  at.skip();
  std::string last;
  const std::string length = lengths(ast, at, &last);
  if (length == last) return {};
  return {"an array has one dimension", fmt::format("write `{} {}: {}[{}]`{}", word, name, type,
                                                    length, flat_index(name, length, last))};
}

/// `let a = if c { x } else { y }`, `a = if …`.
ForeignConstruct if_as_value(const Ast& ast, TokenId begin) {
  Cursor at(ast, begin);
  at.skip_to(Tok::Assign);
  const TokenId assign = at.at();
  if (!at.accept(Tok::Assign) || !at.accept_word("if")) return {};
  const TokenId condition = at.at();
  at.skip_to(Tok::LBrace);
  const std::string c = source_text(ast, condition, at.at());
  const auto branch = [&] {
    if (!at.accept(Tok::LBrace)) return std::string();
    const TokenId from = at.at();
    while (!at.is(Tok::RBrace) && !at.is(Tok::End) && !at.is(Tok::LBrace)) at.skip();
    TokenId to = at.at();
    while (to > from && ast.tokens[to - 1].kind == Tok::Newline) --to;
    at.accept(Tok::RBrace);
    return source_text(ast, from, to);
  };
  const std::string a = branch();
  at.accept_word("else");
  const std::string b = branch();
  const bool whole = !a.empty() && !b.empty();
  return {"", fmt::format("write `{} = select({}, {}, {})`", source_text(ast, begin, assign),
                          whole ? c : "c", whole ? a : "a", whole ? b : "b")};
}

/// `a := b`.
ForeignConstruct walrus(const Ast& ast, TokenId begin) {
  Cursor at(ast, begin);
  const bool is_let = at.accept_word("let") || at.accept_word("var");
  const std::string_view name = at.word();
  at.skip();
  if (!at.accept(Tok::Colon) || !at.is(Tok::Assign)) return {};
  at.skip();
  const TokenId from = at.at();
  at.skip_to(Tok::Semicolon);
  bool ids = false;
  return {is_let ? "" : "vyre has no `:=`",
          fmt::format("write `let {} = {}`", name, translate(ast, from, at.at(), &ids))};
}

/// Operators and literals of other languages anywhere in the statement.
ForeignConstruct inside(const Ast& ast, TokenId begin) {
  for (Cursor at(ast, begin); !at.at_end(); at.skip()) {
    const TokenId t = at.at();
    if (at.is(Tok::Star) && at.kind(1) == Tok::Star)
      return {"", "write `pow(a, b)`, or a product of integers"};
    if (at.is(Tok::DotDot) && at.kind(1) == Tok::Assign) {
      const TokenId from = t + 2;
      Cursor end(ast, from);
      while (!end.at_end() && end.word() != "step") end.skip();
      return {"a range does not include its end",
              fmt::format("write `..{} + 1`", source_text(ast, from, end.at()))};
    }
    const bool number_before = t > begin && ast.tokens[t - 1].kind == Tok::Integer;
    if (at.is(Tok::Dot) && at.kind(1) == Tok::Integer && !number_before)
      return {"a number begins with a digit", fmt::format("write `0.{}`", ast.text(t + 1))};
    if (at.is(Tok::Dot) && number_before &&
        ast.tokens[t - 1].offset + ast.tokens[t - 1].length == ast.tokens[t].offset)
      return {"a number does not end with `.`", fmt::format("write `{}.0`", ast.text(t - 1))};
  }
  return {};
}

/// Words in the position of an operator: `a and b`, `(int) x`.
ForeignConstruct between(const Ast& ast, TokenId begin) {
  for (Cursor at(ast, begin); !at.at_end(); at.skip()) {
    const TokenId t = at.at();
    if (const ForeignWord* op = at.foreign(ForeignUse::Operator); op && t > begin)
      return {"", fmt::format("write `{}`", op->vyre)};
    const ForeignWord* type = at.foreign(ForeignUse::Type);
    if (!type || t == begin || ast.tokens[t - 1].kind != Tok::LParen || at.kind(1) != Tok::RParen)
      continue;
    const TokenId from = t + 2, to = end_of_target(ast, from);
    if (to == from) continue;
    return {fmt::format("`({})` is not a conversion", at.word()),
            fmt::format("write `{}({})`", type->vyre, source_text(ast, from, to))};
  }
  return {};
}

ForeignConstruct word_of_table(const Ast& ast, TokenId t, ForeignUse use, std::string_view what) {
  const ForeignWord* w = find(ast, t, use);
  if (!w) return {};
  Cursor at(ast, t + 1);
  at.skip_to(Tok::Colon);
  std::string rest = source_text(ast, t + 1, at.at());
  if (rest.starts_with('(') && rest.ends_with(')')) rest = rest.substr(1, rest.size() - 2);
  if (rest.empty()) rest = "x";
  std::string vyre;
  for (const char c : w->vyre) vyre += c == '$' ? rest : std::string(1, c);
  return {fmt::format("`{}` is not a {} of vyre", w->word, what), fix_of(vyre, w->note)};
}

/// `for (int j = 0; j < n; j++)`, `for (var j = 0u; j < n; j += 2)`.
ForeignConstruct for_header(const Ast& ast, TokenId begin) {
  Cursor at(ast, begin);
  if (!at.accept_word("for") || !at.accept(Tok::LParen)) return {};
  const bool declares = at.foreign(ForeignUse::Type) || at.foreign(ForeignUse::Qualifier) ||
                        find_type(at.word()) || at.word() == "let" || at.word() == "var";
  if (!declares) return {};
  while (at.is(Tok::Ident) && at.kind(1) == Tok::Ident) at.skip();
  const std::string_view name = at.word();
  bool ids = false;
  const auto part = [&](Tok until) {
    const TokenId from = at.at();
    at.skip_to(until);
    return translate(ast, from, at.at(), &ids);
  };
  at.skip_to(Tok::Assign);
  if (!at.accept(Tok::Assign)) return {};
  const std::string lo = part(Tok::Semicolon);
  if (!at.accept(Tok::Semicolon) || !at.accept_word(name)) return {};
  const bool inclusive = at.is(Tok::Le);
  if (!inclusive && !at.is(Tok::Lt)) return {};
  at.skip();
  const std::string hi = part(Tok::Semicolon) + (inclusive ? " + 1" : "");
  std::string step;
  if (at.accept(Tok::Semicolon) && at.accept_word(name) && at.accept(Tok::PlusAssign))
    step = " step " + part(Tok::RParen);
  return {"", fmt::format("write `for {} in {}..{}{} {{ … }}`", name, lo, hi, step)};
}

/// Structures and the like, which vyre does not have.
ForeignConstruct missing_feature(const Ast& ast, TokenId t) {
  constexpr std::array structures = {"struct", "class", "union", "typedef", "enum", "type"};
  if (ast.tokens[t].kind != Tok::Ident) return {};
  for (const std::string_view w : structures)
    if (ast.text(t) == w)
      return {fmt::format("vyre has no `{}`", w), "use one buffer or variable for each field"};
  return {};
}

template <class... Fn>
ForeignConstruct first_of(const Ast& ast, TokenId begin, Fn... recognizers) {
  ForeignConstruct r;
  ((r.fix.empty() ? void(r = recognizers(ast, begin)) : void()), ...);
  return r;
}

}  // namespace

ForeignConstruct element_of_row(const Ast& ast, TokenId name, TokenId bracket, TokenId end) {
  bool ids = false;
  const auto index = [&](TokenId from, TokenId to) {
    const std::string text = translate(ast, from, to, &ids);
    return text.find(' ') == text.npos ? text : "(" + text + ")";
  };
  return {"a buffer or array has one dimension",
          fmt::format("write `{}[{} * width + {}]`, with the width of a row", ast.text(name),
                      index(name + 2, bracket - 1), index(bracket + 1, end))};
}

std::string ForeignValue::fix() const { return fix_of(vyre, note); }

std::string source_text(const Ast& ast, TokenId begin, TokenId end) {
  if (begin >= end) return "";
  const Token &first = ast.tokens[begin], &last = ast.tokens[end - 1];
  std::string r =
      ast.files[first.file].text.substr(first.offset, last.offset + last.length - first.offset);
  std::replace(r.begin(), r.end(), '\n', ' ');
  return r.size() <= max_shown ? r : "…";
}

std::vector<std::string> argument_texts(const Ast& ast, TokenId name) {
  std::vector<std::string> r;
  Cursor at(ast, name);
  at.skip();
  if (!at.accept(Tok::LParen) || at.is(Tok::RParen)) return r;
  do {
    const TokenId from = at.at();
    at.skip_to(Tok::Comma);
    r.push_back(source_text(ast, from, at.at()));
  } while (at.accept(Tok::Comma));
  return r;
}

std::string foreign_number(std::string_view token) {
  static constexpr std::pair<std::string_view, std::string_view> suffixes[] = {
      {"ull", "u64"}, {"ul", "u64"}, {"ll", "i64"}, {"l", "i64"},
      {"u", "u32"},   {"h", ""},     {"f", ""},     {"i", "i32"}};
  std::string lower(token);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = char(c + 32);
  const bool hexadecimal = lower.substr(0, 2) == "0x";
  for (const auto& [suffix, vyre] : suffixes) {
    if (!std::string_view(lower).ends_with(suffix) || lower.size() == suffix.size()) continue;
    const std::string_view digits = token.substr(0, token.size() - suffix.size());
    const bool is_float = vyre.empty();
    if (is_float && hexadecimal) continue;
    const bool point = digits.find_first_of(".eE") != digits.npos && !hexadecimal;
    if (!is_float) return point ? "" : fmt::format("{}{}", digits, vyre);
    if (digits.find_first_not_of("0123456789_.eE+-") != digits.npos) return "";
    return fmt::format("{}{}", digits, point ? "" : ".0");
  }
  return "";
}

ForeignValue foreign_value(const Ast& ast, TokenId begin) {
  if (begin >= ast.tokens.size() || ast.tokens[begin].kind != Tok::Ident) return {};
  const Cursor at(ast, begin);
  if (const auto whole = global_id(ast, begin)) return {whole->text(), whole->end};
  if (const auto part = component(ast, begin); part && part->is_foreign)
    return {part->text(), part->end};
  if (const ForeignWord* w = at.foreign(ForeignUse::Id))
    return {fmt::format("{}.x", w->vyre), begin + 1};
  if (const ForeignWord* w = at.foreign(ForeignUse::Value))
    return {std::string(w->vyre), begin + 1};
  if (at.kind(1) == Tok::Dot && at.kind(2) == Tok::Ident) {  // tl.load(x), cuda.threadIdx.x
    const bool called = at.kind(3) == Tok::LParen;
    if (called || find(ast, begin + 2, ForeignUse::Id))
      if (ForeignValue inner = foreign_value(ast, begin + 2); !inner.vyre.empty()) return inner;
    return {};
  }
  if (at.kind(1) != Tok::LParen) return {};
  Cursor end(ast, begin + 2);
  end.skip_to(Tok::RParen);
  end.accept(Tok::RParen);
  if (const ForeignWord* w = at.foreign(ForeignUse::Instead))
    return {std::string(w->vyre), end.at(), w->note};
  if (at.word() == "not")
    return {fmt::format("!({})", source_text(ast, begin + 2, end.at() - 1)), end.at()};
  if (const ForeignWord* w = at.foreign(ForeignUse::Dimension))
    return {fmt::format("{}.x", w->vyre), end.at()};
  const ForeignWord* w = at.foreign(ForeignUse::Rename);
  if (!w) w = at.foreign(ForeignUse::Type);
  if (!w) return {};
  std::string arguments;
  for (std::string& a : argument_texts(ast, begin)) {
    if (a.starts_with('&')) a.erase(0, 1);
    arguments += (arguments.empty() ? "" : ", ") + a;
  }
  return {fmt::format("{}({})", w->vyre, arguments), end.at()};
}

ForeignConstruct foreign_statement(const Ast& ast, TokenId begin) {
  return first_of(
      ast, begin, increment, [](const Ast& a, TokenId t) { return c_declaration(a, t, false); },
      [](const Ast& a, TokenId t) {
        return word_of_table(a, t, ForeignUse::Statement, "statement");
      },
      for_header, missing_feature, walrus, array_of_arrays, if_as_value, inside, declaration_form,
      [](const Ast& a, TokenId t) -> ForeignConstruct {
        const ForeignValue v = foreign_value(a, t);
        if (v.vyre.empty()) return {};
        return {fmt::format("`{}` is not a statement of vyre", a.text(t)), v.fix()};
      },
      between);
}

ForeignConstruct foreign_declaration(const Ast& ast, TokenId begin) {
  return first_of(
      ast, begin, [](const Ast& a, TokenId t) { return c_declaration(a, t, true); },
      [](const Ast& a, TokenId t) {
        return word_of_table(a, t, ForeignUse::Declaration, "declaration");
      },
      missing_feature,
      [](const Ast& a, TokenId t) -> ForeignConstruct {
        Cursor at(a, t);
        if (at.is(Tok::At)) return {"", "write `kernel name(…) workgroup(64) grid(n) { … }`"};
        if (!at.accept_word("let") && !at.accept_word("var")) return {};
        const TokenId from = at.at();
        at.skip_to(Tok::Semicolon);
        return {"", fmt::format("write `const {}`", source_text(a, from, at.at()))};
      });
}

ForeignConstruct foreign_parameter(const Ast& ast, TokenId begin) {
  Cursor at(ast, begin);
  if (at.is(Tok::At))
    return {"ids are not parameters", "remove it, and write `global_id.x` in the body"};
  constexpr std::array roles = {"in", "out", "inout", "uniform"};
  const auto role = std::find(roles.begin(), roles.end(), at.word());
  if (role != roles.end() && at.kind(1) == Tok::Ident && at.kind(2) == Tok::Colon) {
    at.skip();
    const std::string_view name = at.word();
    at.skip();
    at.skip();
    const TokenId from = at.at();
    at.skip_to(Tok::Comma);
    return {"", fmt::format("write `{}: {} {}`", name, *role, source_text(ast, from, at.at()))};
  }
  if (at.is(Tok::Ident) && at.kind(1) == Tok::Colon) {  // x: f32*, x: *f32, x: &[f32]
    const std::string_view name = at.word();
    for (at.skip(); !at.at_end() && !at.is(Tok::Comma) && !at.is(Tok::RParen); at.skip()) {
      const ForeignWord* type = at.foreign(ForeignUse::Type);
      if (type || find_type(at.word()))
        return {"", fmt::format("write `{}: inout {}[]`", name, type ? type->vyre : at.word())};
    }
    return {};
  }
  const auto c = c_type(at);
  if (!c || c->type.empty()) return {};
  const std::string_view name = at.word();
  const bool buffer = c->pointer || at.kind(1) == Tok::LBracket;
  if (!buffer) {
    const bool storage = c->type == "f16" || c->type == "bf16";
    return {"", fmt::format("write `{}: {}`", name, storage ? "f32" : c->type)};
  }
  return {"", fmt::format("write `{}: {} {}[]`", name, c->qualifier == "const" ? "in" : "inout",
                          c->type)};
}

}  // namespace vyre::text
