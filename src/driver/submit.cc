// Submissions: what the caller's commands become for the backend, and how they end.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "driver/device_state.h"

namespace vyre::driver {
namespace {

using Kind = DeviceCommand::Kind;

/// Builds one submission. Called with the device's mutex held; reports every problem it finds.
class Builder {
 public:
  Builder(DeviceState& device, TicketState& ticket) : d_(device), t_(ticket) {}

  Diagnostics errors;
  std::vector<DeviceCommand> commands;
  uint64_t output_bytes = 0;

  void add(const Command& c, size_t number) {
    number_ = number;
    t_.executables.emplace_back();
    t_.launch_bytes.push_back(0);
    std::visit([&](const auto& x) { one(x); }, c);
  }
  /// Buffers that this submission writes as a whole before it reads them are defined by it.
  std::vector<uint32_t> redefined;

 private:
  void push(DeviceCommand c) {
    t_.kinds.push_back(c.kind);
    t_.command_of.push_back(number_);
    commands.push_back(std::move(c));
  }
  void report(Diagnostic d) {
    d.message = fmt::format("command {}: {}", number_ + 1, d.message);
    errors.push_back(std::move(d));
  }
  bool is_redefined(const Buffer& b) const { return std::find(redefined.begin(), redefined.end(), b.slot) != redefined.end(); }
  bool usable(const Buffer& b, bool reads) {
    if (auto p = d_.problem(b, reads && !(b.device == d_.id && is_redefined(b)))) {
      report(std::move(*p));
      return false;
    }
    return true;
  }
  bool inside(const Buffer& b, uint64_t offset, uint64_t bytes, std::string_view what) {
    if (offset <= b.bytes && bytes <= b.bytes - offset) return true;
    report(diagnose(Code::RangeOutside, {}, fmt::format("{} of {} bytes at offset {} of a buffer of {}", what, bytes, offset, b.bytes)).with_fix("stay inside the buffer"));
    return false;
  }
  void reads(const Buffer& b) { t_.reads.push_back(b.slot); }
  void writes(const Buffer& b, bool whole) {
    t_.writes.push_back(b.slot);
    if (whole) redefined.push_back(b.slot);
  }

  void one(const Upload& u) {
    const bool whole = u.offset == 0 && u.bytes.size() == u.to.bytes;
    if (!usable(u.to, !whole) || !inside(u.to, u.offset, u.bytes.size(), "an upload")) return;
    DeviceCommand c;
    c.kind = Kind::Upload;
    c.memory = d_.slots[u.to.slot].memory;
    c.offset = u.offset;
    c.bytes = u.bytes.size();
    c.staging = std::make_shared<std::vector<std::byte>>(u.bytes.begin(), u.bytes.end());
    writes(u.to, whole);
    t_.report.uploaded += c.bytes;
    push(std::move(c));
  }
  void one(const Readback& r) {
    if (!usable(r.from, true) || !inside(r.from, r.offset, r.bytes.size(), "a readback")) return;
    DeviceCommand c;
    c.kind = Kind::Readback;
    c.memory = d_.slots[r.from.slot].memory;
    c.offset = r.offset;
    c.bytes = r.bytes.size();
    c.staging = std::make_shared<std::vector<std::byte>>(r.bytes.size());
    t_.readbacks.push_back({c.staging, r.bytes});
    output_bytes += c.bytes;
    reads(r.from);
    push(std::move(c));
  }
  void one(const Copy& k) {
    const bool whole = k.to_offset == 0 && k.bytes == k.to.bytes;
    if (!usable(k.from, true) || !usable(k.to, !whole) || !inside(k.from, k.from_offset, k.bytes, "a copy from") || !inside(k.to, k.to_offset, k.bytes, "a copy to")) return;
    DeviceCommand c;
    c.kind = Kind::Copy;
    c.memory = d_.slots[k.to.slot].memory;
    c.offset = k.to_offset;
    c.bytes = k.bytes;
    c.source = d_.slots[k.from.slot].memory;
    c.source_offset = k.from_offset;
    reads(k.from);
    writes(k.to, whole);
    push(std::move(c));
  }
  void one(const Fill& f) {
    const uint64_t bytes = f.bytes == ~0ull ? f.to.bytes - std::min(f.offset, f.to.bytes) : f.bytes;
    const bool whole = f.offset == 0 && bytes == f.to.bytes;
    if (!usable(f.to, !whole) || !inside(f.to, f.offset, bytes, "a fill")) return;
    fill(d_.slots[f.to.slot].memory, f.offset, bytes, f.value);
    writes(f.to, whole);
  }
  void fill(MemoryHandle memory, uint64_t offset, uint64_t bytes, uint8_t value) {
    DeviceCommand c;
    c.kind = Kind::Fill;
    c.memory = memory;
    c.offset = offset;
    c.bytes = bytes;
    c.value = value;
    push(std::move(c));
  }

  /// Arguments to memory and scalars by buffer index; false if one is wrong.
  bool bind(const Launch& l, const Program& p, DeviceCommand& c, std::vector<std::optional<uint64_t>>& counts, std::vector<std::optional<uint64_t>>& scalars) {
    size_t next = 0, wanted = 0;
    for (const auto& b : p.buffers) wanted += is_parameter(b.role) && b.role != Role::Scratch;
    if (l.arguments.size() != wanted) {
      report(diagnose(Code::WrongArgument, {}, fmt::format("kernel `{}` takes {} arguments, not {}", p.name, wanted, l.arguments.size())).with_fix("give one for each parameter but the scratch ones"));
      return false;
    }
    bool ok = true;
    std::vector<std::pair<uint32_t, size_t>> bound;  // slot, parameter
    for (size_t i = 0; i < p.buffers.size(); ++i) {
      const auto& b = p.buffers[i];
      if (!is_parameter(b.role) || b.role == Role::Scratch) continue;
      const Argument& a = l.arguments[next++];
      const Buffer* buffer = std::get_if<Buffer>(&a);
      if ((b.role == Role::Scalar) == (buffer != nullptr)) {
        report(diagnose(Code::WrongArgument, {}, fmt::format("parameter `{}` of `{}` takes a {}", b.name, p.name, buffer ? "scalar" : "buffer")).with_fix("give the arguments in the order of the parameters"));
        ok = false;
        continue;
      }
      if (!buffer) {
        c.scalars[i] = std::get<uint64_t>(a);
        scalars[i] = c.scalars[i];
        continue;
      }
      const bool cleared = b.role == Role::Out && l.clear_outputs;
      if (!usable(*buffer, !cleared)) {
        ok = false;
        continue;
      }
      if (buffer->bytes % size_of(b.element) != 0) {
        report(diagnose(Code::WrongArgument, {}, fmt::format("parameter `{}` of `{}` has elements of {} bytes, its buffer {} bytes", b.name, p.name, size_of(b.element), buffer->bytes)).with_fix("allocate a multiple of the element"));
        ok = false;
        continue;
      }
      for (const auto& [slot, other] : bound)
        if (slot == buffer->slot && (is_writable(b.role) || is_writable(p.buffers[other].role))) {
          report(diagnose(Code::OverlappingArguments, {}, fmt::format("parameters `{}` and `{}` of `{}` have the same buffer, and one is written", p.buffers[other].name, b.name, p.name)).with_fix("bind different buffers"));
          ok = false;
        }
      bound.emplace_back(buffer->slot, i);
      counts[i] = buffer->bytes / size_of(b.element);
      c.buffers[i] = d_.slots[buffer->slot].memory;
      t_.launch_bytes[number_] += buffer->bytes;
    }
    return ok;
  }

  void one(const Launch& l) {
    const ExecutableState* e = l.executable.state();
    if (!e || e->device != d_.id) {
      report(diagnose(Code::ForeignBuffer, {}, "the executable belongs to another device").with_fix("compile the program on this device"));
      return;
    }
    const Program& p = *e->program;
    DeviceCommand c;
    c.kind = Kind::Launch;
    c.program = e->program;
    c.kernel = e->kernel;
    c.buffers.assign(p.buffers.size(), 0);
    c.scalars.assign(p.buffers.size(), 0);
    std::vector<std::optional<uint64_t>> counts(p.buffers.size()), scalars(p.buffers.size());
    if (!bind(l, p, c, counts, scalars)) return;
    Result<LaunchShape> shape = resolve_launch(p, counts, scalars, l.grid);
    if (!shape) {
      for (Diagnostic& d : shape.errors()) report(std::move(d));
      return;
    }
    c.shape = std::move(*shape);
    if (!buffers(l, p, c)) return;
    t_.executables[number_] = l.executable;
    ++t_.report.launches;
    push(std::move(c));
  }

  /// Scratch memory, zeros for outputs, and who reads and writes what.
  bool buffers(const Launch& l, const Program& p, DeviceCommand& c) {
    size_t next = 0;
    for (size_t i = 0; i < p.buffers.size(); ++i) {
      const auto& b = p.buffers[i];
      if (!is_parameter(b.role)) continue;
      if (b.role == Role::Scratch) {
        const uint64_t bytes = c.shape.counts[i] * size_of(b.element);
        Result<MemoryHandle> m = d_.take(bytes, fmt::format("the scratch buffer `{}` of `{}`", b.name, p.name));
        if (!m) {
          for (Diagnostic& d : m.errors()) report(std::move(d));
          return false;
        }
        c.buffers[i] = *m;
        t_.temporaries.push_back(*m);
        t_.temporary_bytes += bytes;
        continue;
      }
      const Buffer* buffer = std::get_if<Buffer>(&l.arguments[next++]);
      if (!buffer) continue;
      const bool cleared = b.role == Role::Out && l.clear_outputs;
      if (cleared) fill(c.buffers[i], 0, buffer->bytes, 0);
      if (is_writable(b.role)) writes(*buffer, cleared);
      else reads(*buffer);
    }
    return true;
  }

  DeviceState& d_;
  TicketState& t_;
  size_t number_ = 0;
};

void unique(std::vector<uint32_t>& v) {
  std::sort(v.begin(), v.end());
  v.erase(std::unique(v.begin(), v.end()), v.end());
}

}  // namespace

Result<Ticket> Device::submit(std::vector<Command> commands, const SubmitOptions& options) {
  DeviceState& s = *state_;
  auto t = std::make_shared<TicketState>();
  t->stream = options.stream;
  t->time_limit = options.time_limit;
  t->report.command_ns.assign(commands.size(), 0);
  s.reap();
  const std::lock_guard lock(s.mutex);
  Builder b(s, *t);
  for (size_t i = 0; i < commands.size(); ++i) b.add(commands[i], i);
  if (options.output_limit && b.output_bytes > options.output_limit)
    b.errors.push_back(diagnose(Code::ReadbackLimit, {}, fmt::format("{} bytes are read back; the limit is {}", b.output_bytes, options.output_limit)).with_fix("read back less, or raise the limit"));
  const auto drop = [&] {
    for (MemoryHandle m : t->temporaries) s.backend->release(m);
    s.used -= t->temporary_bytes;
  };
  if (!b.errors.empty()) {
    drop();
    return b.errors;
  }
  unique(t->writes);
  unique(t->reads);

  // Who must end before: the last writer of what we read or write, the readers of what we write.
  std::vector<SubmissionHandle> after;
  const auto wait_for = [&](const std::shared_ptr<TicketState>& other) {
    if (other && other->stream != t->stream) after.push_back(other->handle);
  };
  for (uint32_t slot : t->reads) wait_for(s.slots[slot].writer);
  for (uint32_t slot : t->writes) {
    wait_for(s.slots[slot].writer);
    for (const auto& r : s.slots[slot].readers) wait_for(r);
  }
  std::optional<std::chrono::steady_clock::time_point> deadline;
  if (options.time_limit > 0)
    deadline = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(std::min(options.time_limit, 1e9)));
  Result<SubmissionHandle> handle = s.backend->submit(options.stream, std::move(b.commands), after, deadline);
  if (!handle) {
    drop();
    return handle.errors();
  }
  t->handle = *handle;
  for (uint32_t slot : b.redefined) s.slots[slot].undefined = false;
  for (uint32_t slot : t->reads) {
    ++s.slots[slot].users;
    s.slots[slot].readers.push_back(t);
  }
  for (uint32_t slot : t->writes) {
    ++s.slots[slot].users;
    s.slots[slot].writer = t;
    s.slots[slot].readers.clear();
  }
  s.pending.push_back(t);
  Ticket ticket;
  ticket.device_ = state_;
  ticket.state_ = t;
  return ticket;
}

void DeviceState::settle(TicketState& t) {
  const std::lock_guard own(t.mutex);  // one waits for the backend, the others for it
  if (t.finished) return;
  SubmissionOutcome o = backend->wait(t.handle);
  const bool ok = o.kind == SubmissionOutcome::Kind::Done;
  for (size_t i = 0; i < o.device_ns.size() && i < t.kinds.size(); ++i) {
    const uint64_t ns = o.device_ns[i];
    t.report.command_ns[t.command_of[i]] += ns;
    uint64_t* const by_kind[] = {&t.report.upload_ns, &t.report.readback_ns, &t.report.fill_ns, &t.report.fill_ns, &t.report.run_ns};
    *by_kind[size_t(t.kinds[i])] += ns;
  }
  if (ok) {
    for (const TicketState::Out& out : t.readbacks) t.report.read_back += out.to.size();
  } else {
    t.errors = std::move(o.errors);
    if (t.errors.empty()) t.errors.push_back(diagnose(Code::Trapped, {}, "the launch failed"));
  }
  {
    const std::lock_guard lock(mutex);
    for (uint32_t slot : t.reads) {
      --slots[slot].users;
      std::erase_if(slots[slot].readers, [&](const auto& r) { return r.get() == &t; });
    }
    for (uint32_t slot : t.writes) {
      --slots[slot].users;
      if (!ok) slots[slot].undefined = true;
      if (slots[slot].writer.get() == &t) slots[slot].writer = nullptr;
    }
    for (MemoryHandle m : t.temporaries) backend->release(m);
    used -= t.temporary_bytes;
    std::erase_if(pending, [&](const auto& p) { return p.get() == &t; });
  }
  if (ok && options.telemetry)
    for (size_t i = 0; i < t.executables.size(); ++i)
      if (t.executables[i].state()) {
        const Program& p = t.executables[i].program();
        options.telemetry({p.op_id, p.name, t.report.command_ns[i], t.launch_bytes[i]});
      }
  t.finished = true;
}

void DeviceState::reap() {
  std::vector<std::shared_ptr<TicketState>> ended;
  {
    const std::lock_guard lock(mutex);
    for (const auto& t : pending)
      if (backend->is_done(t->handle)) ended.push_back(t);
  }
  for (const auto& t : ended) settle(*t);
}

}  // namespace vyre::driver
