#include <fmt/format.h>

#include <cstring>
#include <new>

#include "interp/interp.h"
#include "interp/launch_kernel.h"
#include "support/bytes_text.h"

namespace vyre::interp {
namespace {

uint64_t bits_of(const std::vector<std::byte>& bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), std::min<size_t>(bytes.size(), 8));
  return bits;
}

Result<> check_output(const Program& p, const LaunchShape& shape, uint64_t limit) {
  uint64_t bytes = 0;  // no overflow: all buffers together have at most 2^48
  for (size_t i = 0; i < p.buffers.size(); ++i)
    if (is_host_output(p.buffers[i].role)) bytes += shape.counts[i] * size_of(p.buffers[i].element);
  if (limit == 0 || bytes <= limit) return Ok{};
  return diagnose(Code::OutputLimitExceeded, {},
                  fmt::format("output limit: kernel `{}` gives {} back; the limit is {}", p.name,
                              exact_bytes(bytes), exact_bytes(limit, false)))
      .with_fix("raise the output limit, or give smaller lengths");
}

}  // namespace

Result<Outcome> run(const Program& p, const LaunchInputs& inputs, const Options& options) try {
  if (auto valid = check_time_limit(options.time_limit); !valid) return valid.errors();
  Clock clock(options);
  Memory memory(options);
  Result<LaunchShape> shape = resolve_launch(p, inputs);
  if (!shape) return shape.errors();
  if (auto fits = check_output(p, *shape, options.output_limit); !fits) return fits.errors();

  uint64_t bytes = 0;
  for (size_t i = 0; i < p.buffers.size(); ++i)
    if (is_parameter(p.buffers[i].role)) bytes += shape->counts[i] * size_of(p.buffers[i].element);
  const std::string what = fmt::format("the buffers of kernel `{}`", p.name);
  if (auto taken = memory.take(bytes, what); !taken) return taken.errors();

  Outcome outcome;
  outcome.buffers.resize(p.buffers.size());
  std::vector<std::vector<std::byte>> scratch(p.buffers.size());
  std::vector<View> views(p.buffers.size());
  std::vector<uint64_t> scalars(p.buffers.size(), 0);
  for (size_t i = 0; i < p.buffers.size(); ++i) {
    const Buffer& b = p.buffers[i];
    const uint64_t size = shape->counts[i] * size_of(b.element);
    std::byte* base = nullptr;
    switch (b.role) {
      case Role::In:
      case Role::Uniform:  // views are of writable bytes, but no op writes these
        base = const_cast<std::byte*>(inputs.data[i]->data());
        break;
      case Role::InOut:
        outcome.buffers[i] = *inputs.data[i];
        base = outcome.buffers[i].data();
        break;
      case Role::Out:
        outcome.buffers[i].resize(size);
        base = outcome.buffers[i].data();
        break;
      case Role::Scratch:
        scratch[i].resize(size);
        base = scratch[i].data();
        break;
      case Role::Scalar: scalars[i] = bits_of(*inputs.data[i]); break;
      default: break;
    }
    views[i] = {base, shape->counts[i], size, 0};
  }
  Result<uint64_t> lane_ops =
      launch_kernel(p, *shape, std::move(views), std::move(scalars), options, clock, memory);
  if (!lane_ops) return lane_ops.errors();
  outcome.lane_ops = *lane_ops;
  outcome.shape = std::move(*shape);
  if (options.progress) options.progress(1.0);
  return outcome;
} catch (const std::bad_alloc&) {
  return out_of_memory(fmt::format("the buffers of kernel `{}`", p.name));
}

}  // namespace vyre::interp
