#include "ir/ssa_builder.h"

#include <algorithm>
#include <cassert>

#include "diagnostics/budget.h"
#include "ir/stats.h"

namespace vyre {

SsaBuilder::SsaBuilder(std::string name) : IrBuilder(program) {
  program.name = std::move(name);
  program.add_block(none);
}

std::vector<ValueId> SsaBuilder::load_n(Type type, ValueId index, uint32_t count, uint64_t attr) {
  const std::vector<Type> types(count, type);
  const auto r = program.results(add(Opcode::LoadN, type, {&index, 1}, types, attr));
  return {r.begin(), r.end()};
}

void SsaBuilder::store_n(Type type, ValueId index, std::span<const ValueId> values, uint64_t attr) {
  std::vector<ValueId> operands = {index};
  operands.insert(operands.end(), values.begin(), values.end());
  add(Opcode::StoreN, type, operands, attr);
}

uint64_t SsaBuilder::bytes() const {
  // The values of an exit are its operands later, in a list that grows.
  return memory_of(program) + bytes_of_vector(vars_) + bytes_of_vector(forward_) +
         4 * sizeof(ValueId) * exit_values_;
}

// ---- Variables.

VarId SsaBuilder::declare(ValueId initial) {
  vars_.push_back({initial, loop_level_, stamp_});
  return VarId(vars_.size() - 1);
}

SsaBuilder::Frame& SsaBuilder::loop_frame(uint32_t level) { return frames_[loops_[level - 1]]; }

/// Adds an argument for the variable to every loop between its declaration and the current point.
/// Nothing inside those loops has assigned it yet (it would have been touched), so its current
/// value is their initial value.
void SsaBuilder::touch(VarId v) {
  Var& var = vars_[v];
  while (var.level < loop_level_) {
    Frame& f = loop_frame(var.level + 1);
    const ValueId arg = ValueId(program.values.size());
    program.values.push_back({type(var.current), none, program.op(f.op).first_block, 0});
    f.carried.push_back({v, arg, var.current, var.level});
    var.current = arg;
    ++var.level;
  }
}

ValueId SsaBuilder::get(VarId v) {
  touch(v);
  return find(vars_[v].current);
}

void SsaBuilder::set(VarId v, ValueId value) {
  touch(v);
  Var& var = vars_[v];
  if (var.stamp != stamp_ && !frames_.empty()) {
    frames_.back().assigned.push_back({v, var.current, var.stamp});
    var.stamp = stamp_;
  }
  var.current = value;
}

ValueId SsaBuilder::find(ValueId v) {
  while (forward_.contains(v) && forward_[v] != v) {
    // Shortens the path on the way: nested loops make chains as long as they are deep.
    const ValueId next = forward_[v];
    if (forward_.contains(next)) forward_[v] = forward_[next];
    v = next;
  }
  return v;
}

// ---- Structure.

void SsaBuilder::begin(Opcode code, std::span<const ValueId> operands, uint32_t blocks,
                       uint64_t attr) {
  const OpId id = open(code, operands, blocks, attr);
  Frame f;
  f.op = id;
  f.outer_block = this->block;
  f.reachable_before = reachable_;
  f.outer_stamp = stamp_;
  frames_.push_back(std::move(f));
  enter(program.op(id).first_block);
}

/// Begins a branch.
void SsaBuilder::enter(BlockId block) {
  at_end(block);
  stamp_ = ++next_stamp_;
  reachable_ = frames_.back().reachable_before;
}

/// Ends a branch: undoes its assignments, records their values, and returns the yield that ends it
/// (its operands come later), or none if the end is not reached.
OpId SsaBuilder::close_arm(std::vector<std::pair<VarId, ValueId>>* values) {
  Frame& f = frames_.back();
  for (size_t i = f.assigned.size(); i-- > 0;) {
    const Assigned& a = f.assigned[i];
    if (values && reachable_) values->emplace_back(a.var, vars_[a.var].current);
    vars_[a.var].current = a.value;
    vars_[a.var].stamp = a.stamp;
  }
  f.assigned.clear();
  if (!reachable_) {
    seal();
    return none;
  }
  return exit(Opcode::Yield);
}

/// A block whose end cannot be reached, because its last op never continues, still needs an exit. A
/// trap is an exit that does not affect the uniformity of flow.
void SsaBuilder::seal() {
  const OpId last = program.blocks[block].last;
  if (last != none && is_exit(program.op(last).code)) return;
  const ValueId zero = constant(Type::U32, 0);
  exit(Opcode::Trap, {&zero, 1});
}

void SsaBuilder::begin_if(ValueId condition) { begin(Opcode::If, {&condition, 1}, 2); }

void SsaBuilder::begin_else() {
  Frame& f = frames_.back();
  f.in_else = true;
  f.then_end = close_arm(&f.then_values);
  enter(program.op(f.op).first_block + 1);
}

void SsaBuilder::assign_results(OpId op, const std::vector<VarId>& vars,
                                const std::vector<Type>& types) {
  const std::vector<ValueId> results = set_results(op, types);
  for (size_t i = 0; i < vars.size(); ++i) set(vars[i], results[i]);
}

void SsaBuilder::end_if() {
  Frame& f = frames_.back();
  if (!f.in_else) begin_else();
  std::vector<std::pair<VarId, ValueId>> else_values;
  const OpId else_end = close_arm(&else_values);

  std::vector<VarId> vars;
  for (const auto& [v, value] : f.then_values) vars.push_back(v);
  for (const auto& [v, value] : else_values) vars.push_back(v);
  std::sort(vars.begin(), vars.end());
  vars.erase(std::unique(vars.begin(), vars.end()), vars.end());
  std::sort(f.then_values.begin(), f.then_values.end());
  std::sort(else_values.begin(), else_values.end());
  const auto value_in = [&](const std::vector<std::pair<VarId, ValueId>>& list, VarId v) {
    const auto it = std::lower_bound(list.begin(), list.end(), std::pair<VarId, ValueId>{v, 0});
    return find(it != list.end() && it->first == v ? it->second : vars_[v].current);
  };
  std::vector<VarId> merged;
  std::vector<Type> types;
  std::vector<ValueId> then_list, else_list;
  for (VarId v : vars) {
    const ValueId before = find(vars_[v].current);
    const ValueId t = value_in(f.then_values, v), e = value_in(else_values, v);
    if ((f.then_end == none || t == before) && (else_end == none || e == before)) continue;
    merged.push_back(v);
    types.push_back(type(t));
    then_list.push_back(t);
    else_list.push_back(e);
  }
  if (f.then_end != none) program.op(f.then_end).operands = program.add_list(then_list);
  if (else_end != none) program.op(else_end).operands = program.add_list(else_list);

  const bool goes_on = f.then_end != none || else_end != none;
  const OpId op = f.op;
  block = f.outer_block;
  stamp_ = f.outer_stamp;
  reachable_ = goes_on;
  frames_.pop_back();
  assign_results(op, merged, types);
}

ValueId SsaBuilder::begin_for(ValueId lo, ValueId hi, ValueId step) {
  begin(Opcode::For, std::initializer_list<ValueId>{lo, hi, step}, 1);
  ++loop_level_;
  loops_.push_back(uint32_t(frames_.size() - 1));
  const ValueId i = ValueId(program.values.size());
  program.values.push_back({type(lo), none, block, 0});
  // The counter is the first argument; end_loop appends the carried ones.
  program.blocks[block].args = program.add_list({&i, 1});
  return i;
}

void SsaBuilder::begin_while() {
  begin(Opcode::While, {}, 2);
  ++loop_level_;
  loops_.push_back(uint32_t(frames_.size() - 1));
}

void SsaBuilder::begin_body(ValueId condition) {
  Frame& f = frames_.back();
  exit(Opcode::Test, {&condition, 1});
  block = program.op(f.op).first_block + 1;  // the same branch continues: tests assign nothing
}

void SsaBuilder::leave(Opcode code) {
  const OpId id = exit(code);
  if (reachable_) {
    Frame& f = loop_frame(loop_level_);
    Exit exit{id, {}};
    exit.values.reserve(f.carried.size());
    for (const Carried& c : f.carried) exit.values.push_back(vars_[c.var].current);
    exit_values_ += exit.values.size();
    f.exits.push_back(std::move(exit));
  }
  reachable_ = false;
  block = program.add_block(none);  // what follows is built into a block that compact() drops
}

void SsaBuilder::return_() {
  exit(Opcode::Return);
  reachable_ = false;
  block = program.add_block(none);
}

void SsaBuilder::trap(ValueId code) {
  exit(Opcode::Trap, {&code, 1});
  reachable_ = false;
  block = program.add_block(none);
}

void SsaBuilder::end_loop() {
  const size_t frame = frames_.size() - 1;
  OpId end_yield = none;
  {
    Frame& f = frames_[frame];
    Exit end{none, {}};
    for (const Carried& c : f.carried) end.values.push_back(vars_[c.var].current);
    const bool reached = reachable_;
    const OpId yield = close_arm(nullptr);
    if (reached) {
      end.op = end_yield = yield;
      f.exits.push_back(std::move(end));
    }
  }
  Frame f = std::move(frames_[frame]);
  frames_.pop_back();
  loops_.pop_back();
  --loop_level_;

  // A variable that every back edge and exit leaves unchanged is not carried.
  std::vector<size_t> kept;
  for (size_t k = 0; k < f.carried.size(); ++k) {
    const Carried& c = f.carried[k];
    const bool changes = std::any_of(f.exits.begin(), f.exits.end(), [&](const Exit& e) {
      return k < e.values.size() && find(e.values[k]) != c.arg;
    });
    if (changes) {
      kept.push_back(k);
    } else {
      while (forward_.size() < program.values.size()) forward_.push_back(forward_.next_id());
      forward_[c.arg] = find(c.init);
    }
  }
  // By variable, so that the order does not depend on which was touched first.
  std::sort(kept.begin(), kept.end(),
            [&](size_t a, size_t b) { return f.carried[a].var < f.carried[b].var; });

  const BlockId header = program.op(f.op).first_block;
  const auto old_args = program.args(header);
  std::vector<ValueId> args(old_args.begin(), old_args.end());
  const auto old_operands = program.operands(f.op);
  std::vector<ValueId> operands(old_operands.begin(), old_operands.end());
  std::vector<VarId> vars;
  std::vector<Type> types;
  for (size_t k : kept) {
    const Carried& c = f.carried[k];
    program.values[c.arg].index = uint32_t(args.size());
    args.push_back(c.arg);
    operands.push_back(find(c.init));
    vars.push_back(c.var);
    types.push_back(type(c.arg));
  }
  program.blocks[header].args = program.add_list(args);
  program.op(f.op).operands = program.add_list(operands);
  for (const Exit& e : f.exits) {
    std::vector<ValueId> values;
    for (size_t k : kept)
      values.push_back(k < e.values.size() ? find(e.values[k]) : f.carried[k].arg);
    program.op(e.op).operands = program.add_list(values);
    if (e.op != end_yield) exit_values_ -= e.values.size();
  }
  for (const Carried& c : f.carried) {
    vars_[c.var].current = c.init;
    vars_[c.var].level = c.level;
  }
  block = f.outer_block;
  stamp_ = f.outer_stamp;
  // A `while` ends when its test fails, so the code after it is assumed to be reachable.
  reachable_ = f.reachable_before;
  assign_results(f.op, vars, types);
}

void SsaBuilder::begin_region(std::string_view name) {
  begin(Opcode::Region, {}, 1, program.add_string(name));
}

void SsaBuilder::end_region() {
  Frame& f = frames_.back();
  std::vector<std::pair<VarId, ValueId>> values;
  const OpId yield = close_arm(&values);
  std::sort(values.begin(), values.end());
  std::vector<VarId> vars;
  std::vector<Type> types;
  std::vector<ValueId> list;
  for (const auto& [v, value] : values) {
    vars.push_back(v);
    types.push_back(type(value));
    list.push_back(find(value));
  }
  if (yield != none) program.op(yield).operands = program.add_list(list);
  const OpId op = f.op;
  block = f.outer_block;
  stamp_ = f.outer_stamp;
  reachable_ = yield != none;
  frames_.pop_back();
  assign_results(op, vars, types);
}

Program SsaBuilder::finish() {
  assert(frames_.empty());
  if (reachable_) {
    exit(Opcode::Return);
  } else {
    block = body_block;
    seal();
  }
  replace_values(program, forward_);
  compact(program);
  return std::move(program);
}

}  // namespace vyre
