// Constructs of other languages are errors whose fix names the vyre construct, and the fix parses.

#include "text/foreign_words.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "text/parse.h"

namespace vyre {
namespace {

using text::ForeignUse;
using text::ForeignWord;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// A kernel whose body has the line as its line 3.
std::string with_line(const std::string& line) {
  return "kernel k(n: u32, s: f32, x: in f32[], c: in u8[], y: out u32[64], z: out f32[64], "
         "b: inout u32[64]) workgroup(64) grid(64) {\n"
         "  let i = global_id.x; let j = local_id.x; let v = n; var q = n; var f = s\n  " +
         line + "\n}\n";
}

std::string errors_of(const std::string& source) {
  const ParseOutcome outcome = parse(source);
  return has_errors(outcome.diagnostics) ? render(outcome.diagnostics, outcome.sources) : "";
}

Diagnostic first_of(const std::string& source) {
  const Diagnostics found = parse(source).diagnostics;
  return found.empty() ? diagnose(Code::EmptyModule, {}, "nothing is wrong") : found[0];
}

struct Row {
  const char* line;
  const char* code;
  const char* write;      // what the fix says to write
  const char* corrected;  // the line with it; null: it is the line
};

/// Each fix holds what to write, and what it says parses.
void expect_rows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const Diagnostic d = first_of(with_line(row.line));
    EXPECT_EQ(to_string(d.code), row.code) << row.line << ": " << d.message;
    EXPECT_NE(d.fix.find("`" + std::string(row.write) + "`"), std::string::npos)
        << row.line << ": " << d.fix;
    const std::string line = row.corrected ? row.corrected : row.write;
    EXPECT_NE(line.find(row.write), std::string::npos) << line;
    EXPECT_EQ(errors_of(with_line(line)), "") << row.line;
  }
}

TEST(ForeignSyntax, declarations_name_let_var_and_shared) {
  expect_rows(
      {{"int p = 0", "V0132", "let p: i32 = 0", nullptr},
       {"int p = 0;", "V0132", "var p: i32 = 0", nullptr},
       {"unsigned int p = 7u", "V0132", "let p: u32 = 7u32", nullptr},
       {"uint32_t p = 0", "V0132", "let p: u32 = 0", nullptr},
       {"size_t p = 0", "V0132", "let p: u64 = 0", nullptr},
       {"double p = 0", "V0132", "let p: f64 = 0.0", nullptr},
       {"half p = 1.0", "V0132", "let p: f32 = 1.0", nullptr},
       {"float p = x[i];", "V0132", "let p: f32 = x[i]", nullptr},
       {"const float p = 1.5f;", "V0107", "let p: f32 = 1.5", nullptr},
       {"auto p = x[i]", "V0132", "let p = x[i]", nullptr},
       {"i32 p = 0", "V0109", "let p: i32 = 0", nullptr},
       {"int p = threadIdx.x;", "V0132", "let p = local_id.x", nullptr},
       {"int p = blockIdx.x * blockDim.x + threadIdx.x;", "V0132", "let p = global_id.x", nullptr},
       {"int p;", "V0132", "var p: i32 = 0", nullptr},
       {"let mut p = 0", "V0107", "var p = 0", nullptr},
       {"let p := n", "V0121", "let p = n", nullptr},
       {"p := n", "V0132", "let p = n", nullptr},
       {"__shared__ float t[64]", "V0132", "shared t: f32[64]", nullptr},
       {"__shared__ float t[32][33];", "V0132", "shared t: f32[32 * 33]", nullptr},
       {"__local uint t[64]", "V0132", "shared t: u32[64]", nullptr},
       {"float t[64]", "V0132", "var t: f32[64]", nullptr},
       {"shared t: f32[32][33]", "V0115", "shared t: f32[32 * 33]", nullptr},
       {"var t: f32[4][4]", "V0115", "var t: f32[4 * 4]", nullptr},
       {"var<workgroup> t: array<f32, 64>", "V0107", "shared t: f32[64]", nullptr},
       {"let t: array<u32, 8>", "V0121", "var t: u32[8]", nullptr},
       {"let t = [1, 2]", "V0109", "const t: u32[] = [1, 2]", nullptr}});
}

TEST(ForeignSyntax, statements_name_the_statement) {
  expect_rows(
      {{"q++", "V0132", "q += 1", nullptr},
       {"++q", "V0108", "q += 1", nullptr},
       {"q--;", "V0132", "q -= 1", nullptr},
       {"b[i]++", "V0132", "b[i] += 1", nullptr},
       {"__syncthreads();", "V0120", "barrier workgroup", nullptr},
       {"atomicAdd(&b[0], 1)", "V0109", "atomic_add(b[0], 1)", nullptr},
       {"let p = if n > 0 { 1 } else { 2 }", "V0109", "let p = select(n > 0, 1, 2)", nullptr},
       {"y[i] = if n > 0 { 1 } else { 2 }", "V0109", "y[i] = select(n > 0, 1, 2)", nullptr},
       {"for p in 0..=n { y[p] = 0 }", "V0109", "..n + 1", "for p in 0..n + 1 { y[p] = 0 }"},
       {"n += 1", "V0134", "var n = n", "var n = n; n += 1"}});
  const auto header = [](const std::string& line) { return first_of(with_line(line)).fix; };
  EXPECT_EQ(header("for (int p = 0; p < n; p++) { y[p] = 0 }"), "write `for p in 0..n { … }`");
  EXPECT_EQ(header("for (uint p = 0u; p <= n; p += 2) { y[p] = 0 }"),
            "write `for p in 0u32..n + 1 step 2 { … }`");
  EXPECT_EQ(header("for (var p = 0; p < blockDim.x; p++) { y[p] = 0 }"),
            "write `for p in 0..workgroup_size.x { … }`");
  EXPECT_EQ(errors_of(with_line("for p in 0u32..n + 1 step 2 { y[p] = 0 }")), "");
  for (const char* line : {"switch n { }", "switch (n) { case 0: y[i] = 1; break; }"})
    EXPECT_EQ(first_of(with_line(line)).fix,
              "write `if n == 0 { … } else if n == 1 { … } else { … }`");
  EXPECT_EQ(first_of(with_line("if n > 0 { q = 1 } elif n > 1 { q = 2 }")).fix,
            "write `else if n > 1 { … }`");
  EXPECT_EQ(first_of(with_line("printf(\"%d\", i)")).fix,
            "write `y[i] = v` to store the value in an `out` buffer");
  EXPECT_EQ(first_of(with_line("struct P { a: u32 }")).fix,
            "use one buffer or variable for each field");
}

TEST(ForeignSyntax, expressions_name_the_expression) {
  expect_rows(
      {{"let p = threadIdx.y", "V0119", "local_id.y", "let p = local_id.y"},
       {"let p = blockIdx.x * blockDim.x + threadIdx.x", "V0119", "global_id.x",
        "let p = global_id.x"},
       {"let p = threadIdx.y + blockDim.y * blockIdx.y", "V0119", "global_id.y",
        "let p = global_id.y"},
       {"let p = get_group_id(0) * get_local_size(0) + get_local_id(0)", "V0120", "global_id.x",
        "let p = global_id.x"},
       {"let p = get_global_id(1)", "V0120", "global_id.y", "let p = global_id.y"},
       {"let p = gl_GlobalInvocationID.x", "V0119", "global_id.x", "let p = global_id.x"},
       {"let p = tl.load(x)", "V0131", "x[i]", "let p = x[i]"},
       {"let p = tl.program_id(0)", "V0131", "workgroup_id.x", "let p = workgroup_id.x"},
       {"let p = float(i)", "V0120", "f32(i)", "let p = f32(i)"},
       {"let p = (int) s", "V0115", "i32(s)", "let p = i32(s)"},
       {"let p = fmaxf(s, 1.0)", "V0120", "max(s, 1.0)", "let p = max(s, 1.0)"},
       {"let p = mul(3, 4)", "V0120", "3 * 4", "let p = 3 * 4"},
       {"let p = mul(n + 1, 4)", "V0120", "(n + 1) * 4", "let p = (n + 1) * 4"},
       {"let p = x[i][j]", "V0137", "x[i * width + j]", "let width = 8; let p = x[i * width + j]"},
       {"let p = x[threadIdx.x][n + 1]", "V0137", "x[local_id.x * width + (n + 1)]",
        "let width = 8; let p = x[local_id.x * width + (n + 1)]"},
       {"let p = 1.5f", "V0103", "1.5", "let p = 1.5"},
       {"let p = 3u", "V0103", "3u32", "let p = 3u32"},
       {"let p = 0xFFul", "V0103", "0xFFu64", "let p = 0xFFu64"},
       {"let p = .5", "V0109", "0.5", "let p = 0.5"},
       {"let p = 1.", "V0115", "1.0", "let p = 1.0"},
       {"let p = 'a'", "V0101", "97", "let p = 97"},
       {"let p = '\\n'", "V0101", "10", "let p = 10"},
       {"let p = n > 0 and n < 4", "V0115", "&&", "let p = n > 0 && n < 4"},
       {"let p = not(n > 0)", "V0120", "!(n > 0)", "let p = !(n > 0)"},
       {"let p = &x", "V0109", "x", "let p = len(x)"}});
}

TEST(ForeignSyntax, parameters_attributes_and_declarations_are_answered) {
  const auto fix = [](const std::string& source) { return first_of(source).fix; };
  const auto parameter = [&](const std::string& p) {
    return fix("kernel k(" + p + ") workgroup(64) grid(8) { }");
  };
  EXPECT_EQ(parameter("x: input f32[]"), "write `in`");
  EXPECT_EQ(parameter("x: output f32[8]"), "write `out`");
  EXPECT_EQ(parameter("n: int"), "write `i32`");
  EXPECT_EQ(parameter("x: in float[]"), "write `f32`");
  EXPECT_EQ(parameter("int n"), "write `n: i32`");
  EXPECT_EQ(parameter("float *x"), "write `x: inout f32[]`");
  EXPECT_EQ(parameter("const float* x"), "write `x: in f32[]`");
  EXPECT_EQ(parameter("in x: f32[]"), "write `x: in f32[]`");
  EXPECT_EQ(parameter("x: f32*"), "write `x: inout f32[]`");
  EXPECT_EQ(parameter("x: array<f32>"), "write `in f32[]`");
  EXPECT_EQ(fix("kernel k() workgroup_size(64) grid(8) { }"), "write `workgroup(64)`");
  EXPECT_EQ(fix("fn f(a: u32): u32 { return a }"), "write `->` in place of `:`");
  EXPECT_EQ(fix("let N = 4"), "write `const N = 4`");
  EXPECT_EQ(fix("static const int N = 4;"), "write `const N: i32 = 4`");
  for (const char* p : {"x: in f32[]", "x: out f32[8]", "n: i32", "x: inout f32[]"})
    EXPECT_EQ(errors_of("kernel k(" + std::string(p) + ") workgroup(64) grid(8) { }"), "");
}

TEST(ForeignSyntax, one_construct_is_reported_once) {
  for (const char* line : {"printf(\"%d\", i)", "y[i] = 'a'", "let p = if n > 0 { 1 } else { 2 }",
                           "let p = blockIdx.x * blockDim.x + threadIdx.x",
                           "let p = get_group_id(0) * get_local_size(0) + get_local_id(0)"})
    EXPECT_EQ(parse(with_line(line)).diagnostics.size(), 1u) << line;
}

TEST(ForeignSyntax, names_around_a_replaced_expression_are_still_reported) {
  const Diagnostics found = parse("fn f(a: u32) -> u32 { return a + missing }\n" +
                                  with_line("y[0] = threadIdx.x; y[1] = f(1); y[2] = other"))
                                .diagnostics;
  EXPECT_EQ(found.size(), 3u);
}

TEST(ForeignSyntax, declared_names_are_not_foreign) {
  EXPECT_EQ(errors_of("fn lerp(a: f32, b: f32, t: f32) -> f32 { return a + (b - a) * t }\n" +
                      with_line("let load = 1; let threadIdx = lerp(s, s, s); z[0] = threadIdx")),
            "");
}

/// Sources in which the replacement may stand; that one of them is legal is enough.
std::vector<std::string> contexts(const ForeignWord& w) {
  const std::string vyre = replaced(replaced(std::string(w.vyre), "…", ""), "$", "q");
  const std::string statement = ForeignUse::Statement == w.use && vyre.starts_with("else")
                                    ? "if n > 0 { } " + replaced(vyre, "if q", "if q == 0")
                                    : replaced(vyre, "!(q)", "!(q == 0)");
  switch (w.use) {
    case ForeignUse::Type: return {"kernel k(p: in " + vyre + "[]) workgroup(1) grid(1) { }"};
    case ForeignUse::Id:
    case ForeignUse::Dimension: return {with_line("let p = " + vyre + ".z")};
    case ForeignUse::Operator:
      return {with_line("let p = n > 0 " + vyre + " n > 1"), with_line("let p = n " + vyre + " v"),
              with_line("let p = " + vyre + "true")};
    case ForeignUse::Rename: return {"fn " + vyre + "() { }"};  // an operation: it is reserved
    case ForeignUse::Opening: return {with_line("if n > 0 " + vyre + " }")};
    case ForeignUse::Role: return {"kernel k(p: " + vyre + " f32[8]) workgroup(1) grid(1) { }"};
    case ForeignUse::Attribute:
      return {"kernel k() workgroup(64) " + vyre + "(64) grid(1) { }",
              "kernel k() " + vyre + "(64) grid(1) { }"};
    case ForeignUse::Declaration: return {vyre, vyre.substr(0, vyre.find('{')) + "{ return x }"};
    case ForeignUse::Qualifier:
      return {with_line(vyre + " t: f32[4]"), with_line(vyre + " t = 4"), with_line("let t = 4")};
    default: break;
  }
  const std::string floats = "let a = s; let b = s; let t = s; ";
  const std::string lanes = "let lane = 0; let distance = 1; let mask = 1; let c = n > 0; ";
  return {with_line(statement), with_line("let p = " + statement),
          with_line(floats + "let p = " + statement), with_line(lanes + "let p = " + statement)};
}

TEST(ForeignWords, every_replacement_parses) {
  for (const ForeignWord& w : text::foreign_words()) {
    if (w.vyre.starts_with("import")) continue;  // needs a file
    std::string errors;
    bool legal = false;
    for (const std::string& source : contexts(w)) {
      const Diagnostic d = first_of(source);
      const bool is_operation = w.use == ForeignUse::Rename && d.code == Code::ReservedName;
      errors = errors_of(source);
      legal |= errors.empty() || is_operation;
    }
    EXPECT_TRUE(legal) << w.word << " -> " << w.vyre << "\n" << errors;
  }
}

TEST(ForeignWords, no_word_is_of_vyre) {
  for (const ForeignWord& w : text::foreign_words())
    if (w.use != ForeignUse::Attribute && w.use != ForeignUse::Qualifier) EXPECT_NE(w.word, w.vyre);
}

}  // namespace
}  // namespace vyre
