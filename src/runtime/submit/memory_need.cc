#include "runtime/submit/memory_need.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "interp/launch_kernel.h"
#include "ir/stats.h"
#include "support/bytes_text.h"

namespace vyre::driver {
namespace {

/// Returns the bytes of the private arrays that the device holds at once; 0 where these are few, or
/// where the backend counts them.
uint64_t private_arrays(const DeviceLimits& limits, const Program& p, const LaunchShape& shape) {
  using Wide = unsigned __int128;
  if (limits.resident_invocations == 0) return 0;
  const Wide size = Wide{p.workgroup[0]} * p.workgroup[1] * p.workgroup[2];
  const Wide invocations = std::min(size * shape.workgroups(), Wide{limits.resident_invocations});
  const Wide bytes = invocations * stats(p).private_bytes;
  return bytes > BackendDevice::small_working_bytes ? interp::saturating(bytes) : 0;
}

std::string parts_of(const MemoryNeed& need) {
  std::string parts = fmt::format(
      "{} are parameters, {} intermediates, {} scratch buffers and values kept at grid "
      "barriers",
      need.parameters, need.intermediates, need.scratch);
  if (need.working > 0)
    parts +=
        fmt::format(", {} shared and private arrays and values of the workgroups that run at once",
                    need.working);
  return parts;
}

}  // namespace

Result<LaunchShape> extended_shape(const ExecutableState& e, LaunchShape shape) {
  if (e.mode != ExecutionMode::Split) return shape;
  return plan::segment_shape(*e.program, *e.plan, std::move(shape));
}

std::vector<LaunchBuffer> launch_buffers(const ExecutableState& e, const LaunchShape& extended) {
  std::vector<LaunchBuffer> list;
  const Program& p = *e.program;
  for (const BufferId i : p.buffers.ids())
    if (p.buffers[i].role == Role::Scratch)
      list.push_back({i, extended.counts[i] * size_of(p.buffers[i].element),
                      fmt::format("the scratch buffer `{}` of `{}`", p.buffers[i].name, p.name)});
  for (uint32_t i = 0; e.plan && i < e.plan->hidden.size(); ++i) {
    const BufferId id = p.buffers.next_id() + i;
    list.push_back({id, extended.counts[id] * size_of(e.plan->hidden[i].element),
                    fmt::format("what `{}` keeps at its grid barriers", p.name)});
  }
  return list;
}

uint64_t working_bytes(BackendDevice& backend, const ExecutableState& e,
                       const LaunchShape& extended) {
  constexpr uint64_t most = 1ull << 60;  // exceeds any memory; additions to it do not overflow
  uint64_t bytes = 0;
  if (extended.workgroups() == 0) return bytes;
  for (const ExecutableState::Segment& s : e.segments)
    bytes = std::max(bytes, std::max(backend.working_bytes(*s.kernel, *s.program, extended),
                                     private_arrays(backend.info().limits, *s.program, extended)));
  return std::min(bytes, most);
}

std::optional<Diagnostic> beyond_memory_limit(const MemoryNeed& need, uint64_t limit,
                                              const std::string& whose, const Place& place) {
  if (limit == 0 || need.total() <= limit) return std::nullopt;
  Diagnostic d = diagnose(Code::MemoryLimitExceeded, place,
                          fmt::format("memory limit: the buffers{} of {} need {}; the limit is {}",
                                      need.working > 0 ? " and workgroups" : "", whose,
                                      exact_bytes(need.total()), exact_bytes(limit, false)));
  if (need.intermediates + need.scratch + need.working > 0) d.note(parts_of(need));
  return d.with_fix("raise the memory limit, or give smaller lengths");
}

namespace {

/// Returns the sizes of a launch for the program that runs. Buffers of the host have the same
/// numbers in both programs.
Result<LaunchShape> optimized_shape(const Program& p, const LaunchInputs& inputs,
                                    const LaunchShape& given) {
  IdMap<BufferId, std::optional<uint64_t>> counts(p.buffers.size()), scalars(p.buffers.size());
  for (const BufferId i : p.buffers.ids()) {
    const Role role = p.buffers[i].role;
    if (role == Role::Scratch) {
      if (inputs.lengths.contains(i)) counts[i] = inputs.lengths[i];
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

Result<MemoryNeed> Device::memory_need(const Executable& executable,
                                       const LaunchInputs& inputs) try {
  if (Result<> open = require_open(); !open) return open.errors();
  if (auto problem = state_->problem(executable)) return *problem;
  const Program& given = executable.program();
  const Result<LaunchShape> as_given = resolve_launch(given, inputs);
  if (!as_given) return as_given.errors();
  MemoryNeed need;
  for (const BufferId i : given.buffers.ids()) {
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
  need.working = working_bytes(*state_->backend, *fits->state(), *extended);
  return need;
} catch (const std::bad_alloc&) {
  return interp::out_of_memory("the sizes of a launch");
}

}  // namespace vyre::driver
