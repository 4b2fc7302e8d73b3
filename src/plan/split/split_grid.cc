#include "plan/split/split_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "check/check_limits.h"
#include "plan/split/live_values.h"
#include "plan/split/segment_chains.h"
#include "plan/split/segment_writer.h"
#include "plan/split/split_facts.h"
#include "transform/structure_exits.h"

namespace vyre::plan {

bool has_grid_barrier(const Program& program) {
  bool found = false;
  walk(program, [&](OpId op) { found |= is_grid_sync(program, op); });
  return found;
}

namespace {

/// Splits a program; `parameters`: values that the host computes become scalars of the segments.
/// Returns nothing if the segments would have too many buffers, whose number is then in `buffers`.
std::optional<SplitPlan> split(const Program& structured, bool parameters, size_t& buffers) {
  SplitPlan plan;
  SplitFacts facts(structured, parameters);
  merge_uniform_loads(facts);
  const LiveValues live = find_live_values(facts);
  plan.hidden = live.hidden;
  size_t largest = 0;
  for (const SegmentNeeds& needs : live.segments)
    largest = std::max(largest, needs.parameters.size());
  buffers = structured.buffers.size() + live.hidden.size() + largest;
  if (buffers > limits::buffers) return std::nullopt;
  if (!join_pieces(structured, write_pieces(facts, live, plan), plan)) return std::nullopt;
  return plan;
}

}  // namespace

Result<SplitPlan> split_at_grid_barriers(const Program& program) {
  if (!has_grid_barrier(program)) {
    SplitPlan plan;
    plan.pieces.emplace_back();
    plan.steps.emplace_back();
    join_pieces(program, {program}, plan);
    return plan;
  }
  const Program structured = structure_exits(program);
  size_t buffers = 0;
  std::optional<SplitPlan> plan = split(structured, true, buffers);
  if (!plan) plan = split(structured, false, buffers);
  if (plan) return std::move(*plan);
  return diagnose(Code::TooManyBuffers, program.place(program.loc),
                  fmt::format("to run `{}` without a grid barrier of the device takes {} buffers "
                              "more, but it has {} already; the limit is {}",
                              program.name, buffers - program.buffers.size(),
                              program.buffers.size(), limits::buffers))
      .with_fix("put several of its buffers into one");
}

Result<LaunchShape> segment_shape(const Program& program, const SplitPlan& plan,
                                  LaunchShape shape) {
  using Wide = unsigned __int128;
  const auto& n = shape.num_workgroups;
  const Wide workgroups = Wide{n[0]} * n[1] * n[2];
  const Wide lanes = uint64_t{program.workgroup[0]} * program.workgroup[1] * program.workgroup[2];
  for (const HiddenBuffer& h : plan.hidden) {
    // Counts are below 2^96 and `per` has at most 2^64: cap before the product.
    const Wide copies = h.rate == HiddenBuffer::Rate::Once           ? Wide{1}
                        : h.rate == HiddenBuffer::Rate::PerWorkgroup ? workgroups
                                                                     : workgroups * lanes;
    const bool fits = copies <= max_buffer_bytes && h.per <= max_buffer_bytes &&
                      copies * h.per * size_of(h.element) <= max_buffer_bytes;
    if (!fits)
      return diagnose(Code::BufferTooLarge, program.place(program.loc),
                      fmt::format(
                          "what `{}` must keep at grid barriers, {} times {} elements of {} bytes, "
                          "is more than 2^48 bytes",
                          program.name, static_cast<uint64_t>(std::min<Wide>(copies, ~0ull)), h.per,
                          size_of(h.element)))
          .with_fix("launch a smaller grid and let each invocation do several elements");
    shape.counts.push_back(static_cast<uint64_t>(copies * h.per));
  }
  shape.counts.insert(shape.counts.end(), plan.parameters.size(), 1);
  return shape;
}

}  // namespace vyre::plan
