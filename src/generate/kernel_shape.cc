// The launch of a kernel: workgroup, grid, buffers, their lengths and contents.

#include <algorithm>

#include "generate/interesting.h"
#include "generate/kernel_writer.h"

namespace vyre::lab {
namespace {

constexpr Type all_elements[] = {Type::Bool, Type::I8,  Type::U8,  Type::I16, Type::U16,
                                 Type::I32,  Type::U32, Type::I64, Type::U64, Type::F32,
                                 Type::F64,  Type::F16, Type::BF16};
constexpr Type atomic_elements[] = {Type::I32, Type::U32, Type::I64, Type::U64};

/// Representative sizes: small, powers of two, their neighbours, odd ones, several dimensions.
constexpr std::array<uint32_t, 3> workgroups[] = {
    {1, 1, 1},   {7, 1, 1},   {32, 1, 1}, {33, 1, 1}, {64, 1, 1}, {100, 1, 1},
    {128, 1, 1}, {256, 1, 1}, {8, 4, 1},  {5, 3, 1},  {1, 9, 1},  {16, 8, 1},
    {4, 2, 3},   {1, 1, 8},   {3, 5, 7},  {2, 2, 16}, {31, 1, 1}, {65, 1, 1}};

}  // namespace

void KernelWriter::choose_shape() {
  auto& size = b_.program.workgroup;
  size = workgroups[r_.below(std::size(workgroups))];
  group_size_ = uint64_t{size[0]} * size[1] * size[2];
  const uint64_t most = std::max<uint64_t>(1, 320 / group_size_);
  uint64_t groups = r_.between(1, std::min<uint64_t>(most, 6));
  total_ = group_size_;
  const bool flat = size[1] == 1 && size[2] == 1 && r_.chance(75);
  for (int d = 0; d < 3; ++d) {
    uint64_t n = 1;
    if (d == 0 && flat) n = groups;
    if (!flat && groups > 1) n = r_.between(1, groups), groups /= n;
    total_ *= n;
    wanted_[d] = n * size[d] - r_.below(size[d]);  // the last workgroup is rarely full
  }
  if (r_.chance(1)) wanted_[r_.below(3)] = 0;  // no invocations
}

BufferId KernelWriter::add_buffer(Role role, Type element, uint64_t count) {
  constexpr std::string_view prefix[] = {"in",  "io",  "out", "tmp", "tile",
                                         "arr", "uni", "s",   "tab"};
  Buffer b;
  const BufferId index = b_.program.buffers.next_id();
  b.name = std::string(prefix[static_cast<int>(role)]) + std::to_string(index.value());
  b.role = role;
  b.element = element;
  b_.program.buffers.push_back(std::move(b));
  counts_.push_back(count);
  inputs_.data.emplace_back();
  inputs_.lengths.emplace_back();
  if (role == Role::Scalar)
    b_.program.buffers[index].count = b_.program.formulas.constant(1);
  else
    choose_count(index, count);
  return index;
}

KernelWriter::Memory& KernelWriter::add_memory(Role role, Type element, uint64_t count, Use use) {
  Memory m;
  m.buffer = add_buffer(role, element, count);
  m.role = role;
  m.element = element;
  m.count = count;
  m.use = use;
  memory_.push_back(m);
  return memory_.back();
}

/// The length as a formula, or specified at launch. Arrays of the body have constant lengths.
void KernelWriter::choose_count(BufferId index, uint64_t count) {
  Buffer& b = b_.program.buffers[index];
  if (!is_parameter(b.role)) {
    b.count = b_.program.formulas.constant(count);
    return;
  }
  const bool must = in_graph_ && b.role == Role::Scratch;  // a call specifies no lengths
  const bool given = is_host_input(b.role);
  if (must || r_.chance(given ? 25 : 60))
    b.count = formula_for(count, index.value(), 2);
  else if (!given)
    inputs_.lengths[index] = count;
}

/// A formula over the first `parameters` buffers whose value is `target`.
FormulaId KernelWriter::formula_for(uint64_t target, uint32_t parameters, int depth) {
  FormulaPool& f = b_.program.formulas;
  const auto number = [&](uint64_t v) { return f.constant(v); };
  const auto part = [&](uint64_t v) {
    return depth > 0 ? formula_for(v, parameters, depth - 1) : number(v);
  };
  const auto binary = [&](FormulaOp op, FormulaId a, FormulaId b) { return f.binary(op, a, b); };
  const uint64_t d = r_.between(1, 9);
  switch (r_.below(10)) {
    case 0: {
      const FormulaId a = part(target * d + r_.below(d));
      return binary(FormulaOp::Div, a, number(d));
    }
    case 1: {
      const FormulaId a = part(target * d - std::min(target * d, r_.below(d)));
      return binary(FormulaOp::CeilDiv, a, number(d));
    }
    case 2: {
      const FormulaId a = part(target + d * (target + d));
      return binary(FormulaOp::Rem, a, number(target + d));
    }
    case 3: {
      // Named in order: the evaluation order of arguments is unspecified.
      const FormulaId quotient = part(target / d);
      const FormulaId a = binary(FormulaOp::Mul, number(d), quotient);
      return binary(FormulaOp::Add, a, number(target % d));
    }
    case 4:
    case 5:
    case 6: {  // from a length or a scalar
      if (parameters == 0) break;
      const BufferId i(r_.below(parameters));
      const Buffer& b = b_.program.buffers[i];
      if (!is_parameter(b.role)) break;
      const bool scalar = b.role == Role::Scalar;
      if (scalar && (!is_unsigned(b.element) || counts_[i] > 1u << 20)) break;
      const uint64_t has = counts_[i];
      const FormulaId a = scalar ? f.scalar(i.value()) : f.len(i.value());
      if (r_.chance(30))
        return binary(has < target ? FormulaOp::Max : FormulaOp::Min, a, number(target));
      return has > target ? binary(FormulaOp::Sub, a, part(has - target))
                          : binary(FormulaOp::Add, part(target - has), a);
    }
    default: break;
  }
  return number(target);
}

Type KernelWriter::any_element() { return all_elements[r_.below(std::size(all_elements))]; }

uint64_t KernelWriter::odd_count() {
  switch (r_.below(8)) {
    case 0: return r_.below(3);
    case 1: return total_ + r_.below(9);
    case 2: return total_ / 2;
    default: return r_.between(1, 40) * 2 - 1;
  }
}

/// Usually a slot for every invocation; sometimes too few, sometimes extra ones.
uint64_t KernelWriter::own_count(uint32_t stride) {
  const uint64_t all = total_ * stride;
  if (r_.chance(15)) return all + r_.below(7);
  return r_.chance(25) ? all - r_.below(std::min<uint64_t>(all, 9)) : all;
}

/// The type and size of an input: in a graph often those of an existing buffer.
Wish KernelWriter::input_shape() {
  if (!wishes_.empty() && r_.chance(70)) return r_.pick(wishes_);
  return {any_element(), odd_count()};
}

void KernelWriter::add_table() {
  const Type element = any_element();
  const uint64_t count = r_.between(1, 17);
  const Memory& m = add_memory(Role::Table, element, count, Use::Read);
  auto& bytes = b_.program.table_bytes;
  b_.program.buffers[m.buffer].table_offset = bytes.size();
  const auto contents = interesting_bytes(r_, element, count);
  bytes.insert(bytes.end(), contents.begin(), contents.end());
}

void KernelWriter::declare_buffers() {
  memory_.reserve(32);
  for (uint64_t n = r_.below(4); n-- > 0;) {
    const Type t = r_.chance(40) ? Type::U32 : type_in(TypeSet::Any);
    const uint64_t bits = t == Type::U32 && r_.chance(50) ? r_.below(200) : interesting_bits(r_, t);
    scalars_.push_back(add_buffer(Role::Scalar, t, bits));
  }
  for (uint64_t n = r_.between(1, 3); n-- > 0;) {
    const Wish w = input_shape();
    add_memory(r_.chance(15) && w.count < 4096 ? Role::Uniform : Role::In, w.element, w.count,
               Use::Read);
  }
  if (r_.chance(20)) {  // writable, but not written
    const Wish w = input_shape();
    add_memory(r_.pick({Role::InOut, Role::Out, Role::Scratch}), w.element, w.count, Use::Read);
  }
  result_ = static_cast<uint32_t>(memory_.size());
  const uint64_t results = total_ + r_.below(3);
  add_memory(r_.chance(80) ? Role::Out : Role::InOut, Type::U64, results, Use::Own);

  for (uint64_t n = r_.below(4); n-- > 0;) {
    const Type t = r_.chance(35) ? atomic_elements[r_.below(4)] : any_element();
    const uint32_t stride = r_.chance(60) ? 1 : static_cast<uint32_t>(r_.between(2, 4));
    uint64_t count = own_count(stride);
    for (const Wish& w : wishes_)
      if (w.element == t && r_.chance(50)) count = w.count;
    add_memory(r_.pick({Role::Out, Role::InOut, Role::Scratch}), t, count, Use::Own).stride =
        stride;
  }
  if (sync_ && is_flat() && r_.chance(35)) add_handoff();
  if (r_.chance(50)) {
    const uint64_t count = odd_count();
    const Type t = atomic_elements[r_.below(4)];
    Memory& m = add_memory(r_.chance(60) ? Role::InOut : Role::Out, t, count, Use::Gather);
    m.gather =
        m.role == Role::Out
            ? r_.pick({Opcode::AtomicAdd, Opcode::AtomicXor, Opcode::AtomicOr, Opcode::AtomicMax})
            : r_.pick({Opcode::AtomicAdd, Opcode::AtomicMin, Opcode::AtomicMax, Opcode::AtomicAnd,
                       Opcode::AtomicXor});
  }
  for (uint64_t n = sync_ ? r_.between(1, 2) : r_.below(2); n-- > 0;) {
    const Type t = r_.chance(40) ? atomic_elements[r_.below(4)] : any_element();
    const auto stride = static_cast<uint32_t>(r_.pick({1, 1, 1, 2, 3}));
    const uint64_t all = group_size_ * stride;
    add_memory(Role::Shared, t, r_.chance(70) ? all : r_.between(1, all + 5), Use::Own).stride =
        stride;
  }
  for (uint64_t n = r_.below(3); n-- > 0;) {
    const uint64_t count = r_.between(1, 9);
    add_memory(Role::Private, any_element(), count, Use::Any);
  }
  if (r_.chance(35)) add_table();
  choose_grid();
}

bool KernelWriter::is_flat() const {
  const auto& size = b_.program.workgroup;
  return size[1] == 1 && size[2] == 1 && wanted_[1] == 1 && wanted_[2] == 1;
}

/// A buffer of constant length, usually exactly as long as the launch needs.
void KernelWriter::add_handoff() {
  handoff_slots_ = r_.pick({1, 1, 2, 3});
  const uint64_t all = total_ * handoff_slots_;
  const uint64_t count = r_.chance(70) ? all : r_.between(1, all + 9);
  handoff_ = add_buffer(Role::Scratch, any_element(), count);
  b_.program.buffers[handoff_].count = b_.program.formulas.constant(count);
  inputs_.lengths[handoff_].reset();
}

void KernelWriter::choose_grid() {
  if (!in_graph_ && r_.chance(20)) {
    inputs_.grid = wanted_;
    if (r_.chance(50)) return;  // else the kernel has a grid as well, which the launch's replaces
  }
  Program& p = b_.program;
  p.grid_dims = wanted_[2] != 1 ? 3 : wanted_[1] != 1 ? 2 : static_cast<uint32_t>(r_.between(1, 3));
  for (uint32_t d = 0; d < p.grid_dims; ++d)
    p.grid[d] = formula_for(wanted_[d], static_cast<uint32_t>(p.buffers.size()), 2);
}

void KernelWriter::fill_inputs() {
  for (const BufferId i : counts_.ids()) {
    const Buffer& b = b_.program.buffers[i];
    if (b.role == Role::Scalar) {
      std::vector<std::byte> bytes(size_of(b.element));
      for (size_t k = 0; k < bytes.size(); ++k)
        bytes[k] = static_cast<std::byte>(counts_[i] >> (8 * k));
      inputs_.data[i] = std::move(bytes);
    } else if (is_host_input(b.role)) {
      inputs_.data[i] = interesting_bytes(r_, b.element, counts_[i]);
    }
  }
}

}  // namespace vyre::lab
