#include "plan/fusion/join_head.h"

#include <algorithm>

#include "check/check_limits.h"

namespace vyre::plan {

std::string JoinedHead::unique(std::string_view name) {
  constexpr size_t room = 8;
  std::string base(name.substr(0, limits::name_bytes - room));
  std::string text = base;
  const auto taken = [&] {
    return std::any_of(b_.program.buffers.begin(), b_.program.buffers.end(),
                       [&](const Buffer& b) { return b.name == text; });
  };
  for (uint32_t n = 2; taken(); ++n) text = base + "_" + std::to_string(n);
  return text;
}

BufferId JoinedHead::add(Buffer buffer, GraphBufferId memory, const JoinedParameter& origin) {
  buffer.name = unique(buffer.name);
  buffer.loc = none;
  b_.program.buffers.push_back(std::move(buffer));
  memory_.push_back(memory);
  origin_.push_back(origin);
  return BufferId(b_.program.buffers.size() - 1);
}

BufferId JoinedHead::add_scalar(std::string name, Type type, const JoinedParameter& origin) {
  return add({std::move(name), Role::Scalar, type, no_formula, 0, none}, none, origin);
}

BufferId JoinedHead::add_private(std::string_view name, Type element, uint64_t count) {
  return add(
      {std::string(name), Role::Private, element, b_.program.formulas.constant(count), 0, none},
      none, {});
}

bool JoinedHead::is_gone(GraphBufferId memory) const {
  return memory != none && std::binary_search(gone_.begin(), gone_.end(), memory);
}

/// A formula of a part over the program's parameters. Nodes refer to earlier ones, so one sweep
/// upwards makes all that are needed.
FormulaId JoinedHead::translate(const Part& part, FormulaId id) {
  if (id == no_formula) return no_formula;
  const FormulaPool& from = part.program.formulas;
  FormulaPool& to = b_.program.formulas;
  std::vector<bool> used(id + 1, false);
  used[id] = true;
  for (FormulaId i = id + 1; i-- > 0;) {
    const FormulaNode& n = from[i];
    if (!used[i] || n.op <= FormulaOp::Scalar) continue;
    used[n.a] = used[n.b] = true;
  }
  std::vector<FormulaId> made(id + 1, no_formula);
  for (FormulaId i = 0; i <= id; ++i) {
    if (!used[i]) continue;
    const FormulaNode& n = from[i];
    if (n.op == FormulaOp::Const) {
      made[i] = to.constant(n.value, n.negative);
    } else if (n.op == FormulaOp::Len || n.op == FormulaOp::Scalar) {
      const BufferId number = numbers_[&part][BufferId(n.a)];
      if (number == none)
        made[i] = gone_length(part.memory[BufferId(n.a)]);
      else
        made[i] = n.op == FormulaOp::Len ? to.len(number.value()) : to.scalar(number.value());
    } else {
      made[i] = to.binary(n.op, made[n.a], made[n.b]);
    }
  }
  return made[id];
}

FormulaId JoinedHead::gone_length(GraphBufferId memory) { return counts_.at(memory).formula; }

/// Adds a buffer that is not a parameter of the fused kernel, but whose length bodies may still
/// use.
void JoinedHead::add_gone(const Part& part, BufferId i) {
  const GraphBufferId memory = part.memory[i];
  if (counts_.contains(memory)) return;
  const FormulaPool& formulas = b_.program.formulas;
  GoneCount count;
  count.formula = translate(part, part.program.buffers[i].count);
  const auto is_plain = [&] {
    if (count.formula == no_formula) return false;
    const FormulaNode& n = formulas[count.formula];
    return n.op == FormulaOp::Len || (n.op == FormulaOp::Const && !n.negative);
  };
  if (!is_plain()) {
    JoinedParameter origin = part.origin[i];
    origin.kind = JoinedParameter::Kind::Count;
    count.scalar = add_scalar("count_of_" + part.program.buffers[i].name, Type::U64, origin);
    count.formula = b_.program.formulas.scalar(count.scalar.value());
  }
  counts_[memory] = count;
}

void JoinedHead::add_parameters(const Part& part) {
  IdMap<BufferId, BufferId>& numbers = numbers_[&part];
  numbers.assign(part.program.buffers.size(), none);
  for (const BufferId i : part.program.buffers.ids()) {
    const Buffer& from = part.program.buffers[i];
    const GraphBufferId memory = part.memory[i];
    if (!is_parameter(from.role)) continue;
    if (is_gone(memory)) {
      add_gone(part, i);
      continue;
    }
    if (const auto found = by_memory_.find(memory); memory != none && found != by_memory_.end()) {
      numbers[i] = found->second;
      // `in` if no part writes it; a buffer that the first part takes as `out` stays `out`.
      Buffer& b = b_.program.buffers[found->second];
      if (is_writable(from.role) && !is_writable(b.role)) b.role = Role::InOut;
      if (b.role == Role::Uniform && from.role == Role::In) b.role = Role::In;
      continue;
    }
    Buffer b = from;
    b.count = translate(part, from.count);
    numbers[i] = add(std::move(b), memory, part.origin[i]);
    if (memory != none) by_memory_[memory] = numbers[i];
  }
}

void JoinedHead::add_arrays(const Part& part) {
  IdMap<BufferId, BufferId>& numbers = numbers_[&part];
  constexpr size_t alignment = 16;
  if (!part.program.table_bytes.empty())
    b_.program.table_bytes.resize((b_.program.table_bytes.size() + alignment - 1) / alignment *
                                  alignment);
  const uint64_t tables = b_.program.table_bytes.size();
  b_.program.table_bytes.insert(b_.program.table_bytes.end(), part.program.table_bytes.begin(),
                                part.program.table_bytes.end());
  for (const BufferId i : part.program.buffers.ids()) {
    if (is_parameter(part.program.buffers[i].role)) continue;
    Buffer b = part.program.buffers[i];
    b.count = translate(part, b.count);
    if (b.role == Role::Table) b.table_offset += tables;
    numbers[i] = add(std::move(b), none, {});
  }
}

void JoinedHead::take_grid(const Part& part) {
  b_.program.workgroup = part.program.workgroup;
  b_.program.grid_dims = part.program.grid_dims;
  for (int d = 0; d < 3; ++d) b_.program.grid[d] = translate(part, part.program.grid[d]);
}

ValueId JoinedHead::count_of(GraphBufferId memory) {
  const GoneCount& count = counts_.at(memory);
  if (count.scalar != none) return b_.op(Opcode::Scalar, Type::U64, {}, count.scalar.value());
  const FormulaNode& n = b_.program.formulas[count.formula];
  if (n.op == FormulaOp::Const) return b_.constant(Type::U64, n.value);
  return b_.op(Opcode::Len64, Type::Void, {}, n.a);
}

}  // namespace vyre::plan
