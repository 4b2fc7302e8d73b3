#pragma once

// Source bytes to tokens. Newlines are tokens where they end a statement: not inside ( ) or [ ],
// not after a comma or a binary operator. Identifiers are interned: a symbol is a small number.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "diagnostics/diagnostic.h"

namespace vyre::text {

enum class Tok : uint8_t {
  End,
  Newline,
  Comment,
  Ident,
  Integer,
  Float,
  String,
  LParen,
  RParen,
  LBracket,
  RBracket,
  LBrace,
  RBrace,
  Comma,
  Colon,
  Semicolon,
  Dot,
  DotDot,
  Arrow,
  At,
  Assign,
  PlusAssign,
  MinusAssign,
  StarAssign,
  SlashAssign,
  PercentAssign,
  AndAssign,
  OrAssign,
  XorAssign,
  ShlAssign,
  ShrAssign,
  Plus,
  Minus,
  Star,
  Slash,
  Percent,
  Amp,
  Pipe,
  Caret,
  Tilde,
  Bang,
  Shl,
  Shr,
  AmpAmp,
  PipePipe,
  EqEq,
  BangEq,
  Lt,
  Le,
  Gt,
  Ge,
};

/// "`+=`", "a name", … for messages.
std::string_view describe(Tok t);

struct Token {
  Tok kind = Tok::End;
  uint16_t file = 0;
  uint32_t offset = 0;
  uint32_t length = 0;
  uint32_t line = 1;
  uint32_t column = 1;
  uint32_t symbol = 0;  // of an Ident
};

/// Names to numbers and back.
class Symbols {
 public:
  uint32_t intern(std::string_view text);
  std::string_view text(uint32_t symbol) const { return texts_[symbol]; }
  size_t size() const { return texts_.size(); }
  /// The approximate number of bytes of memory that the names take.
  uint64_t bytes() const { return bytes_; }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
  };
  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> index_;
  std::vector<std::string_view> texts_;
  uint64_t bytes_ = 0;
};

struct LexOptions {
  uint16_t file = 0;
  std::string_view file_name;
  bool comments = false;            // keep comments and every newline, for the formatter
  std::function<void()> poll = {};  // called for each token: ends the work with an exception
  uint64_t* left_out = nullptr;     // counts errors over the limit; null: they are not counted
};

/// Appends the tokens of `source` and a final End. Errors are appended; lexing continues after
/// them.
void lex(std::string_view source, const LexOptions& options, Symbols& symbols,
         std::vector<Token>& tokens, Diagnostics& errors);

/// Byte offset of the first byte that is not valid UTF-8, or npos.
size_t find_invalid_utf8(std::string_view text);

inline constexpr uint64_t max_source_bytes = 256ull << 20;
inline constexpr size_t max_name_bytes = 255;

}  // namespace vyre::text
