#pragma once

// The state of generating one kernel. The parts: llvm_kernel.cc the function, its loop over
// workgroups and the values that are loaded once; phases.cc the parallel regions between barriers
// and the values that are live across them; llvm_control.cc ifs, loops and exits; llvm_memory.cc,
// strided.cc and stores.cc loads and stores; llvm_atomics.cc; llvm_values.cc values, masks and ids;
// llvm_traps.cc.

#include <llvm/IR/IRBuilder.h>

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "codegen/llvm/lane_strides.h"
#include "codegen/llvm/likely_strides.h"
#include "codegen/llvm/llvm_lower.h"
#include "codegen/llvm/lower_ops.h"
#include "codegen/llvm/module_state.h"
#include "codegen/llvm/phases.h"
#include "codegen/llvm/shared_slots.h"

namespace vyre::emit_llvm {

class Emitter {
 public:
  Emitter(const Prepared& kernel, const EmitOptions& options, Module::State& state);
  KernelInfo run();

 private:
  using V = llvm::Value*;
  using BB = llvm::BasicBlock*;
  using Slot = llvm::AllocaInst*;

  /// Lanes that are base + stride · lane if `holds`, a scalar bit. Null: always.
  struct Run {
    V base = nullptr;
    V holds = nullptr;
  };
  /// The LLVM values of a value: a scalar if it is uniform, else a vector; a base if it has a
  /// stride.
  struct Made {
    V value = nullptr;
    V base = nullptr;
    uint32_t epoch = 0;  // its parallel region; 0: code that runs once per workgroup
    Run likely = {};     // for values with a likely stride
  };

  // ---- llvm_kernel.cc
  void begin_function();
  void workgroups();
  void workgroup_body();
  V argument(unsigned field, llvm::Type* type);
  V count_of(BufferId buffer);    // i64, at the function's start
  V pointer_of(BufferId buffer);  // never null
  V scalar_of(BufferId buffer);
  V zeros();
  V at_start(llvm::function_ref<V()> make);  // makes it in the function's first block
  void poll(OpId op);
  void zero_arrays(Role role);
  void zero(V at, uint64_t bytes);
  void set_noalias(llvm::Instruction* access, BufferId buffer);
  uint64_t array_count(BufferId buffer) const;

  // ---- phases.cc
  void workgroup_block(BlockId block);
  void workgroup_op(OpId op);
  void workgroup_if(OpId op);
  void workgroup_while(OpId op);
  void yield_across(OpId exit, const std::vector<ValueId>& to);
  void copy_across(const std::vector<ValueId>& from, const std::vector<ValueId>& to);
  void flush();  // the parallel region that has been collected
  void stretch(const std::vector<OpId>& ops, llvm::function_ref<void()> at_end);
  void export_value(ValueId v);
  V spill_address(const Home& home);
  V reload(ValueId v);
  V make_again(ValueId v);
  Slot home_slot(ValueId v);

  // ---- llvm_values.cc
  V get(ValueId v);       // scalar or vector
  V lanes_of(ValueId v);  // always a vector
  V base_of(ValueId v);   // scalar; of a value with a stride
  void set(ValueId v, V value, V base = nullptr);
  V on_demand(OpId def);  // ops without operands
  V id_lanes(Opcode code, uint32_t dim, V* base);
  bool is_scalar_dim(uint32_t dim) const { return k_.rows && dim > 0; }
  V splat(V scalar);
  V iota(llvm::Type* element, int64_t step = 1);
  V step_out(V base, int64_t step) {
    return b_.CreateAdd(splat(base), iota(base->getType(), step));
  }
  llvm::Type* type_of(ValueId v);
  Slot slot(llvm::Type* type);
  bool is_uniform(ValueId v) const { return k_.uniform(v); }
  llvm::VectorType* mask_type() { return llvm::FixedVectorType::get(b_.getInt1Ty(), S_); }
  llvm::Type* stored_type(llvm::Type* type);  // the type of its slot: masks are widened
  V to_stored(V value);
  V from_stored(V value, llvm::Type* type);
  V load_slot(Slot s, llvm::Type* type);
  void store_slot(Slot s, V value);
  // Masks: bits, or lanes of ones and zeros; null: all lanes.
  V wide(V mask);  // never null
  V bits(V mask);  // <S x i1>, or null
  V load_mask(Slot s);
  V mask_and(V a, V b);
  V mask_without(V a, V b);
  V mask_bits(V mask);  // i64
  V any(V mask);
  V all(V mask);

  // ---- llvm_control.cc
  struct Context;
  void ops(OpId first, BB end);
  void op(OpId id);
  void leave(OpId exit, BB end);
  void test(ValueId condition);
  void if_op(OpId id);
  void if_uniform(OpId id);
  void if_masked(OpId id);
  bool if_select(OpId id);
  void select_if(OpId id);
  void loop_op(OpId id);
  void for_plain(OpId id, Context& loop);
  void for_masked(OpId id, Context& loop);
  void while_loop(OpId id, Context& loop);
  void carry(OpId exit, Context& loop, bool is_break);
  void begin_masks(Context& loop, V mask);
  V for_runs(Type t, V lo, V hi, V step);
  V for_goes_on(V i, V hi, V step);
  void yield_if(OpId exit, Context& c);
  enum class From : uint8_t { Iteration, Loop, Body };
  void take_out(V mask, From from);
  void pure_op(OpId id);
  V first_lanes(OpId id);
  void subgroup_op(OpId id);
  bool speculatable(BlockId block, int& budget) const;
  void select_arm(BlockId block, std::vector<ValueId>& yields);
  V select_lanes(V mask, V a, V b);
  Context* innermost_loop();
  void load_args(Context& loop);
  void store_carried(Slot s, V value, bool blend);
  void finish_loop(Context& loop);
  void refresh_active(V before, OpId rest, BB end);
  BB block(const char* name);
  void go(BB to);  // a branch, unless the block has ended
  void enter(BB bb) { b_.SetInsertPoint(bb); }
  void branch(V condition, BB yes, BB no, int likely = -1);
  bool ended() const { return b_.GetInsertBlock()->getTerminator() != nullptr; }

  // ---- likely_runs.cc
  std::optional<Run> likely_run(OpId op);  // the run of a pure op's result
  std::optional<V> run_condition(OpId op, llvm::ArrayRef<V> bases, llvm::ArrayRef<int64_t> strides,
                                 V base);
  std::optional<V> reaches(Type t, int64_t stride, V left);
  std::optional<Run> run_of(ValueId v);  // by scalars only
  Run index_run(ValueId index);          // by scalars, or by a test of all lanes
  std::optional<Run> either_run(ValueId condition, ValueId yes, ValueId no, ValueId result);
  V both(V a, V b);  // conditions; null is true
  /// The numbers of the first and the last lane, and whether the run does not wrap between.
  struct Ends {
    V first = nullptr, last = nullptr, straight = nullptr;
  };
  Ends ends_of(ValueId v, V base);
  V compute_lanes(ValueId v, std::map<ValueId, V>& done);  // again, where it is needed

  // ---- llvm_memory.cc, stores.cc
  /// The memory location of an access.
  struct Place {
    BufferId buffer{0};
    V pointer = nullptr;
    V limit = nullptr;              // i64: indices below are inside
    std::optional<uint64_t> known;  // … if it is a constant
    Type element = Type::U32;
    llvm::Type* raw = nullptr;  // of an element in memory
    unsigned size = 1;          // of it
    unsigned scale = 1;         // bytes of an index step
    unsigned align = 1;
    uint32_t plus = 0;  // added to the index, as a number
    bool is_private = false;
    uint64_t lane_bytes = 0;   // private: from lane to lane
    bool proved = false;       // active lanes are inside
    bool is_constant = false;  // never written
    bool racy = false;         // other invocations may write it meanwhile
  };
  Place place_of(OpId op, uint32_t plus = 0);
  void load_op(OpId op);
  void store_op(OpId op);
  V load_raw(const Place& p, ValueId index);
  V load_scalar(const Place& p, ValueId index);
  V load_dense(const Place& p, ValueId index);
  V load_run(const Place& p, ValueId index, int64_t stride);  // strided.cc
  V load_wide(const Place& p, V first, int64_t stride);       // strided.cc
  V load_gather(const Place& p, ValueId index);
  V call_gather(const Place& p, ValueId index);
  V load_private(const Place& p, ValueId index);
  V gather(const Place& p, V index);
  void store_raw(const Place& p, ValueId index, V raw);
  void store_one(const Place& p, ValueId index, V raw);
  void store_dense(const Place& p, ValueId index, V base, V raw);
  void store_likely(const Place& p, ValueId index, V raw);
  void store_scatter(const Place& p, ValueId index, V raw);
  void store_private(const Place& p, ValueId index, V raw);
  void call_scatter(const Place& p, V index, V raw);
  V index64(const Place& p, ValueId index, bool scalar);  // out of range stays so
  V to_index64(const Place& p, Type type, V value);
  bool is_dense(const Place& p, ValueId index);
  std::optional<int64_t> run_stride(const Place& p, ValueId index);  // in elements
  bool has_native_gather(const Place& p) const;
  V dense_limit(const Place& p, Type index,
                uint64_t span);              // i64: bases below are inside with all lanes
  V last_index(const Place& p, Type index);  // of the index's type
  V inside(const Place& p, ValueId index, V* clamped);
  bool surely_inside(const Place& p, ValueId index);
  bool within_limit(const Place& p, ValueId index);
  V address(const Place& p, V index64);
  V load_at(const Place& p, V address, llvm::Type* type);
  void store_at(const Place& p, V address, V value);
  V first_lane(V mask);  // i64: the number of its lowest lane
  V arena_at(uint64_t offset);
  bool has_masked_access(llvm::Type* raw) const;
  /// True if an index that increases by `span` over the lanes wraps to 0 at most once.
  static bool wraps_once(Type index, uint64_t span) {
    return span <= low_mask(width_of(index) - is_signed(index));
  }
  llvm::SmallVector<std::pair<V, V>, 2> split_run(const Place& p, ValueId index, V base, V mask);
  // Functions for rare or long operations; one for each kind.
  llvm::Function* gather_function(const Place& p, llvm::Type* index);
  llvm::Function* gather_run_function(const Place& p, Type index_type);
  llvm::Function* scatter_function(const Place& p, bool run, Type index_type);
  V wrap_bits(Type index);
  V run_index(llvm::IRBuilder<>& b, const Place& p, V first, V lane, V wrap, bool with_sign);
  llvm::Function* helper(const std::string& name, llvm::Type* result,
                         llvm::ArrayRef<llvm::Type*> args, bool* is_new);
  std::string type_name(llvm::Type* type) const;

  // ---- llvm_atomics.cc
  void atomic_op(OpId op);
  llvm::Function* atomic_function(OpId op, bool plain);
  V atomic_step(llvm::IRBuilder<>& b, OpId op, bool plain, V address, V value, V value2);
  bool atomic_reduced(OpId op, bool plain);

  // ---- lines.cc
  void begin_lines();
  /// While it lives, generated instructions have the debug location of this op.
  class Line {
   public:
    Line(Emitter& emitter, OpId op);
    ~Line();
    Line(const Line&) = delete;

   private:
    Emitter& emitter_;
    llvm::DebugLoc before_;
  };

  // ---- llvm_traps.cc
  void assert_op(OpId op);
  void trap_lanes(V mask, V codes, OpId op);

  struct Context {
    OpId op = none;
    bool is_loop = false;
    bool masked = false;  // lanes part here
    BB next = nullptr;    // of a loop: where an iteration ends
    BB exit = nullptr;
    V entered = nullptr;        // active lanes before it
    Slot run = nullptr;         // lanes of the next iteration
    Slot live = nullptr;        // lanes of this iteration; may be run itself
    std::vector<Slot> values;   // carried, or results of an if
    std::vector<Slot> results;  // of a loop where they are kept apart
    std::vector<bool> shared;   // of a loop: the slot belongs to the loop around
    bool blend = false;         // slots hold the values of other lanes
  };

  const Prepared& k_;
  const Program& p_;
  const EmitOptions& options_;
  Module::State& state_;
  llvm::LLVMContext& c_;
  llvm::Module& m_;
  llvm::IRBuilder<> b_;
  OpLowering low_;
  const unsigned S_;
  const Shapes shapes_;
  const LikelyStrides likely_;
  const Stretches stretches_;
  const SharedSlots shared_;
  const IdMap<BufferId, bool> needs_zeros_;  // by buffer: arrays
  unsigned mask_width_ = 1;                  // bits of a lane of a mask in a slot

  llvm::Function* f_ = nullptr;
  llvm::DISubprogram* lines_ = nullptr;  // if options_.lines
  BB start_ = nullptr;  // the function's first block: slots and values that are loaded once
  V args_ = nullptr, arena_ = nullptr, stop_ = nullptr;
  llvm::GlobalVariable* zeros_ = nullptr;
  V group_[3] = {};      // i32, of the current workgroup
  V counts_[3] = {};     // i32, workgroups of the launch
  V abreast_ = nullptr;  // i32, workgroups from the current one on that run abreast; null: one
  IdMap<BufferId, V> counts_of_, pointers_, scalars_;
  IdMap<BufferId, V> array_base_;  // by buffer: shared and private arrays
  std::map<std::tuple<V, uint64_t, unsigned, bool>, V> limits_;
  std::map<std::pair<BufferId, unsigned>, V> byte_limits_;
  IdMap<BufferId, bool> lane_major_;  // private arrays that are read by the byte
  std::map<std::string, llvm::Function*> helpers_;
  IdMap<BufferId, llvm::MDNode*> scope_, noalias_;
  IdMap<BufferId, uint64_t> array_offset_;
  uint64_t private_stride_ = 0;  // bytes of a subgroup's private arrays
  uint64_t arena_bytes_ = 0, spill_offset_ = 0, live_offset_ = 0, dummy_offset_ = 0;

  IdMap<ValueId, Made> made_;
  std::map<std::pair<Opcode, uint64_t>, Made> ids_;  // of the current parallel region
  IdMap<ValueId, Slot> home_slot_;                   // by value, where a home is a scalar
  uint32_t epoch_ = 0;
  uint32_t stretch_count_ = 0;
  std::vector<OpId> pending_;  // ops of the parallel region that is being collected
  BB stretch_entry_ = nullptr, stretch_end_ = nullptr;
  V subgroup_ = nullptr;           // i64, number of the subgroup
  V active_ = nullptr;             // a mask; null: all
  Slot body_live_ = nullptr;       // lanes that have not returned
  std::vector<Context> contexts_;  // enclosing ifs and loops
  std::vector<uint32_t> loops_;    // those of them that are loops
  bool speculating_ = false;       // inactive lanes may execute this code
  std::set<OpId> selected_;        // ifs whose branches were both executed
  V test_all_ = nullptr;           // … and a condition besides, for all lanes together
  V test_ = nullptr;               // of the while whose test was generated last
};

}  // namespace vyre::emit_llvm
