#include "text/lexer.h"

#include <fmt/format.h>

namespace vyre::text {

std::string_view describe(Tok t) {
  constexpr std::string_view names[] = {"the end of the file",
                                        "the end of the line",
                                        "a comment",
                                        "a name",
                                        "an integer",
                                        "a float",
                                        "a string",
                                        "`(`",
                                        "`)`",
                                        "`[`",
                                        "`]`",
                                        "`{`",
                                        "`}`",
                                        "`,`",
                                        "`:`",
                                        "`;`",
                                        "`.`",
                                        "`..`",
                                        "`->`",
                                        "`@`",
                                        "`=`",
                                        "`+=`",
                                        "`-=`",
                                        "`*=`",
                                        "`/=`",
                                        "`%=`",
                                        "`&=`",
                                        "`|=`",
                                        "`^=`",
                                        "`<<=`",
                                        "`>>=`",
                                        "`+`",
                                        "`-`",
                                        "`*`",
                                        "`/`",
                                        "`%`",
                                        "`&`",
                                        "`|`",
                                        "`^`",
                                        "`~`",
                                        "`!`",
                                        "`<<`",
                                        "`>>`",
                                        "`&&`",
                                        "`||`",
                                        "`==`",
                                        "`!=`",
                                        "`<`",
                                        "`<=`",
                                        "`>`",
                                        "`>=`"};
  return names[static_cast<int>(t)];
}

uint32_t Symbols::intern(std::string_view text) {
  const auto it = index_.find(text);
  if (it != index_.end()) return it->second;
  const auto [made, ok] = index_.emplace(std::string(text), uint32_t(texts_.size()));
  texts_.push_back(made->first);
  bytes_ += 128 + (text.size() > 15 ? text.size() : 0);  // with the index
  return made->second;
}

size_t find_invalid_utf8(std::string_view s) {
  size_t i = 0;
  while (i < s.size()) {
    const auto c = static_cast<unsigned char>(s[i]);
    if (c < 0x80) {
      ++i;
      continue;
    }
    const int more = c >= 0xc2 && c <= 0xdf   ? 1
                     : (c & 0xf0) == 0xe0     ? 2
                     : c >= 0xf0 && c <= 0xf4 ? 3
                                              : 0;
    if (more == 0 || i + size_t(more) >= s.size()) return i;
    uint32_t point = c & (0x3f >> more);
    for (int k = 1; k <= more; ++k) {
      const auto d = static_cast<unsigned char>(s[i + size_t(k)]);
      if ((d & 0xc0) != 0x80) return i;
      point = point << 6 | (d & 0x3f);
    }
    const bool overlong = (more == 2 && point < 0x800) || (more == 3 && point < 0x10000);
    if (overlong || (point >= 0xd800 && point <= 0xdfff) || point > 0x10ffff) return i;
    i += size_t(more) + 1;
  }
  return std::string_view::npos;
}

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name(char c) { return is_name_start(c) || is_digit(c); }

/// After these tokens a statement continues on the next line.
bool continues_line(Tok t) {
  return t == Tok::Comma || t == Tok::DotDot || t == Tok::Arrow ||
         (t >= Tok::Assign && t <= Tok::Ge);
}

struct Lexer {
  std::string_view s;
  const LexOptions& options;
  Symbols& symbols;
  std::vector<Token>& tokens;
  Diagnostics& errors;
  size_t at = 0;
  size_t line_start = 0;
  uint32_t line = 1;
  uint32_t depth = 0;  // of ( and [
  Tok last = Tok::Newline;

  char peek(size_t ahead = 0) const { return at + ahead < s.size() ? s[at + ahead] : '\0'; }

  Token make(Tok kind, size_t begin) const {
    Token t;
    t.kind = kind;
    t.file = options.file;
    t.offset = uint32_t(begin);
    t.length = uint32_t(at - begin);
    t.line = line;
    t.column = uint32_t(begin - line_start + 1);
    return t;
  }
  void push(Tok kind, size_t begin) {
    tokens.push_back(make(kind, begin));
    last = kind;
  }
  void error(Code code, size_t begin, std::string message, std::string fix) {
    if (errors.size() > 200) {
      if (options.left_out) ++*options.left_out;
      return;
    }
    Place p{std::string(options.file_name), line, uint32_t(begin - line_start + 1),
            uint32_t(std::min<size_t>(at - begin, 80))};
    errors.push_back(diagnose(code, p, std::move(message)).with_fix(std::move(fix)));
  }

  void newline() {
    const size_t begin = at++;
    if (options.comments || (depth == 0 && !continues_line(last) && last != Tok::Newline))
      push(Tok::Newline, begin);
    ++line;
    line_start = at;
  }

  void name() {
    const size_t begin = at;
    while (is_name(peek())) ++at;
    if (at - begin > max_name_bytes) {
      error(Code::NameTooLong, begin,
            fmt::format("a name of {} bytes; names have at most {}", at - begin, max_name_bytes),
            "shorten the name");
      at = begin + max_name_bytes;
      push(Tok::Ident, begin);
      while (is_name(peek())) ++at;
    } else {
      push(Tok::Ident, begin);
    }
    Token& t = tokens.back();
    t.symbol = symbols.intern(s.substr(t.offset, t.length));
  }

  void number() {
    const size_t begin = at;
    Tok kind = Tok::Integer;
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X' || peek(1) == 'b' || peek(1) == 'B')) {
      at += 2;
    } else {
      while (is_digit(peek()) || peek() == '_') ++at;
      if (peek() == '.' && is_digit(peek(1))) {
        kind = Tok::Float;
        ++at;
        while (is_digit(peek()) || peek() == '_') ++at;
      }
      if (peek() == 'e' || peek() == 'E') {
        const size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
        if (is_digit(peek(1 + sign))) {
          kind = Tok::Float;
          at += 1 + sign;
          while (is_digit(peek())) ++at;
        }
      }
    }
    while (is_name(peek())) ++at;  // hex digits and the suffix; the parser takes them apart
    push(kind, begin);
  }

  void string() {
    const size_t begin = at++;
    while (at < s.size() && s[at] != '"' && s[at] != '\n') {
      if (s[at] == '\\' && at + 1 < s.size() && s[at + 1] != '\n') ++at;
      ++at;
    }
    if (peek() != '"') {
      error(Code::UnterminatedString, begin, "a string that does not end on its line",
            "add the closing `\"`");
    } else {
      ++at;
    }
    push(Tok::String, begin);
  }

  void comment() {
    const size_t begin = at;
    while (at < s.size() && s[at] != '\n') ++at;
    if (options.comments) push(Tok::Comment, begin);
  }

  bool take(const char* spelling) {
    const std::string_view w(spelling);
    if (s.substr(at, w.size()) != w) return false;
    at += w.size();
    return true;
  }

  /// 'a' and '\n': an error that names the number.
  bool character() {
    const size_t begin = at;
    const bool escaped = peek(1) == '\\';
    if (peek() != '\'' || peek(escaped ? 3 : 2) != '\'') return false;
    const char c = peek(escaped ? 2 : 1);
    const int code = !escaped ? c : c == 'n' ? 10 : c == 't' ? 9 : c == '0' ? 0 : c;
    at += escaped ? 4 : 3;
    error(Code::UnexpectedCharacter, begin,
          fmt::format("vyre has no characters such as {}", s.substr(begin, at - begin)),
          fmt::format("write its number, `{}`", code));
    push(Tok::Integer, begin);
    return true;
  }

  void punctuation() {
    // Longest first.
    static constexpr std::pair<const char*, Tok> table[] = {{"<<=", Tok::ShlAssign},
                                                            {">>=", Tok::ShrAssign},
                                                            {"<<", Tok::Shl},
                                                            {">>", Tok::Shr},
                                                            {"&&", Tok::AmpAmp},
                                                            {"||", Tok::PipePipe},
                                                            {"==", Tok::EqEq},
                                                            {"!=", Tok::BangEq},
                                                            {"<=", Tok::Le},
                                                            {">=", Tok::Ge},
                                                            {"->", Tok::Arrow},
                                                            {"..", Tok::DotDot},
                                                            {"+=", Tok::PlusAssign},
                                                            {"-=", Tok::MinusAssign},
                                                            {"*=", Tok::StarAssign},
                                                            {"/=", Tok::SlashAssign},
                                                            {"%=", Tok::PercentAssign},
                                                            {"&=", Tok::AndAssign},
                                                            {"|=", Tok::OrAssign},
                                                            {"^=", Tok::XorAssign},
                                                            {"(", Tok::LParen},
                                                            {")", Tok::RParen},
                                                            {"[", Tok::LBracket},
                                                            {"]", Tok::RBracket},
                                                            {"{", Tok::LBrace},
                                                            {"}", Tok::RBrace},
                                                            {",", Tok::Comma},
                                                            {":", Tok::Colon},
                                                            {";", Tok::Semicolon},
                                                            {".", Tok::Dot},
                                                            {"@", Tok::At},
                                                            {"=", Tok::Assign},
                                                            {"+", Tok::Plus},
                                                            {"-", Tok::Minus},
                                                            {"*", Tok::Star},
                                                            {"/", Tok::Slash},
                                                            {"%", Tok::Percent},
                                                            {"&", Tok::Amp},
                                                            {"|", Tok::Pipe},
                                                            {"^", Tok::Caret},
                                                            {"~", Tok::Tilde},
                                                            {"!", Tok::Bang},
                                                            {"<", Tok::Lt},
                                                            {">", Tok::Gt}};
    const size_t begin = at;
    if (character()) return;
    for (const auto& [spelling, kind] : table) {
      if (!take(spelling)) continue;
      if (kind == Tok::LParen || kind == Tok::LBracket) ++depth;
      if ((kind == Tok::RParen || kind == Tok::RBracket) && depth > 0) --depth;
      // A brace inside parentheses follows an earlier mistake: let statements end again.
      if (kind == Tok::LBrace || kind == Tok::RBrace) depth = 0;
      push(kind, begin);
      return;
    }
    ++at;
    while (at < s.size() && (static_cast<unsigned char>(s[at]) & 0xc0) == 0x80) ++at;
    const auto c = static_cast<unsigned char>(s[begin]);
    std::string shown = c < 0x20 || c == 0x7f ? fmt::format("byte 0x{:02x}", c)
                                              : fmt::format("`{}`", s.substr(begin, at - begin));
    error(Code::UnexpectedCharacter, begin, fmt::format("{} has no meaning here", shown),
          c == '?'   ? "to choose between values write `select(condition, a, b)`"
          : c == '#' ? "a comment begins with `//`"
                     : "remove it");
  }

  void run() {
    while (at < s.size()) {
      if (options.poll) options.poll();
      const char c = s[at];
      if (c == '\n')
        newline();
      else if (c == ' ' || c == '\t' || c == '\r')
        ++at;
      else if (is_name_start(c))
        name();
      else if (is_digit(c))
        number();
      else if (c == '"')
        string();
      else if (c == '/' && peek(1) == '/')
        comment();
      else
        punctuation();
    }
    at = s.size();
    push(Tok::End, at);
  }
};

}  // namespace

void lex(std::string_view source, const LexOptions& options, Symbols& symbols,
         std::vector<Token>& tokens, Diagnostics& errors) {
  Lexer{source, options, symbols, tokens, errors}.run();
}

}  // namespace vyre::text
