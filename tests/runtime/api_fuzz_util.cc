#include "tests/runtime/api_fuzz_util.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/graph_launch.h"
#include "opt/opt_report.h"
#include "plan/graph_plan.h"
#include "text/parse.h"

namespace vyre::driver {
namespace {

/// Kernels by number, so that sequences know which one never ends, and graphs of two of them.
enum : size_t { add_one, scale, fill_up, trapping, endless };
const Module& programs() {
  static const Module module = *parse(R"(
kernel add_one(y: inout u32[]) workgroup(64) grid(len(y)) { y[global_id.x] += 1 }
kernel scale(a: f32, x: in f32[], y: inout f32[len(x)]) workgroup(64) grid(len(y)) {
  y[global_id.x] = a * x[global_id.x]
}
kernel fill_up(y: out u32[]) workgroup(64) grid(len(y)) {
  y[global_id.x] = global_id.x
  barrier grid
  y[0] = 7
}
kernel trapping(y: inout u32[]) workgroup(64) grid(len(y)) {
  if global_id.x == 3 { trap 7 }
  y[global_id.x] = 5
}
kernel endless(y: inout u32[]) workgroup(64) grid(len(y)) {
  while y[0] != 12345 { y[1] = y[1] + 1 }
}
graph twice(y: inout u32[]) { call add_one(y); call add_one(y) }
graph through(a: f32, x: in f32[], y: inout f32[len(x)]) {
  buffer t: f32[len(x)]
  call scale(a, x, t)
  repeat 3 { call scale(a, t, y) }
}
)")
                                    .module;
  return module;
}

constexpr uint64_t end_of_all = std::numeric_limits<uint64_t>::max();

}  // namespace

ApiSequence::ApiSequence(uint64_t seed, std::vector<Device> devices, bool is_alone)
    : random_(seed), is_alone_(is_alone), devices_(devices), opened_(std::move(devices)) {}

void ApiSequence::run(size_t calls) {
  static constexpr void (ApiSequence::* actions[])() = {
      &ApiSequence::allocate, &ApiSequence::allocate,      &ApiSequence::allocate,
      &ApiSequence::submit,   &ApiSequence::submit,        &ApiSequence::submit,
      &ApiSequence::submit,   &ApiSequence::submit,        &ApiSequence::compile,
      &ApiSequence::compile,  &ApiSequence::prepare,       &ApiSequence::free,
      &ApiSequence::wait,     &ApiSequence::change_handle, &ApiSequence::move_handle,
      &ApiSequence::ask,      &ApiSequence::close_device,  &ApiSequence::open_device};
  for (size_t i = 0; i < calls && problem_.empty(); ++i)
    (this->*actions[random_.below(std::size(actions))])();
}

template <class T>
bool ApiSequence::check(const Result<T>& result, const char* call) {
  ++(result ? values_ : errors_);
  if (result || !problem_.empty()) return bool(result);
  if (!has_errors(result.errors())) problem_ = fmt::format("{}: a failure without an error", call);
  for (const Diagnostic& d : result.errors())
    if (d.severity == Severity::Error && d.fix.empty())
      problem_ = fmt::format("{}: {} without a fix: {}", call, to_string(d.code), d.message);
  return false;
}

// ---- handles
// ------------------------------------------------------------------------------------------------

Device& ApiSequence::device() {
  static thread_local Device empty;
  return devices_.empty() || random_.chance(2) ? empty = Device()
                                               : devices_[random_.below(devices_.size())];
}

template <class Handle>
Handle ApiSequence::handle_of(const std::vector<Handle>& handles) {
  return handles.empty() || random_.chance(3) ? Handle() : random_.pick(handles);
}

Buffer ApiSequence::buffer() {
  const Buffer b = handle_of(buffers_);
  uses_wrong_buffer_ |= !is_live(b);
  return b;
}

bool ApiSequence::is_live(const Buffer& b) const {
  return std::any_of(allocated_.begin(), allocated_.end(), [&](const auto& a) {
    const Buffer& live = a.second;
    return live.device == b.device && live.slot == b.slot && live.generation == b.generation &&
           live.bytes == b.bytes;
  });
}

void ApiSequence::open_device() {
  OpenOptions options;
  if (random_.chance(30)) options.memory_limit = random_.pick({1u, 4096u, 1u << 20});
  options.split_grid_barriers = random_.chance(20);
  if (random_.chance(5)) options.passes = random_.pick({"none", "no_such_pass", ","});
  const char* name = random_.pick({"interp", "interp[schedule=reverse]", "interp[split,subgroup=8]",
                                   "cpu[threads=2]", "cpu[thraeds=2]", "interp[", "cuda:99", ""});
  Result<Device> opened = Device::open(name, options);
  if (!check(opened, "open")) return;
  devices_.push_back(*opened);
  opened_.push_back(std::move(*opened));
}

void ApiSequence::close_device() {
  if (devices_.size() > 1) devices_.erase(devices_.begin() + random_.below(devices_.size()));
}

void ApiSequence::allocate() {
  Device d = device();
  const uint64_t bytes = random_.chance(5) ? end_of_all - random_.below(8)
                                           : random_.pick({0u, 4u, 16u, 256u, 256u, 4096u});
  const Type type = random_.pick({Type::U32, Type::F32, Type::F64, Type::Void});
  const Result<Buffer> made =
      random_.chance(50) ? d.allocate(bytes) : d.allocate(type, bytes < 8 ? bytes : bytes / 4);
  if (!check(made, "allocate")) return;
  allocated_.emplace_back(std::move(d), *made);
  buffers_.push_back(*made);
}

void ApiSequence::free() {
  const Buffer b = buffer();
  if (!check(device().free(b), "free")) return;
  if (is_alone_ && !is_live(b)) problem_ = "free() accepts a wrong handle";
  std::erase_if(allocated_, [&](const auto& a) {
    return a.second.device == b.device && a.second.slot == b.slot;
  });
}

void ApiSequence::change_handle() {
  Buffer b = buffer();
  switch (random_.below(5)) {
    case 0: b.bytes = random_.pick({uint64_t{0}, b.bytes + 4, b.bytes * 16, end_of_all}); break;
    case 1:
      b.slot = static_cast<uint32_t>(random_.pick({b.slot + uint64_t{1}, random_.next()}));
      break;
    case 2: b.generation += static_cast<uint32_t>(random_.between(1, 3)); break;
    case 3: b.device += static_cast<uint32_t>(random_.between(1, 3)); break;
    default: b.element = random_.pick({Type::U8, Type::F32, Type::Void}); break;
  }
  buffers_.push_back(b);
}

template <class Handle>
void ApiSequence::move_one(std::vector<Handle>& handles) {
  if (handles.empty()) return;
  Handle moved = std::move(handles[random_.below(handles.size())]);
  handles.push_back(std::move(moved));  // the other one stays, empty
}

void ApiSequence::move_handle() {
  switch (random_.below(4)) {
    case 0: return move_one(executables_);
    case 1: return move_one(graphs_);
    case 2: return move_one(tickets_);
    default: return move_one(devices_);
  }
}

// ---- calls
// ------------------------------------------------------------------------------------------------

void ApiSequence::compile() {
  CompileOptions options;
  if (random_.chance(10)) options.subgroup_size = random_.pick({8u, 3u, 1u << 20});
  if (random_.chance(5)) options.extra = {random_.pick({"schedul=reverse", "threads=", "="})};
  Result<Executable> made = device().compile(random_.pick(programs().kernels), options);
  if (check(made, "compile")) executables_.push_back(std::move(*made));
}

void ApiSequence::prepare() {
  const Graph& graph = random_.pick(programs().graphs);
  std::vector<std::optional<uint64_t>> counts(graph.buffers.size()), scalars(graph.buffers.size());
  const uint64_t count =
      random_.chance(5) ? random_.next() : random_.pick({0u, 1u, 4u, 64u, 64u, 1024u});
  for (auto& c : counts)
    if (random_.chance(90)) c = count;
  for (auto& s : scalars)
    if (random_.chance(90)) s = 0x3f800000;
  const Result<GraphShape> shape = resolve_graph(graph, counts, scalars);
  GraphOptions options;
  options.fuse = random_.chance(70);
  options.reuse = random_.chance(70);
  if (random_.chance(10)) options.memory_limit = random_.below(4096);
  const GraphShape used =
      check(shape, "resolve_graph") && random_.chance(95) ? *shape : GraphShape();
  if (random_.chance(10)) {
    check(device().memory_need(programs(), graph, used, options), "memory_need");
    return;
  }
  Result<GraphExecutable> made = device().prepare(programs(), graph, used, options);
  if (check(made, "prepare")) graphs_.push_back(std::move(*made));
}

void ApiSequence::submit() {
  SubmitOptions options;
  options.stream = random_.chance(95) ? static_cast<uint32_t>(random_.below(3)) : ~0u;
  if (random_.chance(10))
    options.time_limit =
        random_.pick({0.001, 100.0, -1.0, std::numeric_limits<double>::quiet_NaN()});
  if (random_.chance(5)) options.output_limit = random_.between(1, 64);
  options.call_times = random_.chance(50);
  options.times = random_.chance(80);
  std::vector<Command> commands;
  uses_wrong_buffer_ = false;
  for (size_t n = random_.below(5); n > 0; --n) commands.push_back(command(options));
  Result<Ticket> ticket = device().submit(std::move(commands), options);
  if (!check(ticket, "submit")) return;
  if (is_alone_ && uses_wrong_buffer_) problem_ = "submit() accepts a wrong handle";
  tickets_.push_back(std::move(*ticket));
}

void ApiSequence::wait() {
  const Ticket ticket = handle_of(tickets_);
  const double progress = ticket.progress();
  if (!(progress >= 0 && progress <= 1)) problem_ = fmt::format("the progress is {}", progress);
  (void)ticket.is_done();
  const bool first = check(ticket.wait(), "wait");
  if (random_.chance(50) && bool(ticket.wait()) != first) problem_ = "a second wait() differs";
}

void ApiSequence::ask() {
  const Executable executable = handle_of(executables_);
  Device& d = device();
  (void)d.info();
  (void)d.chosen_because();
  (void)d.memory_peak();
  (void)d.is_undefined(buffer());
  (void)executable.optimized();
  (void)handle_of(graphs_).memory();
  if (d.info().backend == "interp") check(d.list_code(executable), "list_code");
  if (random_.chance(10)) d.finish();
}

// ---- commands
// ------------------------------------------------------------------------------------------------

std::vector<std::byte>& ApiSequence::host_bytes() {
  return *hosts_.emplace_back(std::make_unique<std::vector<std::byte>>(
      random_.pick({0u, 4u, 16u, 256u, 4096u}), std::byte{1}));
}

uint64_t ApiSequence::offset() {
  return random_.chance(70) ? 0 : random_.pick({uint64_t{4}, uint64_t{252}, end_of_all - 2});
}

Command ApiSequence::command(SubmitOptions& options) {
  switch (random_.below(9)) {
    case 0: return Upload{buffer(), host_bytes(), offset()};
    case 1: {
      const auto bytes = std::make_shared<std::vector<std::byte>>(random_.pick({4u, 256u}));
      return UploadAll{buffer(), random_.chance(90) ? bytes : nullptr};
    }
    case 2: return Readback{buffer(), host_bytes(), offset()};
    case 3: return ReadbackAll{buffer(), random_.chance(90) ? &host_bytes() : nullptr};
    case 4: return Copy{buffer(), buffer(), random_.below(300), offset(), offset()};
    case 5:
      return Fill{buffer(), 7, offset(), random_.chance(50) ? end_of_all : random_.below(300)};
    case 6: return launch_graph();
    default: return launch(options);
  }
}

Argument ApiSequence::argument() {
  if (random_.chance(80)) return buffer();
  switch (random_.below(4)) {
    case 0: return 2.0f;
    case 1: return 0.1;
    case 2: return end_of_all;
    default: return true;
  }
}

Launch ApiSequence::launch(SubmitOptions& options) {
  Launch made{handle_of(executables_), {}};
  const Program& program = made.executable.program();
  for (const auto& parameter : program.buffers)
    if (random_.chance(98))
      made.arguments.push_back(parameter.role == Role::Scalar ? Argument(2.0f) : argument());
  if (random_.chance(3)) made.arguments.push_back(argument());
  if (random_.chance(10)) made.grid = {random_.below(300), random_.below(3), random_.below(3)};
  if (random_.chance(3)) made.grid = {random_.next(), 1, 1};
  made.clear_outputs = random_.chance(80);
  if (random_.chance(2)) made.lengths = {{"no_such_parameter", random_.next()}};
  if (made.grid || program.name == "endless") options.time_limit = 0.002;
  return made;
}

LaunchGraph ApiSequence::launch_graph() {
  LaunchGraph made{handle_of(graphs_), {}};
  for (size_t n = random_.pick({1u, 1u, 3u, 3u, 2u, 0u}); n > 0; --n)
    made.arguments.push_back(n == 3 && random_.chance(90) ? Argument(1.0f) : argument());
  return made;
}

// ---- the end
// ------------------------------------------------------------------------------------------------

void ApiSequence::release() {
  for (const Ticket& t : tickets_) check(t.wait(), "wait");
  for (Device& d : opened_) d.finish();
  graphs_.clear();
  tickets_.clear();
  for (auto& [device, buffer] : allocated_) check(device.free(buffer), "free");
  allocated_.clear();
}

std::string check_usable(Device& device) {
  if (device.memory_used() != 0)
    return fmt::format("{} bytes are still used", device.memory_used());
  if (device.info().name.empty()) return "the device is empty";
  const Result<Executable> add = device.compile(programs().kernels[add_one]);
  if (!add) return "compile: " + add.errors()[0].message;
  Result<TypedBuffer<uint32_t>> y = device.allocate<uint32_t>(100);
  if (!y) return "allocate: " + y.errors()[0].message;
  std::vector<uint32_t> values(100, 41);
  const Result<Ticket> ticket =
      device.submit({upload(*y, values), Launch{*add, {*y}}, read_back(*y, values)});
  if (!ticket) return "submit: " + ticket.errors()[0].message;
  const auto report = ticket->wait();
  if (!report) return "wait: " + report.errors()[0].message;
  if (values != std::vector<uint32_t>(100, 42)) return "a launch returns wrong bytes";
  return device.free(*y) ? "" : "the buffer cannot be freed";
}

}  // namespace vyre::driver
