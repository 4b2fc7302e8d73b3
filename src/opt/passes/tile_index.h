#pragma once

// Rewrites an index of a buffer to an index of the workgroup's tile: index - stride ·
// workgroup_id.x - first, modulo 2^32. The terms with workgroup_id.x are left out of the index's
// sum, rather than subtracted from it: of `(workgroup_id.x * 256 + j * 16) + local_id.x` the tile
// index is `j * 16 + local_id.x`, and of `global_id.x` it is `local_id.x`. Terms that the walk does
// not find are subtracted.
//
// Follows + - * << and conversions between integers of 32 and 64 bits, which all are exact modulo
// 2^32; at most `max_depth` ops deep. Runs in time linear in the ops of the index.

#include <initializer_list>
#include <optional>
#include <unordered_map>

#include "ir/ir_builder.h"

namespace vyre::opt {

class TileIndex {
 public:
  /// Inserts new ops at the builder's position.
  explicit TileIndex(IrBuilder& builder) : p_(builder.p), b_(builder) {}

  /// Returns the tile index of an index, a u32.
  ValueId rewrite(ValueId index, int64_t stride, int64_t first);

 private:
  static constexpr int max_depth = 8;
  /// A value modulo 2^32 as group · workgroup_id.x + rest; rest none: 0.
  struct Split {
    uint32_t group = 0;
    ValueId rest = none;
  };
  Split split(ValueId v, int depth);
  std::optional<Split> split_op(OpId op, int depth);
  Split sum(Opcode code, const Split& a, const Split& b);
  Split scaled(const Split& a, uint32_t factor);
  std::optional<uint32_t> constant(ValueId v) const;
  ValueId constant_u32(uint32_t bits) { return b_.constant(Type::U32, bits); }

  Program& p_;
  IrBuilder& b_;
  std::unordered_map<ValueId, Split> splits_;
};

}  // namespace vyre::opt
