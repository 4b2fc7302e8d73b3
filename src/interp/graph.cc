// Graphs: calls one after the other over buffers that all live in memory.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "interp/interp.h"
#include "interp/launch_kernel.h"
#include "interp/observer.h"
#include "ir/eval.h"

namespace vyre::interp {
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

/// The bits of an element's value; 0 out of bounds.
uint64_t read_element(Type element, const View& v, uint64_t index) {
  if (index >= v.count) return 0;
  const uint32_t size = size_of(element);
  uint64_t bits = 0;
  std::memcpy(&bits, v.base + index * size, size);
  if (element == Type::Bool) return bits != 0;
  if (element == Type::F16) return std::bit_cast<uint32_t>(from_f16(static_cast<uint16_t>(bits)));
  if (element == Type::BF16) return std::bit_cast<uint32_t>(from_bf16(static_cast<uint16_t>(bits)));
  return bits;
}

/// An element as a number of invocations: below 0 is none.
uint64_t invocations(Type element, uint64_t bits) {
  if (is_float(value_type(element))) return 0;
  const uint64_t in[] = {bits};
  const uint64_t wide =
      is_signed(element) ? eval_bits(Opcode::Cast, Type::I64, element, in, 1) : bits;
  return is_signed(element) && static_cast<int64_t>(wide) < 0 ? 0 : wide;
}

class GraphRun {
 public:
  GraphRun(const Module& module, const Graph& graph, const GraphInputs& inputs,
           const Options& options)
      : module_(module),
        g_(graph),
        inputs_(inputs),
        options_(options),
        clock_(options),
        memory_(options),
        facade_(as_program(graph)) {}

  Result<GraphOutcome> run() {
    if (inputs_.data.size() > g_.buffers.size() || inputs_.lengths.size() > g_.buffers.size())
      return diagnose(Code::GraphInputCount, g_.place,
                      fmt::format(
                          "graph `{}` has {} buffers, but {} inputs and {} lengths were given",
                          g_.name, g_.buffers.size(), inputs_.data.size(), inputs_.lengths.size()))
          .with_fix("give at most one entry for each buffer");
    if (auto ready = prepare(); !ready) return ready.errors();
    if (auto done = execute(); !done) return done.errors();
    GraphOutcome outcome;
    outcome.buffers.resize(g_.buffers.size());
    for (size_t i = 0; i < g_.buffers.size(); ++i)
      if (is_host_output(g_.buffers[i].role) && g_.buffers[i].parameter)
        outcome.buffers[i] = std::move(storage_[i]);
    outcome.counts = std::move(counts_);
    outcome.calls = calls_;
    outcome.lane_ops = lane_ops_;
    if (options_.progress) options_.progress(1.0);
    return outcome;
  }

 private:
  Result<> prepare() {
    LaunchInputs in;
    in.data = inputs_.data;
    in.lengths = inputs_.lengths;
    in.data.resize(g_.buffers.size());
    in.lengths.resize(g_.buffers.size());
    in.grid = {0, 0, 0};
    Result<LaunchShape> shape = resolve_launch(facade_, in);
    if (!shape) return shape.errors();
    counts_ = std::move(shape->counts);

    uint64_t bytes = 0, output = 0;  // no overflow: all buffers together have at most 2^48
    for (size_t i = 0; i < g_.buffers.size(); ++i) {
      const uint64_t size = counts_[i] * size_of(g_.buffers[i].element);
      bytes += size;
      if (is_host_output(g_.buffers[i].role)) output += size;
    }
    if (options_.output_limit != 0 && output > options_.output_limit)
      return diagnose(Code::OutputLimitExceeded, g_.place,
                      fmt::format("output limit: graph `{}` gives {} bytes back; the limit is {}",
                                  g_.name, output, options_.output_limit))
          .with_fix("raise the output limit, or give smaller lengths");
    if (auto taken = memory_.take(bytes, fmt::format("the buffers of graph `{}`", g_.name)); !taken)
      return taken;

    storage_.resize(g_.buffers.size());
    views_.resize(g_.buffers.size());
    scalars_.assign(g_.buffers.size(), 0);
    for (size_t i = 0; i < g_.buffers.size(); ++i) {
      const GraphBuffer& b = g_.buffers[i];
      const uint64_t size = counts_[i] * size_of(b.element);
      std::byte* base = nullptr;
      if (b.role == Role::Scalar) {
        std::memcpy(&scalars_[i], in.data[i]->data(), size);
      } else if (b.role == Role::In || b.role == Role::Uniform) {
        base = const_cast<std::byte*>(inputs_.data[i]->data());  // no kernel may write it
      } else {
        if (b.role == Role::InOut)
          storage_[i] = std::move(*in.data[i]);
        else
          storage_[i].resize(size);
        base = storage_[i].data();
      }
      views_[i] = {base, counts_[i], size, 0};
    }
    return Ok{};
  }

  Result<> execute() {
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
          if (auto done = call(node, stage[at]); !done) return done;
          ++at;
          break;
        case GraphNodeKind::Repeat:
        case GraphNodeKind::While: {
          Result<uint64_t> times = evaluate(
              g_.formulas, node.count, environment(),
              fmt::format("{} of a loop of graph `{}`",
                          node.kind == GraphNodeKind::Repeat ? "count" : "limit", g_.name));
          if (!times) {
            for (Diagnostic& d : times.errors()) d.place = node.place;
            return times.errors();
          }
          // A loop without a call changes nothing, so it may as well not run.
          const bool runs = *times > 0 && stage[ends[at]] != stage[at] && holds(node);
          if (runs) loops.push_back({at, *times - 1});
          at = runs ? at + 1 : ends[at] + 1;
          break;
        }
        case GraphNodeKind::End: {
          Loop& loop = loops.back();
          if (loop.left > 0 && holds(g_.nodes[loop.node])) {
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
    return Ok{};
  }

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

  FormulaEnv environment() const {
    return {[this](uint32_t i) { return static_cast<__int128>(counts_[i]); },
            [this](uint32_t i) -> __int128 {
              const Type t = g_.buffers[i].element;
              const uint64_t in[] = {scalars_[i]};
              if (!is_signed(t)) return scalars_[i];
              return static_cast<int64_t>(eval_bits(Opcode::Cast, Type::I64, t, in, 1));
            },
            [this](uint32_t i) { return g_.buffers[i].name; }};
  }

  /// Does the loop go on? A `repeat` has no condition but its count.
  bool holds(const GraphNode& node) const {
    if (node.kind == GraphNodeKind::Repeat) return true;
    const Type element = g_.buffers[node.flag.buffer].element, type = value_type(element);
    const uint64_t in[] = {read_element(element, views_[node.flag.buffer], node.flag.index),
                           node.bits};
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
    const Program& k = module_.kernels[node.kernel];
    const auto fail = [&](Diagnostics errors) { return in_stage(std::move(errors), node, stage); };
    if (clock_.expired())
      return fail(
          {diagnose(Code::TimeLimitExceeded, node.place,
                    fmt::format("the time of {} seconds was over when it began", clock_.limit()))
               .with_fix("raise the time limit")});

    std::vector<std::optional<uint64_t>> counts(k.buffers.size()), scalars(k.buffers.size());
    std::vector<uint32_t> bound(k.buffers.size(), none);
    if (auto matched = match_arguments(node, k, counts, scalars, bound); !matched)
      return fail(matched.errors());
    if (auto distinct = check_overlap(k, bound); !distinct) return fail(distinct.errors());

    Result<LaunchShape> shape = resolve_call(node, k, counts, scalars);
    if (!shape) return fail(shape.errors());

    uint64_t scratch_bytes = 0;
    for (size_t i = 0; i < k.buffers.size(); ++i)
      if (k.buffers[i].role == Role::Scratch)
        scratch_bytes += shape->counts[i] * size_of(k.buffers[i].element);
    if (auto taken =
            memory_.take(scratch_bytes, fmt::format("the scratch buffers of `{}`", k.name));
        !taken)
      return fail(taken.errors());

    std::vector<std::vector<std::byte>> scratch(k.buffers.size());
    std::vector<View> views(k.buffers.size());
    std::vector<uint64_t> bits(k.buffers.size(), 0);
    for (size_t i = 0; i < k.buffers.size(); ++i) {
      if (scalars[i]) bits[i] = *scalars[i];
      if (bound[i] != none) views[i] = views_[bound[i]];
      if (k.buffers[i].role == Role::Out && views[i].bytes != 0)
        std::memset(views[i].base, 0, views[i].bytes);
      if (k.buffers[i].role != Role::Scratch) continue;
      scratch[i].resize(shape->counts[i] * size_of(k.buffers[i].element));
      views[i] = {scratch[i].data(), shape->counts[i], scratch[i].size(), 0};
    }
    if (options_.observer) options_.observer->begin_call(g_, node, k, bound);
    Result<uint64_t> ops =
        launch_kernel(k, *shape, std::move(views), std::move(bits), options_, clock_, memory_);
    memory_.give(scratch_bytes);
    if (!ops) return fail(ops.errors());
    lane_ops_ += *ops;
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
        scalars[i] = arg.buffer == none ? arg.bits : scalars_[arg.buffer];
      } else if (arg.buffer != none) {
        bound[i] = arg.buffer;
        counts[i] = counts_[arg.buffer];
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
      const GraphElement& e = node.grid[d];
      const Type element = g_.buffers[e.buffer].element;
      grid[d] = invocations(element, read_element(element, views_[e.buffer], e.index));
    }
    if (k.grid_dims == 0) return resolve_launch(k, counts, scalars, grid);
    const Result<LaunchShape> own = resolve_launch(k, counts, scalars, std::nullopt);
    if (!own) return own;
    for (int d = 0; d < 3; ++d) grid[d] = std::min(grid[d], own->invocations_wanted[d]);
    return resolve_launch(k, counts, scalars, grid);
  }

  const Module& module_;
  const Graph& g_;
  const GraphInputs& inputs_;
  const Options& options_;
  Clock clock_;
  Memory memory_;
  const Program facade_;
  std::vector<uint64_t> counts_;
  std::vector<uint64_t> scalars_;                // bits, of scalar parameters
  std::vector<std::vector<std::byte>> storage_;  // of all but in and uniform buffers
  std::vector<View> views_;
  uint64_t calls_ = 0;
  uint64_t lane_ops_ = 0;
};

}  // namespace

Result<GraphOutcome> run(const Module& module, const Graph& graph, const GraphInputs& inputs,
                         const Options& options) {
  try {
    return GraphRun(module, graph, inputs, options).run();
  } catch (const std::bad_alloc&) {
    return out_of_memory(fmt::format("the buffers of graph `{}`", graph.name));
  }
}

}  // namespace vyre::interp
