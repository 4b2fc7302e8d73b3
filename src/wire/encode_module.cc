#include <algorithm>

#include "ir/graph_walk.h"
#include "wire/encode.h"
#include "wire/wire_formulas.h"

namespace vyre::wire {
namespace {

uint8_t compare_index(Opcode code) {
  return uint8_t(std::find(std::begin(compares), std::end(compares), code) - std::begin(compares));
}

/// Fields that a step does not use are written as zeros.
void write_step(Bytes& out, const GraphStep& step, const CanonicalFormulas& formulas) {
  const GraphNode& n = *step.node;
  const bool call = step.is_call();
  const bool end = step.kind == GraphStep::Kind::End;
  const GraphNodeInfo has = end ? GraphNodeInfo{} : info(n.kind);
  out.u8(end ? end_of_body : wire_kind(n.kind));
  out.u8(has.has_test ? compare_index(n.compare) : 0);
  out.u16(0);
  out.u32(call ? n.kernel : 0);
  out.u32(has.has_count ? formulas.at(n.count) : 0);
  out.u32(has.has_flag ? n.flag.buffer.value() : 0);
  out.u64(has.has_flag ? n.flag.index : 0);
  out.u64(has.has_test ? n.bits : 0);
  out.u32(call ? uint32_t(n.args.size()) : 0);
  out.u32(call ? uint32_t(n.grid.size()) : 0);
  out.u32(0);
  if (!call) return;
  for (const GraphArg& a : n.args) {
    out.u32(a.buffer.value());
    out.u64(a.buffer == none ? a.bits : 0);
  }
  for (const GraphElement& e : n.grid) {
    out.u32(e.buffer.value());
    out.u64(e.index);
  }
}

void write_places(Bytes& out, const Graph& g, const GraphSteps& steps) {
  std::vector<const Place*> places = {&g.place};
  for (const GraphBuffer& b : g.buffers) places.push_back(&b.place);
  for (const GraphStep& s : steps) places.push_back(&s.place());
  const bool any = std::any_of(places.begin(), places.end(), [](const Place* p) {
    return !p->file.empty() || p->line != 0 || p->column != 0 || p->length != 1;
  });
  if (!any) return;

  StringTable files;
  Bytes records;
  for (const Place* p : places) {
    records.u32(p->file.empty() ? none : files.add(p->file));
    records.u32(p->line);
    records.u32(p->column);
    records.u32(p->length);
  }
  const size_t section = out.begin_section(tag("LOCS"));
  write(out, files);
  out.raw(records.data);
  out.end_section(section);
}

void write_graph(Bytes& out, const Graph& g, EncodeOptions options) {
  CanonicalFormulas formulas(g.formulas);
  for (const GraphBuffer& b : g.buffers) formulas.root(b.count);
  for_each_node(g.nodes, [&](const GraphNode& n) {
    if (info(n.kind).has_count) formulas.root(n.count);
  });
  write(out, formulas.pool());

  size_t section = out.begin_section(tag("HEAD"));
  out.text(g.name);
  out.end_section(section);

  section = out.begin_section(tag("BUFS"));
  out.u32(uint32_t(g.buffers.size()));
  for (const GraphBuffer& b : g.buffers) {
    out.u8(uint8_t(b.role));
    out.u8(uint8_t(b.element));
    out.u8(b.parameter);
    out.u8(0);
    out.u32(formulas.at(b.count));
    out.text(b.name);
  }
  out.end_section(section);

  section = out.begin_section(tag("NODE"));
  const GraphSteps steps = flatten(g);
  out.u32(uint32_t(steps.size()));
  for (const GraphStep& s : steps) write_step(out, s, formulas);
  out.end_section(section);

  if (options.locations) write_places(out, g, steps);
}

}  // namespace
}  // namespace vyre::wire

namespace vyre {

std::vector<std::byte> encode(const Module& module, EncodeOptions options) {
  wire::Bytes out;
  wire::write_header(out, WireKind::Module);
  size_t section = out.begin_section(wire::tag("MODL"));
  out.u32(uint32_t(module.kernels.size()));
  out.u32(uint32_t(module.graphs.size()));
  out.end_section(section);
  for (const Program& p : module.kernels) {
    section = out.begin_section(wire::tag("KRNL"));
    wire::write(out, p, options);
    out.end_section(section);
  }
  for (const Graph& g : module.graphs) {
    section = out.begin_section(wire::tag("GRPH"));
    wire::write_graph(out, g, options);
    out.end_section(section);
  }
  wire::seal(out.data);
  return std::move(out.data);
}

}  // namespace vyre
