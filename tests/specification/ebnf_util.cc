#include "tests/specification/ebnf_util.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace vyre {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

class EbnfParser {
 public:
  explicit EbnfParser(std::string_view text) : s_(text) {}

  Grammar run() {
    skip();
    while (at_ < s_.size() && grammar_.faults.empty()) {
      const uint32_t r = rule(word());
      if (defined_[r]) fault(grammar_.names[r] + " is defined twice");
      defined_[r] = true;
      if (!accept("::=")) fault("expected ::= after " + grammar_.names[r]);
      GrammarTerm body = choice();
      grammar_.bodies[r] = std::move(body);
    }
    for (uint32_t r = 0; r < defined_.size(); ++r)
      if (!defined_[r]) fault(grammar_.names[r] + " is not defined");
    return std::move(grammar_);
  }

 private:
  using Kind = GrammarTerm::Kind;

  void fault(std::string what) { grammar_.faults.push_back(std::move(what)); }
  char peek(size_t ahead = 0) const { return at_ + ahead < s_.size() ? s_[at_ + ahead] : '\0'; }
  void skip() {
    while (std::isspace(static_cast<unsigned char>(peek()))) ++at_;
  }
  bool accept(std::string_view text) {
    if (!s_.substr(at_).starts_with(text)) return false;
    at_ += text.size();
    skip();
    return true;
  }
  std::string_view word() {
    const size_t begin = at_;
    while (is_word(peek())) ++at_;
    const std::string_view found = s_.substr(begin, at_ - begin);
    skip();
    return found;
  }
  uint32_t rule(std::string_view name) {
    const auto found = std::find(grammar_.names.begin(), grammar_.names.end(), name);
    if (found != grammar_.names.end()) return uint32_t(found - grammar_.names.begin());
    grammar_.names.emplace_back(name);
    grammar_.bodies.push_back({.kind = Kind::Choice});
    defined_.push_back(false);
    return uint32_t(grammar_.names.size() - 1);
  }
  /// True if the next production begins here.
  bool at_production() const {
    size_t i = at_;
    while (i < s_.size() && is_word(s_[i])) ++i;
    while (i < s_.size() && s_[i] == ' ') ++i;
    return i > at_ && s_.substr(i).starts_with("::=");
  }

  GrammarTerm choice() {
    GrammarTerm t{.kind = Kind::Choice};
    do t.parts.push_back(sequence());
    while (accept("|"));
    return t.parts.size() == 1 ? GrammarTerm(std::move(t.parts[0])) : t;
  }
  GrammarTerm sequence() {
    GrammarTerm t;
    while (at_ < s_.size() && peek() != '|' && peek() != ')' && !at_production() &&
           grammar_.faults.empty()) {
      GrammarTerm next = postfix();
      if (accept("-")) next = {.kind = Kind::Except, .parts = {std::move(next), postfix()}};
      t.parts.push_back(std::move(next));
    }
    return t.parts.size() == 1 ? GrammarTerm(std::move(t.parts[0])) : t;
  }
  GrammarTerm postfix() {
    GrammarTerm t = primary();
    for (const char c : {'?', '*', '+'})
      if (accept(std::string_view(&c, 1)))
        return {.kind = Kind::Repeat, .optional = c != '+', .many = c != '?', .parts = {t}};
    return t;
  }
  GrammarTerm primary() {
    if (is_word(peek())) return {.kind = Kind::Rule, .rule = rule(word())};
    if (accept("(")) {
      GrammarTerm t = choice();
      if (!accept(")")) fault("expected )");
      return t;
    }
    if (peek() == '"' || peek() == '\'') return quoted();
    GrammarTerm t{.kind = Kind::Set};
    if (peek() == '#') {
      t.set.set(character());
    } else if (accept_character('[')) {
      const bool negated = accept_character('^');
      while (peek() != ']' && at_ < s_.size()) add_range(t.set);
      accept_character(']');
      if (negated) t.set.flip();
    } else {
      fault("unexpected " + std::string(s_.substr(at_, 20)));
    }
    skip();
    return t;
  }
  bool accept_character(char c) { return peek() == c ? ++at_, true : false; }
  GrammarTerm quoted() {
    const char quote = s_[at_++];
    const size_t end = std::min(s_.find(quote, at_), s_.size() - 1);
    GrammarTerm t{.kind = Kind::Text, .text = std::string(s_.substr(at_, end - at_))};
    at_ = end + 1;
    skip();
    return t;
  }
  uint8_t character() {
    if (peek() != '#' || peek(1) != 'x') return static_cast<uint8_t>(s_[at_++]);
    size_t used = 0;
    const int code = std::stoi(std::string(s_.substr(at_ + 2, 2)), &used, 16);
    at_ += 2 + used;
    return static_cast<uint8_t>(code);
  }
  void add_range(std::bitset<256>& set) {
    const uint8_t first = character();
    uint8_t last = first;
    if (peek() == '-' && peek(1) != ']') ++at_, last = character();
    for (int c = first; c <= last; ++c) set.set(static_cast<size_t>(c));
  }

  std::string_view s_;
  size_t at_ = 0;
  Grammar grammar_;
  std::vector<bool> defined_;
};

void append(std::vector<uint32_t>& list, const std::vector<uint32_t>& more) {
  list.insert(list.end(), more.begin(), more.end());
}

std::vector<uint32_t> each_once(std::vector<uint32_t> list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

}  // namespace

uint32_t Grammar::rule(std::string_view name) const {
  return uint32_t(std::find(names.begin(), names.end(), name) - names.begin());
}

Grammar parse_grammar(std::string_view ebnf) { return EbnfParser(ebnf).run(); }

std::string ebnf_blocks(std::string_view markdown) {
  constexpr std::string_view opening = "\n```ebnf\n", closing = "\n```\n";
  std::string blocks;
  for (size_t at = markdown.find(opening); at != markdown.npos; at = markdown.find(opening, at)) {
    at += opening.size();
    const size_t end = markdown.find(closing, at);
    blocks += std::string(markdown.substr(at, end - at)) + "\n\n";
  }
  return blocks;
}

Recognizer::Recognizer(const Grammar& grammar, const GrammarInput& input)
    : grammar_(grammar), input_(input) {}

bool Recognizer::accepts(std::string_view rule) {
  const Ends& found = ends_of_rule(grammar_.rule(rule), 0);
  return !found.empty() && found.back() == input_.size();
}

uint32_t Recognizer::longest(std::string_view rule) {
  const Ends& found = ends_of_rule(grammar_.rule(rule), 0);
  return found.empty() ? 0 : found.back();
}

const Recognizer::Ends& Recognizer::ends_of_rule(uint32_t rule, uint32_t at) {
  const uint64_t key = uint64_t(at) * grammar_.names.size() + rule;
  if (const auto known = memo_.find(key); known != memo_.end()) return known->second;
  Ends found;
  if (!input_.is_unit(grammar_.names[rule]))
    found = ends(grammar_.bodies[rule], at);
  else if (input_.match_unit(at, grammar_.names[rule]))
    found = {at + 1};
  return memo_.emplace(key, std::move(found)).first->second;
}

Recognizer::Ends Recognizer::ends(const GrammarTerm& term, uint32_t at) {
  switch (term.kind) {
    case GrammarTerm::Kind::Text: {
      const uint32_t n = input_.match_text(at, term.text);
      return n ? Ends{at + n} : Ends();
    }
    case GrammarTerm::Kind::Set: return input_.match_set(at, term.set) ? Ends{at + 1} : Ends();
    case GrammarTerm::Kind::Rule: return ends_of_rule(term.rule, at);
    case GrammarTerm::Kind::Choice: {
      Ends found;
      for (const GrammarTerm& part : term.parts) append(found, ends(part, at));
      return each_once(std::move(found));
    }
    case GrammarTerm::Kind::Sequence: {
      Ends starts = {at};
      for (const GrammarTerm& part : term.parts) {
        Ends found;
        for (const uint32_t start : starts) append(found, ends(part, start));
        starts = each_once(std::move(found));
      }
      return starts;
    }
    case GrammarTerm::Kind::Repeat: return repeat(term, at);
    case GrammarTerm::Kind::Except: break;
  }
  const Ends all = ends(term.parts[0], at), without = ends(term.parts[1], at);
  Ends found;
  std::set_difference(all.begin(), all.end(), without.begin(), without.end(),
                      std::back_inserter(found));
  return found;
}

/// Breadth first, each position once.
Recognizer::Ends Recognizer::repeat(const GrammarTerm& term, uint32_t at) {
  Ends found, todo = {at};
  if (term.optional) found = {at};
  while (!todo.empty()) {
    const uint32_t from = todo.back();
    todo.pop_back();
    for (const uint32_t end : ends(term.parts[0], from)) {
      const auto place = std::lower_bound(found.begin(), found.end(), end);
      if (place != found.end() && *place == end) continue;
      found.insert(place, end);
      if (term.many) todo.push_back(end);
    }
  }
  return found;
}

}  // namespace vyre
