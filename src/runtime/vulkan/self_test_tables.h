#pragma once

// The tables that the kernels of the self-test are made from (self_test_cases.cc).

#include <cstdint>
#include <vector>

namespace vyre::driver::vulkan {

/// One result, and the flags that are blamed if it is wrong.
struct Row {
  const char* flags;  // separated by blanks
  const char* key;
  const char* type;        // of the result
  const char* expression;  // of x, y, z: an element each of a, b, c
};

/// Expressions of the same operands, one element each.
struct Group {
  const char* name;
  const char* types;  // of a, b and c, separated by blanks
  const char* needs;  // a flag, or ""
  std::vector<Row> rows;
};

/// Kernels that are more than one expression per element.
struct Whole {
  const char* name;
  const char* needs;
  uint32_t elements;  // 0: as many as of one expression
  const char* source;
  std::vector<Row> rows;  // type: the name of the output
};

const std::vector<Group>& self_test_ops();
const std::vector<Whole>& self_test_wholes();

}  // namespace vyre::driver::vulkan
