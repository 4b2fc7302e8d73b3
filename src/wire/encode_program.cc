#include <algorithm>

#include "wire/encode.h"
#include "wire/wire_formulas.h"

namespace vyre::wire {
namespace {

/// The ops as columns, ids renumbered in the order of a walk, exactly as compact() does it.
struct BodyWriter {
  const Program& p;
  const EncodeOptions options;

  IdMap<ValueId, ValueId> value_map;
  IdMap<BlockId, BlockId> block_map;
  std::vector<LocId> loc_map;
  StringTable strings;
  OpTable op_table;

  IdMap<BlockId, uint32_t> block_ops;  // by new block id
  IdMap<BlockId, uint32_t> block_args;
  ValueId next_value{0};
  uint32_t n_ops = 0, n_operands = 0, n_attrs = 0;
  Bytes ops, operands, attrs, value_types, op_locs;
  std::vector<Location> locations;

  static constexpr LocId pending = none - 1;

  BodyWriter(const Program& program, EncodeOptions o)
      : p(program),
        options(o),
        value_map(program.values.size(), none),
        block_map(program.blocks.size(), none),
        loc_map(o.locations ? program.locations.size() : 0, none) {
    ops.data.reserve(program.ops.size() * op_size);
    value_types.data.reserve(program.values.size());
    operands.data.reserve(program.ids.size() * 4);
    if (o.locations) op_locs.data.reserve(program.ops.size() * 4);
  }

  uint32_t string(StringId s) { return s < p.strings.size() ? strings.add(p.strings[s]) : none; }

  LocId location(LocId l) {
    if (l >= loc_map.size()) return none;
    if (loc_map[l] != none) return loc_map[l];
    // Callers first, so that a location refers to earlier ones only. `pending` detects a cycle,
    // which no front end makes.
    std::vector<LocId> chain;
    for (LocId at = l; at < loc_map.size() && loc_map[at] == none;
         at = p.locations[at].inlined_at) {
      loc_map[at] = pending;
      chain.push_back(at);
    }
    for (size_t i = chain.size(); i-- > 0;) {
      Location copy = p.locations[chain[i]];
      copy.file = string(copy.file);
      const LocId caller = copy.inlined_at < loc_map.size() ? loc_map[copy.inlined_at] : none;
      copy.inlined_at = caller == pending ? none : caller;
      loc_map[chain[i]] = LocId(locations.size());
      locations.push_back(copy);
    }
    return loc_map[l];
  }

  void define(ValueId v) {
    value_map[v] = next_value++;
    value_types.u8(uint8_t(p.values[v].type));
  }

  BlockId add_block() {
    block_ops.push_back(0);
    block_args.push_back(0);
    return BlockId(block_ops.size() - 1);
  }

  void enter(BlockId b) {
    block_args[block_map[b]] = p.blocks[b].args.count;
    for (ValueId v : p.args(b)) define(v);
  }

  void visit(OpId id) {
    const Op& o = p.ops[id];
    ++block_ops[block_map[o.parent]];
    ++n_ops;
    std::byte* record = ops.grow(op_size);
    record[0] = std::byte{op_table.add(o.code).first};
    record[1] = std::byte(o.type);
    record[2] = std::byte{o.n_blocks};
    store<uint32_t>(record + 4, o.operands.count);
    store<uint32_t>(record + 8, o.results.count);

    std::byte* uses = operands.grow(size_t{o.operands.count} * 4);
    for (ValueId v : p.operands(id)) {
      store<uint32_t>(uses, value_map.contains(v) ? value_map[v].value() : uint32_t{none});
      uses += 4;
    }
    n_operands += o.operands.count;
    for (ValueId v : p.results(id)) define(v);
    for (uint32_t i = 0; i < o.n_blocks; ++i) block_map[o.first_block + i] = add_block();
    if (options.locations) op_locs.u32(location(o.loc));

    const AttrKind kind = info(o.code).attribute;
    if (kind == AttrKind::None) return;
    attrs.u64(kind == AttrKind::Name ? string(StringId(o.attr)) : canonical_attr(kind, o.attr));
    ++n_attrs;
  }

  void run() {
    if (p.blocks.empty()) return;  // not a program: decoders report it
    block_map[body_block] = add_block();
    walk_blocks(p, body_block, [&](Visit what, OpId op, BlockId block) {
      if (what == Visit::EnterBlock) enter(block);
      if (what == Visit::Op) visit(op);
    });
  }

  static void column(Bytes& out, uint32_t tag, uint32_t count, const Bytes& data) {
    const size_t section = out.begin_section(tag);
    out.u32(count);
    out.raw(data.data);
    out.end_section(section);
  }

  void write_to(Bytes& out) const {
    // A module has many programs: the buffer grows at least by a factor of two, so that each byte
    // is copied a constant number of times.
    const size_t needed = out.data.size() + ops.data.size() + operands.data.size() +
                          attrs.data.size() + value_types.data.size() + op_locs.data.size() +
                          block_ops.size() * block_size + locations.size() * location_size + 1024;
    if (needed > out.data.capacity()) out.data.reserve(std::max(needed, 2 * out.data.capacity()));
    write(out, strings);

    size_t section = out.begin_section(tag("OPCS"));
    out.u32(uint32_t(op_table.list.size()));
    for (Opcode code : op_table.list) out.text(mnemonic(code));
    out.end_section(section);

    section = out.begin_section(tag("BLKS"));
    out.u32(uint32_t(block_ops.size()));
    for (const BlockId i : block_ops.ids()) {
      out.u32(block_ops[i]);
      out.u32(block_args[i]);
    }
    out.end_section(section);

    column(out, tag("VALS"), next_value.value(), value_types);
    column(out, tag("USES"), n_operands, operands);
    column(out, tag("OPS "), n_ops, ops);
    column(out, tag("ATTR"), n_attrs, attrs);
  }

  void write_locations(Bytes& out, LocId kernel, const std::vector<LocId>& buffers) const {
    if (locations.empty()) return;
    const size_t section = out.begin_section(tag("LOCS"));
    out.u32(kernel);
    for (LocId l : buffers) out.u32(l);
    out.raw(op_locs.data);
    out.u32(uint32_t(locations.size()));
    for (const Location& l : locations) {
      out.u32(l.file);
      out.u32(l.line);
      out.u32(l.column);
      out.u32(l.length);
      out.u32(l.inlined_at);
    }
    out.end_section(section);
  }
};

void write_head(Bytes& out, const Program& p, const CanonicalFormulas& formulas) {
  const size_t section = out.begin_section(tag("HEAD"));
  out.text(p.name);
  out.text(p.op_id);
  for (uint32_t n : p.workgroup) out.u32(n);
  out.u32(p.subgroup);
  out.u32(p.requires_forward_progress ? 1 : 0);
  const uint32_t dims = std::min<uint32_t>(p.grid_dims, 3);
  out.u32(dims);
  for (uint32_t d = 0; d < dims; ++d) out.u32(formulas.at(p.grid[d]));
  out.end_section(section);
}

void write_buffers(Bytes& out, const Program& p, const CanonicalFormulas& formulas) {
  size_t section = out.begin_section(tag("BUFS"));
  out.u32(uint32_t(p.buffers.size()));
  for (const Buffer& b : p.buffers) {
    out.u8(uint8_t(b.role));
    out.u8(uint8_t(b.element));
    out.u16(0);
    out.u32(formulas.at(b.count));
    out.u64(table_of(p, b).size());
    out.text(b.name);
  }
  out.end_section(section);

  section = out.begin_section(tag("TABL"));
  for (const Buffer& b : p.buffers) out.raw(table_of(p, b));
  out.end_section(section);
}

}  // namespace

std::span<const std::byte> table_of(const Program& p, const Buffer& b) {
  uint64_t count = 0;
  const uint64_t size = size_of(b.element);
  if (b.role != Role::Table || size == 0 || !p.formulas.is_constant(b.count, &count)) return {};
  const uint64_t have = p.table_bytes.size();
  if (b.table_offset > have || count > (have - b.table_offset) / size) return {};
  return std::span(p.table_bytes).subspan(b.table_offset, count * size);
}

void write(Bytes& out, const StringTable& strings) {
  const size_t section = out.begin_section(tag("STRS"));
  out.u32(uint32_t(strings.list.size()));
  for (std::string_view s : strings.list) out.text(s);
  out.end_section(section);
}

void write(Bytes& out, const Program& p, EncodeOptions options) {
  CanonicalFormulas formulas(p.formulas);
  for (const Buffer& b : p.buffers) formulas.root(b.count);
  for (uint32_t d = 0; d < std::min<uint32_t>(p.grid_dims, 3); ++d) formulas.root(p.grid[d]);

  BodyWriter body(p, options);
  const LocId kernel = body.location(p.loc);
  std::vector<LocId> buffers;
  for (const Buffer& b : p.buffers) buffers.push_back(body.location(b.loc));
  body.run();

  write(out, formulas.pool());
  write_head(out, p, formulas);
  write_buffers(out, p, formulas);
  body.write_to(out);
  body.write_locations(out, kernel, buffers);
}

void write_header(Bytes& out, WireKind kind) {
  out.raw(std::as_bytes(std::span(magic)));
  out.u16(version_major);
  out.u16(version_minor);
  out.u32(uint32_t(kind));
  out.u32(0);
  out.u64(0);  // set by seal(): the length
  out.u64(0);  // and the checksum
}

}  // namespace vyre::wire

namespace vyre {

std::vector<std::byte> encode(const Program& program, EncodeOptions options) {
  wire::Bytes out;
  wire::write_header(out, WireKind::Program);
  wire::write(out, program, options);
  wire::seal(out.data);
  return std::move(out.data);
}

}  // namespace vyre
