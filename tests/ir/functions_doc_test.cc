// docs/functions.md states measured numbers; here is what can be checked of them in no time.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "ir/eval/eval.h"
#include "ir/expand_functions.h"
#include "ir/ssa_builder.h"
#include "support/file.h"

namespace vyre {
namespace {

using Row = std::map<std::string, std::string>;  // by the column's heading

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> list;
  std::istringstream in(line.substr(1));
  for (std::string cell; std::getline(in, cell, '|');) {
    const size_t begin = cell.find_first_not_of(" `"), end = cell.find_last_not_of(" `");
    list.push_back(begin == cell.npos ? "" : cell.substr(begin, end - begin + 1));
  }
  return list;
}

/// The rows of every table whose first column is "function"; a function's rows are joined.
std::map<std::string, Row> documented() {
  std::map<std::string, Row> functions;
  const FileContents file = read_file(VYRE_SOURCE_DIR "/docs/functions.md");
  EXPECT_TRUE(file) << file.error->what;
  std::vector<std::string> heading;
  std::istringstream in(file.bytes);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] != '|') {
      heading.clear();
      continue;
    }
    const std::vector<std::string> row = cells(line);
    if (heading.empty()) {
      heading = row;
    } else if (heading[0] == "function" && row[0].find("---") == row[0].npos) {
      for (size_t i = 1; i < std::min(row.size(), heading.size()); ++i)
        functions[row[0]][heading[i]] = row[i];
    }
  }
  return functions;
}

double reference(const std::string& f, double x, double y) {
  if (f == "exp") return std::exp(x);
  if (f == "exp2") return std::exp2(x);
  if (f == "log") return std::log(x);
  if (f == "log2") return std::log2(x);
  if (f == "sin") return std::sin(x);
  if (f == "cos") return std::cos(x);
  if (f == "tan") return std::tan(x);
  if (f == "tanh") return std::tanh(x);
  if (f == "pow") return std::pow(x, y);
  return f == "atan2" ? std::atan2(x, y) : std::nan("");
}

/// The error of `f` at the documented place, in ulp of the exact result.
double error_at(const std::string& f, const std::string& place) {
  const float x = std::strtof(place.c_str(), nullptr);
  const size_t comma = place.find(',');
  const float y = comma == place.npos ? 0 : std::strtof(place.c_str() + comma + 1, nullptr);
  const uint64_t in[] = {std::bit_cast<uint32_t>(x), std::bit_cast<uint32_t>(y)};
  const Opcode code = *find_op(f);
  const ExactFloats exact_floats;
  const float result = std::bit_cast<float>(
      uint32_t(eval_bits(code, Type::F32, Type::F32, in, info(code).operands.size())));
  const double exact = reference(f, x, y);
  return std::abs(result - exact) / std::ldexp(1.0, std::max(std::ilogb(exact) - 23, -149));
}

struct Counts {
  int ops = 0, constants = 0;
};

Counts expansion_of(Opcode code) {
  SsaBuilder b("k");
  b.program.buffers = {{"x", Role::Scalar, Type::F32}};
  const std::vector<ValueId> x(info(code).operands.size(), b.op(Opcode::Scalar, Type::F32, {}, 0));
  b.op(code, Type::F32, x);
  Program p = b.finish();
  EXPECT_TRUE(expand_functions(p));
  Counts n;
  walk(p, [&](OpId id) { ++(p.op(id).code == Opcode::Const ? n.constants : n.ops); });
  n.ops -= 2;  // scalar and return
  return n;
}

TEST(functions_doc, has_a_row_for_every_function_and_for_nothing_else) {
  const std::map<std::string, Row> rows = documented();
  size_t functions = 0;
  for (const OpInfo& row : all_ops()) {
    if (row.types != TypeSet::F32) continue;
    ++functions;
    EXPECT_TRUE(rows.contains(std::string(row.mnemonic))) << row.mnemonic;
  }
  EXPECT_EQ(rows.size(), functions);
}

TEST(functions_doc, states_errors_of_at_most_2_ulp_that_are_there) {
  for (const auto& [f, row] : documented()) {
    ASSERT_TRUE(row.contains("worst ulp") && row.contains("at")) << f;
    const double worst = std::strtod(row.at("worst ulp").c_str(), nullptr);
    EXPECT_GT(worst, 0.5) << f;  // no function is better than correctly rounded
    EXPECT_LE(worst, 2.0) << f;
    EXPECT_NEAR(error_at(f, row.at("at")), worst, 1e-4) << f;
  }
}

TEST(functions_doc, states_the_ops_of_the_expansions) {
  for (const auto& [f, row] : documented()) {
    const Counts n = expansion_of(*find_op(f));
    EXPECT_EQ(row.at("IR ops"), std::to_string(n.ops)) << f;
    EXPECT_EQ(row.at("constants"), std::to_string(n.constants)) << f;
    int sum = 0;
    for (const char* kind : {"fma", "other f32", "div", "integer", "integer mul", "convert",
                             "compare, select", "bitcast"})
      sum += std::atoi(row.at(kind).c_str());
    EXPECT_EQ(sum, n.ops) << f;
    EXPECT_GT(std::strtod(row.at("x86 instructions").c_str(), nullptr), 0) << f;
  }
}

}  // namespace
}  // namespace vyre
