#pragma once

// Compares an expanded program with its original, on correct and on defective devices.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interp/interp.h"
#include "ir/program.h"
#include "legalize/profile.h"

namespace vyre::emit_exact {

/// A profile of words that must be right.
Profile profile_of(std::string_view words);

/// An operand of an op_program that is a constant of the op's type, at the front or at the end.
struct Fixed {
  uint64_t bits = 0;
  bool first = false;
};
/// r[i] = op(a[i], b[i], …): T is the op's type, `operands` the types of its operands, without the
/// fixed one.
Program op_program(Opcode code, Type type, const std::vector<Type>& operands,
                   std::optional<Fixed> fixed = {});

/// Inputs of an op_program: a list of bits for each operand, all as long.
LaunchInputs op_inputs(const Program& program, const std::vector<std::vector<uint64_t>>& operands);

/// Returns the inputs of an expanded program: halves of 64-bit scalars, lengths of split buffers.
LaunchInputs expanded_inputs(const Program& program, const Program& expanded,
                             const LaunchInputs& inputs);

/// All outputs, or the errors' messages.
struct Ran {
  std::vector<std::vector<std::byte>> buffers;
  std::string failed;
  bool operator==(const Ran&) const = default;
};
Ran run_on_interpreter(const Program& program, const LaunchInputs& inputs, uint32_t subgroup = 32);

/// "" if the expansion for the profile is legal, holds nothing that the device lacks, and gives the
/// same bytes as the program, on the interpreter and on a device that is as bad as the profile
/// says; inline and with functions. Else what is wrong. `differs`, if given, is set if the program
/// itself fails on that device.
std::string judge(const Program& program, const LaunchInputs& inputs, const Profile& profile,
                  bool* differs = nullptr);

/// Corner-case floats of both signs; and pairs or triples that are close to corner cases.
std::vector<uint64_t> corners(Type type);
std::vector<std::vector<uint64_t>> corner_operands(const std::vector<Type>& types);
std::vector<std::vector<uint64_t>> random_operands(const std::vector<Type>& types, Opcode code,
                                                   uint64_t count, uint64_t seed);

/// Cases an op: VYRE_EXACT_CASES, or a number for a few seconds in all.
uint64_t random_cases();

}  // namespace vyre::emit_exact
