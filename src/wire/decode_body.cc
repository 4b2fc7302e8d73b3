// Decodes the ops. Their columns are in program order and hold no derived data, so reading them is
// one pass, and its result equals that of compact().

#include <algorithm>
#include <bitset>
#include <cstring>

#include "wire/decode.h"

namespace vyre::wire {
namespace {

struct OpRow {
  Opcode code = Opcode::Const;
  AttrKind attribute = AttrKind::None;
};

std::vector<OpRow> read_op_table(Reader& in) {
  Reader r = in.section(tag("OPCS"));
  const uint32_t count = r.count(4, "operation names");
  std::vector<OpRow> rows;
  std::bitset<256> seen;
  for (uint32_t i = 0; i < count && r.ok(); ++i) {
    const std::string_view name = r.text();
    if (!r.ok()) break;
    const Opcode* code = find_op(name);
    if (!code) {
      r.failure().fail(Code::WireUnknownOp,
                       fmt::format("unknown operation `{}`", std::string(name.substr(0, 64))),
                       "use a vyre that has the operation");
      break;
    }
    if (seen[size_t(*code)])
      r.fail(Code::WireNotCanonical, fmt::format("operation `{}` is listed twice", name));
    seen[size_t(*code)] = true;
    rows.push_back({*code, info(*code).attribute});
  }
  r.expect_end("the operation names");
  return rows;
}

/// A column of the file: records of one size.
struct Column {
  const std::byte* at = nullptr;
  uint32_t count = 0;
};
Column read_column(Reader& in, uint32_t tag, size_t size, std::string_view what) {
  Reader r = in.section(tag);
  Column c;
  c.at = r.array(size, what, c.count);
  r.expect_end(what);
  return c;
}

struct BodyReader {
  Program& p;
  FirstError& failure;
  const bool trusted;
  std::vector<OpRow> rows;
  Column blocks, types, uses, ops, attrs;

  BlockId next_block{0};
  ValueId next_value{0};
  uint32_t next_use = 0, next_attr = 0, next_row = 0;
  ValueId* ids = nullptr;  // the end of the lists written so far

  /// The blocks of one op that are still to be filled; `left` ops are missing in `block`.
  struct Frame {
    BlockId block;
    BlockId last;
    uint32_t left;
  };
  std::vector<Frame> stack;

  bool fail(Code code, const std::string& message) { return failure.fail(code, message); }

  bool define(OpId def, BlockId block, uint32_t n, Range& list) {
    if (n > types.count - next_value.value())
      return fail(Code::WireBadTree,
                  fmt::format("more values are defined than the {} that exist", types.count));
    list = {uint32_t(ids - p.ids.data()), n};
    for (uint32_t i = 0; i < n; ++i) {
      p.values[next_value] = {Type(types.at[next_value.value()]), def, block, i};
      *ids++ = next_value++;
    }
    return true;
  }

  bool enter(BlockId block) {
    const std::byte* record = blocks.at + size_t{block.value()} * block_size;
    stack.back().left = load<uint32_t>(record);
    return define(none, block, load<uint32_t>(record + 4), p.blocks[block].args);
  }

  /// Puts the block of the next op on top of the stack; empties the stack after the last op.
  bool settle() {
    while (!stack.empty() && stack.back().left == 0) {
      Frame& top = stack.back();
      if (top.block == top.last) {
        stack.pop_back();
      } else {
        ++top.block;
        if (!enter(top.block)) return false;
      }
    }
    return true;
  }

  bool open_blocks(OpId id, uint32_t n) {
    if (n > blocks.count - next_block.value())
      return fail(Code::WireBadTree, fmt::format("op {} has blocks beyond the {} that exist",
                                                 id.value(), blocks.count));
    p.ops[id].first_block = next_block;
    for (uint32_t i = 0; i < n; ++i) p.blocks[next_block + i].parent = id;
    stack.push_back({next_block, next_block + (n - 1), 0});
    next_block = next_block + n;
    return enter(stack.back().block);
  }

  void link(OpId id, BlockId block) {
    Block& b = p.blocks[block];
    Op& o = p.ops[id];
    o.parent = block;
    o.prev = b.last;
    (b.last == none ? b.first : p.ops[b.last].next) = id;
    b.last = id;
  }

  bool read_attr(OpId id, AttrKind kind) {
    if (kind == AttrKind::None) return true;
    if (next_attr == attrs.count)
      return fail(Code::WireBadTree,
                  fmt::format("op {} has no attribute, there are {}", id.value(), attrs.count));
    uint64_t bits = load<uint64_t>(attrs.at + size_t{next_attr++} * 8);
    const auto bad = [&](Code code, std::string_view what) {
      return fail(code,
                  fmt::format("op {} has attribute {:#x}, which is no {}", id.value(), bits, what));
    };
    switch (kind) {
      case AttrKind::None:
      case AttrKind::Bits: break;
      case AttrKind::Dim:
        if (bits > 2) return bad(Code::WireBadEnum, "dimension");
        break;
      case AttrKind::Scope:
        if (bits >= scope_count) return bad(Code::WireBadEnum, "scope");
        break;
      case AttrKind::Name:
        if (bits >= p.strings.size()) return bad(Code::WireBadId, "string");
        break;
      case AttrKind::Buffer:
        if (bits >= p.buffers.size()) return bad(Code::WireBadId, "buffer");
        break;
      case AttrKind::Memory: {
        MemoryRef m = MemoryRef::unpack(bits);
        if (m.pack() != bits) return bad(Code::WireReservedBits, "memory access");
        if (uint32_t(m.scope) >= scope_count)
          return bad(Code::WireBadEnum, "memory access: bad scope");
        if (!p.buffers.contains(m.buffer)) return bad(Code::WireBadId, "buffer");
        if (!trusted) {
          m.in_bounds = m.read_only = false;
          m.align_log2 = 0;
          bits = m.pack();
        }
        break;
      }
    }
    p.ops[id].attr = bits;
    return true;
  }

  bool read_op(OpId id) {
    const std::byte* record = ops.at + size_t{id.value()} * op_size;
    const auto row = uint8_t(record[0]);
    const auto type = uint8_t(record[1]);
    const auto n_blocks = uint8_t(record[2]);
    const auto n_operands = load<uint32_t>(record + 4);
    const auto n_results = load<uint32_t>(record + 8);
    if (row >= rows.size())
      return fail(Code::WireBadId, fmt::format("op {} is operation {}, {} are listed", id.value(),
                                               row, rows.size()));
    if (row >= next_row && row != next_row++)
      return fail(Code::WireNotCanonical, "operation names are not in order of first use");
    if (type >= type_count)
      return fail(Code::WireBadEnum, fmt::format("op {}: unknown type {}", id.value(), type));
    if (record[3] != std::byte{0})
      return fail(Code::WireReservedBits, fmt::format("op {} has reserved bits", id.value()));

    Op& o = p.ops[id];
    o.code = rows[row].code;
    o.type = Type(type);
    o.n_blocks = n_blocks;
    --stack.back().left;
    link(id, stack.back().block);

    if (n_operands > uses.count - next_use)
      return fail(Code::WireBadTree, fmt::format("op {} has operands beyond the {} that exist",
                                                 id.value(), uses.count));
    o.operands = {uint32_t(ids - p.ids.data()), n_operands};
    const std::byte* use = uses.at + size_t{next_use} * 4;
    next_use += n_operands;
    for (uint32_t i = 0; i < n_operands; ++i, use += 4) {
      const ValueId v(load<uint32_t>(use));
      if (v >= next_value)
        return fail(Code::WireBadId, fmt::format("op {} uses value {}, {} are defined before it",
                                                 id.value(), v.value(), next_value.value()));
      *ids++ = v;
    }
    return define(id, none, n_results, o.results) && read_attr(id, rows[row].attribute) &&
           (n_blocks == 0 || open_blocks(id, n_blocks));
  }

  void run() {
    failure.take(uint64_t{blocks.count} * sizeof(Block) + uint64_t{types.count} * sizeof(Value) +
                 uint64_t{ops.count} * sizeof(Op) +
                 (uint64_t{types.count} + uses.count) * sizeof(uint32_t));
    p.blocks.resize(blocks.count);
    p.values.resize(types.count);
    p.ops.resize(ops.count);
    // Every value is in exactly one list of results or arguments, every use in one of operands.
    p.ids.resize(size_t{types.count} + uses.count);
    ids = p.ids.data();

    if (blocks.count == 0) {
      fail(Code::WireBadTree, "there is no block for the kernel's body");
      return;
    }
    stack.push_back({body_block, body_block, 0});
    next_block = body_block + 1;
    if (!enter(body_block) || !settle()) return;
    for (OpId id(0); id.value() < ops.count; ++id) {
      if (stack.empty()) {
        fail(Code::WireBadTree,
             fmt::format("the blocks hold {} ops, the program has {}", id.value(), ops.count));
        return;
      }
      failure.poll();
      if (!read_op(id) || !settle()) return;
    }
    if (!stack.empty())
      fail(Code::WireBadTree,
           fmt::format("the blocks hold more than the {} ops that exist", ops.count));
    else if (next_block.value() != blocks.count || next_value.value() != types.count ||
             next_use != uses.count || next_attr != attrs.count)
      fail(Code::WireBadTree,
           "there are blocks, values, operands or attributes that belong to no op");
    else if (next_row != rows.size())
      fail(Code::WireNotCanonical, "an operation name is not used");
  }
};

}  // namespace

void read_body(Reader& in, Program& p, DecodeOptions options) {
  BodyReader body{.p = p, .failure = in.failure(), .trusted = options.trusted};
  body.rows = read_op_table(in);
  body.blocks = read_column(in, tag("BLKS"), block_size, "blocks");
  body.types = read_column(in, tag("VALS"), 1, "values");
  body.uses = read_column(in, tag("USES"), 4, "operands");
  body.ops = read_column(in, tag("OPS "), op_size, "ops");
  body.attrs = read_column(in, tag("ATTR"), 8, "attributes");
  if (!in.ok()) return;
  if (uint64_t{body.types.count} + body.uses.count >= none) {
    in.fail(Code::WireCountTooLarge, "values and operands together exceed 32-bit ids");
    return;
  }
  const auto bad_type = std::find_if(body.types.at, body.types.at + body.types.count,
                                     [](std::byte t) { return uint8_t(t) >= type_count; });
  if (bad_type != body.types.at + body.types.count) {
    in.fail(Code::WireBadEnum, fmt::format("{} is no type of a value", uint8_t(*bad_type)));
    return;
  }
  body.run();
}

}  // namespace vyre::wire
