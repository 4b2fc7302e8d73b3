#pragma once

// The kernels of the self-test: groups of ops that share their operands and one pipeline.

#include <string>
#include <vector>

#include "ir/program.h"
#include "legalize/profile.h"

namespace vyre::driver::vulkan {

using ProfileFlag = bool emit_exact::Profile::*;

/// One result of a group's kernel.
struct TestRow {
  /// The flags to disable if it is wrong, one after the other; empty: nothing can be done.
  std::vector<std::pair<ProfileFlag, std::string>> flags;
  std::string key;         // op_key() of the op, which is refused if it stays wrong
  std::string expression;  // for people
  BufferId buffer{0};      // of the program: where the result is
};

struct TestGroup {
  std::string name;
  Program program;
  std::vector<TestRow> rows;
  ProfileFlag needs = nullptr;  // without it the device refuses the kernel, rightly
  uint32_t elements = 0;        // of its inputs
};

/// Compiles the kernel of a self-test source text.
Program self_test_program(const std::string& source);

/// Returns all groups; those that others depend on come first.
std::vector<TestGroup> self_test_groups();

/// Returns operands for an input of the program: corner cases, each paired with each, then random
/// numbers of kinds that reveal errors.
std::vector<std::byte> self_test_input(const Program& program, BufferId buffer, uint32_t elements);

}  // namespace vyre::driver::vulkan
