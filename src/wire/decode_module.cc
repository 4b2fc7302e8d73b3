#include "ir/graph_walk.h"
#include "ir/stats.h"
#include "wire/decode.h"
#include "wire/wire_formulas.h"

namespace vyre::wire {
namespace {

void read_buffers(Reader& in, Graph& g) {
  Reader r = in.section(tag("BUFS"));
  const uint32_t count = r.count(graph_buffer_size, "buffers");
  g.buffers.reserve(count);
  for (uint32_t i = 0; i < count && r.ok(); ++i) {
    GraphBuffer b;
    b.role = Role(r.below(role_count, "role"));
    b.element = Type(r.below(type_count, "element type"));
    b.parameter = r.below(2, "truth value") != 0;
    r.zero<uint8_t>();
    b.count = r.id(g.formulas.nodes.size(), "formula", true);
    b.name = r.text();
    g.buffers.push_back(std::move(b));
  }
  r.expect_end("the graph's buffers");
}

/// A field that only some kinds of nodes have.
template <class T>
T only_if(bool used, Reader& r) {
  const T value = r.get<T>();
  if (!used && value != 0)
    r.fail(Code::WireReservedBits, "a graph node has a field that its kind does not use");
  return value;
}

void check_id(Reader& r, uint32_t id, size_t size, std::string_view what) {
  if (id >= size)
    r.fail(Code::WireBadId, fmt::format("{} {} does not exist, there are {}", what, id, size));
}

void read_call(Reader& r, const Graph& g, GraphNode& n, uint32_t n_args, uint32_t n_grid) {
  if (!r.ok()) return;
  const uint64_t needed = (uint64_t{n_args} + n_grid) * graph_pair_size;
  if (needed > r.left()) {
    r.fail(Code::WireCountTooLarge,
           fmt::format("{} arguments and {} grid sizes need {} bytes, {} are left", n_args, n_grid,
                       needed, r.left()));
    return;
  }
  n.args.reserve(n_args);
  for (uint32_t i = 0; i < n_args && r.ok(); ++i) {
    GraphArg a;
    a.buffer = GraphBufferId(r.id(g.buffers.size(), "buffer", true));
    a.bits = only_if<uint64_t>(a.buffer == none, r);
    n.args.push_back(a);
  }
  n.grid.reserve(n_grid);
  for (uint32_t i = 0; i < n_grid && r.ok(); ++i) {
    GraphElement e;
    e.buffer = GraphBufferId(r.id(g.buffers.size(), "buffer"));
    e.index = r.u64();
    n.grid.push_back(e);
  }
}

/// A node, or nothing: the end of a body.
std::optional<GraphNode> read_step(Reader& r, const Graph& g, size_t kernels) {
  GraphNode n;
  const auto kind = r.below(graph_node_kind_count + 1, "kind of graph node");
  const bool end = kind == end_of_body;
  if (!end) n.kind = GraphNodeKind(kind - (kind > end_of_body));
  const bool call = !end && n.kind == GraphNodeKind::Call;
  const GraphNodeInfo has = end ? GraphNodeInfo{} : info(n.kind);

  const auto compare = only_if<uint8_t>(has.has_test, r);
  if (has.has_test && compare >= compare_count)
    r.fail(Code::WireBadEnum, fmt::format("{} is no comparison", compare));
  if (has.has_test && r.ok()) n.compare = compares[compare];
  r.zero<uint16_t>();
  n.kernel = only_if<uint32_t>(call, r);
  if (call) check_id(r, n.kernel, kernels, "kernel");
  const auto count = only_if<uint32_t>(has.has_count, r);
  if (has.has_count && count != no_formula) check_id(r, count, g.formulas.nodes.size(), "formula");
  if (has.has_count) n.count = count;
  const auto flag = only_if<uint32_t>(has.has_flag, r);
  if (has.has_flag) check_id(r, flag, g.buffers.size(), "buffer");
  if (has.has_flag) n.flag.buffer = GraphBufferId(flag);
  n.flag.index = only_if<uint64_t>(has.has_flag, r);
  n.bits = only_if<uint64_t>(has.has_test, r);
  const auto n_args = only_if<uint32_t>(call, r);
  const auto n_grid = only_if<uint32_t>(call, r);
  r.zero<uint32_t>();
  if (call) read_call(r, g, n, n_args, n_grid);
  if (end) return std::nullopt;
  return n;
}

/// Appends the source locations of the steps, in order.
void read_nodes(Reader& in, Graph& g, size_t kernels, std::vector<Place*>& places) {
  Reader r = in.section(tag("NODE"));
  const uint32_t count = r.count(graph_node_size, "graph nodes");
  GraphAppender nodes(g);
  for (uint32_t i = 0; i < count && r.ok(); ++i) {
    if (std::optional<GraphNode> node = read_step(r, g, kernels))
      places.push_back(&nodes.add(std::move(*node)).place);
    else if (GraphNode* const loop = nodes.close())
      places.push_back(&loop->end);
    else
      r.fail(Code::WireBadGraph, fmt::format("node {} ends a loop that was not begun", i));
  }
  if (nodes.num_open() != 0)
    r.fail(Code::WireBadGraph, fmt::format("{} loops are not ended", nodes.num_open()));
  r.expect_end("the graph's nodes");
}

void read_places(Reader& in, const std::vector<Place*>& places) {
  if (!in.at_section(tag("LOCS"))) return;
  Reader r = in.section(tag("LOCS"));
  std::vector<std::string> files;
  read_strings(r, files);
  FirstUse order;
  bool any = false;
  // A source location holds a copy of its file's name. One long name and many locations would take
  // more memory than a constant times the input; names of up to PATH_MAX never come near this
  // bound.
  uint64_t copied = 0;
  const auto read = [&](Place& p) {
    const uint32_t file = r.id(files.size(), "file", true);
    p.line = r.u32();
    p.column = r.u32();
    p.length = r.u32();
    if (!r.ok()) return;
    any |= file != none || p.line != 0 || p.column != 0 || p.length != 1;
    if (file == none) return;
    if (!order(file)) r.fail(Code::WireNotCanonical, "files are not in order of first use");
    if (files[file].empty()) r.fail(Code::WireNotCanonical, "the name of a file is empty");
    copied += files[file].size();
    if (copied > 64 * uint64_t{r.offset()})
      r.fail(Code::WireCountTooLarge, "the names of files are too long");
    if (r.ok()) p.file = files[file];
  };
  for (Place* p : places) read(*p);
  r.expect_end("the graph's places");
  if (r.ok() && !any) r.fail(Code::WireNotCanonical, "the list of places is empty");
  check_strings(files, order.next, in.failure());
}

void read_graph(Reader& in, Graph& g, size_t kernels) {
  read(in, g.formulas);
  Reader head = in.section(tag("HEAD"));
  g.name = head.text();
  head.expect_end("the graph's head");
  read_buffers(in, g);
  std::vector<Place*> places = {&g.place};
  for (GraphBuffer& b : g.buffers) places.push_back(&b.place);
  read_nodes(in, g, kernels, places);
  if (!in.ok()) return;
  std::vector<FormulaId> roots;
  for (const GraphBuffer& b : g.buffers) roots.push_back(b.count);
  for_each_node(g.nodes, [&](const GraphNode& n) { roots.push_back(n.count); });
  check(g.formulas, roots, g.buffers.size(), in.failure());
  read_places(in, places);
  in.expect_end("the graph");
}

void read_module(Reader& in, Module& m, DecodeOptions options) {
  Reader counts = in.section(tag("MODL"));
  const uint32_t kernels = counts.u32();
  const uint32_t graphs = counts.u32();
  counts.expect_end("the counts of the module");
  // Nothing is reserved: a Program is larger than the few bytes that could announce one.
  for (uint32_t i = 0; i < kernels && in.ok(); ++i) {
    in.failure().take(sizeof(Program));
    Reader r = in.section(tag("KRNL"));
    read_program(r, m.kernels.emplace_back(), options);
  }
  for (uint32_t i = 0; i < graphs && in.ok(); ++i) {
    Reader r = in.section(tag("GRPH"));
    read_graph(r, m.graphs.emplace_back(), m.kernels.size());
    in.failure().take(memory_of(m.graphs.back()));
  }
  in.expect_end("the module");
}

}  // namespace
}  // namespace vyre::wire

namespace vyre {

Result<Module> decode_module(std::span<const std::byte> bytes, DecodeOptions options) {
  Module module;
  const auto error = wire::decode_within(bytes, WireKind::Module, options, [&](wire::Reader& in) {
    wire::read_module(in, module, options);
  });
  if (error) return *error;
  return module;
}

}  // namespace vyre
