#pragma once

// The state of writing one function: the kernel, or a function that it calls. The parts:
// spirv_functions.cc and spirv_kernel.cc the functions, parameters and ids; spirv_values.cc types,
// constants and wide numbers; spirv_arrays.cc the kernel's arrays and tables; spirv_control.cc
// control flow; spirv_memory.cc, spirv_vectors.cc, spirv_elements.cc loads and stores;
// spirv_atomics.cc; spirv_sync.cc barriers and the stop flag; spirv_traps.cc; spirv_ops*.cc pure
// ops; spirv_subgroup.cc and spirv_lanes.cc.
//
// A value of the program is one id. bool is a bool; integers up to 32 bits are 32 bits, always
// sign- or zero-extended as their type says; 64-bit integers, f32 and f64 have their own types.
// Blocks pass values through phis.

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "codegen/common/constants.h"
#include "codegen/spirv/spirv_analysis.h"
#include "codegen/spirv/spirv_unit.h"

namespace vyre::emit_spirv {

class Emitter {
 public:
  Emitter(const LoweredProgram& lowered, const SpirvAnalysis& analysis, const Program& given,
          const EmitOptions& options, Unit& unit);
  Kernel run();

 private:
  // ---- Writing.
  using Operands = std::initializer_list<uint32_t>;
  Id ins(spv::Op op, Id type, Operands operands) {
    const Id result = m_.new_id();
    put(op, type, result, operands);
    return result;
  }
  void put(spv::Op op, Id type, Id result, std::span<const uint32_t> operands) {
    out_->put(op, {type, result}, operands);
  }
  void put(spv::Op op, Id type, Id result, Operands operands) {
    put(op, type, result, std::span(operands.begin(), operands.size()));
  }
  void eff(spv::Op op, Operands operands) { out_->put(op, operands); }
  /// Arithmetic of floats: never contracted.
  Id exact(spv::Op op, Id type, Operands operands);
  Id extended(uint32_t what, Id type, Operands operands);  // GLSL.std.450
  struct Incoming {
    Id value, label;
  };
  Id phi(Id type, std::span<const Incoming> from, Id result = 0);
  void begin(Id label) {
    eff(spv::OpLabel, {label});
    here_ = label;
  }
  void jump(Id label) { eff(spv::OpBranch, {label}); }
  Id label() { return m_.new_id(); }
  /// Words for the function's start, which everything may use.
  template <class Fn>
  void at_start(Fn&& fn) {
    if (out_ == &start_) return fn();
    Words* const out = out_;
    const Id here = here_;
    out_ = &start_;
    here_ = start_here_;
    fn();
    start_here_ = here_;
    out_ = out;
    here_ = here;
  }
  /// Runs `fn` where the condition holds; 0: everywhere.
  template <class Fn>
  void when(Id condition, Fn&& fn) {
    if (!condition) return fn();
    const Id yes = label(), end = label();
    eff(spv::OpSelectionMerge, {end, 0});
    eff(spv::OpBranchConditional, {condition, yes, end});
    begin(yes);
    apart(fn);
    jump(end);
    begin(end);
  }
  /// The same for values: zeros where the condition is false.
  template <class Fn>
  Id when_value(Id condition, Id type, Fn&& fn) {
    if (!condition) return fn();
    const Id before = here_, zero = m_.constant_null(type);
    Id value = 0, at = 0;
    when(condition, [&] {
      value = fn();
      at = here_;
    });
    const Incoming from[] = {{zero, before}, {value, at}};
    return phi(type, from);
  }

  // ---- spirv_values.cc
  Id u32() { return u32_; }
  Id u64() { return m_.type_int(64); }
  Id b() { return bool_; }
  Id type_of(Type t);
  Id words(uint32_t n) { return n == 1 ? u32() : m_.type_vector(u32(), n); }
  Id c32(uint32_t value) { return m_.constant(value); }
  Id bit(bool value) { return m_.constant_bool(value); }
  Id constant_of(Type t, uint64_t bits);
  Id zero_of(Type t) { return constant_of(t, 0); }
  Id get(ValueId v);
  void set(ValueId v, Id id) { made_[v] = id; }
  std::optional<uint64_t> constant(ValueId v) const { return constant_bits(p_, v); }
  /// The same number, hidden from the device's compiler.
  Id hidden(Type t, Id x);
  Id unseen(uint32_t bits);
  Id unseen(Type t, uint64_t bits);
  Id sign_mask(uint32_t bits);
  Id limit(uint32_t bits);
  Id select(Type t, Id c, Id a, Id b) { return ins(spv::OpSelect, type_of(t), {c, a, b}); }
  Id both(Id a, Id b_) { return !a ? b_ : !b_ ? a : ins(spv::OpLogicalAnd, b(), {a, b_}); }
  Id negated(Id a) { return ins(spv::OpLogicalNot, b(), {a}); }
  /// The bits of a float, and back.
  Id bits_of(Type t, Id x);
  Id from_bits(Type t, Id bits);
  Id part(Id vector, uint32_t k) { return ins(spv::OpCompositeExtract, u32(), {vector, k}); }
  Id pair(Id low, Id high) { return ins(spv::OpCompositeConstruct, words(2), {low, high}); }
  // 64-bit numbers that the emitter adds: one id, or two words where the device has no 64-bit
  // integers. (Programs then have no 64-bit values, nor f64: see legalize/expand.h.)
  struct Wide {
    Id low = 0, high = 0;
  };
  bool has64() const { return options_.profile.int64; }
  Wide wide(uint64_t value);
  Wide wide_of(Type t, Id x);  // an integer of the program as a number, its sign extended
  Wide wide_words(Id low, Id high);
  Wide add(Wide a, Wide b);
  Wide times(Wide a, uint32_t by);
  Id below(Wide a, Wide b);
  Id low_word(Wide a);
  Id high_word(Wide a);

  // ---- spirv_functions.cc
  struct Signature {
    std::string name;
    Id result = 0;  // the type; 0: nothing
    std::vector<Id> parameters;
  };
  Id function(const Signature& s, const std::function<Id(std::span<const Id>)>& body);
  Id call(Opcode code, Type t, std::span<const Id> in);
  Id form_function(Opcode code, Type t);

  // ---- spirv_kernel.cc
  void place_parameters();
  void choose_subgroups();
  Id push_constants();
  Id pushed(uint32_t offset, uint32_t width);
  Id param(uint32_t offset, uint32_t width);
  Id param_word(uint32_t offset);
  Wide param_wide(uint32_t offset);
  Wide pointer_of(BufferId buffer);
  Wide count_of(BufferId buffer);
  Id low_count(BufferId buffer);  // all of it where it fits
  Id num_workgroups(uint32_t dim) { return param_word(num_workgroups_offset + 4 * dim); }
  Id workgroup_id(uint32_t dim);
  Id local_id(uint32_t dim);
  Id global_id(uint32_t dim);
  bool follows_lanes() const;
  Id linear_id();
  Id builtin_word(spv::BuiltIn what);
  Id builtin_part(spv::BuiltIn what, uint32_t dim);
  void leave_if(Id condition);
  void place_in_grid();
  void id_op(OpId id);
  void line_of(OpId id);
  void modes();
  Id function_variable(Id type, Id initial);

  // ---- spirv_arrays.cc
  Id array_of(BufferId buffer);  // the variable
  Id element_type(BufferId buffer);
  uint32_t elements(BufferId buffer) const;
  void clear_shared();
  void clear_private();
  void for_each(Id first, uint32_t end, uint32_t step, const std::function<void(Id)>& body);
  Id shared_words(const char* name, uint32_t count);  // memory that the emitter adds

  // ---- spirv_control.cc
  /// The state of the current block. On: it continues. Trapped: its invocations have trapped and
  /// skip the rest of the block. Gone: no invocation reaches it.
  enum class Flow : uint8_t { On, Trapped, Gone };
  struct Edge {
    Id label = 0;
    std::vector<Id> values;
    bool trapped = false;
    Id stopped = 0;  // a bool; 0: false
  };
  struct Loop {
    OpId op = none;
    Id next = 0, exit = 0;
    Id left = 0;  // where devices may end loops: the address of a word that is 1 if an exit left it
    std::vector<Id> args;
    std::vector<Edge> backs, exits;
  };
  void block(BlockId b);
  void op(OpId id);
  void if_op(OpId id);
  void for_op(OpId id);
  bool is_unrolled(OpId loop) const;
  uint32_t bodies_of(OpId loop) const;
  std::optional<uint64_t> last_of(OpId loop) const;
  void while_op(OpId id);
  void leave(OpId exit);
  std::vector<Id> gather(std::span<const ValueId> values);
  OpId only_break(BlockId block) const;
  bool break_if(OpId op);
  Loop new_loop(OpId op);
  void open_left(Loop& loop);
  void set_left(const Loop& loop, Id is_left);
  void report_cut(const Loop& loop);
  void end_body(Loop& loop);
  Id leave_at_back_edge(const Loop& loop, Id back);
  void go_back(Loop& loop, Id head, Id back, std::vector<Id>& next, Id leaves);
  void end_loop(Loop& loop);
  void begin_next(Loop& loop, std::span<const Id> next);
  std::vector<Id> open_loop(Loop& loop, Id before, std::span<const ValueId> init, Id back,
                            std::span<const Id> next);

  // ---- spirv_sync.cc
  enum class Meeting : uint8_t { Alone, Subgroup, Workgroup };
  void barrier(Scope scope);
  void control_barrier(spv::Scope scope);
  void uniform_load(OpId id);
  bool checks_at_back_edge(OpId loop) const;
  Meeting meeting_of(OpId loop) const;
  Id check_back_edge(OpId loop);
  Id poll_alone(OpId loop);
  Id poll_together(OpId loop);
  Id poll_lanes(OpId loop);
  Id stop_requested(OpId loop);
  Id stop_pointer();
  Id look_sometimes(Id counter, uint32_t weight, const std::function<Id()>& look);
  Id counter(Meeting m);
  Id alive();  // a bool: this invocation has not trapped; 0 if none can
  Id if_alive(Id condition) { return both(condition, alive()); }

  // ---- spirv_traps.cc
  void trap(Id code, OpId id);
  void assert_op(OpId id);
  Id trap_function();
  void tell_trap(std::span<const Id> parameters);
  Wide product(Wide a, Wide b);
  Id control_pointer(uint32_t offset, Id type);

  // ---- spirv_ops.cc and its kin
  void pure_op(OpId id);
  Id operand_of(OpId id, uint32_t k);
  Id compute(Opcode code, Type t, std::span<const Id> in);
  Id compute_hidden(Opcode code, Type t, std::span<const Id> in);
  Id compute_number(Opcode code, Type t, std::span<const Id> in);
  Id integer(Opcode code, Type t, std::span<const Id> in);
  Id floating(Opcode code, Type t, std::span<const Id> in);
  Id boolean(Opcode code, std::span<const Id> in);
  Id compare(Opcode code, Type t, std::span<const Id> in);
  Id saturate_by_carry(bool adds, Id a, Id b);
  Id extend_by_shifts(OpId id);
  Id amount_of(OpId shift);
  Id high_product(Type t, Id a, Id b);
  Id cast(Type to, Type from, Id x);
  Id bitcast(Type to, Type from, Id x, bool never_nan);
  Id normalize(Type t, Id x);
  Id sign_extended(Id x, uint32_t width);
  Id is_nan(Type t, Id bits);
  Id magnitude_of(Type t, Id bits);
  bool never_nan(ValueId v) const { return vyre::never_nan(p_, v); }
  /// The least or largest of two integers.
  Id pick(Type t, bool least, Id a, Id b);

  // ---- spirv_memory.cc, spirv_elements.cc, spirv_vectors.cc
  enum class Space : uint8_t { Buffer, Shared, Private, Table };
  struct Place {
    BufferId buffer{0};
    Space space = Space::Buffer;
    Type element = Type::U32;
    Wide address;   // Buffer: of element 0 of the access
    Id index = 0;   // arrays
    Id inside = 0;  // a bool; 0 if it is proved
  };
  Space space_of(BufferId buffer) const;
  Id inside(BufferId buffer, ValueId index, uint32_t plus);
  Id inside_short(BufferId buffer, ValueId index);
  Id inside_wide(BufferId buffer, ValueId index, uint32_t plus);
  Id inside_bytes(BufferId buffer, ValueId index, uint32_t size);
  Id limit32(BufferId buffer);
  bool is_outside_always(Id inside) const { return inside && inside == never_; }
  Wide index_of(ValueId index, uint32_t scale);
  Wide address(BufferId buffer, ValueId index, uint32_t scale);
  Id index32(ValueId index);
  Place place_of(OpId id);
  Id pointer(Wide address, Id type);
  Id element_pointer(Wide address, Id type);
  Id lane_zero();
  Id array_pointer(const Place& p, Id index);
  Wide moved_by(Wide address, uint32_t bytes);
  /// Plain accesses: aligned, and part of the order where others may write.
  Id load(Id pointer, Id type, Space space, BufferId buffer, uint32_t align);
  void store(Id pointer, Id value, Space space, BufferId buffer, uint32_t align);
  void load_op(OpId id);
  void store_op(OpId id);
  void load_n(OpId id);
  void store_n(OpId id);
  void load_as(OpId id);
  bool as_vector(OpId id, uint32_t n) const;
  Id inside_all(BufferId buffer, ValueId index, uint32_t n);
  std::vector<Id> load_vector(const Place& p, uint32_t n);
  void store_vector(const Place& p, std::span<const Id> raw);
  /// True if the address of zeros is available.
  bool has_zeros() const;
  Wide zeros();
  Id load_element(const Place& p, uint32_t k);
  void store_element(const Place& p, uint32_t k, Id raw);
  Id raw_load(const Place& p, uint32_t k);
  Id narrow_load(const Place& p, uint32_t k);
  void narrow_store(const Place& p, uint32_t k, Id raw);
  bool is_word_access(BufferId buffer) const;
  bool has_narrow(uint32_t size) const;
  struct Piece {
    Id pointer = 0;  // of the word
    Id shift = 0;    // bits
  };
  Piece piece_of(const Place& p, uint32_t k);
  Id word_at(const Place& p, Id word);  // of an array of words, halves or wide elements
  Id raw_type(Type element);
  Id from_raw(Type element, Id raw);
  Id to_raw(Type element, ValueId value, bool visible);
  Id canonical_bits(Type t, Id x, bool never_nan);
  Id half_to_float(Id raw);
  Id float_to_half(Id x);
  bool is_visible(BufferId buffer) const { return is_host_output(p_.buffers[buffer].role); }
  bool is_shared_order(BufferId buffer) const;

  // ---- spirv_atomics.cc
  void atomic_op(OpId id);
  Id atomic(OpId id, const Place& place);
  Id add_float_natively(OpId id, const Place& place, Id at, Id scope, Id order);
  Id add_float(Id pointer, Id v, Id scope, Id order);
  Id semantics(uint32_t order, bool of_buffers = true);
  Id scope_of(spv::Scope s) { return c32(static_cast<uint32_t>(s)); }

  // ---- spirv_subgroup.cc, spirv_lanes.cc
  void subgroup_op(OpId id);
  Id reduce(Opcode code, Type t, Id v);
  Id reduce_natively(Opcode code, Type t, Id v);
  Id scan_add(Type t, Id v);
  Id move_lanes(OpId id);
  Id ballot_word(Id condition, uint32_t word);
  Id any_lane(Id condition);
  Id lane();
  Id lanes_first();  // the number of the subgroup's first invocation in the workgroup
  Id native_lane();
  Id segment();  // the first lane of the subgroup in the device's
  /// Each lane's value v, as seen in lane `from` of the subgroup.
  Id exchange(Type t, Id v, Id from);
  void lanes_barrier();
  bool lacks_lanes() const { return f_.invocations % f_.lanes != 0; }

  const LoweredProgram& lowered_;
  const SpirvAnalysis& f_;
  const Program& p_;
  const Program& given_;
  const EmitOptions& options_;
  Unit& unit_;
  KernelInfo& info_;
  Module& m_;
  Id u32_ = 0, bool_ = 0;
  Words start_, body_, variables_;
  Words* out_ = &body_;
  Id here_ = 0, start_here_ = 0;       // the block that is being written
  IdMap<ValueId, Id> made_;            // by value
  bool in_unrolled_ = false;           // the body of a loop that is to be unrolled
  std::unordered_set<Id> opaque_;      // numbers that are hidden from the device's compiler
  IdMap<BufferId, uint32_t> offsets_;  // by buffer: in the parameter block
  IdMap<BufferId, Id> arrays_;         // by buffer
  std::vector<Loop*> loops_;
  std::vector<Id> yielded_;
  Flow flow_ = Flow::On;
  // Values that were computed at the function's start.
  struct OnceKey {
    OnceKey(std::string_view literal, uint64_t of = 0, uint32_t and_of = 0)
        : first(of), second(and_of), name(literal) {}
    OnceKey(std::string_view literal, BufferId of) : OnceKey(literal, of.value()) {}
    uint64_t first;
    uint32_t second;
    std::string_view name;  // last: it takes longest to compare
    auto operator<=>(const OnceKey&) const = default;
  };
  std::map<OnceKey, Wide> once_;
  // Values that were computed from an index before, in this block or one around it.
  enum class Fact : uint32_t { Inside, Distance, Address };
  struct FactKey {
    Fact what;
    BufferId buffer;
    uint32_t number;
    Id index;
    Type type;  // of the index
    auto operator<=>(const FactKey&) const = default;
  };
  std::map<FactKey, Wide> known_;
  std::vector<FactKey> known_order_;
  LocId last_line_ = none;
  Id never_ = 0;        // the result of inside() for an index that is always outside
  Id dead_ = 0;         // a variable
  Id left_ = 0;         // an array: for each loop, whether an exit of the loop left it
  uint32_t lefts_ = 0;  // elements of it in use
  Id trap_function_ = 0;
  std::array<Id, 3> counters_ = {0, 0, 0};

  template <class Fn>
  Wide known(const FactKey& key, Fn&& make) {
    if (const auto it = known_.find(key); it != known_.end()) return it->second;
    const Wide made = make();
    known_.emplace(key, made);
    known_order_.push_back(key);
    return made;
  }
  /// Emits code that may be skipped: values computed in it are not known after it.
  template <class Fn>
  void apart(Fn&& fn) {
    const size_t before = known_order_.size();
    fn();
    for (; known_order_.size() > before; known_order_.pop_back()) known_.erase(known_order_.back());
  }

  /// Computes something once, at the function's start.
  template <class Fn>
  Id once(const OnceKey& key, Fn&& make) {
    return once_wide(key, [&] { return Wide{make(), 0}; }).low;
  }
  template <class Fn>
  Wide once_wide(const OnceKey& key, Fn&& make) {
    if (const auto it = once_.find(key); it != once_.end()) return it->second;
    Wide made;
    at_start([&] { made = make(); });
    once_.emplace(key, made);
    return made;
  }
};

/// The integer that has the bits of a float.
Type bits_as(Type t);

}  // namespace vyre::emit_spirv
