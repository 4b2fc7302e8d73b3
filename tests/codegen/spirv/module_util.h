// A module as a table of its instructions.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tests/codegen/spirv/spirv_util.h"

namespace vyre::emit_spirv {

struct ModuleTable {
  explicit ModuleTable(const std::vector<uint32_t>& words);

  std::vector<Instruction> all;
  std::map<uint32_t, const Instruction*> by_id;
  std::map<uint32_t, std::set<uint32_t>> decorations;  // by id
  std::map<uint32_t, uint32_t> builtins;               // by variable
  std::map<uint32_t, std::string> names;

  const Instruction* find(uint32_t id) const {
    const auto it = by_id.find(id);
    return it == by_id.end() ? nullptr : it->second;
  }
  spv::Op op(uint32_t id) const { return find(id) ? find(id)->op : spv::OpNop; }
  /// The width of a type of numbers; 0 for others.
  uint32_t width(uint32_t type) const;
  uint32_t type_of(uint32_t id) const { return find(id) ? find(id)->operands[0] : 0; }
  /// The value of a 32-bit constant; ~0 if it is none.
  uint32_t constant(uint32_t id) const;
  /// Where a pointer points to; StorageClassMax if it is none.
  spv::StorageClass storage(uint32_t pointer) const;
};

/// Has the instruction a result, and a type? Where its operands begin then.
struct Shape {
  bool type = false, result = false;
};
Shape shape_of(spv::Op op);
/// The ids of values that the instruction computes with. Numbers in it are none.
std::span<const uint32_t> sources(const Instruction& i);
bool is_atomic(spv::Op op);

}  // namespace vyre::emit_spirv
