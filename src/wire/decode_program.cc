#include <unordered_set>

#include "wire/decode.h"
#include "wire/wire_formulas.h"

namespace vyre::wire {
namespace {

void read_head(Reader& in, Program& p) {
  Reader r = in.section(tag("HEAD"));
  p.name = r.text();
  p.op_id = r.text();
  for (uint32_t& n : p.workgroup) n = r.u32();
  p.subgroup = r.u32();
  p.requires_forward_progress = r.below<uint32_t>(2, "set of requirements") != 0;
  p.grid_dims = r.below<uint32_t>(4, "number of dimensions");
  for (uint32_t d = 0; d < p.grid_dims; ++d)
    p.grid[d] = r.id(p.formulas.nodes.size(), "formula", true);
  r.expect_end("the head");
}

/// Checks a table against its count; returns its number of bytes.
void read_table_length(Reader& r, const Program& p, size_t index, Buffer& b, uint64_t& total) {
  const uint64_t length = r.u64();
  if (!r.ok()) return;
  if (b.role != Role::Table) {
    if (length != 0)
      r.fail(Code::WireReservedBits, fmt::format("buffer {} has bytes but is no table", index));
    return;
  }
  uint64_t count = 0;
  const uint64_t size = size_of(b.element);
  if (size == 0 || !p.formulas.is_constant(b.count, &count) || count > ~0ull / size ||
      count * size != length)
    r.fail(Code::WireBadTable,
           fmt::format("table {} has {} bytes, which its count does not give", index, length));
  b.table_offset = total;
  if (length > ~0ull - total) r.fail(Code::WireCountTooLarge, "tables have more than 2^64 bytes");
  total += length;
}

void read_buffers(Reader& in, Program& p) {
  Reader r = in.section(tag("BUFS"));
  const uint32_t count = r.count(buffer_size, "buffers");
  p.buffers.reserve(count);
  uint64_t table_bytes = 0;
  for (uint32_t i = 0; i < count && r.ok(); ++i) {
    Buffer b;
    b.role = Role(r.below(role_count, "role"));
    b.element = Type(r.below(type_count, "element type"));
    r.zero<uint16_t>();
    b.count = r.id(p.formulas.nodes.size(), "formula", true);
    read_table_length(r, p, i, b, table_bytes);
    b.name = r.text();
    p.buffers.push_back(std::move(b));
  }
  r.expect_end("the buffers");

  Reader tables = in.section(tag("TABL"));
  if (tables.ok() && tables.left() != table_bytes)
    tables.fail(Code::WireBadTable, fmt::format("the tables have {} bytes, their buffers say {}",
                                                tables.left(), table_bytes));
  if (const std::byte* from = tables.take(table_bytes))
    p.table_bytes.assign(from, from + table_bytes);
}

/// References to locations in order of first use: a location not met before follows directly the
/// callers of its chain that were not met before either, outermost first.
struct LocationOrder {
  const Program& p;
  FirstUse strings;
  uint32_t next = 0;

  bool string(StringId s) { return s == none || strings(s); }

  bool location(LocId l) {
    if (l == none || l < next) return true;
    for (LocId at = next; at <= l; ++at) {
      const Location& here = p.locations[at];
      const bool begins = here.inlined_at == none || here.inlined_at < next;
      if (at == next ? !begins : here.inlined_at != at - 1) return false;
      if (!string(here.file)) return false;
    }
    next = l + 1;
    return true;
  }
};

}  // namespace

void read_strings(Reader& in, std::vector<std::string>& strings) {
  Reader r = in.section(tag("STRS"));
  const uint32_t count = r.count(4, "strings");
  strings.reserve(count);
  for (uint32_t i = 0; i < count && r.ok(); ++i) strings.emplace_back(r.text());
  r.expect_end("the strings");
}

void check_strings(const std::vector<std::string>& strings, size_t used, FirstError& failure) {
  if (failure.error) return;
  if (used != strings.size()) {
    failure.fail(Code::WireNotCanonical, fmt::format("string {} is not used", used));
    return;
  }
  std::unordered_set<std::string_view> seen;
  for (const std::string& s : strings) {
    if (seen.insert(s).second) continue;
    failure.fail(Code::WireNotCanonical, "a string is listed twice");
    return;
  }
}

void read_locations(Reader& in, Program& p) {
  const bool present = in.at_section(tag("LOCS"));
  if (present) {
    Reader r = in.section(tag("LOCS"));
    // The records follow the references, whose ids are checked when the number of records is known.
    p.loc = r.u32();
    for (Buffer& b : p.buffers) b.loc = r.u32();
    if (const std::byte* from = r.take(uint64_t{p.ops.size()} * 4))
      for (const OpId op : p.ops.ids()) p.ops[op].loc = load<uint32_t>(from + op.value() * 4);
    uint32_t count = 0;
    if (const std::byte* from = r.array(location_size, "locations", count)) {
      p.locations.resize(count);
      for (uint32_t i = 0; i < count; ++i, from += location_size)
        p.locations[i] = {load<uint32_t>(from), load<uint32_t>(from + 4), load<uint32_t>(from + 8),
                          load<uint32_t>(from + 12), load<uint32_t>(from + 16)};
    }
    r.expect_end("the locations");
    if (!in.ok()) return;
    if (count == 0) in.fail(Code::WireNotCanonical, "the list of locations is empty");

    bool exist = p.loc == none || p.loc < count;
    for (const Buffer& b : p.buffers) exist &= b.loc == none || b.loc < count;
    for (const Op& o : p.ops) exist &= o.loc == none || o.loc < count;
    for (uint32_t i = 0; i < count; ++i) {
      const Location& l = p.locations[i];
      exist &= (l.inlined_at == none || l.inlined_at < i) &&
               (l.file == none || l.file < p.strings.size());
    }
    if (!exist)
      in.fail(Code::WireBadId, "a location refers to a location or file that does not exist");
  }
  if (!in.ok() || (!present && p.strings.empty())) return;

  LocationOrder order{.p = p};
  bool ok = order.location(p.loc);
  for (const Buffer& b : p.buffers) ok = ok && order.location(b.loc);
  for (const Op& o : p.ops) {
    ok = ok && order.location(o.loc);
    if (ok && info(o.code).attribute == AttrKind::Name) ok = order.string(StringId(o.attr));
  }
  if (!ok || order.next != p.locations.size())
    in.fail(Code::WireNotCanonical, "strings or locations are unused or not in order of first use");
  check_strings(p.strings, order.strings.next, in.failure());
}

void read_program(Reader& in, Program& p, DecodeOptions options) {
  read(in, p.formulas);
  read_head(in, p);
  read_buffers(in, p);
  read_strings(in, p.strings);
  if (!in.ok()) return;

  std::vector<FormulaId> roots;
  for (const Buffer& b : p.buffers) roots.push_back(b.count);
  roots.insert(roots.end(), p.grid.begin(), p.grid.begin() + p.grid_dims);
  check(p.formulas, roots, p.buffers.size(), in.failure());
  if (!in.ok()) return;

  read_body(in, p, options);
  if (!in.ok()) return;
  read_locations(in, p);
  in.expect_end("the program");
}

std::optional<Diagnostic> decode_within(std::span<const std::byte> bytes, WireKind kind,
                                        const DecodeOptions& options,
                                        const std::function<void(Reader&)>& read) {
  if (auto fault = fault_of_time_limit(options.time_limit)) return fault;
  FirstError failure{.budget = Budget(options.time_limit, options.memory_limit)};
  try {
    const BudgetPoll poll(failure.budget);
    failure.take(bytes.size());
    if (auto in = open(bytes, kind, failure)) read(*in);
  } catch (const BudgetExceeded& exceeded) {
    return failure.budget.diagnostic(exceeded, "decoding the program", {});
  }
  return std::move(failure.error);
}

}  // namespace vyre::wire

namespace vyre {

Result<Program> decode_program(std::span<const std::byte> bytes, DecodeOptions options) {
  Program program;
  const auto error = wire::decode_within(bytes, WireKind::Program, options, [&](wire::Reader& in) {
    wire::read_program(in, program, options);
  });
  if (error) return *error;
  return program;
}

}  // namespace vyre
