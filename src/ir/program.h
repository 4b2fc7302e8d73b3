#pragma once

// One IR: SSA with structured control flow in flat arrays with 32-bit ids.
//
// A Program is one kernel. Its body is block 0. A block is a list of ops, linked through Op::prev
// and Op::next, that ends with exactly one Exit op. An op has operands (values), results (values),
// an attribute, a location and, if it is a control op, blocks. A value is a result of an op or an
// argument of a block. Variables are not mutable: control ops carry values.
//
//   if      operand: condition. Blocks: then, else. Each ends with `yield` (the if's results) or
//           leaves (break, continue, return, trap).
//   for     operands: lo, hi, step, initial values… One block with arguments i, carried…; `yield`
//           and `continue` give the next carried values, `break` the results. Results: carried
//           values at the end.
//   while   operands: initial values… Blocks: test, with the carried values as its arguments, ends
//           with `test c`; body, which has no arguments and SEES THE VALUES OF THE TEST
//           BLOCK, its arguments included. `yield` and `continue` give the next carried values,
//           `break` the results; when the test fails the results are the test's arguments.
//   region  one block; its results are what it yields.
//   The kernel's own body ends with `return` (or trap).
//
// A value may be used in its block after its definition, in blocks nested there, and, if it belongs
// to the test block of a while, in that while's body.
//
// Memory is named, not pointed to: a memory op holds a buffer's index in its attribute, so distinct
// buffers never alias.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostics/work_deadline.h"
#include "ir/formula.h"
#include "ir/ids.h"
#include "ir/ops.h"
#include "ir/types.h"

namespace vyre {

using LocId = uint32_t;
using StringId = uint32_t;

/// The block of every program that is the kernel's body.
inline constexpr BlockId body_block{0};

enum class Role : uint8_t { In, InOut, Out, Scratch, Shared, Private, Uniform, Scalar, Table };
std::string_view name(Role role);

/// Returns whether a kernel may write it.
constexpr bool is_writable(Role r) {
  return r == Role::InOut || r == Role::Out || r == Role::Scratch || r == Role::Shared ||
         r == Role::Private;
}
/// Returns whether the host passes its bytes.
constexpr bool is_host_input(Role r) {
  return r == Role::In || r == Role::InOut || r == Role::Uniform || r == Role::Scalar;
}
/// Returns whether the host reads its bytes back.
constexpr bool is_host_output(Role r) { return r == Role::InOut || r == Role::Out; }
/// Returns whether it is a parameter of the kernel (and not a shared or private array or a table of
/// its body).
constexpr bool is_parameter(Role r) {
  return r != Role::Shared && r != Role::Private && r != Role::Table;
}

enum class Scope : uint8_t { Subgroup, Workgroup, Grid };  // Grid is "device" for atomics
std::string_view name(Scope scope);

/// A parameter, a shared or private array, or a constant table.
struct Buffer {
  std::string name;
  Role role = Role::In;
  Type element = Type::U32;
  FormulaId count = no_formula;  // no_formula: set at launch, by length or by the host's bytes
  uint64_t table_offset = 0;     // Table: its bytes in Program::table_bytes
  LocId loc = none;
};

/// A source location. inlined_at: the location of the call, for code that came from a `fn`. origin:
/// while code is generated, the op of the input program that an op comes from.
struct Location {
  StringId file = none;
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t length = 1;
  LocId inlined_at = none;
  OpId origin = none;
  bool operator==(const Location&) const = default;
};

/// The contents of Op::attr for memory ops.
struct MemoryRef {
  BufferId buffer{0};
  bool acq_rel = false;
  Scope scope = Scope::Grid;  // of an atomic or uniform_load
  bool in_bounds = false;  // proved by the compiler; dropped by readers of untrusted text or bytes
  bool read_only = false;  // nothing in the final program writes this buffer
  uint8_t align_log2 = 0;  // proved alignment of the address in bytes; 0: the element's

  uint64_t pack() const {
    return buffer.value() | uint64_t{acq_rel} << 32 | uint64_t(scope) << 33 |
           uint64_t{in_bounds} << 35 | uint64_t{read_only} << 36 | uint64_t(align_log2 & 15) << 37;
  }
  static MemoryRef unpack(uint64_t bits) {
    return {BufferId(bits),       bool(bits >> 32 & 1), Scope(bits >> 33 & 3),
            bool(bits >> 35 & 1), bool(bits >> 36 & 1), uint8_t(bits >> 37 & 15)};
  }
};

/// A list of ids in Program::ids.
struct Range {
  uint32_t begin = 0;
  uint32_t count = 0;
};

struct Op {
  Opcode code = Opcode::Const;
  Type type = Type::Void;  // the T of the signature; Void where there is none
  uint8_t n_blocks = 0;
  BlockId first_block = none;  // an op's blocks have consecutive ids
  Range operands;
  Range results;
  uint64_t attr = 0;  // by OpInfo::attribute; Name: a StringId
  LocId loc = none;
  BlockId parent = none;
  OpId prev = none;
  OpId next = none;

  /// The buffer that a memory op, `len` or `scalar` names.
  BufferId buffer() const { return BufferId(attr); }
  void set_buffer(BufferId id) { attr = (attr & ~uint64_t{0xffffffff}) | id.value(); }
};

struct Value {
  Type type = Type::Void;
  OpId def = none;       // the op it is a result of; none for a block argument
  BlockId block = none;  // the block it is an argument of; none for a result
  uint32_t index = 0;    // which result or argument
};

struct Block {
  OpId parent = none;  // none: the kernel's body
  OpId first = none;
  OpId last = none;
  Range args;
};

class Program {
 public:
  std::string name;
  std::string op_id;  // stable name for telemetry; "" if none
  PublicIdMap<BufferId, Buffer> buffers;
  std::array<uint32_t, 3> workgroup = {1, 1, 1};
  uint32_t subgroup = 0;  // fixed subgroup size; 0: the backend chooses
  std::array<FormulaId, 3> grid = {no_formula, no_formula, no_formula};
  uint32_t grid_dims = 0;  // 0: specified at launch
  bool requires_forward_progress = false;
  FormulaPool formulas;

  IdMap<OpId, Op> ops;
  IdMap<ValueId, Value> values;
  IdMap<BlockId, Block> blocks;  // blocks[body_block] is the body
  std::vector<ValueId> ids;      // operand, result and argument lists
  std::vector<Location> locations;
  std::vector<std::string> strings;  // file names, region names
  std::vector<std::byte> table_bytes;
  LocId loc = none;  // of the kernel's name

  const Op& op(OpId id) const { return ops[id]; }
  Op& op(OpId id) { return ops[id]; }
  std::span<const ValueId> operands(OpId id) const { return list(ops[id].operands); }
  std::span<const ValueId> results(OpId id) const { return list(ops[id].results); }
  std::span<const ValueId> args(BlockId id) const { return list(blocks[id].args); }
  std::span<const ValueId> list(Range r) const { return {ids.data() + r.begin, r.count}; }
  std::span<ValueId> list(Range r) { return {ids.data() + r.begin, r.count}; }
  ValueId operand(OpId id, uint32_t i) const { return ids[ops[id].operands.begin + i]; }
  ValueId result(OpId id, uint32_t i = 0) const { return ids[ops[id].results.begin + i]; }
  Type type(ValueId v) const { return values[v].type; }
  BlockId block(OpId id, uint32_t i) const { return ops[id].first_block + i; }
  const Buffer& buffer_of(OpId id) const { return buffers[ops[id].buffer()]; }
  MemoryRef memory(OpId id) const { return MemoryRef::unpack(ops[id].attr); }

  // Creation. New ops are not in a block until linked.
  Range add_list(std::span<const ValueId> list);
  StringId add_string(std::string_view text);
  LocId add_location(const Location& l);
  BlockId add_block(OpId parent);
  ValueId add_argument(BlockId block, Type type);  // appends to the block's list
  OpId add_op(Opcode code, Type type, std::span<const ValueId> operands,
              std::span<const Type> results, uint64_t attr, LocId loc);
  void append(BlockId block, OpId op);
  void insert_before(OpId where, OpId op);
  /// Takes the op out of its block; its results must have no uses left.
  void unlink(OpId op);

  /// "file:line:col" data of a location for a diagnostic, and its chain of calls as notes.
  Place place(LocId id) const;
  void add_call_notes(LocId id, Diagnostic& d) const;
  std::string_view string(StringId id) const { return strings[id]; }
};

/// Reorders ids to the order of the program text and drops unreachable ops, values, blocks and
/// lists. All code that makes or changes programs calls it last. Runs in time linear in the size of
/// the program.
void compact(Program& program);

/// Everything of a program except its ops and values: its body is empty.
Program without_body(const Program& program);

/// Applies fn(OpId) to every op below `root` in program order: an op before the ops of its blocks.
/// Iterative: depth costs no stack. Polls the WorkDeadline of the thread.
template <class Fn>
void walk(const Program& p, BlockId root, Fn&& fn) {
  WorkDeadline* const deadline = WorkDeadline::current();
  OpId op = p.blocks[root].first;
  while (op != none) {
    if (deadline) deadline->poll();
    fn(op);
    const Op& o = p.ops[op];
    OpId next = none;
    for (uint32_t b = 0; b < o.n_blocks && next == none; ++b)
      next = p.blocks[o.first_block + b].first;
    if (next == none) next = o.next;
    OpId at = op;
    while (next == none) {  // climb: the next block of the parent, or the op after it
      const BlockId block = p.ops[at].parent;
      if (block == root) return;
      const OpId parent = p.blocks[block].parent;
      const Op& po = p.ops[parent];
      for (uint32_t b = block - po.first_block + 1; b < po.n_blocks && next == none; ++b)
        next = p.blocks[po.first_block + b].first;
      if (next == none) next = po.next;
      at = parent;
    }
    op = next;
  }
}
template <class Fn>
void walk(const Program& p, Fn&& fn) {
  walk(p, body_block, static_cast<Fn&&>(fn));
}

/// Events of a structured walk, for analyses that need the begin and end of blocks.
enum class Visit : uint8_t { Op, EnterBlock, LeaveBlock };
/// Calls fn(Visit, OpId, BlockId): every op once (Op, before its blocks; with the block that it is
/// in), EnterBlock and LeaveBlock around each block (with the op that the block belongs to).
/// Iterative. Polls the WorkDeadline of the thread.
template <class Fn>
void walk_blocks(const Program& p, BlockId root, Fn&& fn) {
  WorkDeadline* const deadline = WorkDeadline::current();
  struct Frame {
    BlockId block;
    OpId next;
  };
  std::vector<Frame> stack;
  fn(Visit::EnterBlock, p.blocks[root].parent, root);
  stack.push_back({root, p.blocks[root].first});
  std::vector<uint32_t> pending;  // blocks of the op at each level still to enter
  std::vector<OpId> owner;
  while (!stack.empty()) {
    Frame& f = stack.back();
    if (!owner.empty() &&
        owner.size() == stack.size()) {  // inside the blocks of an op of this frame
      const Op& o = p.ops[owner.back()];
      if (pending.back() < o.n_blocks) {
        const BlockId b = o.first_block + pending.back()++;
        fn(Visit::EnterBlock, owner.back(), b);
        stack.push_back({b, p.blocks[b].first});
        continue;
      }
      owner.pop_back();
      pending.pop_back();
    }
    if (f.next == none) {
      fn(Visit::LeaveBlock, p.blocks[f.block].parent, f.block);
      stack.pop_back();
      continue;
    }
    const OpId op = f.next;
    f.next = p.ops[op].next;
    if (deadline) deadline->poll();
    fn(Visit::Op, op, f.block);
    if (p.ops[op].n_blocks) {
      owner.push_back(op);
      pending.push_back(0);
    }
  }
}

/// The events of walk_blocks(), as a list: for passes that change the program while they walk it.
struct BlockEvent {
  Visit what;
  OpId op;
  BlockId block;
};
std::vector<BlockEvent> block_events(const Program& program);

/// Replaces values everywhere: map[v] is the new value of v (v itself if it stays). Chains are
/// followed. Runs in time linear in the size of the program.
void replace_values(Program& program, const IdMap<ValueId, ValueId>& map);

/// Uses of each value as an operand.
IdMap<ValueId, uint32_t> count_uses(const Program& program);

}  // namespace vyre
