#include "runtime/submit/submit_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/submit/memory_need.h"
#include "support/bytes_text.h"

namespace vyre::driver {

SubmissionBuilder::SubmissionBuilder(DeviceState& device, TicketState& ticket, size_t commands)
    : d_(device), t_(ticket) {
  t_.executables.resize(commands);
  t_.launch_bytes.resize(commands);
  t_.graphs.resize(commands);
  t_.recorder.reserve(commands);
}

SubmissionBuilder::~SubmissionBuilder() {
  if (kept_) return;
  for (const MemoryHandle m : t_.temporaries) d_.backend->release(m);
  d_.used -= t_.temporary_bytes;
}

void SubmissionBuilder::report(Diagnostic d) {
  d.message = fmt::format("command {}: {}", number_ + 1, d.message);
  errors.push_back(std::move(d));
}

void SubmissionBuilder::report(Diagnostics list) {
  for (Diagnostic& d : list) report(std::move(d));
}

bool SubmissionBuilder::usable(const Buffer& b, bool must_be_defined) {
  if (b.device == d_.id && is_redefined(b)) must_be_defined = false;
  if (auto p = d_.problem(b, must_be_defined)) {
    report(std::move(*p));
    return false;
  }
  // A writer that has not ended may still fail.
  const auto& writer = d_.slots[b.slot].writer;
  if (must_be_defined && writer) t_.needs.push_back({writer, number_, b.bytes});
  return true;
}

bool SubmissionBuilder::inside(const Buffer& b, uint64_t offset, uint64_t bytes,
                               std::string_view what) {
  if (offset <= b.bytes && bytes <= b.bytes - offset) return true;
  report(diagnose(Code::RangeOutside, {},
                  fmt::format("{} of {} bytes at offset {} of a buffer of {}", what, bytes, offset,
                              b.bytes))
             .with_fix("stay inside the buffer"));
  return false;
}

bool SubmissionBuilder::is_redefined(const Buffer& b) const {
  return std::find(redefined.begin(), redefined.end(), b.slot) != redefined.end();
}

void SubmissionBuilder::writes(const Buffer& b, bool whole) {
  t_.writes.push_back(b.slot);
  if (whole && !is_redefined(b)) redefined.push_back(b.slot);
}

void SubmissionBuilder::fill(MemoryHandle memory, uint64_t offset, uint64_t bytes, uint8_t value) {
  t_.recorder.add(number_, {DeviceFill{{memory, offset, bytes}, value}});
}

void SubmissionBuilder::one(const Upload& u) {
  if (!may_upload(u.to, u.offset, u.bytes.size())) return;
  upload(u.to, u.offset, std::make_shared<std::vector<std::byte>>(u.bytes.begin(), u.bytes.end()));
}

void SubmissionBuilder::one(const UploadAll& u) {
  if (!u.bytes)
    return report(empty_handle("the vector of the upload", "pass a vector as UploadAll::bytes"));
  if (may_upload(u.to, 0, u.bytes->size())) upload(u.to, 0, u.bytes);
}

bool SubmissionBuilder::may_upload(const Buffer& to, uint64_t offset, uint64_t bytes) {
  const bool whole = offset == 0 && bytes == to.bytes;
  return usable(to, !whole) && inside(to, offset, bytes, "an upload");
}

void SubmissionBuilder::upload(const Buffer& to, uint64_t offset,
                               std::shared_ptr<std::vector<std::byte>> bytes) {
  const uint64_t size = bytes->size();
  writes(to, offset == 0 && size == to.bytes);
  t_.report.uploaded += size;
  t_.recorder.add(number_,
                  {DeviceUpload{{d_.slots[to.slot].memory, offset, size}, std::move(bytes)}});
}

void SubmissionBuilder::one(const Readback& r) {
  if (!usable(r.from, true) || !inside(r.from, r.offset, r.bytes.size(), "a readback")) return;
  read_back(r.from, r.offset, r.bytes.size(),
            {std::make_shared<std::vector<std::byte>>(), r.bytes, nullptr});
}

void SubmissionBuilder::one(const ReadbackAll& r) {
  if (!r.to)
    return report(empty_handle("the vector of the readback", "pass a vector as ReadbackAll::to"));
  if (!usable(r.from, true)) return;
  auto staging = std::make_shared<std::vector<std::byte>>();
  if (r.to->empty()) staging->swap(*r.to);  // uses the memory that the caller has reserved
  read_back(r.from, 0, r.from.bytes, {std::move(staging), {}, r.to});
}

/// Adds a readback. The memory is reserved and not zeroed: the backend assigns the bytes.
void SubmissionBuilder::read_back(const Buffer& from, uint64_t offset, uint64_t bytes,
                                  TicketState::Out out) {
  DeviceReadback c{{d_.slots[from.slot].memory, offset, bytes}, out.staging};
  c.staging->reserve(bytes);
  t_.readbacks.push_back(std::move(out));
  output_bytes += bytes;
  reads(from);
  t_.recorder.add(number_, {std::move(c)});
}

void SubmissionBuilder::one(const Copy& k) {
  const bool whole = k.to_offset == 0 && k.bytes == k.to.bytes;
  if (!usable(k.from, true) || !usable(k.to, !whole) ||
      !inside(k.from, k.from_offset, k.bytes, "a copy from") ||
      !inside(k.to, k.to_offset, k.bytes, "a copy to"))
    return;
  reads(k.from);
  writes(k.to, whole);
  t_.recorder.add(number_, {DeviceCopy{{d_.slots[k.to.slot].memory, k.to_offset, k.bytes},
                                       d_.slots[k.from.slot].memory,
                                       k.from_offset}});
}

void SubmissionBuilder::one(const Fill& f) {
  const uint64_t bytes = f.bytes == ~0ull ? f.to.bytes - std::min(f.offset, f.to.bytes) : f.bytes;
  const bool whole = f.offset == 0 && bytes == f.to.bytes;
  if (!usable(f.to, !whole) || !inside(f.to, f.offset, bytes, "a fill")) return;
  fill(d_.slots[f.to.slot].memory, f.offset, bytes, f.value);
  writes(f.to, whole);
}

// ---- Launches.

/// Returns the shape of the bound launch. Many launches differ from the previous one in scalars
/// only.
Result<LaunchShape> SubmissionBuilder::shape_of(
    const Program& p, const std::optional<std::array<uint64_t, 3>>& grid) {
  if (last_.program == &p && last_.grid == grid && last_.counts == binding_.counts &&
      (!last_.by_scalars || last_.scalars == binding_.scalars))
    return last_.shape;
  Result<LaunchShape> shape = resolve_launch(p, binding_.counts, binding_.scalars, grid);
  if (!shape) return shape;
  const auto is_scalar = [](const FormulaNode& n) { return n.op == FormulaOp::Scalar; };
  last_.by_scalars = std::any_of(p.formulas.nodes.begin(), p.formulas.nodes.end(), is_scalar);
  last_.program = &p;
  last_.counts = binding_.counts;
  last_.scalars = binding_.scalars;
  last_.grid = grid;
  last_.shape = *shape;
  return shape;
}

/// Returns temporary memory. Launches of one submission run one after the other, so they may share
/// memory that lives for one launch.
std::optional<MemoryHandle> SubmissionBuilder::temporary(uint64_t bytes, const std::string& what) {
  for (size_t i = 0; i < temporaries_.size(); ++i)
    if (temporaries_[i].bytes == bytes && temporaries_[i].command != number_) {
      temporaries_[i].command = number_;
      fill(t_.temporaries[i], 0, bytes, 0);
      return t_.temporaries[i];
    }
  const DeviceInfo& info = d_.backend->info();
  make_room_for_one(t_.temporaries);
  Result<MemoryHandle> made =
      bytes <= info.limits.buffer_bytes
          ? d_.take(bytes, what)
          : diagnose(Code::DeviceMemoryExceeded, {},
                     fmt::format("{} has {} bytes; {} allows {} in one buffer", what, bytes,
                                 info.name, info.limits.buffer_bytes))
                .with_fix("launch a smaller grid, or use another device");
  if (!made) {
    report(std::move(made.errors()));
    return std::nullopt;
  }
  t_.temporary_bytes += bytes;
  t_.temporaries.push_back(*made);
  temporaries_.push_back({bytes, number_});
  return *made;
}

/// Adds the zeroing of outputs, and records which buffers are read and written.
void SubmissionBuilder::prepare(const Launch& l, const Program& p, const DeviceLaunch& c) {
  size_t next = 0;
  for (const BufferId i : p.buffers.ids()) {
    const auto& b = p.buffers[i];
    if (!is_parameter(b.role) || b.role == Role::Scratch) continue;
    const Buffer* buffer = std::get_if<Buffer>(&l.arguments[next++]);
    if (!buffer) continue;
    const bool cleared = b.role == Role::Out && l.clear_outputs;
    if (cleared && !l.executable.state()->full_writes.covers(i, c.shape, c.scalars))
      fill(c.buffers[i], 0, buffer->bytes, 0);
    if (is_writable(b.role))
      writes(*buffer, cleared);
    else
      reads(*buffer);
  }
}

/// Allocates scratch and spill buffers. The shape of the command includes the latter.
bool SubmissionBuilder::take_temporaries(const ExecutableState& e, DeviceLaunch& c) {
  for (const LaunchBuffer& b : launch_buffers(e, c.shape)) {
    const auto memory = temporary(b.bytes, b.what);
    if (!memory) return false;
    if (!c.buffers.contains(b.index)) c.buffers.resize(b.index.value() + 1);
    c.buffers[b.index] = *memory;
  }
  c.scalars.resize(c.buffers.size());
  return true;
}

/// Returns false, with V0503, if the workgroups of a launch need more than the device's memory
/// limit leaves.
bool SubmissionBuilder::leaves_room(uint64_t working, const std::string& whose) {
  const uint64_t left = d_.limit() - std::min(d_.used, d_.limit());
  if (working <= left) return true;
  report(diagnose(Code::MemoryLimitExceeded, {},
                  fmt::format("memory limit: the workgroups of {} that run at once need {} for "
                              "arrays and values; {} of {} are left on {}",
                              whose, exact_bytes(working), exact_bytes(left, false),
                              exact_bytes(d_.limit(), false), d_.backend->info().name))
             .with_fix("raise the memory limit, or use smaller shared and private arrays"));
  return false;
}

/// Compares the workgroups of a launch with the limit. Its shape includes the spill buffers.
bool SubmissionBuilder::leaves_room(const ExecutableState& e, DeviceLaunch& c) {
  if (d_.options.memory_limit == 0) return true;
  c.working_limit = std::max<uint64_t>(1, d_.limit() - std::min(d_.used, d_.limit()));
  return leaves_room(working_bytes(*d_.backend, e, c.shape),
                     fmt::format("kernel `{}`", e.program->name));
}

void SubmissionBuilder::one(const Launch& l) {
  if (auto problem = d_.problem(l.executable)) return report(std::move(*problem));
  const ExecutableState& e = *l.executable.state();
  const Program& p = *e.program;
  if (!bind(l, p, binding_)) return;
  Result<LaunchShape> shape = shape_of(p, l.grid);
  if (!shape) return report(std::move(shape.errors()));
  DeviceLaunch bound;
  bound.buffers = std::move(binding_.memory);
  bound.scalars = std::move(binding_.bits);
  bound.shape = std::move(*shape);
  prepare(l, p, bound);
  t_.executables[number_] = l.executable;
  if (bound.shape.workgroups() == 0) return;  // outputs are zeros, and that is all
  Result<LaunchShape> extended = extended_shape(e, std::move(bound.shape));
  if (!extended) return report(std::move(extended.errors()));
  bound.shape = std::move(*extended);
  if (!take_temporaries(e, bound) || !leaves_room(e, bound)) return;
  std::visit([&](auto&& made) { t_.recorder.add(number_, std::move(made)); },
             make_launch(l.executable.shared_state(), std::move(bound), t_.call_times));
}

}  // namespace vyre::driver
