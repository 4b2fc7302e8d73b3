#include "runtime/cache/cache_program.h"

#include <algorithm>

#include "wire/wire.h"

namespace vyre::driver {
namespace {

bool same(Range a, Range b) { return a.begin == b.begin && a.count == b.count; }

// The members of these types are compared below; a new member must be added there.
static_assert(sizeof(Op) == 48 && sizeof(Value) == 16 && sizeof(Block) == 20);

bool same(const Op& a, const Op& b) {
  return a.code == b.code && a.type == b.type && a.n_blocks == b.n_blocks &&
         a.first_block == b.first_block && same(a.operands, b.operands) &&
         same(a.results, b.results) &&
         (a.attr == b.attr || info(a.code).attribute == AttrKind::Name) && a.parent == b.parent &&
         a.prev == b.prev && a.next == b.next;
}

bool same(const Value& a, const Value& b) {
  return a.type == b.type && a.def == b.def && a.block == b.block && a.index == b.index;
}

bool same(const Block& a, const Block& b) {
  return a.parent == b.parent && a.first == b.first && a.last == b.last && same(a.args, b.args);
}

bool same(const vyre::Buffer& a, const vyre::Buffer& b) {
  return a.role == b.role && a.element == b.element && a.count == b.count &&
         a.table_offset == b.table_offset;
}

template <class T>
bool all_same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return same(x, y); });
}

}  // namespace

Program nameless(const Program& program) {
  Program copy = program;
  copy.name.clear();
  for (vyre::Buffer& b : copy.buffers) b.name.clear();
  for (std::string& s : copy.strings) s.clear();  // regions' names and files
  copy.locations.clear();
  return copy;
}

std::vector<std::byte> nameless_wire(const Program& program) {
  return encode(nameless(program), {.locations = false});
}

bool same_but_for_names(const Program& a, const Program& b) {
  return a.op_id == b.op_id && a.workgroup == b.workgroup && a.subgroup == b.subgroup &&
         a.grid == b.grid && a.grid_dims == b.grid_dims &&
         a.requires_forward_progress == b.requires_forward_progress &&
         all_same(a.buffers, b.buffers) && a.formulas == b.formulas && a.ids == b.ids &&
         a.table_bytes == b.table_bytes && all_same(a.ops, b.ops) && all_same(a.values, b.values) &&
         all_same(a.blocks, b.blocks);
}

size_t bytes_of(const Program& p) {
  const auto bytes = [](const auto& v) { return v.size() * sizeof(*v.data()); };
  return sizeof p + bytes(p.buffers) + bytes(p.formulas.nodes) + bytes(p.ops) + bytes(p.values) +
         bytes(p.blocks) + bytes(p.ids) + bytes(p.strings) + bytes(p.table_bytes);
}

}  // namespace vyre::driver
