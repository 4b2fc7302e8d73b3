// The kernel as a whole: its features, and the code before and after its random statements.

#include "generate/kernel_writer.h"

namespace vyre::lab {

KernelWriter::KernelWriter(Random& random, const GenerateOptions& options, std::string name,
                           std::span<const Wish> wishes, bool in_graph)
    : r_(random), options_(options), b_(std::move(name)), wishes_(wishes), in_graph_(in_graph) {}

void KernelWriter::choose_features() {
  sync_ = r_.chance(65);
  grid_sync_ = sync_ && options_.grid_barriers && r_.chance(25);
  subgroups_ = options_.subgroups && r_.chance(40);
  traps_ = options_.traps && r_.chance(15);
  if (subgroups_ && r_.chance(50)) b_.program.subgroup = 1u << r_.below(7);
  budget_ = r_.between(100, 700);
  op_budget_ = r_.between(60, 300);
  if (in_graph_) budget_ /= 2, op_budget_ /= 2;
}

/// The common ids and counts, and variables for the statements to work with.
void KernelWriter::write_prologue() {
  const auto id = [&](Opcode code, uint32_t dim) { return emit(code, Type::Void, {}, dim); };
  const auto mul_add = [&](ValueId a, ValueId b, ValueId c) {
    return emit(Opcode::Add, Type::U32, {emit(Opcode::Mul, Type::U32, {a, b}), c});
  };
  const auto& size = b_.program.workgroup;
  group_ = id(Opcode::WorkgroupId, 0);
  local_ = id(Opcode::LocalId, 0);
  if (is_flat()) {
    linear_ = id(Opcode::GlobalId, 0);
  } else {
    // Named in order: the evaluation order of arguments is unspecified.
    const ValueId width = u32(size[0]), y = id(Opcode::LocalId, 1), height = u32(size[1]);
    const ValueId z = id(Opcode::LocalId, 2);
    local_ = mul_add(mul_add(z, height, y), width, local_);
    const ValueId columns = id(Opcode::NumWorkgroups, 0), row = id(Opcode::WorkgroupId, 1);
    const ValueId rows = id(Opcode::NumWorkgroups, 1), layer = id(Opcode::WorkgroupId, 2);
    group_ = mul_add(mul_add(layer, rows, row), columns, group_);
    linear_ = mul_add(group_, u32(group_size_), local_);
  }
  for (const ValueId v : {group_, local_, linear_}) know(v, true);
  for (Memory& m : memory_)
    if (m.use == Use::Own)
      m.own =
          emit(Opcode::Mul, Type::U32, {m.role == Role::Shared ? local_ : linear_, u32(m.stride)});

  accumulator_ = b_.declare(emit(Opcode::Cast, Type::U64, {linear_}));
  const auto declare = [&](Type type, Level level) {
    vars_.push_back({b_.declare(value(type, level)), type, level});
  };
  for (uint64_t n = r_.between(2, 5); n-- > 0;) declare(type_in(TypeSet::Any), Level::Varying);
  if (sync_) declare(r_.chance(60) ? Type::U32 : type_in(TypeSet::Any), Level::Workgroup);
  if (grid_sync_) declare(Type::U32, Level::Grid);
}

/// Stores the values computed so far to an output.
void KernelWriter::store_result() {
  const Memory& m = memory_[result_];
  b_.effect(Opcode::Store, m.element, {m.own, b_.get(accumulator_)},
            MemoryRef{.buffer = m.buffer}.pack());
}

void KernelWriter::write_epilogue() {
  if (!b_.reachable()) return;
  for (const Variable& v : vars_) fold(read(v));
  for (const Known& k : pool_)
    if (!k.used) fold(k.id);
  for (Memory& m : memory_)
    if (m.use == Use::Own && is_host_output(m.role) && r_.chance(50)) store_to(m);
  store_result();
}

WrittenKernel KernelWriter::write() {
  choose_features();
  choose_shape();
  declare_buffers();
  begin_scope();
  write_prologue();
  for (uint64_t n = r_.between(1, 4); n-- > 0;) load();

  // Most of the budget goes to the part that may synchronize, the rest to the part that may return.
  const uint64_t all = budget_, all_ops = op_budget_;
  budget_ = all * 3 / 4, op_budget_ = all_ops * 3 / 4;
  last_part_ = !sync_ && !subgroups_;
  if (handoff_ != none) {
    if (r_.chance(50)) statements(r_.between(1, 3));
    handoff();
  }
  statements(r_.between(4, 30));
  budget_ = all, op_budget_ = all_ops;
  last_part_ = true;
  statements(r_.between(1, 8));
  write_epilogue();
  scopes_.clear();

  fill_inputs();
  return {b_.finish(), std::move(counts_), std::move(inputs_)};
}

}  // namespace vyre::lab
