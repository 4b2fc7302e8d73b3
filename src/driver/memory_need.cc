#include "driver/memory_need.h"

#include <fmt/format.h>

#include <cstring>

namespace vyre::driver {

Result<LaunchShape> extended_shape(const ExecutableState& e, const LaunchShape& shape) {
  if (!e.plan) return shape;
  return plan::segment_shape(*e.program, *e.plan, shape);
}

std::vector<LaunchBuffer> launch_buffers(const ExecutableState& e, const LaunchShape& extended) {
  std::vector<LaunchBuffer> list;
  const Program& p = *e.program;
  const auto n = uint32_t(p.buffers.size());
  for (uint32_t i = 0; i < n; ++i)
    if (p.buffers[i].role == Role::Scratch)
      list.push_back({i, extended.counts[i] * size_of(p.buffers[i].element),
                      fmt::format("the scratch buffer `{}` of `{}`", p.buffers[i].name, p.name)});
  for (uint32_t i = 0; e.plan && i < e.plan->hidden.size(); ++i)
    list.push_back({n + i, extended.counts[n + i] * size_of(e.plan->hidden[i].element),
                    fmt::format("what `{}` keeps at its grid barriers", p.name)});
  return list;
}

std::optional<Diagnostic> beyond_memory_limit(const MemoryNeed& need, uint64_t limit,
                                              const std::string& whose, const Place& place) {
  if (limit == 0 || need.total() <= limit) return std::nullopt;
  Diagnostic d =
      diagnose(Code::MemoryLimitExceeded, place,
               fmt::format("memory limit: the buffers of {} need {} bytes; the limit is {}", whose,
                           need.total(), limit));
  if (need.intermediates + need.scratch > 0)
    d.note(
        fmt::format("{} are parameters, {} intermediates, {} scratch buffers and values kept at "
                    "grid barriers",
                    need.parameters, need.intermediates, need.scratch));
  return d.with_fix("raise the memory limit, or give smaller lengths");
}

namespace {

/// The sizes of a launch for the program that runs. Buffers of the host have the same numbers
/// there.
Result<LaunchShape> optimized_shape(const Program& p, const LaunchInputs& inputs,
                                    const LaunchShape& given) {
  std::vector<std::optional<uint64_t>> counts(p.buffers.size()), scalars(p.buffers.size());
  for (size_t i = 0; i < p.buffers.size(); ++i) {
    const Role role = p.buffers[i].role;
    if (role == Role::Scratch) {
      if (i < inputs.lengths.size()) counts[i] = inputs.lengths[i];
    } else if (role == Role::Scalar) {
      uint64_t bits = 0;
      std::memcpy(&bits, inputs.data[i]->data(), std::min<size_t>(inputs.data[i]->size(), 8));
      scalars[i] = bits;
    } else if (is_parameter(role)) {
      counts[i] = given.counts[i];
    }
  }
  return resolve_launch(p, counts, scalars, inputs.grid);
}

}  // namespace

Result<MemoryNeed> Device::memory_need(const Executable& executable, const LaunchInputs& inputs) {
  if (Result<> open = require_open(); !open) return open.errors();
  if (auto problem = state_->problem(executable)) return *problem;
  const Program& given = executable.program();
  const Result<LaunchShape> as_given = resolve_launch(given, inputs);
  if (!as_given) return as_given.errors();
  MemoryNeed need;
  for (size_t i = 0; i < given.buffers.size(); ++i) {
    const Role role = given.buffers[i].role;
    if (is_parameter(role) && role != Role::Scratch && role != Role::Scalar)
      need.parameters += as_given->counts[i] * size_of(given.buffers[i].element);
  }
  const Result<LaunchShape> shape = optimized_shape(executable.optimized(), inputs, *as_given);
  if (!shape) return shape.errors();
  if (shape->workgroups() == 0) return need;  // nothing is launched
  const Result<Executable> fits = state_->fitting(executable, *shape);
  if (!fits) return fits.errors();
  const Result<LaunchShape> extended = extended_shape(*fits->state(), *shape);
  if (!extended) return extended.errors();
  for (const LaunchBuffer& b : launch_buffers(*fits->state(), *extended)) need.scratch += b.bytes;
  return need;
}

}  // namespace vyre::driver
