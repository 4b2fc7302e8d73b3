#include "ir/graph_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ir/eval.h"

namespace vyre {
namespace {

/// A program that has the graph's buffers as its own, so that one resolver serves both.
Program as_program(const Graph& g) {
  Program p;
  p.name = g.name;
  p.formulas = g.formulas;
  p.add_block(none);
  const auto location = [&](const Place& at) {
    return at.line == 0
               ? none
               : p.add_location({p.add_string(at.file), at.line, at.column, at.length, none});
  };
  for (const GraphBuffer& b : g.buffers)
    p.buffers.push_back({b.name, b.role, b.element, b.count, 0, location(b.place)});
  p.loc = location(g.place);
  return p;
}

/// The value that stored bits stand for.
uint64_t value_of(Type element, uint64_t bits) {
  if (element == Type::Bool) return bits != 0;
  if (element == Type::F16) return std::bit_cast<uint32_t>(from_f16(static_cast<uint16_t>(bits)));
  if (element == Type::BF16) return std::bit_cast<uint32_t>(from_bf16(static_cast<uint16_t>(bits)));
  return bits;
}

/// A value as a number of invocations: below 0 is none.
uint64_t invocations(Type element, uint64_t bits) {
  if (is_float(value_type(element))) return 0;
  const uint64_t in[] = {bits};
  const uint64_t wide =
      is_signed(element) ? eval_bits(Opcode::Cast, Type::I64, element, in, 1) : bits;
  return is_signed(element) && static_cast<int64_t>(wide) < 0 ? 0 : wide;
}

class Walk {
 public:
  Walk(const Module& module, const Graph& graph, const GraphShape& shape, GraphDevice& device)
      : module_(module), g_(graph), shape_(shape), device_(device) {}

  Result<uint64_t> run() {
    struct Loop {
      size_t node;
      uint64_t left;
    };
    std::vector<Loop> loops;
    std::vector<uint32_t> stage(g_.nodes.size(), 0);  // calls up to and including a node
    for (size_t i = 0, n = 0; i < g_.nodes.size(); ++i)
      stage[i] = static_cast<uint32_t>(n += g_.nodes[i].kind == GraphNodeKind::Call);
    const std::vector<size_t> ends = match_ends();

    for (size_t at = 0; at < g_.nodes.size();) {
      const GraphNode& node = g_.nodes[at];
      switch (node.kind) {
        case GraphNodeKind::Call:
          if (auto done = call(node, stage[at]); !done) return done.errors();
          ++at;
          break;
        case GraphNodeKind::Repeat:
        case GraphNodeKind::While: {
          const Result<uint64_t> times = times_of(node);
          if (!times) return times.errors();
          // A loop without a call changes nothing, so it may as well not run.
          bool runs = *times > 0 && stage[ends[at]] != stage[at];
          if (runs) {
            const Result<bool> goes_on = holds(node);
            if (!goes_on) return goes_on.errors();
            runs = *goes_on;
          }
          if (runs) loops.push_back({at, *times - 1});
          at = runs ? at + 1 : ends[at] + 1;
          break;
        }
        case GraphNodeKind::End: {
          Loop& loop = loops.back();
          bool again = loop.left > 0;
          if (again) {
            const Result<bool> goes_on = holds(g_.nodes[loop.node]);
            if (!goes_on) return goes_on.errors();
            again = *goes_on;
          }
          if (again) {
            --loop.left;
            at = loop.node + 1;
          } else {
            loops.pop_back();
            ++at;
          }
          break;
        }
      }
    }
    return calls_;
  }

 private:
  std::vector<size_t> match_ends() const {
    std::vector<size_t> ends(g_.nodes.size(), 0), open;
    for (size_t i = 0; i < g_.nodes.size(); ++i) {
      if (g_.nodes[i].kind == GraphNodeKind::Repeat || g_.nodes[i].kind == GraphNodeKind::While)
        open.push_back(i);
      if (g_.nodes[i].kind != GraphNodeKind::End) continue;
      ends[open.back()] = i;
      open.pop_back();
    }
    return ends;
  }

  Result<uint64_t> times_of(const GraphNode& node) const {
    Result<uint64_t> times =
        evaluate(g_.formulas, node.count, environment(),
                 fmt::format("{} of a loop of graph `{}`",
                             node.kind == GraphNodeKind::Repeat ? "count" : "limit", g_.name));
    if (times) return times;
    for (Diagnostic& d : times.errors()) d.place = node.place;
    return times;
  }

  FormulaEnv environment() const {
    return {[this](uint32_t i) { return static_cast<__int128>(shape_.counts[i]); },
            [this](uint32_t i) -> __int128 {
              const Type t = g_.buffers[i].element;
              const uint64_t in[] = {shape_.scalars[i]};
              if (!is_signed(t)) return shape_.scalars[i];
              return static_cast<int64_t>(eval_bits(Opcode::Cast, Type::I64, t, in, 1));
            },
            [this](uint32_t i) { return g_.buffers[i].name; }};
  }

  /// The bits of an element's value; 0 out of bounds.
  Result<uint64_t> read(const GraphElement& e) const {
    if (e.index >= shape_.counts[e.buffer]) return uint64_t{0};
    const Result<uint64_t> stored = device_.read(e);
    if (!stored) return stored;
    return value_of(g_.buffers[e.buffer].element, *stored);
  }

  /// Does the loop go on? A `repeat` has no condition but its count.
  Result<bool> holds(const GraphNode& node) const {
    if (node.kind == GraphNodeKind::Repeat) return true;
    const Result<uint64_t> flag = read(node.flag);
    if (!flag) return flag.errors();
    const Type type = value_type(g_.buffers[node.flag.buffer].element);
    const uint64_t in[] = {*flag, node.bits};
    const ExactFloats exact;
    return eval_bits(node.compare, type, type, in, 2) != 0;
  }

  /// Says which call an error comes from.
  Diagnostics in_stage(Diagnostics errors, const GraphNode& node, uint32_t stage) const {
    const Program& k = module_.kernels[node.kernel];
    for (Diagnostic& d : errors) {
      if (d.code == Code::LengthDiffers) d.code = Code::ArgumentLengthDiffers;
      d.message = fmt::format("stage {} (`{}`): {}", stage, k.name, d.message);
      if (d.place.line == 0)
        d.place = node.place;
      else if (node.place.line != 0)
        d.note("called here", node.place);
    }
    return errors;
  }

  Result<> call(const GraphNode& node, uint32_t stage) {
    const auto fail = [&](Diagnostics errors) { return in_stage(std::move(errors), node, stage); };
    if (auto begun = device_.begin_call(node); !begun) return fail(begun.errors());
    const Program& k = module_.kernels[node.kernel];
    GraphCall call{node,
                   k,
                   std::vector<uint32_t>(k.buffers.size(), none),
                   std::vector<uint64_t>(k.buffers.size(), 0),
                   {}};
    std::vector<std::optional<uint64_t>> counts(k.buffers.size()), scalars(k.buffers.size());
    if (auto matched = match_arguments(node, k, counts, scalars, call.bound); !matched)
      return fail(matched.errors());
    if (auto distinct = check_overlap(k, call.bound); !distinct) return fail(distinct.errors());
    for (size_t i = 0; i < k.buffers.size(); ++i) call.scalars[i] = scalars[i].value_or(0);
    Result<LaunchShape> shape = resolve_call(node, k, counts, scalars);
    if (!shape) return fail(shape.errors());
    call.shape = std::move(*shape);
    if (auto done = device_.call(call); !done) return fail(done.errors());
    ++calls_;
    return Ok{};
  }

  /// One argument for each parameter but scratch ones, in order.
  Result<> match_arguments(const GraphNode& node, const Program& k,
                           std::vector<std::optional<uint64_t>>& counts,
                           std::vector<std::optional<uint64_t>>& scalars,
                           std::vector<uint32_t>& bound) const {
    size_t next = 0, wanted = 0;
    for (size_t i = 0; i < k.buffers.size(); ++i) {
      const Role role = k.buffers[i].role;
      if (!is_parameter(role) || role == Role::Scratch) continue;
      ++wanted;
      if (next >= node.args.size()) continue;
      const GraphArg& arg = node.args[next++];
      if (role == Role::Scalar) {
        scalars[i] = arg.buffer == none ? arg.bits : shape_.scalars[arg.buffer];
      } else if (arg.buffer != none) {
        bound[i] = arg.buffer;
        counts[i] = shape_.counts[arg.buffer];
      }
    }
    if (wanted == node.args.size()) return Ok{};
    return diagnose(Code::ArgumentCount, node.place,
                    fmt::format("`{}` takes {} arguments, but {} were given", k.name, wanted,
                                node.args.size()))
        .with_fix("give one argument for each parameter but `scratch` ones");
  }

  Result<> check_overlap(const Program& k, const std::vector<uint32_t>& bound) const {
    std::vector<size_t> first(g_.buffers.size(), k.buffers.size());
    std::vector<size_t> writer(g_.buffers.size(), k.buffers.size());
    for (size_t i = 0; i < bound.size(); ++i) {
      if (bound[i] == none) continue;
      const size_t b = bound[i];
      const bool writes = is_writable(k.buffers[i].role);
      const size_t other = writes ? first[b] : writer[b];
      if (other != k.buffers.size())
        return diagnose(
                   Code::ArgumentsOverlap, {},
                   fmt::format("`{}` is bound to `{}` ({}) and to `{}` ({})", g_.buffers[b].name,
                               k.buffers[other].name, name(k.buffers[other].role),
                               k.buffers[i].name, name(k.buffers[i].role)))
            .with_fix("bind distinct buffers, unless both parameters only read");
      first[b] = i;
      if (writes) writer[b] = i;
    }
    return Ok{};
  }

  Result<LaunchShape> resolve_call(const GraphNode& node, const Program& k,
                                   const std::vector<std::optional<uint64_t>>& counts,
                                   const std::vector<std::optional<uint64_t>>& scalars) const {
    if (node.grid.empty()) return resolve_launch(k, counts, scalars, std::nullopt);
    std::array<uint64_t, 3> grid = {1, 1, 1};
    for (size_t d = 0; d < node.grid.size() && d < 3; ++d) {
      const Result<uint64_t> bits = read(node.grid[d]);
      if (!bits) return bits.errors();
      grid[d] = invocations(g_.buffers[node.grid[d].buffer].element, *bits);
    }
    if (k.grid_dims == 0) return resolve_launch(k, counts, scalars, grid);
    const Result<LaunchShape> own = resolve_launch(k, counts, scalars, std::nullopt);
    if (!own) return own;
    for (int d = 0; d < 3; ++d) grid[d] = std::min(grid[d], own->invocations_wanted[d]);
    return resolve_launch(k, counts, scalars, grid);
  }

  const Module& module_;
  const Graph& g_;
  const GraphShape& shape_;
  GraphDevice& device_;
  uint64_t calls_ = 0;
};

}  // namespace

Result<GraphShape> resolve_graph(const Graph& g,
                                 std::span<const std::optional<std::vector<std::byte>>> data,
                                 std::span<const std::optional<uint64_t>> lengths,
                                 uint64_t output_limit) {
  if (data.size() > g.buffers.size() || lengths.size() > g.buffers.size())
    return diagnose(
               Code::GraphInputCount, g.place,
               fmt::format("graph `{}` has {} buffers, but {} inputs and {} lengths were given",
                           g.name, g.buffers.size(), data.size(), lengths.size()))
        .with_fix("give at most one entry for each buffer");
  Result<LaunchShape> launch =
      resolve_launch(as_program(g), data, lengths, std::array<uint64_t, 3>{0, 0, 0});
  if (!launch) return launch.errors();

  GraphShape shape;
  shape.counts = std::move(launch->counts);
  shape.scalars.assign(g.buffers.size(), 0);
  uint64_t output = 0;  // no overflow: all buffers together have at most 2^48
  for (size_t i = 0; i < g.buffers.size(); ++i) {
    if (g.buffers[i].role == Role::Scalar)
      for (size_t k = 0; k < data[i]->size(); ++k)
        shape.scalars[i] |= static_cast<uint64_t>((*data[i])[k]) << (8 * k);
    if (is_host_output(g.buffers[i].role)) output += shape.bytes(g, i);
  }
  if (output_limit != 0 && output > output_limit)
    return diagnose(Code::OutputLimitExceeded, g.place,
                    fmt::format("output limit: graph `{}` gives {} bytes back; the limit is {}",
                                g.name, output, output_limit))
        .with_fix("raise the output limit, or give smaller lengths");
  return shape;
}

Result<uint64_t> walk_graph(const Module& module, const Graph& graph, const GraphShape& shape,
                            GraphDevice& device) {
  return Walk(module, graph, shape, device).run();
}

}  // namespace vyre
