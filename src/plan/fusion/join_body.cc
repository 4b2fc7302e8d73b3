#include "plan/fusion/join_body.h"

#include "transform/structure_exits.h"

namespace vyre::plan {

Program with_one_return(const Program& program) {
  bool more = false;
  walk(program, [&](OpId op) {
    more |= program.op(op).code == Opcode::Return && program.op(op).parent != body_block;
  });
  if (!more) return program;
  // Returns before a split point become flags: one at the very end reaches them all. Kernels that
  // are fused have no grid barriers.
  Program cut = program;
  IrBuilder at_end(cut);
  at_end.next = cut.blocks[body_block].last;
  at_end.loc = program.loc;
  at_end.effect(Opcode::Barrier, Type::Void, {}, uint64_t(Scope::Grid));
  Program result = structure_exits(cut, Scope::Grid);
  std::vector<OpId> barriers;
  walk(result, [&](OpId op) {
    if (is_grid_sync(result, op)) barriers.push_back(op);
  });
  for (const OpId op : barriers) result.unlink(op);
  compact(result);
  return result;
}

BodyCopy::BodyCopy(SsaBuilder& builder, const Program& from, IdMap<BufferId, BufferId> buffers)
    : b_(builder),
      from_(from),
      buffers_(std::move(buffers)),
      map_(from.values.size(), none),
      locations_(from.locations.size(), none) {}

LocId BodyCopy::location(LocId loc) {
  if (loc >= from_.locations.size()) return none;
  // A location refers to earlier ones only; chains are short.
  if (locations_[loc] == none) {
    Location copy = from_.locations[loc];
    if (copy.file < from_.strings.size())
      copy.file = b_.program.add_string(from_.strings[copy.file]);
    copy.inlined_at = location(copy.inlined_at);
    locations_[loc] = b_.program.add_location(copy);
  }
  return locations_[loc];
}

std::vector<ValueId> BodyCopy::operands(OpId id) const {
  std::vector<ValueId> list;
  for (const ValueId v : from_.operands(id)) list.push_back(map_[v]);
  return list;
}

void BodyCopy::block(BlockId id, const std::vector<VarId>& yields, const std::vector<VarId>& loop) {
  for (OpId at = from_.blocks[id].first; at != none; at = from_.op(at).next) {
    b_.loc = location(from_.op(at).loc);
    if (is_exit(from_.op(at).code))
      exit(at, yields, loop);
    else if (is_control(from_.op(at).code))
      control(at, loop);
    else
      op(at, loop);
  }
}

void BodyCopy::exit(OpId id, const std::vector<VarId>& yields, const std::vector<VarId>& loop) {
  const std::vector<ValueId> values = operands(id);
  const Opcode code = from_.op(id).code;
  const std::vector<VarId>& vars = code == Opcode::Yield ? yields : loop;
  if (code == Opcode::Yield || code == Opcode::Break || code == Opcode::Continue)
    for (size_t i = 0; i < values.size(); ++i) b_.set(vars[i], values[i]);
  if (code == Opcode::Break) b_.break_loop();
  if (code == Opcode::Continue) b_.continue_loop();
  if (code == Opcode::Trap) b_.trap(values[0]);
  if (code == Opcode::Test) b_.begin_body(values[0]);
}

void BodyCopy::op(OpId id, const std::vector<VarId>&) {
  Op o = from_.op(id);
  if (const ValueId v = replace(id); v != none) {
    map_[from_.result(id)] = v;
    return;
  }
  const AttrKind kind = info(o.code).attribute;
  if (kind == AttrKind::Memory || kind == AttrKind::Buffer) {
    const BufferId buffer = buffers_[o.buffer()];
    if (buffer == none) {
      const ValueId v = access(id);
      if (o.results.count) map_[from_.result(id)] = v;
      return;
    }
    o.set_buffer(buffer);
    if (kind == AttrKind::Memory) {
      MemoryRef m = MemoryRef::unpack(o.attr);
      m.read_only = false;  // another body may write it
      o.attr = m.pack();
    }
  }
  std::vector<Type> types;
  for (const ValueId v : from_.results(id)) types.push_back(from_.type(v));
  if (o.code == Opcode::LoadN) {
    const std::vector<ValueId> got = b_.load_n(o.type, operands(id)[0], o.results.count, o.attr);
    for (uint32_t i = 0; i < got.size(); ++i) map_[from_.result(id, i)] = got[i];
    return;
  }
  const ValueId result = b_.op(o.code, o.type, operands(id), o.attr);
  if (o.results.count) map_[from_.result(id)] = result;
}

void BodyCopy::control(OpId id, const std::vector<VarId>& loop) {
  const Op& o = from_.op(id);
  const std::vector<ValueId> in = operands(id);
  const uint32_t first_carried = o.code == Opcode::For ? 3 : 0;
  std::vector<VarId> vars;
  for (uint32_t i = 0; i < o.results.count; ++i)
    vars.push_back(b_.declare(is_loop(o.code) ? in[first_carried + i]
                                              : b_.constant(from_.type(from_.result(id, i)), 0)));
  const auto arguments = [&](uint32_t skip) {
    const auto args = from_.args(o.first_block);
    for (uint32_t i = skip; i < args.size(); ++i) map_[args[i]] = b_.get(vars[i - skip]);
  };
  switch (o.code) {
    case Opcode::If:
      b_.begin_if(in[0]);
      block(o.first_block, vars, loop);
      b_.begin_else();
      block(o.first_block + 1, vars, loop);
      b_.end_if();
      break;
    case Opcode::Region:
      b_.begin_region(from_.string(StringId(o.attr)));
      block(o.first_block, vars, loop);
      b_.end_region();
      break;
    case Opcode::For:
      map_[from_.args(o.first_block)[0]] = b_.begin_for(in[0], in[1], in[2]);
      arguments(1);
      block(o.first_block, vars, vars);
      b_.end_for();
      break;
    default:
      b_.begin_while();
      arguments(0);
      block(o.first_block, {}, vars);
      block(o.first_block + 1, vars, vars);
      b_.end_while();
      break;
  }
  for (uint32_t i = 0; i < o.results.count; ++i) map_[from_.result(id, i)] = b_.get(vars[i]);
}

}  // namespace vyre::plan
