// Every field of every array, checked separately. Afterwards every id that is not `none` is valid.

#include <fmt/format.h>

#include <vector>

#include "check/check_formulas.h"
#include "check/check_limits.h"
#include "check/check_structure.h"

namespace vyre {
namespace {

bool in_range(uint32_t id, size_t size) { return id == none || id < size; }
bool in_range(OpId id, const IdMap<OpId, Op>& ops) { return id == none || ops.contains(id); }

class ArrayCheck {
 public:
  ArrayCheck(const Program& p, Reporter& r) : p_(p), r_(r), owned_(p.ids.size()) {}

  bool run(uint64_t max_ops) {
    if (p_.ops.size() > max_ops) {
      r_.at_kernel(Code::TooManyOps, fmt::format("the kernel has {} operations; the limit is {}",
                                                 p_.ops.size(), max_ops))
          .with_fix("split the kernel");
      return false;
    }
    if (p_.blocks.empty()) {
      r_.at_kernel(Code::BrokenProgram, "the kernel has no body");
      return false;
    }
    check_buffers();
    check_formulas();
    for (OpId op(0); p_.ops.contains(op) && !r_.full(); ++op) check_op(op);
    for (BlockId b(0); p_.blocks.contains(b) && !r_.full(); ++b) check_block(b);
    for (ValueId v(0); p_.values.contains(v) && !r_.full(); ++v) check_value(v);
    return !r_.has_errors();
  }

 private:
  void broken(OpId op, std::string_view what) {
    r_.at_op(Code::BrokenProgram, op, fmt::format("op {}: {}", op.value(), what));
  }

  // Lists do not share cells: a shared cell would make a rewrite of one op change another, and
  // overlapping lists would make linear walks quadratic. Stops at the first cell that is taken.
  const char* fault_of_list(Range list) {
    if (list.begin > p_.ids.size() || list.count > p_.ids.size() - list.begin)
      return "a list reaches outside of the id array";
    for (uint32_t i = list.begin; i < list.begin + list.count; ++i) {
      if (owned_[i]) return "two lists share a cell of the id array";
      owned_[i] = true;
      if (!p_.values.contains(p_.ids[i])) return "a list names a value that does not exist";
    }
    return nullptr;
  }

  void check_buffers() {
    for (const BufferId i : p_.buffers.ids()) {
      if (r_.full()) break;
      const Buffer& b = p_.buffers[i];
      const char* fault = nullptr;
      if (b.role > Role::Table) fault = "its role does not exist";
      if (static_cast<int>(b.element) >= type_count) fault = "its element type does not exist";
      if (b.count != no_formula && b.count >= p_.formulas.nodes.size())
        fault = "its count is a formula that does not exist";
      if (!in_range(b.loc, p_.locations.size())) fault = "its location does not exist";
      if (fault)
        r_.at_buffer(Code::BrokenProgram, i,
                     fmt::format("buffer {} is broken: {}", i.value(), fault));
    }
  }

  void check_formulas() {
    const std::string fault = fault_of_pool(p_.formulas, p_.buffers.size());
    if (!fault.empty()) r_.at_kernel(Code::BrokenProgram, fault);
    for (const FormulaId id : p_.grid)
      if (id != no_formula && id >= p_.formulas.nodes.size())
        r_.at_kernel(Code::BrokenProgram, "the grid is a formula that does not exist");
    if (!in_range(p_.loc, p_.locations.size()))
      r_.at_kernel(Code::BrokenProgram, "the kernel's location does not exist");
  }

  void check_op(OpId id) {
    const Op& op = p_.ops[id];
    if (static_cast<size_t>(op.code) >= all_ops().size())
      return broken(id, "its opcode does not exist");
    if (static_cast<int>(op.type) >= type_count) return broken(id, "its type does not exist");
    if (!in_range(op.loc, p_.locations.size())) return broken(id, "its location does not exist");
    if (!p_.blocks.contains(op.parent)) return broken(id, "it is in no block");
    if (!in_range(op.prev, p_.ops) || !in_range(op.next, p_.ops))
      return broken(id, "its neighbour does not exist");
    if (op.n_blocks != blocks_of(op.code)) return broken(id, "it has a wrong number of blocks");
    if (op.n_blocks &&
        (!p_.blocks.contains(op.first_block) || op.n_blocks > p_.blocks.next_id() - op.first_block))
      return broken(id, "its blocks do not exist");
    if (const char* fault = fault_of_list(op.operands)) return broken(id, fault);
    if (const char* fault = fault_of_list(op.results)) return broken(id, fault);
    check_counts(id);
    check_attribute(id);
  }

  void check_counts(OpId id) {
    const Op& op = p_.ops[id];
    const OpInfo& row = info(op.code);
    const uint32_t n = op.operands.count;
    uint32_t least = 0;
    bool more = false;
    uint32_t results = op.results.count;  // the expected number; any number is valid for If, Region
    if (row.operands == "?") {
      least = op.code == Opcode::If ? 1 : op.code == Opcode::For ? 3 : 0;
      more = op.code != Opcode::If && op.code != Opcode::Region;
      if (is_loop(op.code) && n >= least) results = n - least;
      if (is_exit(op.code)) results = 0;
    } else {
      more = row.operands.ends_with('*');
      least = static_cast<uint32_t>(row.operands.size());
      results = row.result == '-' ? 0 : row.result == '*' && results > 0 ? results : 1;
    }
    if (n < least || (n > least && !more))
      r_.at_op(Code::WrongOperandCount, id,
               fmt::format("`{}` takes {}{} operands, not {}", row.mnemonic,
                           more ? "at least " : "", least, n));
    if (op.results.count != results)
      r_.at_op(
          Code::WrongOperandCount, id,
          fmt::format("`{}` has {} results here, not {}", row.mnemonic, results, op.results.count));
  }

  void check_attribute(OpId id) {
    const Op& op = p_.ops[id];
    const char* fault = nullptr;
    switch (info(op.code).attribute) {
      case AttrKind::None:
        if (op.attr != 0) fault = "an attribute where there is none";
        break;
      case AttrKind::Bits: break;
      case AttrKind::Dim:
        if (op.attr > 2) fault = "a dimension that is not x, y or z";
        break;
      case AttrKind::Buffer:
        if (op.attr >= p_.buffers.size()) fault = "a buffer that does not exist";
        break;
      case AttrKind::Memory: fault = fault_of_memory_ref(op); break;
      case AttrKind::Scope:
        if (op.attr > static_cast<uint64_t>(Scope::Grid)) fault = "a scope that does not exist";
        break;
      case AttrKind::Name:
        if (op.attr >= p_.strings.size()) fault = "a name that does not exist";
        break;
    }
    if (fault)
      r_.at_op(Code::BadAttribute, id, fmt::format("`{}` has {}", mnemonic(op.code), fault));
  }

  const char* fault_of_memory_ref(const Op& op) const {
    const MemoryRef ref = MemoryRef::unpack(op.attr);
    if (!p_.buffers.contains(ref.buffer)) return "a buffer that does not exist";
    if (ref.scope > Scope::Grid) return "a scope that does not exist";
    if (ref.pack() != op.attr) return "bits in its memory attribute that mean nothing";
    if (ref.acq_rel && !is_atomic(op.code)) return "a memory order, which only atomics have";
    return nullptr;
  }

  void check_block(BlockId id) {
    const Block& b = p_.blocks[id];
    const char* fault = fault_of_list(b.args);
    if (!in_range(b.parent, p_.ops)) fault = "the op it belongs to does not exist";
    if (!in_range(b.first, p_.ops) || !in_range(b.last, p_.ops))
      fault = "its first or last op does not exist";
    if (fault) r_.at_kernel(Code::BrokenProgram, fmt::format("block {}: {}", id.value(), fault));
  }

  void check_value(ValueId id) {
    const Value& v = p_.values[id];
    if (static_cast<int>(v.type) < type_count && is_value(v.type)) return;
    r_.at_kernel(Code::BrokenProgram,
                 fmt::format("value {} has no type that a value may have", id.value()));
  }

  const Program& p_;
  Reporter& r_;
  std::vector<bool> owned_;
};

}  // namespace

bool check_arrays(const Program& program, Reporter& report, uint64_t max_ops) {
  return ArrayCheck(program, report).run(max_ops);
}

}  // namespace vyre
