// The grammar of docs/specification.md against the lexer and the parser: it accepts what they
// accept and rejects what they reject.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>

#include "support/big_stack.h"
#include "support/file.h"
#include "tests/specification/ebnf_util.h"
#include "text/parse.h"
#include "text/parser.h"
#include "text/print.h"
#include "tools/vyre/program_file.h"

namespace vyre {
namespace {

namespace fs = std::filesystem;
using text::Tok;
using text::Token;

const Grammar& grammar() {
  static const Grammar made =
      parse_grammar(ebnf_blocks(read_file(VYRE_SOURCE_DIR "/docs/specification.md").bytes));
  return made;
}

class Characters : public GrammarInput {
 public:
  explicit Characters(std::string_view text) : s_(text) {}
  uint32_t size() const override { return uint32_t(s_.size()); }
  uint32_t match_text(uint32_t at, std::string_view text) const override {
    return s_.substr(at).starts_with(text) ? uint32_t(text.size()) : 0;
  }
  bool match_set(uint32_t at, const std::bitset<256>& set) const override {
    return at < s_.size() && set.test(static_cast<uint8_t>(s_[at]));
  }
  bool is_unit(std::string_view) const override { return false; }
  bool match_unit(uint32_t, std::string_view) const override { return false; }

 private:
  std::string_view s_;
};

constexpr std::pair<std::string_view, Tok> units[] = {{"NAME", Tok::Ident},
                                                      {"INTEGER", Tok::Integer},
                                                      {"FLOAT", Tok::Float},
                                                      {"STRING", Tok::String},
                                                      {"NEWLINE", Tok::Newline}};

/// The tokens of one file, without its end. Without a body in IR form `ir_block` never matches.
class Tokens : public GrammarInput {
 public:
  Tokens(const text::Ast& ast, bool ir_form) : ast_(ast), ir_form_(ir_form) {}
  uint32_t size() const override { return uint32_t(ast_.tokens.size() - 1); }
  uint32_t match_text(uint32_t at, std::string_view text) const override {
    return at < size() && ast_.text(at) == text ? 1 : 0;
  }
  bool match_set(uint32_t, const std::bitset<256>&) const override { return false; }
  bool is_unit(std::string_view rule) const override {
    return unit(rule) != std::end(units) || (rule == "ir_block" && !ir_form_);
  }
  bool match_unit(uint32_t at, std::string_view rule) const override {
    const auto found = unit(rule);
    return at < size() && found != std::end(units) && ast_.tokens[at].kind == found->second;
  }

 private:
  static const std::pair<std::string_view, Tok>* unit(std::string_view rule) {
    return std::find_if(std::begin(units), std::end(units),
                        [&](const auto& u) { return u.first == rule; });
  }
  const text::Ast& ast_;
  const bool ir_form_;
};

/// A source after the lexer and the parser.
struct Syntax {
  text::Ast ast;
  Diagnostics lexical, syntactic;
  bool ir_form = false;  // of a kernel: the parser has skipped its body

  explicit Syntax(std::string source) {
    ast.files.push_back({"test.vyre", std::move(source)});
    text::lex(ast.files[0].text, {0, "test.vyre"}, ast.symbols, ast.tokens, lexical);
    std::vector<text::Import> imports;
    run_on_big_stack([&] { text::parse_file(ast, 0, imports, syntactic); });
    for (const text::Decl& d : ast.decls) ir_form |= d.ir_body != 0;
  }

  bool in_grammar() const {
    bool accepted = false;
    const Tokens input(ast, ir_form);
    run_on_big_stack([&] { accepted = Recognizer(grammar(), input).accepts("file"); });
    return accepted;
  }

  /// False where the parser reports what other chapters rule: the form of numbers and limits, and
  /// that attributes are distinct.
  bool is_about_grammar() const {
    return lexical.empty() &&
           std::none_of(syntactic.begin(), syntactic.end(), [](const Diagnostic& d) {
             return d.code == Code::MalformedNumber || d.code == Code::StorageTypeAsValue ||
                    d.code == Code::NestingTooDeep || d.code == Code::DuplicateAttribute;
           });
  }
};

struct Source {
  std::string path, text;
};

/// All programs of the tree, sorted.
const std::vector<Source>& sources() {
  static const std::vector<Source> list = [] {
    std::vector<Source> found;
    for (const char* folder : {"examples", "bench", "tests"})
      for (const auto& entry : fs::recursive_directory_iterator(fs::path(VYRE_SOURCE_DIR) / folder))
        if (entry.path().extension() == ".vyre")
          found.push_back({entry.path().string(), read_file(entry.path().string()).bytes});
    std::sort(found.begin(), found.end(),
              [](const Source& a, const Source& b) { return a.path < b.path; });
    return found;
  }();
  return list;
}

// ---- The page.

void visit_rules(const GrammarTerm& term, std::set<uint32_t>& seen) {
  if (term.kind == GrammarTerm::Kind::Rule && seen.insert(term.rule).second)
    visit_rules(grammar().bodies[term.rule], seen);
  for (const GrammarTerm& part : term.parts) visit_rules(part, seen);
}

TEST(GrammarPage, every_production_is_defined_once_and_used) {
  EXPECT_EQ(grammar().faults, std::vector<std::string>());
  std::set<uint32_t> used;
  for (const std::string_view root : {"file", "ignored"}) {
    ASSERT_LT(grammar().rule(root), grammar().names.size()) << root;
    used.insert(grammar().rule(root));
    visit_rules(grammar().bodies[grammar().rule(root)], used);
  }
  for (uint32_t r = 0; r < grammar().names.size(); ++r)
    EXPECT_TRUE(used.contains(r)) << grammar().names[r] << " is not used";
}

// ---- Tokens.

TEST(LexicalGrammar, accepts_all_tokens_of_the_tree) {
  std::set<std::string> seen;
  for (const Source& source : sources()) {
    const Syntax syntax(source.text);
    if (!syntax.is_about_grammar()) continue;
    for (const Token& t : syntax.ast.tokens) {
      const auto unit = std::find_if(std::begin(units), std::end(units),
                                     [&](const auto& u) { return u.second == t.kind; });
      if (unit == std::end(units)) continue;
      // With what follows it, because the longest token is taken.
      const std::string text = source.text.substr(t.offset, t.length + 3);
      if (!seen.insert(text).second) continue;
      const Characters input(text);
      Recognizer recognizer(grammar(), input);
      uint32_t longest = 0;
      for (const auto& [rule, kind] : units) longest = std::max(longest, recognizer.longest(rule));
      EXPECT_EQ(recognizer.longest(unit->first), t.length) << source.path << ": " << text;
      EXPECT_EQ(longest, t.length) << source.path << ": " << text;
    }
  }
  EXPECT_GT(seen.size(), 2000u);
}

TEST(LexicalGrammar, separates_all_tokens_of_the_tree) {
  std::set<std::string> seen;
  for (const Source& source : sources()) {
    const Syntax syntax(source.text);
    if (!syntax.lexical.empty()) continue;
    uint32_t end = 0;
    for (const Token& t : syntax.ast.tokens) {
      const std::string gap = source.text.substr(end, t.offset - end);
      end = t.offset + t.length;
      if (!seen.insert(gap).second) continue;
      for (uint32_t at = 0; at < gap.size();) {
        const Characters input(std::string_view(gap).substr(at));
        const uint32_t n = std::max(Recognizer(grammar(), input).longest("ignored"),
                                    Recognizer(grammar(), input).longest("NEWLINE"));
        ASSERT_GT(n, 0u) << source.path << ": " << gap;
        at += n;
      }
    }
  }
  EXPECT_GT(seen.size(), 50u);
}

TEST(LexicalGrammar, ignores_byte_order_marks_and_carriage_returns) {
  const std::string kernel =
      "kernel k() workgroup(1)\r\n  grid(1) {\r\n  barrier workgroup\r\n}\r\n";
  EXPECT_TRUE(parse("\xef\xbb\xbf" + kernel, {}).module);
  EXPECT_FALSE(parse(kernel + "\xef\xbb\xbf", {}).module);
}

TEST(LexicalGrammar, accepts_numbers_of_every_form) {
  for (const std::string text :
       {"0", "00", "1_000", "1__0_u8", "7_u64", "0Xff", "0x_1F_", "0x1fu8", "0B1", "0b0_1i8", "1.5",
        "1_.5", "1.5_", "1E5", "1e+5", "1E-5_0", "1.5e1f64", "1e5f32", "2_0.0_1e1_0"}) {
    const Characters input(text);
    Recognizer recognizer(grammar(), input);
    EXPECT_TRUE(recognizer.accepts("INTEGER") || recognizer.accepts("FLOAT")) << text;
    const auto program = "kernel k() workgroup(1) grid(1) { let a = " + text + " }";
    EXPECT_FALSE(has_errors(parse(program, {}).diagnostics)) << text;
  }
}

TEST(LexicalGrammar, rejects_what_the_front_end_rejects) {
  for (const std::string text :
       {"0x", "0b", "0b2", "0b12", "0xg", "1f32", "1.5u8", "1u7", "1.5f16", "7bool", "1e5i32", "1e",
        "1.5e", "1e_5", "0x_", "1.5f", "\"open"}) {
    const Characters input(text);
    for (const auto& [rule, kind] : units)
      EXPECT_FALSE(Recognizer(grammar(), input).accepts(rule)) << text << " is a " << rule;
    const auto program = "kernel k() workgroup(1) grid(1) { let a = " + text + " }";
    EXPECT_TRUE(has_errors(parse(program, {}).diagnostics)) << text;
  }
}

// ---- Programs.

TEST(SyntaxGrammar, accepts_all_programs_of_the_tree) {
  size_t accepted = 0;
  for (const Source& source : sources()) {
    const Syntax syntax(source.text);
    // The parser skips bodies in IR form: whether they are legal only reading the module tells.
    if (syntax.ir_form ? !cli::load_module(source.path, {}).module
                       : !syntax.lexical.empty() || !syntax.syntactic.empty())
      continue;
    EXPECT_TRUE(syntax.in_grammar()) << source.path;
    ++accepted;
  }
  EXPECT_GT(accepted, 600u);
}

TEST(SyntaxGrammar, accepts_what_the_printer_writes) {
  size_t accepted = 0;
  for (const Source& source : sources()) {
    const std::string folder = fs::path(source.path).parent_path().filename().string();
    if (folder != "examples" && folder != "round-trip" && folder != "semantics") continue;
    const auto module = cli::load_module(source.path, {}).module;
    if (!module) continue;
    const std::string printed = print(*module);
    EXPECT_TRUE(Syntax(printed).in_grammar()) << source.path << "\n" << printed;
    ++accepted;
  }
  EXPECT_GT(accepted, 80u);
}

TEST(SyntaxGrammar, rejects_what_the_parser_rejects) {
  size_t rejected = 0;
  for (const Source& source : sources()) {
    const Syntax syntax(source.text);
    if (syntax.syntactic.empty() || !syntax.is_about_grammar()) continue;
    EXPECT_FALSE(syntax.in_grammar()) << source.path << ": " << syntax.syntactic[0].message;
    ++rejected;
  }
  EXPECT_GT(rejected, 50u);
}

TEST(SyntaxGrammar, rejects_bodies_in_ir_form_that_the_reader_rejects) {
  for (const std::string_view lines :
       {"%0 = const 1", "%0, = const 1 : u32", "%0 = : u32", "%0 = add %1 %2 : u32", "%0 = len x y",
        "%0 = load x[%1, %2] : u32", "%0 = const 1 : u32 %1 = const 1 : u32", "%0 = if : u32 { }",
        "%0 = const 1 : u32\nif { }", "%0 = const 1 : u32\nfor %1 in %0..%0 { }",
        "%0 = const 1 : u32\nwhile { test %0 } { }", "%0 = const 1 : u32\nshared t: u32[%0]",
        "%0 = const 1 : u32\nlet a = 1", "%0 = const 1 : u32\nstore x[%0], %0 in_bounds,",
        "%0 = load x[%1] align : u32", "%0 = const 1 : u32\nregion { }"}) {
    const Syntax syntax(
        fmt::format("kernel k(x: inout u32[]) workgroup(1) grid(1) {{\n{}\n}}\n", lines));
    ASSERT_TRUE(syntax.ir_form) << lines;
    EXPECT_FALSE(syntax.in_grammar()) << lines;
    EXPECT_TRUE(has_errors(parse(syntax.ast.files[0].text, {}).diagnostics)) << lines;
  }
}

/// The source with one token removed, doubled, or replaced by another one.
std::string altered(const Syntax& syntax, std::mt19937& random) {
  std::string source = syntax.ast.files[0].text;
  const uint32_t n = uint32_t(syntax.ast.tokens.size() - 1);
  const Token& t = syntax.ast.tokens[random() % n];
  const std::string own(syntax.ast.text(uint32_t(&t - syntax.ast.tokens.data())));
  const std::string other(syntax.ast.text(random() % n));
  const std::string texts[] = {"", own + " " + own, other, own + " " + other};
  return source.replace(t.offset, t.length, " " + texts[random() % std::size(texts)] + " ");
}

TEST(SyntaxGrammar, agrees_with_the_parser_on_altered_programs) {
  std::mt19937 random(1);
  size_t legal = 0, wrong = 0;
  for (const Source& source : sources()) {
    const Syntax original(source.text);
    const size_t n = original.ast.tokens.size();
    // The grammar does not say that `bitcast` and `load_as` before `<` always take a type.
    const bool has_type_argument = source.text.find("bitcast") != std::string::npos ||
                                   source.text.find("load_as") != std::string::npos;
    if (original.ir_form || has_type_argument || n < 10 || n > 400) continue;
    for (int i = 0; i < 8; ++i) {
      const Syntax syntax(altered(original, random));
      if (syntax.ir_form || !syntax.is_about_grammar()) continue;
      const bool parsed = syntax.syntactic.empty();
      ++(parsed ? legal : wrong);
      EXPECT_EQ(syntax.in_grammar(), parsed) << source.path << "\n"
                                             << (parsed ? "" : syntax.syntactic[0].message) << "\n"
                                             << syntax.ast.files[0].text;
    }
  }
  EXPECT_GT(legal, 200u);
  EXPECT_GT(wrong, 500u);
}

}  // namespace
}  // namespace vyre
