#pragma once

// The state of writing one kernel. The parts: ptx_kernel.cc the entry, registers, and values that
// are computed once; ptx_arrays.cc the kernel's arrays and tables; ptx_control.cc control flow;
// ptx_memory.cc, ptx_vectors.cc, ptx_elements.cc loads and stores; ptx_atomics.cc; ptx_sync.cc
// barriers, traps and the stop flag; ptx_ops*.cc pure ops; ptx_subgroup.cc and
// ptx_subgroup_pair.cc.
//
// Registers: bool is a predicate; integers up to 32 bits are in 32-bit registers, always sign- or
// zero-extended as their type says; 64-bit integers, f32 and f64 have their own registers. A value
// of the program has one register, which control ops may write at several points.

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/common/constants.h"
#include "codegen/common/gpu_analysis.h"
#include "codegen/common/lowered_program.h"
#include "codegen/ptx/ptx_emit.h"
#include "support/append.h"

namespace vyre::emit_ptx {

class Emitter {
 public:
  Emitter(const LoweredProgram& lowered, const GpuAnalysis& analysis, const Program& given,
          const EmitOptions& options);
  Kernel run();

 private:
  using Text = std::string;  // a register or an immediate

  // ---- Writing.
  /// One instruction: the operands go where the format has {}.
  template <class... Args>
  void ins(fmt::format_string<Args...> format, Args&&... args) {
    out_->push_back('\t');
    append(*out_, format, std::forward<Args>(args)...);
    out_->append(";\n");
  }
  void label(uint32_t n) { append(*out_, "$L{}:\n", n); }
  uint32_t new_label() { return labels_++; }
  /// Code for the kernel's start, which everything may use.
  template <class Fn>
  void at_start(Fn&& fn) {
    std::string* const saved = out_;
    out_ = &start_;
    fn();
    out_ = saved;
  }

  // ---- ptx_kernel.cc: registers and values.
  enum class Class : uint8_t { Pred, Half, Word, Long, Float, Double };
  static Class class_of(Type t);
  Text temp(Class c);
  Text temp(Type t) { return temp(class_of(t)); }
  Text word() { return temp(Class::Word); }
  Text wide() { return temp(Class::Long); }
  Text pred() { return temp(Class::Pred); }
  /// An operand: a register, or an immediate of a constant.
  Text get(ValueId v);
  /// The same, always a register.
  Text reg(ValueId v);
  /// The register of a value; allocated if there is none yet.
  Text dest(ValueId v);
  void set(ValueId v, Text text) { made_[v] = std::move(text); }
  std::optional<uint64_t> constant(ValueId v) const { return constant_bits(p_, v); }
  Text immediate(Type t, uint64_t bits) const;
  Text bool_constant(bool b);
  void move(Type t, const Text& to, const Text& from);
  Text moved(Type t, const Text& from);  // into a new register

  // ---- ptx_kernel.cc: the entry.
  void header();
  void footer();
  Text param(uint32_t offset, std::string_view type, Class c);
  Text pointer_of(BufferId buffer);  // 64 bits: of parameters and tables, and private arrays
  Text shared_base();                // 32 bits
  Text count_of(BufferId buffer);    // 64 bits, a register or an immediate
  Text num_workgroups(uint32_t dim);
  Text workgroup_id(uint32_t dim);
  Text local_id(uint32_t dim);
  Text global_id(uint32_t dim);
  Text linear_id();  // in the workgroup
  Text special(const char* name);
  void id_op(OpId op);
  void line_of(OpId op);

  // ---- ptx_arrays.cc
  void arrays();
  void clear_arrays();

  // ---- ptx_control.cc
  struct Loop {
    OpId op = none;
    uint32_t next = 0, exit = 0;  // labels
    bool continued = false;       // a jump to `next` was written
  };
  void block(BlockId b);
  void op(OpId id);
  void if_op(OpId id);
  void for_op(OpId id);
  uint32_t bodies_of(OpId loop) const;
  void while_op(OpId id);
  void leave(OpId exit);
  void give(std::span<const ValueId> from, std::span<const ValueId> to);
  void begin_loop(OpId id, Loop& loop, std::span<const ValueId> init,
                  std::span<const ValueId> args);
  bool falls_through(BlockId b) const;

  // ---- ptx_sync.cc
  void barrier(Scope scope, OpId at);
  void workgroup_barrier();
  void grid_barrier(OpId at);
  void uniform_load(OpId id);
  void assert_op(OpId id);
  void trap(const Text& code, OpId id);
  void poll(OpId loop, uint32_t to);
  void trap_tail();
  void stop_tail();
  Text control();
  Text stop_flag();

  // ---- ptx_ops.cc and its kin: results go to a new register, or to `to` if it is given.
  void pure_op(OpId id);
  /// The op on operands that are texts already. Not for casts.
  void compute(Opcode code, Type t, const Text& to, std::span<const Text> in);
  void integer(Opcode code, Type t, const Text& to, std::span<const Text> in);
  void floating(Opcode code, Type t, const Text& to, std::span<const Text> in);
  void boolean(Opcode code, const Text& to, std::span<const Text> in);
  bool compare(Opcode code, Type t, const Text& to, std::span<const Text> in);
  void select(Type t, const Text& to, const Text& c, const Text& a, const Text& b);
  Text amount_of(OpId shift);
  void count_bits(Opcode code, Type t, const Text& to, const Text& bits);
  void cast(Type to, Type from, const Text& result, const Text& x);
  void float_to_int(Type to, Type from, const Text& result, const Text& x);
  void bitcast(Type to, Type from, const Text& result, const Text& x);
  void normalize(Type t, const Text& to, const Text& from);  // narrow types: extended again
  bool never_nan(ValueId v) const { return vyre::never_nan(p_, v); }

  // ---- ptx_memory.cc, ptx_elements.cc, ptx_vectors.cc
  struct Place {
    BufferId buffer{0};
    std::string_view space;  // ".global", ".shared", ".local"
    std::string_view load;   // "ld.global.nc", …
    std::string_view store;
    Type element = Type::U32;
    uint32_t scale = 1;   // bytes of a step of the index
    Text address;         // a register
    uint64_t offset = 0;  // added to it
    Text inside;          // a predicate; "" if it is proved
  };
  Place place_of(OpId id, uint32_t scale);
  Text inside(BufferId buffer, ValueId index, uint32_t plus);
  Text inside_bytes(BufferId buffer, ValueId index, uint32_t size);
  void address(Place& p, ValueId index);
  Text guard(const Place& p) const { return p.inside.empty() ? "" : fmt::format("@{} ", p.inside); }
  void load_op(OpId id);
  void store_op(OpId id);
  void load_n(OpId id);
  void store_n(OpId id);
  void load_as(OpId id);
  bool as_vector(OpId id, uint32_t n) const;
  void load_element(const Place& p, uint32_t k, const Text& to);
  void store_element(const Place& p, uint32_t k, ValueId value);
  void load_vector(const Place& p, std::span<const ValueId> results);
  void store_vector(const Place& p, std::span<const ValueId> values);
  struct Raw {
    Type type;
    Class cls;
    std::string_view suffix;
  };
  static Raw raw_of(Type element);
  void from_raw(Type element, const Text& to, const Text& raw);
  Text to_raw(Type element, ValueId value, bool visible);
  Text canonical_bits(Type t, ValueId value);
  bool is_visible(BufferId buffer) const { return is_host_output(p_.buffers[buffer].role); }

  // ---- ptx_atomics.cc
  void atomic_op(OpId id);
  struct Atomic {
    Place place;
    std::string_view order, scope, what, how;  // "relaxed", "cta", "add", "u64"
  };
  void swap_until_same(const Atomic& a, Type t, const Text& old, const Text& v);

  // ---- ptx_subgroup.cc, ptx_subgroup_pair.cc
  void subgroup_op(OpId id);
  void reduce(Opcode code, Type t, const Text& to, Text v);
  void scan_add(Type t, const Text& to, Text v);
  /// The exclusive scan of v, a step for each power of two. `below(d, there)`: the value of v that
  /// is d lanes below, and in `there` whether that lane is in the subgroup.
  void scan_steps(Type t, const Text& to, Text& v, uint32_t lanes,
                  const std::function<Text(uint32_t, const Text&)>& below);
  void move_lanes(OpId id);
  void vote(OpId id);
  void reduce_bools(Opcode code, const Text& to, const Text& v);
  Text lane();         // in the subgroup
  Text member_mask();  // of the lane's subgroup, in the warp
  Text live_mask();    // … without trapped lanes; one register for all of a subgroup op
  Text warp_lane();
  Text warp_mask();
  Text segment();  // the first lane of the subgroup in the warp
  bool may_lack_lanes() const { return f_.has_traps || f_.invocations % f_.lanes != 0; }
  Text shuffle(std::string_view mode, Type t, const Text& v, const Text& lane, const Text& mask);
  // Subgroups of two warps exchange values in shared memory.
  bool is_pair() const { return f_.lanes == 64; }
  bool uses_pairs() const { return is_pair() && f_.has_subgroup_ops; }
  void pair_sync();
  void pair_put(Type t, const Text& v);
  /// The value that a lane (0 … 63) of the subgroup has put. `exists`: a predicate.
  Text pair_get(Type t, const Text& from, Text* exists);
  void pair_reduce(Opcode code, Type t, const Text& to, Text v);
  void pair_scan(Type t, const Text& to, Text v);
  void pair_ballot(const Text& v, const Text& yes, const Text& live);

  const LoweredProgram& lowered_;
  const GpuAnalysis& f_;
  const Program& p_;
  const Program& given_;
  const EmitOptions& options_;
  KernelInfo info_;
  std::string head_, start_, body_;
  std::string* out_ = &body_;
  IdMap<ValueId, Text> made_;            // by value
  std::array<uint32_t, 6> registers_{};  // by class: how many
  uint32_t labels_ = 0;
  IdMap<BufferId, uint32_t> offsets_;  // by buffer: in the parameter block
  std::vector<Loop> loops_;
  std::map<std::string, Text, std::less<>> once_;  // values computed at the kernel's start, by name
  std::map<std::string, uint32_t, std::less<>> files_;  // of `.loc`
  LocId last_line_ = none;
  Text poll_counter_;
  bool trap_tail_ = false, stop_tail_ = false;
  Text trap_code_, trap_op_, stop_op_;
  uint32_t trap_label_ = 0, stop_label_ = 0;
  // Offsets in shared memory, after the program's arrays.
  uint64_t pair_slots_ = 0, pair_turns_ = 0, uniform_slot_ = 0;
  Text pair_turn_;

  /// Computes something once, at the kernel's start.
  template <class Fn>
  Text once(std::string_view key, Fn&& make) {
    if (const auto it = once_.find(key); it != once_.end()) return it->second;
    Text made;
    at_start([&] { made = make(); });
    once_.emplace(std::string(key), made);
    return made;
  }
};

/// "s32", "u64", "f32", … as arithmetic wants it; narrow integers work in 32 bits.
std::string_view suffix(Type t);
/// "b32" or "b64".
std::string_view bits_suffix(Type t);

}  // namespace vyre::emit_ptx
