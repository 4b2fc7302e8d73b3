#pragma once

// Checks of formulas of sizes and grids: whether they are valid, which names they refer to, and
// whether they are constants.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/formula.h"
#include "ir/program.h"

namespace vyre {

/// Returns the fault of the pool as an array ("" if none): kinds that do not exist, operands that
/// are not earlier nodes, buffers that do not exist. The other functions of this file require a
/// pool without a fault.
std::string fault_of_pool(const FormulaPool& pool, size_t buffers);

/// The names that a formula may use: the buffers of a kernel or graph, by index.
struct SizeName {
  std::string_view name;
  Role role = Role::In;
  Type element = Type::U32;
  bool parameter = true;
};

struct Fault {
  Code code;
  std::string message;
  std::string fix;
};

/// Derived data of all nodes of a pool, computed in one pass.
class FormulaFacts {
 public:
  FormulaFacts(const FormulaPool& pool, std::vector<SizeName> names);

  /// Returns the fault of formula `id` as the size called `what` ("length of `x`") where names
  /// below `end` may be used.
  std::optional<Fault> fault(FormulaId id, uint32_t end, const std::string& what) const;

  /// The value of a formula that refers to nothing and does not fail.
  std::optional<uint64_t> constant(FormulaId id) const;

 private:
  struct Facts {
    uint64_t size = 1;  // nodes when printed as a tree; saturates
    uint32_t depth = 1;
    uint32_t names = 0;          // 1 + the largest index referred to; 0: refers to nothing
    FormulaId bad = no_formula;  // a leaf that names something it may not
  };
  Facts of_leaf(FormulaId id) const;
  std::string text(FormulaId id) const;
  Fault explain_bad(FormulaId leaf, const std::string& what) const;

  const FormulaPool& pool_;
  std::vector<SizeName> names_;
  std::vector<Facts> facts_;
};

}  // namespace vyre
