#include "ir/graph_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ir/eval/eval.h"
#include "support/bytes_text.h"

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

/// The value that stored bits represent.
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

FormulaEnv environment(const Graph& g, const GraphShape& shape) {
  return {[&](uint32_t i) { return static_cast<__int128>(shape.counts[i]); },
          [&](uint32_t i) -> __int128 {
            const Type t = g.buffers[i].element;
            const uint64_t in[] = {shape.scalars[i]};
            if (!is_signed(t)) return shape.scalars[i];
            return static_cast<int64_t>(eval_bits(Opcode::Cast, Type::I64, t, in, 1));
          },
          [&](uint32_t i) { return g.buffers[i].name; }};
}

Result<> match_arguments(const GraphShape& shape, GraphCall& call,
                         IdMap<BufferId, std::optional<uint64_t>>& counts,
                         IdMap<BufferId, std::optional<uint64_t>>& scalars) {
  const Program& k = call.kernel;
  for (const CallArgument& a : arguments(k, call.node)) {
    const GraphBufferId buffer = a.given->buffer;
    if (a.is_scalar()) {
      scalars[a.index] = buffer == none ? a.given->bits : shape.scalars[buffer];
    } else if (buffer != none) {
      call.bound[a.index] = buffer;
      counts[a.index] = shape.counts[buffer];
    }
  }
  const size_t wanted = num_arguments(k);
  if (wanted == call.node.args.size()) return Ok{};
  return diagnose(Code::ArgumentCount, call.node.place,
                  fmt::format("`{}` takes {} arguments, but {} were given", k.name, wanted,
                              call.node.args.size()))
      .with_fix("give one argument for each parameter but `scratch` ones");
}

Result<> check_overlap(const Graph& g, const Program& k,
                       const IdMap<BufferId, GraphBufferId>& bound) {
  IdMap<GraphBufferId, BufferId> first(g.buffers.size());
  IdMap<GraphBufferId, BufferId> writer(g.buffers.size());
  for (const BufferId i : bound.ids()) {
    if (bound[i] == none) continue;
    const GraphBufferId b = bound[i];
    const bool writes = is_writable(k.buffers[i].role);
    const BufferId other = writes ? first[b] : writer[b];
    if (other != none)
      return diagnose(Code::ArgumentsOverlap, {},
                      fmt::format("`{}` is bound to `{}` ({}) and to `{}` ({})", g.buffers[b].name,
                                  k.buffers[other].name, name(k.buffers[other].role),
                                  k.buffers[i].name, name(k.buffers[i].role)))
          .with_fix("bind distinct buffers, unless both parameters only read");
    first[b] = i;
    if (writes) writer[b] = i;
  }
  return Ok{};
}

Result<LaunchShape> resolve_call(const GraphNode& node, const Program& k,
                                 const IdMap<BufferId, std::optional<uint64_t>>& counts,
                                 const IdMap<BufferId, std::optional<uint64_t>>& scalars,
                                 std::array<uint64_t, 3> grid) {
  if (node.grid.empty()) return resolve_launch(k, counts, scalars, std::nullopt);
  if (k.grid_dims == 0) return resolve_launch(k, counts, scalars, grid);
  const Result<LaunchShape> own = resolve_launch(k, counts, scalars, std::nullopt);
  if (!own) return own;
  for (int d = 0; d < 3; ++d) grid[d] = std::min(grid[d], own->invocations_wanted[d]);
  return resolve_launch(k, counts, scalars, grid);
}

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
  for (const GraphBufferId i : g.buffers.ids()) {
    if (g.buffers[i].role == Role::Scalar)
      for (size_t k = 0; k < data[i.value()]->size(); ++k)
        shape.scalars[i] |= static_cast<uint64_t>((*data[i.value()])[k]) << (8 * k);
    if (is_host_output(g.buffers[i].role)) output += shape.bytes(g, i);
  }
  if (output_limit != 0 && output > output_limit)
    return diagnose(Code::OutputLimitExceeded, g.place,
                    fmt::format("output limit: graph `{}` gives {} back; the limit is {}", g.name,
                                exact_bytes(output), exact_bytes(output_limit, false)))
        .with_fix("raise the output limit, or give smaller lengths");
  return shape;
}

Result<GraphShape> resolve_graph(const Graph& g, std::span<const std::optional<uint64_t>> counts,
                                 std::span<const std::optional<uint64_t>> scalars) {
  Result<LaunchShape> launch =
      resolve_launch(as_program(g), counts, scalars, std::array<uint64_t, 3>{0, 0, 0});
  if (!launch) return launch.errors();
  GraphShape shape;
  shape.counts = std::move(launch->counts);
  for (size_t i = 0; i < g.buffers.size(); ++i)
    shape.scalars.push_back(i < scalars.size() ? scalars[i].value_or(0) : 0);
  return shape;
}

// ---- Calls.

Result<GraphCall> bind_call(const Module& module, const Graph& graph, const GraphShape& shape,
                            const GraphNode& node, const std::array<uint64_t, 3>& grid) {
  const Program& k = module.kernels[node.kernel];
  const size_t n = k.buffers.size();
  GraphCall call{node, k, IdMap<BufferId, GraphBufferId>(n), IdMap<BufferId, uint64_t>(n, 0), {}};
  IdMap<BufferId, std::optional<uint64_t>> counts(n), scalars(n);
  if (auto matched = match_arguments(shape, call, counts, scalars); !matched)
    return matched.errors();
  if (auto distinct = check_overlap(graph, k, call.bound); !distinct) return distinct.errors();
  for (const BufferId i : scalars.ids()) call.scalars[i] = scalars[i].value_or(0);
  Result<LaunchShape> launch = resolve_call(node, k, counts, scalars, grid);
  if (!launch) return launch.errors();
  call.shape = std::move(*launch);
  return call;
}

Diagnostics blame_call(Diagnostics errors, const Module& module, const GraphStep& call) {
  const GraphNode& node = *call.node;
  for (Diagnostic& d : errors) {
    if (d.code == Code::LengthDiffers) d.code = Code::ArgumentLengthDiffers;
    d.message =
        fmt::format("stage {} (`{}`): {}", call.stage, module.kernels[node.kernel].name, d.message);
    if (d.place.line == 0)
      d.place = node.place;
    else if (node.place.line != 0)
      d.note("called here", node.place);
  }
  return errors;
}

// ---- The walk.

GraphCursor::GraphCursor(const Graph& graph, const GraphSteps& steps, const GraphShape& shape)
    : g_(graph), steps_(steps), shape_(shape), cleared_(steps.size(), 0) {}

bool GraphCursor::has_calls(uint32_t loop) const {
  return steps_[steps_[loop].partner].stage > steps_[loop].stage;
}

/// The next element that the step at hand depends on. Elements that do not exist are 0.
std::optional<GraphElement> GraphCursor::wanted() const {
  const GraphStep& step = steps_[at_];
  if (step.is_call()) {
    if (answers_.size() < std::min<size_t>(step.node->grid.size(), 3))
      return step.node->grid[answers_.size()];
    return std::nullopt;
  }
  if (step.node->kind != GraphNodeKind::While || !answers_.empty()) return std::nullopt;
  const bool may_run = step.kind == GraphStep::Kind::Begin ? times_ > 0 && has_calls(at_)
                                                           : begins_again(loops_.back());
  if (!may_run) return std::nullopt;
  return step.node->flag;
}

void GraphCursor::answer(uint64_t bits) {
  answers_.push_back(value_of(g_.buffers[wanted()->buffer].element, bits));
}

std::optional<GraphLoop> GraphCursor::loop() const {
  if (at_ >= steps_.size() || timed_ || steps_[at_].kind != GraphStep::Kind::Begin)
    return std::nullopt;
  if (!has_calls(at_)) return std::nullopt;
  const Result<uint64_t> rounds = times_of(*steps_[at_].node);
  if (!rounds) return std::nullopt;  // next() will tell
  return GraphLoop{at_, steps_[at_].partner, *rounds};
}

bool GraphCursor::call_launched_nothing() {
  --launches_;
  const bool again = cleared_[call_] == 1 + launches_;
  cleared_[call_] = 1 + launches_;
  changes_ -= again;
  return again;
}

void GraphCursor::skip_loop() {
  ++changes_;
  ++launches_;
  go_to(steps_[at_].partner + 1);
}

void GraphCursor::go_to(uint32_t node) {
  at_ = node;
  answers_.clear();
  timed_ = false;
}

Result<uint64_t> GraphCursor::times_of(const GraphNode& node) const {
  Result<uint64_t> times =
      evaluate(g_.formulas, node.count, environment(g_, shape_),
               fmt::format("{} of a loop of graph `{}`",
                           node.kind == GraphNodeKind::Repeat ? "count" : "limit", g_.name));
  if (times) return times;
  for (Diagnostic& d : times.errors()) d.place = node.place;
  return times;
}

/// Returns whether the loop continues. A `repeat` has no condition but its count.
bool GraphCursor::holds(const GraphNode& node) const {
  if (node.kind == GraphNodeKind::Repeat) return true;
  const Type type = value_type(g_.buffers[node.flag.buffer].element);
  const uint64_t in[] = {answers_[0], node.bits};
  const ExactFloats exact;
  return eval_bits(node.compare, type, type, in, 2) != 0;
}

void GraphCursor::begin_loop() {
  // A loop without a call changes nothing, so it is not run.
  const bool runs = times_ > 0 && has_calls(at_) && holds(*steps_[at_].node);
  if (runs) loops_.push_back({at_, times_ - 1, changes_});
  go_to(runs ? at_ + 1 : steps_[at_].partner + 1);
}

void GraphCursor::end_loop() {
  Loop& loop = loops_.back();
  if (begins_again(loop) && holds(*steps_[loop.node].node)) {
    --loop.left;
    loop.changes = changes_;
    return go_to(loop.node + 1);
  }
  loops_.pop_back();
  go_to(at_ + 1);
}

Result<GraphAction> GraphCursor::next() {
  while (at_ < steps_.size()) {
    const GraphStep& step = steps_[at_];
    const bool begins = step.kind == GraphStep::Kind::Begin;
    if (begins && !timed_) {
      const Result<uint64_t> times = times_of(*step.node);
      if (!times) return times.errors();
      times_ = *times;
      timed_ = true;
    }
    if (const auto element = wanted()) {
      if (element->index < shape_.counts[element->buffer])
        return GraphAction{GraphAction::Kind::Read, at_, {1, 1, 1}, *element};
      answer(0);
      continue;
    }
    if (begins) {
      begin_loop();
    } else if (step.kind == GraphStep::Kind::End) {
      end_loop();
    } else {
      GraphAction call{GraphAction::Kind::Call, at_, {1, 1, 1}, {}};
      for (size_t d = 0; d < answers_.size(); ++d)
        call.grid[d] = invocations(g_.buffers[step.node->grid[d].buffer].element, answers_[d]);
      ++changes_;
      ++launches_;
      call_ = at_;
      go_to(at_ + 1);
      return call;
    }
  }
  return GraphAction{};
}

Result<uint64_t> walk_graph(const Module& module, const Graph& graph, const GraphShape& shape,
                            GraphDevice& device) {
  const GraphSteps steps = flatten(graph);
  GraphCursor cursor(graph, steps, shape);
  for (uint64_t calls = 0;;) {
    const Result<GraphAction> action = cursor.next();
    if (!action) return action.errors();
    if (action->kind == GraphAction::Kind::Done) return calls;
    if (action->kind == GraphAction::Kind::Read) {
      const Result<uint64_t> bits = device.read(action->element);
      if (!bits) return bits.errors();
      cursor.answer(*bits);
      continue;
    }
    const GraphStep& step = steps[action->node];
    const auto run = [&]() -> Result<> {
      if (auto begun = device.begin_call(*step.node); !begun) return begun;
      const Result<GraphCall> call = bind_call(module, graph, shape, *step.node, action->grid);
      if (!call) return call.errors();
      const auto& n = call->shape.num_workgroups;
      if (n[0] == 0 || n[1] == 0 || n[2] == 0) cursor.call_launched_nothing();
      return device.call(*call);
    };
    if (auto done = run(); !done) return blame_call(std::move(done.errors()), module, step);
    ++calls;
  }
}

}  // namespace vyre
