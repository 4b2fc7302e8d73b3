// Fills, copies, launches and loops of a submission.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/cuda/submitter.h"

namespace vyre::driver::cuda {

using Steady = std::chrono::steady_clock;
using emit_ptx::ControlBlock;

namespace {

/// Below this number, separate launches are as fast, and nothing has to be cached.
constexpr size_t launches_for_graph = 4;

/// The number of iterations of a counted loop that are put on the stream between two checks of the
/// deadline.
constexpr uint64_t rounds_per_look = 64;

bool is_launch(const DeviceCommand& c) { return c.as<DeviceLaunch>() || c.as<DeviceLoop>(); }

bool is_overlapping_copy(const DeviceCommand& c) {
  const auto* const copy = c.as<DeviceCopy>();
  return copy && overlaps(*copy);
}

bool has_overlapping_copy(const std::vector<DeviceCommand>& body) {
  return std::any_of(body.begin(), body.end(), is_overlapping_copy);
}

}  // namespace

bool Submitter::is_work(const DeviceCommand& c) const {
  switch (c.kind()) {
    case Kind::Upload:
    case Kind::Readback:
    case Kind::Replay: return false;
    case Kind::Copy: return !is_overlapping_copy(c);
    case Kind::Loop:
      return api_.has_conditions() && !d_.graphs_.loops_are_broken() &&
             !has_overlapping_copy(*c.body());
    case Kind::Fill:
    case Kind::Launch: return true;
  }
  return false;
}

/// Returns false for a launch that would begin past the deadline.
bool Submitter::may_begin(uint32_t number) {
  if (job_.deadline && !job_.last_launch && Steady::now() >= *job_.deadline) {
    time_is_over(number);
    return false;
  }
  job_.last_launch = number;
  return true;
}

void Submitter::works(uint32_t first, uint32_t last) {
  WorkList& list = d_.scratch_list_;
  list.clear();
  for (uint32_t i = first; i < last && !is_decided(); ++i) {
    const DeviceCommand& c = job_.commands[i];
    command_ = i;
    if (is_launch(c) && !may_begin(i)) break;
    if (Result<> done = add_work(list, c, i); !done) fail(done.errors());
  }
  command_ = first;
  // Also runs the commands before a launch that must not begin.
  const bool decided = std::exchange(job_.is_decided, false);
  run_list(list, first, last);
  job_.is_decided |= decided;
}

void Submitter::run_list(WorkList& list, uint32_t first, uint32_t last) {
  const bool wants_graph = list.has_loop || list.launches >= launches_for_graph;
  if (!wants_graph || !api_.has_graphs()) return run_directly(list, 0);
  if (list.controls || list.uses_stop) d_.inspect_all();  // frees graphs whose jobs have ended
  const Result<Graph*> graph =
      d_.graphs_.find(list, std::span(job_.commands).subspan(first, last - first));
  if (!graph && context_.is_lost()) return fail(graph.errors());
  if (graph && *graph) return run_graph(**graph, list, 0);
  if (!list.has_loop) return run_directly(list, 0);
  // The driver refused a graph with a loop: the host runs it.
  for (uint32_t i = first; i < last && !is_decided(); ++i) {
    command_ = i;
    if (const auto* loop = job_.commands[i].as<DeviceLoop>()) {
      loop_by_host(*loop, i);
      continue;
    }
    WorkList one;
    if (Result<> done = add_work(one, job_.commands[i], i); !done) return fail(done.errors());
    run_directly(one, 0);
  }
}

// ---- Sequences that come again.

void Submitter::replay(const DeviceReplay& c, uint32_t number) {
  const bool wants_graph = api_.has_graphs() && c.body->size() >= launches_for_graph;
  // The body alone identifies the graph: its commands are not inspected.
  Graph* graph = wants_graph ? d_.graphs_.find(c.body) : nullptr;
  if (wants_graph && !graph) {
    d_.inspect_all();
    graph = d_.graphs_.find(c.body);
  }
  if (!graph && has_overlapping_copy(*c.body)) return loop_by_host({c.body, 1, {}}, number);
  if (!may_begin(number)) return;
  job_.rounds.emplace_back(number, 1);
  if (graph) return run_graph(*graph, graph->list(), number);
  WorkList& list = d_.scratch_list_;
  list.clear();
  if (Result<> done = add_body(list, *c.body, 0); !done) return fail(done.errors());
  if (wants_graph) {
    const Result<Graph*> built = d_.graphs_.build(list, c.body);
    if (!built && context_.is_lost()) return fail(built.errors());
    if (built && *built) return run_graph(**built, list, number);
  }
  run_directly(list, number);
}

void Submitter::run_graph(Graph& graph, const WorkList& list, uint32_t base) {
  // Its control blocks may just have been created or cleaned, on another stream.
  if (!order_memory()) return;
  if (graph.flag().host) {
    if (Result<> cleared = d_.flags_.clear(graph.flag()); !cleared) return fail(cleared.errors());
    watch(graph.flag());
  } else if (job_.deadline && !take_flag()) {
    return;
  }
  ++graph.users;
  job_.graphs.push_back(&graph);
  if (list.controls)
    for (const Work& w : list.works)
      if (w.shape.uses_control || w.shape.kind == WorkShape::Kind::Loop)
        job_.checks.push_back({graph.controls().host + w.control, base + w.command, w.inside,
                               w.shape.kind == WorkShape::Kind::Loop});
  check(graph.launch(stream_.handle), "a graph was launched");
}

// ---- The stop flag.

/// Sets the flag at the deadline, unless the job has ended by then.
void Submitter::watch(const StopFlag& flag) {
  if (!job_.deadline) return;
  const auto is_over = [device = &d_, job = &job_] {
    const EventHandle end = job->end;
    if (!end || device->context_->is_lost()) return false;
    const Current current(*device->context_);
    return device->context_->api.event_query(end) == Status::Success;
  };
  const auto stop = [flags = &d_.flags_, flag] { flags->set(flag); };
  job_.watches.push_back(
      std::make_unique<Watchdog::Watch>(d_.watchdog_, *flag.host, job_.deadline, is_over, stop));
}

/// Takes the flag of the launches outside of graphs.
bool Submitter::take_flag() {
  if (job_.flag.host) return true;
  const Result<StopFlag> flag = d_.flags_.take();
  if (!flag) {
    fail(flag.errors());
    return false;
  }
  job_.flag = *flag;
  watch(job_.flag);
  return true;
}

// ---- One after the other.

/// Takes the control blocks of all remaining launches at once.
bool Submitter::take_controls(uint32_t count) {
  if (job_.controls.count - job_.controls_used >= count) return true;
  uint32_t all = 0;
  const auto add = [&](const DeviceCommand& c) {
    if (const auto* launch = c.as<DeviceLaunch>())
      all += static_cast<const Kernel&>(*launch->kernel).info.uses_control;
  };
  for (uint32_t i = command_; i < job_.commands.size(); ++i) {
    add(job_.commands[i]);
    if (const auto* body = job_.commands[i].body()) std::for_each(body->begin(), body->end(), add);
  }
  const Result<ControlRange> range = d_.controls_.take(all);
  if (!range) {
    fail(range.errors());
    return false;
  }
  job_.controls = *range;
  return order_memory();  // a new slab is cleaned on another stream
}

void Submitter::run_directly(WorkList& list, uint32_t base) {
  if (list.controls && !take_controls(list.controls)) return;
  if ((list.uses_stop || (job_.deadline && list.launches)) && !take_flag()) return;
  const uint32_t first = job_.controls_used;
  job_.controls_used += list.controls;
  for (const Work& w : list.works) {
    std::byte* const parameters = list.parameters.data() + w.parameters;
    command_ = base + w.command;
    if (w.shape.kind == WorkShape::Kind::Launch) {
      const uint32_t at = first + w.control;
      set_addresses(parameters, job_.controls.device + uint64_t{at} * sizeof(ControlBlock),
                    job_.flag.device);
      if (w.shape.uses_control)
        job_.checks.push_back({job_.controls.host + at, command_, w.inside, false});
    }
    const Status s = enqueue(api_, w, parameters, stream_.handle);
    if (s == Status::Success) [[likely]]
      continue;
    const auto* const launch = job_.commands[command_].inner(w.inside).as<DeviceLaunch>();
    check(s, launch ? fmt::format("`{}` was launched", launch->program->name)
                    : std::string("a command was put on a stream"));
    job_.outcome.inside = w.inside;
    return;
  }
}

/// Adds an overlapping copy as two copies through temporary memory.
bool Submitter::add_overlapping(WorkList& list, const DeviceCopy& copy, uint32_t number) {
  const Result<DevicePointer> between = d_.memory_.allocate(copy.to.bytes);
  if (!between) {
    fail(between.errors());
    return false;
  }
  job_.temporaries.push_back(*between);
  DeviceCopy there = copy, back = copy;
  there.to.memory = back.source = *between;
  there.to.offset = back.source_offset = 0;
  return add_work(list, {there}, number) && add_work(list, {back}, number) && order_memory();
}

void Submitter::copy_overlapping(const DeviceCopy& c, uint32_t number) {
  WorkList list;
  if (add_overlapping(list, c, number)) run_directly(list, 0);
}

// ---- Loops by the host.

/// Returns true if there is one more iteration. Waits for the device if necessary. `slot`: pinned
/// memory.
bool Submitter::goes_on(const DeviceLoop& c, uint64_t rounds, std::byte* slot) {
  const MemoryRange& w = c.word;
  if (rounds == c.rounds) return false;
  const bool may_have_trapped = rounds > 0 && job_.controls_used > 0;
  if (!w.memory && !may_have_trapped && (rounds == 0 || rounds % rounds_per_look != 0)) return true;
  if (may_have_trapped &&
      !check(api_.copy_to_host(job_.controls.host, job_.controls.device,
                               job_.controls_used * sizeof(ControlBlock), stream_.handle),
             "control blocks were read"))
    return false;
  if (w.memory && !check(api_.copy_to_host(slot, w.memory + w.offset, w.bytes, stream_.handle),
                         "the word of a loop was read"))
    return false;
  if (!wait_for_stream()) return false;
  if (may_have_trapped)
    for (const Job::Check& check : job_.checks)
      if (check.block->trapped != ~uint64_t{0} || check.block->stopped_at) return false;
  return !w.memory ||
         std::any_of(slot, slot + w.bytes, [](std::byte b) { return b != std::byte{0}; });
}

void Submitter::loop_by_host(const DeviceLoop& c, uint32_t number) {
  WorkList body;
  for (uint32_t i = 0; i < c.body->size(); ++i) {
    const DeviceCommand& one = (*c.body)[i];
    const size_t before = body.works.size();
    if (is_overlapping_copy(one)) {
      if (!add_overlapping(body, *one.as<DeviceCopy>(), number)) return;
    } else if (Result<> done = add_work(body, one, number); !done) {
      return fail(done.errors());
    }
    for (size_t w = before; w < body.works.size(); ++w) body.works[w].inside = i;
  }
  std::byte* const slot = small_slot(8);
  if (!slot) return fail({context_.failed(Status::OutOfMemory, "pinned memory was taken")});
  job_.last_launch = number;
  job_.rounds.emplace_back(number, 0);
  const uint32_t controls_before = job_.controls_used;
  const size_t checks_before = job_.checks.size();
  for (uint64_t rounds = 0; !is_decided() && goes_on(c, rounds, slot);) {
    if (d_.stopping_ || (job_.deadline && Steady::now() >= *job_.deadline))
      return time_is_over(number);
    job_.rounds.back().second = ++rounds;
    job_.controls_used = controls_before;  // the same blocks each iteration: clean ones stay clean
    job_.checks.resize(checks_before);
    run_directly(body, 0);
  }
}

}  // namespace vyre::driver::cuda
