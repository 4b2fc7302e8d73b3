#pragma once

// Sizes and grids are formulas over constants, integer scalars and lengths, computed on the host in
// exact integers before a launch. Nodes live in one flat pool; a node refers to earlier nodes only.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "diagnostics/result.h"

namespace vyre {

using FormulaId = uint32_t;
inline constexpr FormulaId no_formula = ~0u;

enum class FormulaOp : uint8_t { Const, Len, Scalar, Add, Sub, Mul, Div, Rem, CeilDiv, Min, Max };

struct FormulaNode {
  FormulaOp op = FormulaOp::Const;
  uint32_t a = 0;         // left operand; for Len and Scalar the parameter's index
  uint32_t b = 0;         // right operand
  uint64_t value = 0;     // for Const; bits of an i64 if negative_const
  bool negative = false;  // the Const is -value
  bool operator==(const FormulaNode&) const = default;
};

class FormulaPool {
 public:
  FormulaId constant(uint64_t value, bool negative = false);
  FormulaId len(uint32_t parameter);
  FormulaId scalar(uint32_t parameter);
  FormulaId binary(FormulaOp op, FormulaId a, FormulaId b);

  const FormulaNode& operator[](FormulaId id) const { return nodes[id]; }
  /// Returns true, and the value, for a constant formula that does not fail.
  bool is_constant(FormulaId id, uint64_t* value) const;

  std::vector<FormulaNode> nodes;
  bool operator==(const FormulaPool&) const = default;
};

/// The lengths and scalars of a formula by parameter index, and names for messages.
struct FormulaEnv {
  std::function<__int128(uint32_t)> len;
  std::function<__int128(uint32_t)> scalar;
  std::function<std::string(uint32_t)> name;
};

/// Prints as source: "ceil_div(len(x), 256)".
std::string print(const FormulaPool& pool, FormulaId id,
                  const std::function<std::string(uint32_t)>& name);

/// The value, never negative; an error shows the formula and its values. `what` names the subject:
/// "length of `x`". Iterative; visits each node once.
Result<uint64_t> evaluate(const FormulaPool& pool, FormulaId id, const FormulaEnv& env,
                          const std::string& what);

}  // namespace vyre
