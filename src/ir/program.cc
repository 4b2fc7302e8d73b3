#include "ir/program.h"

#include <cassert>
#include <unordered_map>

namespace vyre {

std::string_view name(Role role) {
  constexpr std::string_view names[] = {"in",      "inout",   "out",    "scratch", "shared",
                                        "private", "uniform", "scalar", "const"};
  return names[static_cast<int>(role)];
}

std::string_view name(Scope scope) {
  constexpr std::string_view names[] = {"subgroup", "workgroup", "grid"};
  return names[static_cast<int>(scope)];
}

Range Program::add_list(std::span<const ValueId> list) {
  const Range r{uint32_t(ids.size()), uint32_t(list.size())};
  // The list may be one of this program's, which moves when the array grows.
  const size_t own = size_t(list.data() - ids.data());
  const bool is_own = std::less_equal<>()(ids.data(), list.data()) && own < ids.size();
  for (size_t i = 0; i < list.size(); ++i)  // most are short
    ids.push_back(is_own ? ValueId(ids[own + i]) : list[i]);
  return r;
}

StringId Program::add_string(std::string_view text) {
  // Usually a repeat of one of the last ones; compact() finds the other repeats.
  const size_t stop = strings.size() > 4 ? strings.size() - 4 : 0;
  for (size_t i = strings.size(); i-- > stop;)
    if (strings[i] == text) return StringId(i);
  strings.emplace_back(text);
  return StringId(strings.size() - 1);
}

LocId Program::add_location(const Location& l) {
  if (!locations.empty() && locations.back() == l) return LocId(locations.size() - 1);
  locations.push_back(l);
  return LocId(locations.size() - 1);
}

BlockId Program::add_block(OpId parent) {
  blocks.push_back({parent, none, none, {}});
  return BlockId(blocks.size() - 1);
}

ValueId Program::add_argument(BlockId block, Type type) {
  const ValueId v = ValueId(values.size());
  Range& args = blocks[block].args;
  values.push_back({type, none, block, args.count});
  if (args.begin + args.count != ids.size()) {  // not at the pool's end: move the list there
    const Range old = args;
    args.begin = uint32_t(ids.size());
    for (uint32_t i = 0; i < old.count; ++i) ids.push_back(ids[old.begin + i]);
  }
  ids.push_back(v);
  ++args.count;
  return v;
}

OpId Program::add_op(Opcode code, Type type, std::span<const ValueId> operands,
                     std::span<const Type> results, uint64_t attr, LocId loc) {
  const OpId id = OpId(ops.size());
  Op o;
  o.code = code;
  o.type = type;
  o.attr = attr;
  o.loc = loc;
  o.operands = add_list(operands);
  o.results = {uint32_t(ids.size()), uint32_t(results.size())};
  for (uint32_t i = 0; i < results.size(); ++i) {
    ids.push_back(ValueId(values.size()));
    values.push_back({results[i], id, none, i});
  }
  ops.push_back(o);
  return id;
}

void Program::append(BlockId block, OpId op) {
  Block& b = blocks[block];
  Op& o = ops[op];
  o.parent = block;
  o.prev = b.last;
  o.next = none;
  (b.last == none ? b.first : ops[b.last].next) = op;
  b.last = op;
}

void Program::insert_before(OpId where, OpId op) {
  Op& w = ops[where];
  Op& o = ops[op];
  o.parent = w.parent;
  o.prev = w.prev;
  o.next = where;
  (w.prev == none ? blocks[w.parent].first : ops[w.prev].next) = op;
  w.prev = op;
}

void Program::unlink(OpId op) {
  Op& o = ops[op];
  Block& b = blocks[o.parent];
  (o.prev == none ? b.first : ops[o.prev].next) = o.next;
  (o.next == none ? b.last : ops[o.next].prev) = o.prev;
  o.parent = none;
  o.prev = o.next = none;
}

Place Program::place(LocId id) const {
  if (id >= locations.size()) return {};
  const Location& l = locations[id];
  return {l.file < strings.size() ? strings[l.file] : std::string(), l.line, l.column, l.length};
}

void Program::add_call_notes(LocId id, Diagnostic& d) const {
  if (id >= locations.size()) return;
  // A chain only refers to earlier locations, so it ends.
  for (LocId at = locations[id].inlined_at; at < id; id = at, at = locations[id].inlined_at)
    d.note("called from here", place(at));
}

namespace {

/// Builds the canonical copy of a program: ids in the order of a walk.
struct Compactor {
  const Program& from;
  Program to;
  IdMap<ValueId, ValueId> value_map;
  IdMap<OpId, OpId> op_map;
  IdMap<BlockId, BlockId> block_map;
  std::vector<LocId> loc_map;
  std::vector<StringId> string_map;
  std::unordered_map<std::string_view, StringId> string_index;

  explicit Compactor(const Program& p)
      : from(p),
        value_map(p.values.size(), none),
        op_map(p.ops.size(), none),
        block_map(p.blocks.size(), none),
        loc_map(p.locations.size(), none),
        string_map(p.strings.size(), none) {
    to.ops.reserve(p.ops.size());
    to.values.reserve(p.values.size());
    to.blocks.reserve(p.blocks.size());
    to.ids.reserve(p.ids.size());
  }

  StringId string(StringId s) {
    if (s >= from.strings.size()) return none;
    if (string_map[s] == none) {
      const auto [it, is_new] = string_index.emplace(from.strings[s], StringId(to.strings.size()));
      if (is_new) to.strings.push_back(from.strings[s]);
      string_map[s] = it->second;
    }
    return string_map[s];
  }

  LocId location(LocId l) {
    if (l >= from.locations.size()) return none;
    if (loc_map[l] != none) return loc_map[l];
    // The chain of calls first, outermost first, so that a location refers to earlier ones only.
    std::vector<LocId> chain;
    for (LocId at = l; at != none && loc_map[at] == none; at = from.locations[at].inlined_at)
      chain.push_back(at);
    for (size_t i = chain.size(); i-- > 0;) {
      Location copy = from.locations[chain[i]];
      copy.file = string(copy.file);
      copy.inlined_at = copy.inlined_at == none ? none : loc_map[copy.inlined_at];
      loc_map[chain[i]] = LocId(to.locations.size());
      to.locations.push_back(copy);
    }
    return loc_map[l];
  }

  ValueId define(ValueId v, Value copy) {
    value_map[v] = ValueId(to.values.size());
    to.values.push_back(copy);
    return value_map[v];
  }

  void enter(BlockId b) {
    const BlockId id = block_map[b];
    const Range args = from.blocks[b].args;
    Range r{uint32_t(to.ids.size()), args.count};
    for (uint32_t i = 0; i < args.count; ++i) {
      const ValueId v = from.ids[args.begin + i];
      to.ids.push_back(define(v, {from.values[v].type, none, id, i}));
    }
    to.blocks[id].args = r;
  }

  void visit(OpId id) {
    const Op& o = from.ops[id];
    const OpId nid = OpId(to.ops.size());
    op_map[id] = nid;
    Op n = o;
    n.operands.begin = uint32_t(to.ids.size());
    for (ValueId v : from.operands(id)) to.ids.push_back(value_map[v]);
    n.results.begin = uint32_t(to.ids.size());
    for (uint32_t i = 0; i < o.results.count; ++i) {
      const ValueId v = from.ids[o.results.begin + i];
      to.ids.push_back(define(v, {from.values[v].type, nid, none, i}));
    }
    n.loc = location(o.loc);
    if (info(o.code).attribute == AttrKind::Name) n.attr = string(StringId(o.attr));
    n.prev = n.next = none;
    if (o.n_blocks) {
      n.first_block = BlockId(to.blocks.size());
      for (uint32_t i = 0; i < o.n_blocks; ++i) {
        block_map[o.first_block + i] = BlockId(to.blocks.size());
        to.blocks.push_back({nid, none, none, {}});
      }
    }
    to.ops.push_back(n);
    to.append(block_map[o.parent], nid);
  }

  void run() {
    block_map[body_block] = body_block;
    to.blocks.push_back({});
    walk_blocks(from, body_block, [&](Visit what, OpId op, BlockId block) {
      if (what == Visit::EnterBlock) enter(block);
      if (what == Visit::Op) visit(op);
    });
  }
};

}  // namespace

Program without_body(const Program& from) {
  Program p;
  p.name = from.name;
  p.op_id = from.op_id;
  p.buffers = from.buffers;
  p.workgroup = from.workgroup;
  p.subgroup = from.subgroup;
  p.grid = from.grid;
  p.grid_dims = from.grid_dims;
  p.requires_forward_progress = from.requires_forward_progress;
  p.formulas = from.formulas;
  p.locations = from.locations;
  p.strings = from.strings;
  p.table_bytes = from.table_bytes;
  p.loc = from.loc;
  p.add_block(none);
  return p;
}

void compact(Program& p) {
  Compactor c(p);
  c.to.loc = c.location(p.loc);
  for (Buffer& b : p.buffers) b.loc = c.location(b.loc);
  c.run();
  p.ops = std::move(c.to.ops);
  p.values = std::move(c.to.values);
  p.blocks = std::move(c.to.blocks);
  p.ids = std::move(c.to.ids);
  p.locations = std::move(c.to.locations);
  p.strings = std::move(c.to.strings);
  p.loc = c.to.loc;
}

std::vector<BlockEvent> block_events(const Program& p) {
  std::vector<BlockEvent> events;
  walk_blocks(p, body_block,
              [&](Visit what, OpId op, BlockId block) { events.push_back({what, op, block}); });
  return events;
}

void replace_values(Program& p, const IdMap<ValueId, ValueId>& map) {
  const auto find = [&](ValueId v) {
    while (map.contains(v) && map[v] != v) v = map[v];
    return v;
  };
  for (Op& o : p.ops)
    for (ValueId& v : p.list(o.operands)) v = find(v);
}

IdMap<ValueId, uint32_t> count_uses(const Program& p) {
  IdMap<ValueId, uint32_t> uses(p.values.size(), 0);
  walk(p, [&](OpId id) {
    for (ValueId v : p.operands(id)) ++uses[v];
  });
  return uses;
}

}  // namespace vyre
