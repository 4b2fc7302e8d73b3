#pragma once

// Formulas in canonical form: in the order in which a fixed list of roots needs them, operands
// before users, nothing twice, nothing unused.

#include <unordered_map>
#include <vector>

#include "ir/formula.h"
#include "wire/wire_bytes.h"
#include "wire/wire_reader.h"

namespace vyre::wire {

class CanonicalFormulas {
 public:
  explicit CanonicalFormulas(const FormulaPool& pool);

  /// The canonical id of a root; roots must come in the order of the format. no_formula stays as it
  /// is, and any other invalid id becomes no_formula. Linear over all calls.
  FormulaId root(FormulaId id);
  /// The id of a formula that root() has seen.
  FormulaId at(FormulaId id) const { return id < map_.size() ? map_[id] : no_formula; }

  const FormulaPool& pool() const { return out_; }

 private:
  struct NodeHash {
    size_t operator()(const FormulaNode& n) const;
  };
  FormulaId add(const FormulaNode& node);

  const FormulaPool& from_;
  FormulaPool out_;
  std::vector<FormulaId> map_;
  std::unordered_map<FormulaNode, FormulaId, NodeHash> known_;
};

void write(Bytes& out, const FormulaPool& pool);
/// Reads the section `FORM`: every node refers to earlier nodes only.
void read(Reader& in, FormulaPool& pool);
/// Lengths and scalars must refer to buffers that exist, and the pool must equal the output of
/// CanonicalFormulas for these roots.
void check(const FormulaPool& pool, const std::vector<FormulaId>& roots, size_t buffers,
           FirstError& failure);

}  // namespace vyre::wire
