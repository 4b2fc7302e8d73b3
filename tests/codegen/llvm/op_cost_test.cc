// Costs of the main ops: instructions for 8 lanes on x86-64-v3, without the loads of the operands
// and the store of the result in the measuring loop. A form that LLVM scalarizes fails here.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "tests/codegen/llvm/op_batch.h"

namespace vyre::cpu_test {
namespace {

struct Row {
  Opcode code;
  Type type, source;
  int limit;  // instructions; two more than measured, for what tuning to another CPU changes
};

constexpr Row rows[] = {
    {Opcode::Div, Type::U32, Type::U32, 22},      {Opcode::Div, Type::I32, Type::I32, 13},
    {Opcode::Rem, Type::U32, Type::U32, 24},      {Opcode::Rem, Type::I32, Type::I32, 15},
    {Opcode::CeilDiv, Type::U32, Type::U32, 28},  {Opcode::Div, Type::U16, Type::U16, 12},
    {Opcode::Div, Type::I16, Type::I16, 10},      {Opcode::Div, Type::U8, Type::U8, 14},
    {Opcode::Min, Type::F32, Type::F32, 8},       {Opcode::Max, Type::F32, Type::F32, 8},
    {Opcode::Clamp, Type::F32, Type::F32, 14},    {Opcode::Min, Type::F64, Type::F64, 14},
    {Opcode::Round, Type::F32, Type::F32, 3},     {Opcode::Rsqrt, Type::F32, Type::F32, 4},
    {Opcode::Clz, Type::U32, Type::U32, 9},       {Opcode::Ctz, Type::U32, Type::U32, 9},
    {Opcode::PopCount, Type::U32, Type::U32, 13}, {Opcode::ReverseBits, Type::U32, Type::U32, 9},
    {Opcode::MulHi, Type::U32, Type::U32, 8},     {Opcode::SatAdd, Type::U32, Type::U32, 5},
    {Opcode::SatAdd, Type::I32, Type::I32, 8},    {Opcode::RotL, Type::U32, Type::U32, 7},
    {Opcode::Shl, Type::U32, Type::U32, 4},       {Opcode::Extract, Type::U32, Type::U32, 13},
    {Opcode::Insert, Type::U32, Type::U32, 16},   {Opcode::Cast, Type::I32, Type::F32, 7},
    {Opcode::Cast, Type::U32, Type::F32, 11},     {Opcode::Cast, Type::U8, Type::F32, 9},
    {Opcode::Cast, Type::I16, Type::F32, 7},      {Opcode::Cast, Type::I32, Type::F64, 11},
    {Opcode::Cast, Type::U32, Type::F64, 14},     {Opcode::Cast, Type::F32, Type::U32, 7},
    {Opcode::Cast, Type::F32, Type::U64, 41},     {Opcode::Bitcast, Type::U32, Type::F32, 4},
};

std::vector<Type> operand_types(const Row& row) {
  std::vector<Type> types;
  for (char c : info(row.code).operands)
    types.push_back(c == 'S'   ? row.source
                    : c == 'U' ? Type::U32
                    : c == 'B' ? Type::Bool
                               : row.type);
  return types;
}

/// True for a separate load of an operand; other instructions have a memory operand.
bool is_load(const std::string& line) {
  return line.starts_with("\tvmov") && line.find('(') < line.find("%ymm") &&
         line.find('(') < line.find("%xmm");
}

/// Instructions of each function's loop; code before the loop does not count in a long run.
std::map<std::string, int> count(const std::string& assembly) {
  std::map<std::string, int> counts;
  std::string current;
  std::istringstream lines(assembly);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] != '\t' && line[0] != '.') current = line.substr(0, line.find(':'));
    if (line.starts_with(".LBB")) counts[current] = 0;
    if (line[0] != '\t' || line[1] == '.' || line[1] == '#' || is_load(line)) continue;
    counts[current] += 1;
    if (line.starts_with("\tj")) current = "after " + current;
  }
  return counts;
}

TEST(OpCost, stays_within_its_limit) {
  OpBatch batch(emit_llvm::Isa::X86_64_V3);
  const auto name = [](size_t i) { return "op" + std::to_string(i); };
  for (size_t i = 0; i < std::size(rows); ++i) {
    const Row& row = rows[i];
    const std::vector<Type> types = operand_types(row);
    batch.add(name(i), types, row.type, 8, [&](auto& lowering, auto v) {
      return lowering.pure(row.code, row.type, row.source, v);
    });
    // The loop alone, with its store.
    batch.add("base" + std::to_string(i), types, row.type, 8, [&](auto& lowering, auto) {
      return llvm::Constant::getNullValue(lowering.value_type(row.type, 8));
    });
  }
  const std::map<std::string, int> counts = count(batch.assembly());
  for (size_t i = 0; i < std::size(rows); ++i) {
    const Row& row = rows[i];
    const int cost = counts.at(name(i)) - counts.at("base" + std::to_string(i));
    const std::string text =
        fmt::format("{} {}{}", mnemonic(row.code), vyre::name(row.type),
                    row.source == row.type ? "" : fmt::format(" from {}", vyre::name(row.source)));
    fmt::print("| `{}` | {} |\n", text, cost);
    EXPECT_LE(cost, row.limit) << text;
  }
}

}  // namespace
}  // namespace vyre::cpu_test
