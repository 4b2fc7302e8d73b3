// The TextMate grammar knows the whole language: its rules are applied here as an editor would,
// with std::regex, which is why they keep to what ECMAScript and Oniguruma share.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <set>

#include "ir/ops.h"
#include "ir/types.h"
#include "support/file.h"
#include "support/json.h"
#include "text/lexer.h"
#include "text/parse.h"
#include "text/print.h"

namespace vyre {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

const fs::path root = VYRE_SOURCE_DIR;

std::string contents(const fs::path& path) {
  FileContents file = read_file(path.string());
  EXPECT_TRUE(file) << path;
  return file.bytes;
}

// ---- a small TextMate engine: one scope a byte, match and begin/end rules, includes
// --------------

struct Rule {
  std::regex begin;
  std::optional<std::regex> end;  // of a begin/end rule, which stays within its line
  std::string name;
  std::map<size_t, std::string> captures;
  std::vector<Rule> inside;
};

class Grammar {
 public:
  Grammar()
      : json_(parse_json<Json>(contents(root / "editors/vscode/syntaxes/vyre.tmLanguage.json"))) {
    rules_ = load(json_["patterns"]);
  }

  const Json& json() const { return json_; }

  /// The scope of every byte of a line, "" for none.
  std::vector<std::string> scopes(const std::string& line) const {
    std::vector<std::string> result(line.size());
    for (size_t at = 0; at < line.size();) at = step(rules_, line, at, result);
    return result;
  }

 private:
  std::vector<Rule> load(const Json& patterns) const {
    std::vector<Rule> rules;
    for (const Json& p : patterns) {
      if (p.contains("include")) {
        const std::string key = p["include"].get<std::string>().substr(1);
        for (Rule& r : load(json_.at("repository").at(key).at("patterns")))
          rules.push_back(std::move(r));
        continue;
      }
      Rule r;
      r.begin = std::regex(p.at(p.contains("match") ? "match" : "begin").get<std::string>(),
                           std::regex::ECMAScript | std::regex::optimize);
      if (p.contains("end")) r.end = std::regex(p["end"].get<std::string>());
      r.name = p.value("name", "");
      const Json captures = p.value("captures", Json::object());
      for (const auto& [number, capture] : captures.items())
        r.captures[std::stoul(number)] = capture.at("name");
      r.inside = load(p.value("patterns", Json::array()));
      rules.push_back(std::move(r));
    }
    return rules;
  }

  static bool match_at(const std::regex& regex, const std::string& line, size_t at,
                       std::smatch& m) {
    auto flags = std::regex_constants::match_continuous;
    if (at > 0) flags |= std::regex_constants::match_prev_avail;
    return std::regex_search(line.begin() + static_cast<long>(at), line.end(), m, regex, flags);
  }

  static void paint(std::vector<std::string>& result, size_t at, size_t length,
                    const std::string& name) {
    std::fill_n(result.begin() + static_cast<long>(at), length, name);
  }

  static size_t step(const std::vector<Rule>& rules, const std::string& line, size_t at,
                     std::vector<std::string>& result) {
    std::smatch m;
    for (const Rule& r : rules) {
      if (!match_at(r.begin, line, at, m) || m.length() == 0) continue;
      paint(result, at, static_cast<size_t>(m.length()), r.name);
      for (const auto& [number, name] : r.captures)
        paint(result, at + static_cast<size_t>(m.position(number)),
              static_cast<size_t>(m.length(number)), name);
      at += static_cast<size_t>(m.length());
      return r.end ? until_end(r, line, at, result) : at;
    }
    return at + 1;
  }

  static size_t until_end(const Rule& r, const std::string& line, size_t at,
                          std::vector<std::string>& result) {
    std::smatch m;
    while (at < line.size()) {
      if (match_at(*r.end, line, at, m)) {
        paint(result, at, static_cast<size_t>(m.length()), r.name);
        return at + static_cast<size_t>(m.length());
      }
      const size_t next = step(r.inside, line, at, result);
      for (size_t i = at; i < next; ++i)
        if (result[i].empty()) result[i] = r.name;
      at = next;
    }
    return at;
  }

  Json json_;
  std::vector<Rule> rules_;
};

const Grammar& grammar() {
  static const Grammar made;
  return made;
}

/// The scope of `word`, all of which must have one, where it stands between ‹› in the line.
std::string scope_of(std::string line) {
  const std::string open = "‹", close = "›";
  const size_t begin = line.find(open);
  line.erase(begin, open.size());
  const size_t end = line.find(close);
  line.erase(end, close.size());
  const auto scopes = grammar().scopes(line);
  for (size_t i = begin; i < end; ++i)
    if (scopes[i] != scopes[begin]) return "split: " + scopes[begin] + " and " + scopes[i];
  return scopes[begin];
}

bool is_plain_name(const std::string& scope) {
  return scope.empty() || scope.starts_with("variable.other") || scope.starts_with("entity.name") ||
         scope.starts_with("split");
}

// ---- what the compiler knows, the grammar knows
// --------------------------------------------------

/// True if the language calls this operation by its name.
bool is_callable(std::string_view name) {
  const ParseOutcome r =
      parse("kernel k(y: out u32[1]) workgroup(1) grid(1) {\n  " + std::string(name) + "()\n}\n");
  return std::none_of(r.diagnostics.begin(), r.diagnostics.end(),
                      [](const Diagnostic& d) { return d.code == Code::UnknownFunction; });
}

TEST(Grammar, knows_every_operation_that_can_be_called) {
  size_t callable = 0;
  for (const OpInfo& op : all_ops()) {
    const std::string name(op.mnemonic);
    const std::string scope = scope_of("  let a = ‹" + name + "›(b, c)");
    if (is_callable(name)) {
      EXPECT_FALSE(is_plain_name(scope)) << name << " is a " << scope << ": add it to #functions";
      ++callable;
    } else {
      EXPECT_NE(scope, "support.function.builtin.vyre") << name << " cannot be called";
    }
  }
  EXPECT_GT(callable, 60u);
  for (const char* other : {"bits", "bytes", "len", "len64"})
    EXPECT_EQ(scope_of("  x = ‹" + std::string(other) + "›(y)"), "support.function.builtin.vyre");
  EXPECT_EQ(scope_of("  x = ‹bitcast›<f32>(y)"), "support.function.builtin.vyre");
  EXPECT_EQ(scope_of("  x = ‹load_as›<u32>(y, 3)"), "support.function.builtin.vyre");
}

TEST(Grammar, knows_every_operation_of_the_ir) {
  for (const OpInfo& op : all_ops()) {
    const std::string name(op.mnemonic);
    EXPECT_EQ(scope_of("  %1, %22 = ‹" + name + "› %3"), "keyword.other.operation.vyre")
        << name << ": add it to #ir-operations";
    EXPECT_EQ(scope_of("  ‹" + name + "› %3"), "keyword.other.operation.vyre") << name;
  }
}

TEST(Grammar, knows_every_type) {
  for (int i = 1; i < type_count; ++i) {
    const std::string t(name(static_cast<Type>(i)));
    EXPECT_EQ(scope_of("kernel k(x: in ‹" + t + "›[])"), "storage.type.scalar.vyre");
    EXPECT_EQ(scope_of("  let a = ‹" + t + "›(b)"), "storage.type.scalar.vyre");
    if (!is_numeric(static_cast<Type>(i))) continue;
    EXPECT_EQ(scope_of("  let a = 7‹" + t + "›"), "storage.type.suffix.vyre");
  }
}

TEST(Grammar, knows_every_role) {
  for (const Role r : {Role::In, Role::InOut, Role::Out, Role::Scratch, Role::Uniform})
    EXPECT_EQ(scope_of("kernel k(x: ‹" + std::string(name(r)) + "› u32[])"),
              "storage.modifier.role.vyre");
}

/// The words between quotes that follow `before` in a source of the front end.
std::set<std::string> words_in(const std::string& source, const std::string& before) {
  std::set<std::string> found;
  const std::regex pattern(before + "\"([a-z_0-9]+)\"");
  for (std::sregex_iterator i(source.begin(), source.end(), pattern), end; i != end; ++i)
    found.insert((*i)[1]);
  return found;
}

TEST(Grammar, knows_every_reserved_word) {
  const std::string parser = contents(root / "src/text/parser.cc");
  const size_t begin = parser.find("reserved = {");
  ASSERT_NE(begin, std::string::npos) << "the list of reserved words is elsewhere now";
  const auto words = words_in(parser.substr(begin, parser.find('}', begin) - begin), "");
  EXPECT_TRUE(words.contains("kernel") && words.contains("nan"));
  for (const std::string& word : words)
    EXPECT_FALSE(is_plain_name(scope_of("  ‹" + word + "›"))) << word << ": add it to #keywords";
}

TEST(Grammar, mentions_every_word_that_the_front_end_looks_for) {
  // Words that the parser recognizes only to report that the language does not have them.
  const std::set<std::string> foreign = {"and", "or", "as"};
  const std::string rules = json_text(grammar().json());
  for (const char* file : {"src/text/parser.cc", "src/text/ir_reader.cc"})
    for (const std::string& word : words_in(contents(root / file), "_word\\(")) {
      const bool found = std::regex_search(rules, std::regex("[(|:b]" + word + "[)|\\\\]"));
      EXPECT_TRUE(found || foreign.contains(word)) << word << " of " << file;
    }
}

struct Example {
  const char* line;
  const char* scope;  // without ".vyre"
};

constexpr Example examples[] = {
    {"‹vyre› 1", "keyword.other.version"},
    {"‹kernel› saxpy(a: f32)", "storage.type.function"},
    {"kernel ‹saxpy›(a: f32)", "entity.name.function"},
    {"fn ‹min2›(a: u32) -> u32 {", "entity.name.function"},
    {"const ‹N›: u32 = 4", "variable.other.constant"},
    {"‹import› \"a.vyre\"", "keyword.control.import"},
    {"import ‹\"a.vyre\"›", "string.quoted.double"},
    {"region \"a‹\\\"›b\" {", "constant.character.escape"},
    {"region \"a\\\"‹b\"› {", "string.quoted.double"},
    {"‹region› \"a\" {", "keyword.control"},
    {"region = ‹trap›", "variable.other"},
    {"  ‹trap› 7", "keyword.control"},
    {"  ‹assert›(a, 7)", "keyword.control"},
    {"  ‹barrier› workgroup", "keyword.control"},
    {"  barrier ‹grid›", "storage.modifier"},
    {"  ‹barrier› += 1", "variable.other"},
    {") ‹workgroup›(64) grid(len(x)) {", "storage.modifier"},
    {") workgroup(64) ‹grid›(len(x)) {", "storage.modifier"},
    {"  let ‹workgroup› = 3", "variable.other.declaration"},
    {"  for i ‹in› 0..4 step 2 {", "keyword.control"},
    {"  for i in 0‹..›4 step 2 {", "keyword.operator"},
    {"  for i in 0..‹4› step 2 {", "constant.numeric.integer"},
    {"  for i in 0..4 ‹step› 2 {", "keyword.control"},
    {"  for i in in[0]..n step ‹step› {", "variable.other"},
    {"  ‹shared› tile: u32[256]", "storage.type"},
    {"  shared ‹tile›: u32[256]", "variable.other.declaration"},
    {"  ‹call› k(x, y)", "keyword.control"},
    {"  while flag[0] != 0 ‹limit› 100 {", "keyword.control"},
    {"  let i = ‹global_id›.x", "variable.language"},
    {"  let i = global_id.‹x›", "variable.language.component"},
    {"  let i = ‹lane_id›", "variable.language"},
    {"  let i = ‹helper›(1)", "entity.name.function.call"},
    {"  atomic_add(h[i], 1, ‹acq_rel›, workgroup)", "storage.modifier"},
    {"  atomic_add(h[i], 1, acq_rel, ‹workgroup›)", "storage.modifier"},
    {"  x = ‹0x1F_ff›u64", "constant.numeric.hex"},
    {"  x = ‹0b10›i8", "constant.numeric.binary"},
    {"  x = ‹1e-3›f64", "constant.numeric.float"},
    {"  x = ‹1.5›", "constant.numeric.float"},
    {"  x = ‹1_000›", "constant.numeric.integer"},
    {"  x = ‹inf›", "constant.language"},
    {"  x ‹<<=› 2", "keyword.operator.assignment"},
    {"  x = a ‹%› b", "keyword.operator"},
    {"  x = 1 ‹// not code: kernel›", "comment.line.double-slash"},
    {"  ‹%7› = add %5, %6 : u32", "variable.other.value"},
    {"  %7 = add %5, ‹%6› : u32", "variable.other.value"},
    {"  %7 = add %5, %6 : ‹u32›", "storage.type.scalar"},
    {"  store ‹y›[%7], %20", "variable.other"},
    {"  %10 = for %11 in %0..%3 step %3 ‹with› %12 = %5 : u32 {", "keyword.control"},
    {"  } ‹do› {", "keyword.control"},
    {"  %3 = load x[%1] ‹in_bounds› align(16) : u32", "storage.modifier"},
    {"  %3 = load x[%1] in_bounds ‹align›(16) : u32", "storage.modifier"},
};

TEST(Grammar, tells_words_by_their_places) {
  for (const Example& e : examples)
    EXPECT_EQ(scope_of(e.line), std::string(e.scope) + ".vyre") << e.line;
}

// ---- real programs
// -------------------------------------------------------------------------------

const char* kind_of(text::Tok t) {
  switch (t) {
    case text::Tok::Comment: return "comment.line";
    case text::Tok::String: return "string.quoted";
    case text::Tok::Integer:
    case text::Tok::Float: return "constant.numeric";
    default: return "";
  }
}

/// Every token has a scope, literals and comments the right one.
void expect_tokens(const std::string& source, const std::string& name) {
  text::Symbols symbols;
  std::vector<text::Token> tokens;
  Diagnostics errors;
  text::lex(source, {.comments = true}, symbols, tokens, errors);
  std::vector<std::vector<std::string>> lines;
  for (size_t at = 0; at <= source.size();) {
    const size_t end = std::min(source.find('\n', at), source.size());
    lines.push_back(grammar().scopes(source.substr(at, end - at)));
    at = end + 1;
  }
  for (const text::Token& t : tokens) {
    if (t.kind == text::Tok::Newline || t.kind == text::Tok::End) continue;
    const std::string& scope = lines[t.line - 1][t.column - 1];
    const bool ir_value = t.kind == text::Tok::Integer && scope == "variable.other.value.vyre";
    EXPECT_TRUE(!scope.empty() && (ir_value || scope.starts_with(kind_of(t.kind))))
        << name << ":" << t.line << ":" << t.column << ": `" << source.substr(t.offset, t.length)
        << "` is a " << scope;
  }
}

TEST(Grammar, gives_every_token_of_our_programs_a_scope) {
  size_t programs = 0;
  for (const char* folder : {"examples", "tests/text/accept", "tests/text/language"})
    for (const auto& entry : fs::directory_iterator(root / folder)) {
      if (entry.path().extension() != ".vyre") continue;
      const std::string source = contents(entry.path());
      if (source.size() > 100'000) continue;
      expect_tokens(source, entry.path().filename().string());
      ++programs;
      ParseOptions options;
      options.file_name = entry.path().string();
      options.resolver = file_resolver();
      const ParseOutcome parsed = parse(source, options);
      const std::string printed = parsed.module ? print(*parsed.module) : "";
      if (printed.size() < 20'000)
        expect_tokens(printed, entry.path().filename().string() + " (IR)");
    }
  EXPECT_GT(programs, 20u);
}

TEST(Grammar, belongs_to_a_well_formed_extension) {
  const fs::path folder = root / "editors/vscode";
  const Json package = parse_json<Json>(contents(folder / "package.json"));
  const Json& language = package.at("contributes").at("languages").at(0);
  EXPECT_EQ(language.at("extensions"), Json::array({".vyre"}));
  EXPECT_TRUE(fs::exists(folder / package.at("contributes").at("grammars").at(0).at("path")));
  const Json configuration =
      parse_json<Json>(contents(folder / language.at("configuration").get<std::string>()));
  EXPECT_EQ(configuration.at("comments").at("lineComment"), "//");
  const std::regex more(
      configuration.at("indentationRules").at("increaseIndentPattern").get<std::string>());
  EXPECT_TRUE(std::regex_search("  while a < b {  // loop", more));
  EXPECT_FALSE(std::regex_search("  // a comment {", more));
  EXPECT_FALSE(std::regex_search("  if a { b = 1 }", more));
  const std::regex less(
      configuration.at("indentationRules").at("decreaseIndentPattern").get<std::string>());
  EXPECT_TRUE(std::regex_search("  } else {", less));
}

}  // namespace
}  // namespace vyre
