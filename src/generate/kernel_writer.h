#pragma once

// Writes one random kernel. Internal to the generator: other folders include generate.h.
//
// Races. Every buffer and array has a Use, which lists the accesses that are allowed at a point of
// the program. It is the same for all invocations.
//
// - Any: every access. Private arrays only.
// - Read: every load, no store.
// - Own: each invocation accesses its own slots: loads, stores, and atomics with their old values.
// - Foreign: every invocation loads every element (with workgroup reach: every element of its
//   workgroup), and none stores.
// - Gather: every invocation updates every element by atomics of one kind that commute, or by
//   stores of one value. Old values are dropped.
//
// Shared arrays and some device buffers begin as Own. A section (kernel_sync.cc) takes one of them
// to Foreign or Gather and back: barrier, statements, barrier. Sections nest in blocks: a break,
// continue or return leaves one only together with all invocations that its barriers wait for.
//
// Uniformity. Values carry the level that the checker will compute for them, and `flow_` is the
// level of the current point. A loop has a level: early exits need flow of at least that level, and
// synchronization inside needs a loop of at least its scope. A return lowers the level of all later
// code. So the writer never calls the checker.
//
// Traps. After a trap of one invocation others continue, and the specification does not define the
// values that they read from it. So after the first synchronization that follows a trap no other
// trap is generated: the reported trap does not depend on data that a trapped invocation did not
// write.
//
// Cost. An op in a loop counts as often as the loop may run. When the budget is used up, blocks
// end.

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "check/uniformity.h"
#include "generate/generate.h"
#include "generate/random.h"
#include "ir/ssa_builder.h"

namespace vyre::lab {

using Level = Uniformity;

/// An existing buffer that a parameter of a new kernel may be bound to.
struct Wish {
  Type element = Type::U32;
  uint64_t count = 0;
};

/// A kernel and the data of its launch, by buffer.
struct WrittenKernel {
  Program program;
  IdMap<BufferId, uint64_t> counts;  // elements; for a scalar its bits
  LaunchInputs inputs;
};

class KernelWriter {
 public:
  /// In a graph: the kernel has a grid and its scratch buffers a length.
  KernelWriter(Random& random, const GenerateOptions& options, std::string name,
               std::span<const Wish> wishes, bool in_graph);
  WrittenKernel write();

 private:
  enum class Use : uint8_t { Any, Read, Own, Foreign, Gather };

  struct Memory {
    BufferId buffer{0};
    Role role = Role::In;
    Type element = Type::U32;
    uint64_t count = 0;
    uint32_t stride = 1;  // Own: adjacent slots of an invocation
    ValueId own = none;   // Own: the first of them, as u32
    Use use = Use::Read;
    Level reach = Level::Grid;          // Foreign, Gather: of a device buffer's section
    Opcode gather = Opcode::AtomicAdd;  // Gather: the class of the atomics
    uint64_t stored = 0;                // … AtomicStore: the value that all of them write
    Type value() const { return value_type(element); }
  };
  struct Known {
    ValueId id = none;
    Type type = Type::Void;
    Level level = Level::Varying;
    bool used = false;
  };
  struct Variable {
    VarId id = 0;
    Type type = Type::Void;
    Level level = Level::Varying;
  };
  struct Loop {
    Level level = Level::Varying;  // of the flow in it
    Level cap = Level::Grid;       // the least level of its breaks and continues so far
    size_t sections = 0;           // open ones around it
  };

  // kernel_shape.cc: buffers, lengths, grid.
  void choose_shape();
  void declare_buffers();
  BufferId add_buffer(Role role, Type element, uint64_t count);
  Memory& add_memory(Role role, Type element, uint64_t count, Use use);
  void add_table();
  Wish input_shape();
  Type any_element();
  uint64_t odd_count();
  uint64_t own_count(uint32_t stride);
  FormulaId formula_for(uint64_t target, uint32_t parameters, int depth);
  void choose_count(BufferId buffer, uint64_t count);
  void choose_grid();
  void fill_inputs();
  void add_handoff();
  bool is_flat() const;

  // kernel_values.cc: the pool, constants, pure ops by their row.
  ValueId emit(Opcode code, Type type, std::span<const ValueId> operands, uint64_t attr = 0);
  ValueId emit(Opcode code, Type type, std::initializer_list<ValueId> operands, uint64_t attr = 0) {
    return emit(code, type, std::span<const ValueId>{operands.begin(), operands.size()}, attr);
  }
  ValueId constant(Type type, uint64_t bits);
  ValueId u32(uint64_t v) { return constant(Type::U32, v); }
  /// Adds a value to the pool.
  void know(ValueId id, bool used = false);
  Level level_of(ValueId id) const { return levels_.contains(id) ? levels_[id] : Level::Varying; }
  void set_level(ValueId id, Level level);
  /// The level that the checker will compute for an op's results.
  Level result_level(Opcode code, std::span<const ValueId> operands, uint64_t attr) const;
  ValueId read(const Variable& v);
  /// A value of the type that is at least as uniform as `least`.
  ValueId value(Type type, Level least = Level::Varying);
  ValueId make_value(Type type, Level least);
  ValueId condition(Level least = Level::Varying);
  /// A small unsigned number below `bound`, of any integer type that holds it.
  ValueId small_value(Type type, uint64_t bound, Level least = Level::Varying);
  ValueId convert(ValueId v, Type type);
  Type type_in(TypeSet set);
  Type integer_type();
  std::optional<ValueId> operand(char letter, Type type, Opcode code, Level least);
  void pure_op(Level least = Level::Varying);
  void id_op();
  void assign();
  void fold(ValueId v);
  void fold_newest();
  ValueId as_u64(ValueId v);

  // kernel_access.cc: indices, loads, stores, atomics.
  ValueId any_index(uint64_t count, Level least = Level::Varying);
  ValueId piecewise_index(uint64_t count);
  ValueId own_index(const Memory& m, uint32_t room = 1);
  ValueId outside_index(const Memory& m);
  ValueId group_index(const Memory& m, Level least);
  ValueId load_index(const Memory& m, Level least = Level::Varying, uint32_t room = 1);
  ValueId widen_index(ValueId index, uint64_t largest);
  bool readable(const Memory& m) const { return m.use != Use::Gather; }
  bool writable(const Memory& m) const {
    return m.use == Use::Any || (m.use == Use::Own && m.own != none);
  }
  uint32_t vector_count(Type element);
  Memory* pick_memory(bool (KernelWriter::*good)(const Memory&) const);
  void load(Level least = Level::Varying);
  void load_from(const Memory& m, Level least = Level::Varying);
  void load_as();
  bool takes_load_as(const Memory& m) const;
  void store();
  void store_to(const Memory& m);
  void own_atomic();
  bool takes_atomics(const Memory& m) const;
  void gather_atomic();
  void gather_to(const Memory& m);
  bool gathers(const Memory& m) const { return m.use == Use::Gather; }

  // kernel_control.cc: blocks.
  void statements(uint64_t most);
  void statement();
  void begin_scope() { scopes_.push_back(pool_.size()); }
  void end_scope();
  void if_();
  void for_();
  void while_();
  void region();
  void exit_loop();
  void assign_in_exit(Level flow);
  void return_();
  void trap();
  ValueId rare_condition();
  bool may_trap() const;
  void enter_loop(Level level, uint64_t trips);
  void leave_loop(Level outer, uint64_t trips);
  Level loop_level();
  Level after(Level flow) const;
  bool enough() const { return !b_.reachable() || spent_ >= budget_ || ops_ >= op_budget_; }

  // kernel_sync.cc: barriers, sections, subgroups.
  bool may_sync(Scope scope) const;
  void note_sync() { traps_closed_ = traps_closed_ || trapped_; }
  void barrier(Scope scope);
  void section();
  void exchange(Memory& m, Scope scope);
  void gather_section(Memory& m, Scope scope);
  void in_section(Memory& m, Use use, Scope scope);
  void uniform_load();
  void subgroup_op();
  void handoff();
  void handoff_round();

  // kernel_writer.cc: the whole.
  void choose_features();
  void write_prologue();
  void write_epilogue();
  void store_result();

  Random& r_;
  const GenerateOptions& options_;
  SsaBuilder b_;
  std::span<const Wish> wishes_;
  const bool in_graph_;

  // Features of the kernel.
  bool sync_ = false;
  bool grid_sync_ = false;
  bool subgroups_ = false;
  bool traps_ = false;

  uint64_t group_size_ = 1;
  std::array<uint64_t, 3> wanted_ = {1, 1, 1};  // invocations
  uint64_t total_ = 1;                          // invocations that run
  IdMap<BufferId, uint64_t> counts_;            // elements; for a scalar its bits
  LaunchInputs inputs_;
  std::vector<Memory> memory_;
  uint32_t result_ = 0;  // index into memory_
  std::vector<BufferId> scalars_;
  /// A scratch buffer that each workgroup has a tile of, which one phase writes and the next reads.
  /// No other code accesses it.
  BufferId handoff_ = none;
  uint64_t handoff_slots_ = 1;  // of an invocation

  ValueId linear_ = none;  // this invocation's number in the launch, workgroups one after the other
  ValueId group_ = none;   // its workgroup's number
  ValueId local_ = none;   // its number in the workgroup

  std::vector<Known> pool_;
  std::vector<size_t> scopes_;
  IdMap<ValueId, Level> levels_;  // by value
  std::vector<Variable> vars_;
  VarId accumulator_ = 0;
  std::vector<Loop> loops_;
  std::vector<Level> sections_;  // the level of flow that each needs
  Level flow_ = Level::Grid;
  Level cap_ = Level::Grid;  // the least level of returns so far
  bool last_part_ = false;   // no further synchronization
  bool trapped_ = false;     // a trap or assert was written
  bool traps_closed_ = false;
  int depth_ = 0;
  uint64_t times_ = 1;  // maximum executions of the current block
  uint64_t spent_ = 0, budget_ = 0;
  uint64_t ops_ = 0, op_budget_ = 0;
};

}  // namespace vyre::lab
