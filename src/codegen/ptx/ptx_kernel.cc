// The entry: directives, parameters, values that are computed once, and the end.

#include "codegen/ptx/ptx_emitter.h"

namespace vyre::emit_ptx {
namespace {

constexpr uint64_t most_static_shared = 48 << 10;

constexpr std::string_view class_prefix[] = {"%p", "%h", "%r", "%l", "%f", "%d"};
constexpr std::string_view class_type[] = {".pred", ".b16", ".b32", ".b64", ".f32", ".f64"};

/// A path that can be printed in PTX text: quotes, backslashes and control characters are replaced.
std::string printable_path(std::string_view path) {
  std::string text;
  for (const char c : path)
    text += c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ' ? '_' : c;
  return text;
}

}  // namespace

Emitter::Emitter(const LoweredProgram& lowered, const GpuAnalysis& analysis, const Program& given,
                 const EmitOptions& options)
    : lowered_(lowered),
      f_(analysis),
      p_(lowered.program),
      given_(given),
      options_(options),
      made_(p_.values.size()) {
  offsets_.assign(p_.buffers.size(), 0);
  uint32_t at = first_parameter_offset;
  for (const BufferId i : p_.buffers.ids()) {
    if (!is_parameter(p_.buffers[i].role)) continue;
    offsets_[i] = at;
    at += p_.buffers[i].role == Role::Scalar ? 8 : 16;
  }
  info_.parameter_bytes = at;
  info_.subgroup_size = f_.lanes;
  info_.private_bytes = f_.private_bytes;
  info_.grid_barrier = f_.waits_for_grid;
  uint64_t shared = f_.shared_bytes;
  if (f_.loads_uniformly) {
    uniform_slot_ = shared;
    shared += 16;
  }
  if (uses_pairs()) {
    pair_slots_ = shared;
    shared += uint64_t{8} * ((f_.invocations + 63) / 64 * 64);
    pair_turns_ = shared;
    shared += uint64_t{4} * ((f_.invocations + 63) / 64 * 64);
  }
  (shared > most_static_shared ? info_.dynamic_shared_bytes : info_.static_shared_bytes) = shared;
}

Kernel Emitter::run() {
  if (options_.grid == Grid::Linear) workgroup_id(0);  // blocks past the end leave first
  clear_arrays();
  block(body_block);
  footer();
  arrays();  // after the body: it has the tables that are used
  header();
  Kernel k;
  k.text = std::move(head_);
  k.text += start_;
  k.text += body_;
  k.info = info_;
  return k;
}

// ---- Registers and values.

Emitter::Class Emitter::class_of(Type t) {
  switch (t) {
    case Type::Bool: return Class::Pred;
    case Type::I64:
    case Type::U64: return Class::Long;
    case Type::F32: return Class::Float;
    case Type::F64: return Class::Double;
    case Type::F16:
    case Type::BF16: return Class::Half;
    default: return Class::Word;
  }
}

std::string_view suffix(Type t) {
  switch (t) {
    case Type::I64: return "s64";
    case Type::U64: return "u64";
    case Type::F32: return "f32";
    case Type::F64: return "f64";
    case Type::Bool: return "pred";
    default: return is_signed(t) ? "s32" : "u32";
  }
}

std::string_view bits_suffix(Type t) {
  return t == Type::I64 || t == Type::U64 || t == Type::F64 ? "b64" : "b32";
}

Emitter::Text Emitter::temp(Class c) {
  const auto i = static_cast<size_t>(c);
  return fmt::format("{}{}", class_prefix[i], registers_[i]++);
}

Emitter::Text Emitter::immediate(Type t, uint64_t bits) const {
  switch (t) {
    case Type::F32: return fmt::format("0f{:08X}", static_cast<uint32_t>(bits));
    case Type::F64: return fmt::format("0d{:016X}", bits);
    case Type::I8: return fmt::format("{}", static_cast<int8_t>(bits));
    case Type::I16: return fmt::format("{}", static_cast<int16_t>(bits));
    case Type::I32: return fmt::format("{}", static_cast<int32_t>(bits));
    case Type::I64:
    case Type::U64:
      if (bits >> 63) return fmt::format("0x{:x}", bits);
      return fmt::format("{}", bits);
    default: return fmt::format("{}", bits & low_mask(width_of(t)));
  }
}

Emitter::Text Emitter::bool_constant(bool b) {
  return once(b ? "true" : "false", [&] {
    Text p = pred();
    const Text zero = word();
    ins("mov.u32 {}, 0", zero);
    ins("setp.{}.u32 {}, {}, 0", b ? "eq" : "ne", p, zero);
    return p;
  });
}

Emitter::Text Emitter::get(ValueId v) {
  if (!made_[v].empty()) return made_[v];
  if (const auto c = constant(v)) {
    const Type t = p_.type(v);
    return made_[v] = t == Type::Bool ? bool_constant(*c & 1) : immediate(t, *c);
  }
  return dest(v);
}

Emitter::Text Emitter::reg(ValueId v) {
  const Text text = get(v);
  return text[0] == '%' ? text : moved(p_.type(v), text);
}

Emitter::Text Emitter::dest(ValueId v) {
  if (made_[v].empty()) made_[v] = temp(p_.type(v));
  return made_[v];
}

void Emitter::move(Type t, const Text& to, const Text& from) {
  if (to == from) return;
  switch (class_of(t)) {
    case Class::Pred: return ins("mov.pred {}, {}", to, from);
    case Class::Float: return ins("mov.f32 {}, {}", to, from);
    case Class::Double: return ins("mov.f64 {}, {}", to, from);
    default: return ins("mov.{} {}, {}", bits_suffix(t), to, from);
  }
}

Emitter::Text Emitter::moved(Type t, const Text& from) {
  Text to = temp(t);
  move(t, to, from);
  return to;
}

// ---- Parameters, addresses, ids.

Emitter::Text Emitter::param(uint32_t offset, std::string_view type, Class c) {
  return once(fmt::format("param {} {}", offset, type), [&] {
    Text r = temp(c);
    ins("ld.param.{} {}, [{}_param+{}]", type, r, kernel_symbol, offset);
    return r;
  });
}

Emitter::Text Emitter::pointer_of(BufferId buffer) {
  return once(fmt::format("pointer {}", buffer.value()), [&] {
    const Role role = p_.buffers[buffer].role;
    Text r = wide();
    if (role == Role::Private)
      ins("mov.u64 {}, vyre_private", r);
    else if (role == Role::Table)
      ins("mov.u64 {}, vyre_table_{}", r, buffer.value());
    else
      ins("cvta.to.global.u64 {}, {}", r, param(offsets_[buffer], "u64", Class::Long));
    return r;
  });
}

Emitter::Text Emitter::shared_base() {
  return once("shared", [&] {
    Text r = word();
    ins("mov.u32 {}, vyre_shared", r);
    return r;
  });
}

Emitter::Text Emitter::count_of(BufferId buffer) {
  if (!is_parameter(p_.buffers[buffer].role)) return fmt::format("{}", f_.buffers[buffer].count);
  return param(offsets_[f_.buffers[buffer].length_of] + 8, "u64", Class::Long);
}

Emitter::Text Emitter::special(const char* name) {
  return once(name, [&] {
    Text r = word();
    ins("mov.u32 {}, {}", r, name);
    return r;
  });
}

Emitter::Text Emitter::num_workgroups(uint32_t dim) {
  return param(num_workgroups_offset + 4 * dim, "u32", Class::Word);
}

Emitter::Text Emitter::workgroup_id(uint32_t dim) {
  if (options_.grid == Grid::Direct) {
    constexpr const char* names[] = {"%ctaid.x", "%ctaid.y", "%ctaid.z"};
    return special(names[dim]);
  }
  // The block's number, and its remainder after each dimension. Computed as a whole, because the
  // first test must come before all other code of the block.
  once("place", [&] {
    const Text y = special("%ctaid.y"), x = special("%ctaid.x"), n = special("%nctaid.x");
    const Text number = wide(), wide_x = wide(), total = wide(), nz = wide(), past = pred();
    ins("cvt.u64.u32 {}, {}", wide_x, x);
    ins("mad.wide.u32 {}, {}, {}, {}", number, y, n, wide_x);
    Text size[3];
    for (uint32_t d = 0; d < 3; ++d) size[d] = num_workgroups(d);
    ins("mul.wide.u32 {}, {}, {}", total, size[0], size[1]);
    ins("cvt.u64.u32 {}, {}", nz, size[2]);
    ins("mul.lo.u64 {}, {}, {}", total, total, nz);
    ins("setp.ge.u64 {}, {}, {}", past, number, total);
    ins("@{} ret", past);
    Text rest = number;
    for (uint32_t d = 0; d < 3; ++d) {
      const Text id = word();
      once_.emplace(fmt::format("place {}", d), id);
      if (d == 2) {
        ins("cvt.u32.u64 {}, {}", id, rest);
        break;
      }
      const Text by = wide(), left = wide(), mine = wide();
      ins("cvt.u64.u32 {}, {}", by, size[d]);
      ins("div.u64 {}, {}, {}", left, rest, by);
      ins("rem.u64 {}, {}, {}", mine, rest, by);
      ins("cvt.u32.u64 {}, {}", id, mine);
      rest = left;
    }
    return Text("%");
  });
  return once_.find(fmt::format("place {}", dim))->second;
}

Emitter::Text Emitter::local_id(uint32_t dim) {
  constexpr const char* names[] = {"%tid.x", "%tid.y", "%tid.z"};
  if (p_.workgroup[dim] == 1) return "0";
  return special(names[dim]);
}

Emitter::Text Emitter::global_id(uint32_t dim) {
  return once(fmt::format("global {}", dim), [&] {
    if (p_.workgroup[dim] == 1) return workgroup_id(dim);
    const Text group = workgroup_id(dim), local = local_id(dim);
    Text r = word();
    ins("mad.lo.u32 {}, {}, {}, {}", r, group, p_.workgroup[dim], local);
    return r;
  });
}

Emitter::Text Emitter::linear_id() {
  return once("linear", [&] {
    Text at = moved(Type::U32, local_id(2));
    for (uint32_t d = 2; d-- > 0;) {
      const Text local = local_id(d), next = word();
      ins("mad.lo.u32 {}, {}, {}, {}", next, at, p_.workgroup[d], local);
      at = next;
    }
    return at;
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
    case Opcode::WorkgroupSize: return set(v, fmt::format("{}", p_.workgroup[dim]));
    case Opcode::LaneId: return set(v, lane());
    case Opcode::SubgroupSize: return set(v, fmt::format("{}", f_.lanes));
    case Opcode::Len64: return set(v, count_of(o.buffer()));
    case Opcode::Len: {
      if (!is_parameter(p_.buffers[o.buffer()].role)) return set(v, count_of(o.buffer()));
      // The low half: it fits.
      return set(v, param(offsets_[f_.buffers[o.buffer()].length_of] + 8, "u32", Class::Word));
    }
    case Opcode::Scalar: {
      const Type t = o.type;
      if (t != Type::Bool && width_of(t) >= 32)
        return set(
            v, param(offsets_[o.buffer()], is_float(t) ? suffix(t) : bits_suffix(t), class_of(t)));
      const std::string_view how = t == Type::I8    ? "s8"
                                   : t == Type::I16 ? "s16"
                                   : t == Type::U16 ? "u16"
                                                    : "u8";
      const Text raw = param(offsets_[o.buffer()], how, Class::Word);
      if (t != Type::Bool) return set(v, raw);
      return set(v, once(fmt::format("flag {}", dim), [&] {
                   Text p = pred();
                   ins("setp.ne.u32 {}, {}, 0", p, raw);
                   return p;
                 }));
    }
    default: return;
  }
}

void Emitter::header() {
  std::string top;
  append(top, ".version {}\n.target {}\n.address_size 64\n\n", ptx_version(options_.arch),
         name(options_.arch));
  top += head_;
  append(top, ".visible .entry {}(\n\t.param .align 8 .b8 {}_param[{}]\n)\n", kernel_symbol,
         kernel_symbol, info_.parameter_bytes);
  append(top, ".maxntid {}, {}, {}\n", p_.workgroup[0], p_.workgroup[1], p_.workgroup[2]);
  if (options_.min_blocks_per_sm) append(top, ".minnctapersm {}\n", options_.min_blocks_per_sm);
  top += "{\n";
  for (size_t c = 0; c < registers_.size(); ++c)
    if (registers_[c])
      append(top, "\t.reg {} {}<{}>;\n", class_type[c], class_prefix[c], registers_[c]);
  if (f_.private_bytes) append(top, "\t.local .align 16 .b8 vyre_private[{}];\n", f_.private_bytes);
  head_ = std::move(top);
}

void Emitter::footer() {
  if (trap_tail_) trap_tail();
  if (stop_tail_) stop_tail();
  body_ += "}\n";
  // File numbers are known only now; the directives stand at the end, outside of the entry.
  for (const auto& [path, number] : files_)
    append(body_, ".file {} \"{}\"\n", number, printable_path(path));
}

/// Writes `.loc` where the source line differs from that of the previous instruction.
void Emitter::line_of(OpId op) {
  const LocId loc = given_.op(lowered_.original[op]).loc;
  if (loc == none || loc == last_line_) return;
  last_line_ = loc;
  const Location& l = given_.locations[loc];
  if (l.file == none || l.line == 0) return;
  const uint32_t next = static_cast<uint32_t>(files_.size()) + 1;
  const uint32_t file = files_.try_emplace(std::string(given_.string(l.file)), next).first->second;
  append(*out_, "\t.loc {} {} {}\n", file, l.line, l.column);
}

}  // namespace vyre::emit_ptx
