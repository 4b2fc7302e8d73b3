// The entry: parameters, ids, values that are computed once, modes, and assembling the module.

#include <fmt/format.h>

#include "codegen/spirv/spirv_emitter.h"

namespace vyre::emit_spirv {

Emitter::Emitter(const LoweredProgram& lowered, const SpirvAnalysis& analysis, const Program& given,
                 const EmitOptions& options, Unit& unit)
    : lowered_(lowered),
      f_(analysis),
      p_(lowered.program),
      given_(given),
      options_(options),
      unit_(unit),
      info_(unit.info),
      m_(unit.module),
      made_(p_.values.size(), 0),
      offsets_(p_.buffers.size(), 0),
      arrays_(p_.buffers.size(), 0) {
  u32_ = m_.type_int(32);
  bool_ = m_.type_bool();
}

void Emitter::place_parameters() {
  uint32_t at = first_parameter_offset;
  std::vector<uint32_t> halves;  // of 64-bit scalars, which expansion has appended as two
  for (const BufferId i : given_.buffers.ids()) {
    const Buffer& b = given_.buffers[i];
    if (!is_parameter(b.role)) continue;
    offsets_[i] = at;
    if (b.role == Role::Scalar && size_of(b.element) == 8)
      halves.insert(halves.end(), {at, at + 4});
    at += b.role == Role::Scalar ? 8 : 16;
  }
  if (p_.buffers.size() > given_.buffers.size())
    std::copy(halves.begin(), halves.end(), offsets_.begin() + ptrdiff_t(given_.buffers.size()));
  info_.parameter_bytes = at;
  info_.block_in_memory = at > options_.profile.push_constant_bytes;
}

void Emitter::choose_subgroups() {
  info_.subgroup_size = f_.lanes;
  if (f_.has_lanes && (f_.lanes_by == Lanes::Shuffle || f_.lanes_by == Lanes::Slots)) {
    info_.native_subgroup = options_.profile.subgroup_size;
    const uint32_t row = f_.in_a_row ? f_.declared : p_.workgroup[0];
    info_.full_subgroups = row % info_.native_subgroup == 0;
  }
}

Kernel Emitter::run() {
  place_parameters();
  choose_subgroups();
  info_.linear_grid = options_.linear_grid;
  body_.reserve(8 * p_.ops.size());  // about
  const Id entry = function({.name = given_.name.substr(0, 1000)}, [&](std::span<const Id>) {
    if (options_.linear_grid) place_in_grid();
    if (f_.declared > f_.invocations)
      at_start([&] {
        leave_if(ins(spv::OpUGreaterThanEqual, b(), {linear_id(), c32(f_.invocations)}));
      });
    clear_shared();
    clear_private();
    block(body_block);
    return Id{0};
  });
  modes();
  return {m_.finish(entry, kernel_symbol, unit_.functions), info_};
}

/// Modes only for the widths that are used, and only those that the device has.
void Emitter::modes() {
  const emit_exact::Profile& profile = options_.profile;
  if (f_.in_a_row)
    m_.mode(spv::ExecutionModeLocalSize, {f_.declared, 1, 1});
  else
    m_.mode(spv::ExecutionModeLocalSize, {p_.workgroup[0], p_.workgroup[1], p_.workgroup[2]});
  const struct {
    bool use;
    uint32_t width;
    bool rte, denorm, special;
  } rows[] = {
      {unit_.uses_f32, 32, profile.rte32, profile.denorm_preserve32, profile.signed_zero_inf_nan32},
      {unit_.uses_f64, 64, profile.rte64, profile.denorm_preserve64,
       profile.signed_zero_inf_nan64}};
  for (const auto& row : rows) {
    if (!row.use) continue;
    if (row.rte) {
      m_.capability(spv::CapabilityRoundingModeRTE);
      m_.mode(spv::ExecutionModeRoundingModeRTE, {row.width});
    }
    if (row.denorm) {
      m_.capability(spv::CapabilityDenormPreserve);
      m_.mode(spv::ExecutionModeDenormPreserve, {row.width});
    }
    if (row.special) {
      m_.capability(spv::CapabilitySignedZeroInfNanPreserve);
      m_.mode(spv::ExecutionModeSignedZeroInfNanPreserve, {row.width});
    }
  }
}

Id Emitter::function_variable(Id type, Id initial) {
  const Id id = m_.new_id();
  const Id pointer = m_.type_pointer(spv::StorageClassFunction, type);
  if (initial)
    variables_.put(spv::OpVariable, {pointer, id, spv::StorageClassFunction, initial});
  else
    variables_.put(spv::OpVariable, {pointer, id, spv::StorageClassFunction});
  return id;
}

// ---- Parameters.

/// The push constants in the layout of the block: wide numbers, num_workgroups, wide numbers.
/// Without 64-bit integers all of it is words.
Id Emitter::push_constants() {
  Id& push = unit_.push;
  if (push) return push;
  const uint32_t bytes = info_.block_in_memory ? 8 : info_.parameter_bytes;
  std::vector<Module::Member> members;
  const auto add = [&](uint32_t width, uint32_t from, uint32_t to) {
    if (from < to)
      members.push_back(
          {m_.type_array(m_.type_int(width), (to - from) * 8 / width, width / 8), from});
  };
  if (has64()) {
    add(64, 0, std::min(bytes, num_workgroups_offset));
    add(32, num_workgroups_offset, std::min(bytes, first_parameter_offset));
    add(64, first_parameter_offset, bytes);
  } else {
    add(32, 0, bytes);
  }
  push = m_.variable(spv::StorageClassPushConstant, m_.type_block(members));
  if (options_.debug) m_.name(push, "parameters");
  return push;
}

Id Emitter::pushed(uint32_t offset, uint32_t width) {
  uint32_t member = 0, from = 0;
  if (has64() && offset >= first_parameter_offset)
    member = 2, from = first_parameter_offset;
  else if (has64() && offset >= num_workgroups_offset)
    member = 1, from = num_workgroups_offset;
  const Id block = push_constants(), index = c32((offset - from) * 8 / width);
  const Id type = m_.type_int(width), to = m_.type_pointer(spv::StorageClassPushConstant, type);
  return ins(spv::OpLoad, type, {ins(spv::OpAccessChain, to, {block, c32(member), index})});
}

/// A number of the block. One that does not fit the push constants lies in memory, and they are its
/// address.
Id Emitter::param(uint32_t offset, uint32_t width) {
  if (!info_.block_in_memory) return pushed(offset, width);
  const Wide base = once_wide({"block"}, [&] {
    return has64() ? Wide{pushed(0, 64), 0} : Wide{pushed(0, 32), pushed(4, 32)};
  });
  const Id type = m_.type_int(width), p = pointer(moved_by(base, offset), type);
  return ins(spv::OpLoad, type, {p, spv::MemoryAccessAlignedMask, width / 8});
}

Id Emitter::param_word(uint32_t offset) {
  return once({"param", offset}, [&] {
    const bool is_word = offset >= num_workgroups_offset && offset < first_parameter_offset;
    return is_word || !has64() ? param(offset, 32) : low_word(param_wide(offset));
  });
}

Emitter::Wide Emitter::param_wide(uint32_t offset) {
  return once_wide({"wide", offset}, [&] {
    return has64() ? Wide{param(offset, 64), 0} : Wide{param_word(offset), param_word(offset + 4)};
  });
}

Emitter::Wide Emitter::pointer_of(BufferId buffer) {
  const Wide p = param_wide(offsets_[buffer]);
  if (options_.debug && has64())
    once({"name", buffer}, [&] {
      m_.name(p.low, p_.buffers[buffer].name);
      return p.low;
    });
  return p;
}

/// In elements of the lowered program; an element of the given program may have several.
Emitter::Wide Emitter::count_of(BufferId buffer) {
  if (!is_parameter(p_.buffers[buffer].role)) return wide(f_.buffers[buffer].count);
  const BufferId same = f_.buffers[buffer].length_of;
  const uint32_t pieces = f_.pieces[same];
  return once_wide({"count", same}, [&] { return times(param_wide(offsets_[same] + 8), pieces); });
}

Id Emitter::low_count(BufferId buffer) {
  return once({"len", f_.buffers[buffer].length_of}, [&] { return low_word(count_of(buffer)); });
}

// ---- Ids.

Id Emitter::builtin_word(spv::BuiltIn what) {
  return once({"builtin", what},
              [&] { return ins(spv::OpLoad, u32(), {m_.builtin(what, u32())}); });
}

Id Emitter::builtin_part(spv::BuiltIn what, uint32_t dim) {
  const Id all = once({"builtin", what},
                      [&] { return ins(spv::OpLoad, words(3), {m_.builtin(what, words(3))}); });
  return once({"builtin", what, dim + 1}, [&] { return part(all, dim); });
}

void Emitter::leave_if(Id condition) {
  const Id out = label(), on = label();
  eff(spv::OpSelectionMerge, {on, 0});
  eff(spv::OpBranchConditional, {condition, out, on});
  begin(out);
  eff(spv::OpReturn, {});
  begin(on);
}

/// The workgroup's number, and its remainder after each dimension. Workgroups past the end return
/// before all other code. Without 64-bit integers there are fewer than 2^32 workgroups.
void Emitter::place_in_grid() {
  at_start([&] {
    const Id x = builtin_part(spv::BuiltInWorkgroupId, 0);
    const Id y = builtin_part(spv::BuiltInWorkgroupId, 1);
    const Id z = builtin_part(spv::BuiltInWorkgroupId, 2);
    const Id nx = builtin_part(spv::BuiltInNumWorkgroups, 0);
    const Id ny = builtin_part(spv::BuiltInNumWorkgroups, 1);
    const Id type = has64() ? u64() : u32();
    const auto number = [&](Id word) {
      return has64() ? ins(spv::OpUConvert, type, {word}) : word;
    };
    const auto times = [&](Id a, Id word) { return ins(spv::OpIMul, type, {a, number(word)}); };
    const auto plus = [&](Id a, Id word) { return ins(spv::OpIAdd, type, {a, number(word)}); };
    Id rest = plus(times(number(z), ny), y);
    rest = plus(times(rest, nx), x);
    // Named in order: the evaluation order of arguments is unspecified.
    const Id gz = num_workgroups(2), gy = num_workgroups(1), gx = num_workgroups(0);
    const Id total = times(times(number(gx), gy), gz);
    leave_if(ins(spv::OpUGreaterThanEqual, b(), {rest, total}));
    for (uint32_t d = 0; d < 3; ++d) {
      const Id by = number(num_workgroups(d));
      Id id = d == 2 ? rest : ins(spv::OpUMod, type, {rest, by});
      if (has64()) id = ins(spv::OpUConvert, u32(), {id});
      once_.emplace(OnceKey{"place", d}, Wide{id, 0});
      if (d < 2) rest = ins(spv::OpUDiv, type, {rest, by});
    }
  });
}

Id Emitter::workgroup_id(uint32_t dim) {
  if (options_.linear_grid) return once_.find({"place", dim})->second.low;
  return builtin_part(spv::BuiltInWorkgroupId, dim);
}

bool Emitter::follows_lanes() const {
  return f_.has_lanes && !options_.profile.linear_lanes && f_.lanes_by != Lanes::Workgroup &&
         f_.lanes_by != Lanes::Alone;
}

/// The invocation's number in its workgroup. Where the device numbers lanes in another order,
/// invocations are numbered by their lanes; which invocation runs in which lane is not observable.
Id Emitter::linear_id() {
  if (!follows_lanes()) return builtin_word(spv::BuiltInLocalInvocationIndex);
  return once({"linear"}, [&] {
    m_.capability(spv::CapabilityGroupNonUniform);
    const Id group = builtin_word(spv::BuiltInSubgroupId);
    const Id first = ins(spv::OpIMul, u32(), {group, c32(options_.profile.subgroup_size)});
    return ins(spv::OpIAdd, u32(), {first, native_lane()});
  });
}

Id Emitter::local_id(uint32_t dim) {
  if (p_.workgroup[dim] == 1) return c32(0);
  if (!f_.in_a_row && !follows_lanes()) return builtin_part(spv::BuiltInLocalInvocationId, dim);
  return once({"local", dim}, [&] {
    Id rest = linear_id();
    for (uint32_t d = 0; d < dim; ++d)
      if (p_.workgroup[d] > 1) rest = ins(spv::OpUDiv, u32(), {rest, c32(p_.workgroup[d])});
    return ins(spv::OpUMod, u32(), {rest, c32(p_.workgroup[dim])});
  });
}

Id Emitter::global_id(uint32_t dim) {
  return once({"global", dim}, [&] {
    const Id group = workgroup_id(dim);
    if (p_.workgroup[dim] == 1) return group;
    const Id first = ins(spv::OpIMul, u32(), {group, c32(p_.workgroup[dim])});
    return ins(spv::OpIAdd, u32(), {first, local_id(dim)});
  });
}

/// Ops without operands. They generate no code at their use: their values are computed once.
void Emitter::id_op(OpId id) {
  const Op& o = p_.op(id);
  const ValueId v = p_.result(id);
  if (f_.uses[v] == 0) return;
  const auto dim = static_cast<uint32_t>(o.attr);
  switch (o.code) {
    case Opcode::GlobalId: return set(v, global_id(dim));
    case Opcode::LocalId: return set(v, local_id(dim));
    case Opcode::WorkgroupId: return set(v, workgroup_id(dim));
    case Opcode::NumWorkgroups: return set(v, num_workgroups(dim));
    case Opcode::WorkgroupSize: return set(v, c32(p_.workgroup[dim]));
    case Opcode::LaneId: return set(v, lane());
    case Opcode::SubgroupSize: return set(v, c32(f_.lanes));
    case Opcode::Len64: return set(v, count_of(o.buffer()).low);
    case Opcode::Len: {
      if (!is_parameter(p_.buffers[o.buffer()].role))
        return set(v, c32(static_cast<uint32_t>(f_.buffers[o.buffer()].count)));
      return set(v, low_count(o.buffer()));
    }
    case Opcode::Scalar: {
      const Type t = o.type;
      return set(v, once({"scalar", dim}, [&] {
                   if (width_of(t) == 64) {
                     return from_bits(t, param_wide(offsets_[o.buffer()]).low);
                   }
                   const Id word = param_word(offsets_[o.buffer()]);
                   if (t == Type::F32) return from_bits(t, word);
                   if (t != Type::Bool) return normalize(t, word);
                   const Id byte = ins(spv::OpBitwiseAnd, u32(), {word, c32(255)});
                   return ins(spv::OpINotEqual, b(), {byte, c32(0)});
                 }));
    }
    default: return;
  }
}

/// A line where it is another than that of the instruction before. (Functions have none.)
void Emitter::line_of(OpId id) {
  if (lowered_.original.empty()) return;
  const LocId loc = given_.op(lowered_.original[id]).loc;
  if (loc == none || loc == last_line_) return;
  last_line_ = loc;
  const Location& l = given_.locations[loc];
  if (l.file == none || l.line == 0) return;
  eff(spv::OpLine, {m_.file(given_.string(l.file)), l.line, l.column});
}

}  // namespace vyre::emit_spirv
