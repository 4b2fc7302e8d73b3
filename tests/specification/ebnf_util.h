#pragma once

// A grammar in the EBNF of the W3C, as docs/specification.md has it, and a recognizer for it.

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace vyre {

/// An expression of a grammar.
struct GrammarTerm {
  enum class Kind : uint8_t { Text, Set, Rule, Sequence, Choice, Repeat, Except };
  Kind kind = Kind::Sequence;
  std::string text;                // of Text
  std::bitset<256> set;            // of Set
  uint32_t rule = 0;               // of Rule
  bool optional = false;           // of Repeat: may match nothing
  bool many = false;               // of Repeat: may match more than once
  std::vector<GrammarTerm> parts;  // of Except two: what matches, what must not
};

struct Grammar {
  std::vector<std::string> names;   // of rules
  std::vector<GrammarTerm> bodies;  // of rules; a rule that is not defined has an empty choice
  std::vector<std::string> faults;  // undefined rules, rules that are defined twice, syntax errors

  uint32_t rule(std::string_view name) const;
};

Grammar parse_grammar(std::string_view ebnf);

/// The text of all `ebnf` blocks of a page.
std::string ebnf_blocks(std::string_view markdown);

/// The input that a grammar is matched with: characters or tokens.
class GrammarInput {
 public:
  virtual ~GrammarInput() = default;
  virtual uint32_t size() const = 0;
  /// The number of units at `at` that are this text, or 0.
  virtual uint32_t match_text(uint32_t at, std::string_view text) const = 0;
  virtual bool match_set(uint32_t at, const std::bitset<256>& set) const = 0;
  /// True if the rule is a kind of unit, which is matched without its body.
  virtual bool is_unit(std::string_view rule) const = 0;
  virtual bool match_unit(uint32_t at, std::string_view rule) const = 0;
};

/// Finds where matches of rules end. Memoized, so time is polynomial for every grammar without left
/// recursion.
class Recognizer {
 public:
  Recognizer(const Grammar& grammar, const GrammarInput& input);

  bool accepts(std::string_view rule);
  /// The length of the longest match of the rule at the start of the input; 0 if there is none.
  uint32_t longest(std::string_view rule);

 private:
  using Ends = std::vector<uint32_t>;  // sorted, each once

  const Ends& ends_of_rule(uint32_t rule, uint32_t at);
  Ends ends(const GrammarTerm& term, uint32_t at);
  Ends repeat(const GrammarTerm& term, uint32_t at);

  const Grammar& grammar_;
  const GrammarInput& input_;
  std::unordered_map<uint64_t, Ends> memo_;
};

}  // namespace vyre
