#pragma once

// Shared by run_kernel.cc and run_graph.cc: events of a run, requested outputs, warm-up,
// and waiting with progress.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "runtime/run_kernel.h"

namespace vyre::driver {

inline uint64_t steady_ns() {
  return uint64_t(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

/// Events in the order in which they began, the host's before the device's.
class RunTrace {
 public:
  /// While it is paused, events are dropped.
  void pause(bool on) { paused_ = on; }
  /// Adds a stage on the host from `begin` until now. After `traced_events` it is kept only if
  /// `always`.
  void host(std::string name, uint64_t begin, bool always = false) {
    if (!paused_ && (always || host_.size() < traced_events))
      host_.push_back({std::move(name), false, begin, steady_ns() - begin});
  }
  /// Adds a compilation that began at `begin` and ended just now, by stage; adds to the times.
  void compiled(const Executable& e, uint64_t begin, StageTimes& times) {
    const uint64_t all = steady_ns() - begin;
    const uint64_t optimize = std::min(e.optimize_ns(), all),
                   emit = std::min(e.emit_ns(), all - optimize);
    const uint64_t compile = all - optimize - emit;
    times.optimize += optimize;
    times.emit += emit;
    times.compile += compile;
    for (const auto& [name, ns] : {std::pair("optimize", optimize), std::pair("emit", emit),
                                   std::pair("compile", compile)}) {
      if (ns > 0 && host_.size() < traced_events) host_.push_back({name, false, begin, ns});
      begin += ns;
    }
  }
  /// Adds a copy of `bytes` that ended just now, and began after the host did at `begin`.
  void copy(std::string name, uint64_t begin, uint64_t ns, uint64_t bytes) {
    ended({std::move(name), true, begin, ns, ~0u, false, bytes});
  }
  /// Adds a launch that ended just now, and began after the host did at `begin`.
  void launch(std::string name, uint64_t begin, uint64_t ns) {
    ended({std::move(name), true, begin, ns, ~0u, true});
  }
  /// Adds a call of a graph whose beginning is known, possibly only from the times of earlier
  /// calls.
  void launch_at(std::string name, uint64_t begin, uint64_t ns, uint32_t node) {
    if (!paused_ && device_.size() < traced_events)
      device_.push_back({std::move(name), true, begin, ns, node, true});
  }
  std::vector<RunEvent> take() {
    host_.insert(host_.end(), std::make_move_iterator(device_.begin()),
                 std::make_move_iterator(device_.end()));
    return std::move(host_);
  }

 private:
  void ended(RunEvent e) {
    if (paused_ || device_.size() >= traced_events) return;
    const uint64_t end = steady_ns();
    e.ns = std::min(e.ns, end - e.begin_ns);
    e.begin_ns = end - e.ns;
    device_.push_back(std::move(e));
  }

  std::vector<RunEvent> host_, device_;
  bool paused_ = false;
};

/// Returns true if the caller wants the bytes of an output.
inline bool is_requested(const RunOptions& options, size_t buffer) {
  return options.outputs.empty() || (buffer < options.outputs.size() && options.outputs[buffer]);
}

/// Reserves memory for an output that will be read back as a whole; it is not zeroed.
inline Result<> reserve_output(std::vector<std::byte>& memory, uint64_t bytes,
                               const std::string& name) {
  try {
    memory.reserve(bytes);
  } catch (const std::exception&) {
    return diagnose(Code::OutOfMemory, {},
                    fmt::format("out of memory: the output `{}` needs {} bytes", name, bytes))
        .with_fix("use smaller lengths");
  }
  return Ok{};
}

/// Returns the device time of a submission without launches.
inline uint64_t moved_ns(const SubmitReport& r) { return r.upload_ns + r.fill_ns + r.readback_ns; }

/// Keeps the device busy for DeviceInfo::warm_up_ns, minus the `busy_ns` that it already was.
/// `submit` runs the commands of `n` repeats as one submission and waits for it: with pauses
/// between launches the clocks rise later. The trace has one event for all of it.
template <class F>
Result<> warm_up(const Device& device, RunTrace& trace, uint64_t busy_ns, const F& submit) {
  constexpr uint64_t batch_ns = 20'000'000;
  const uint64_t needed = device.info().warm_up_ns;
  if (needed == 0) return Ok{};
  const uint64_t begin = steady_ns();
  trace.pause(true);
  // The first one may upload what later ones restore, while the device is idle.
  if (auto r = submit(1); !r) return r.errors();
  const uint64_t busy_since = steady_ns();
  for (uint32_t repeats = 1; busy_ns + (steady_ns() - busy_since) < needed;) {
    const uint64_t start = steady_ns();
    if (auto r = submit(repeats); !r) return r.errors();
    if (steady_ns() - start < batch_ns && repeats < 1024) repeats *= 2;
  }
  trace.pause(false);
  trace.host("warm-up", begin);
  return Ok{};
}

/// Waits for a ticket; `progress`, if given, receives the progress.
inline Result<SubmitReport> wait_for(const Ticket& t, const std::function<void(double)>& progress) {
  if (progress) {
    auto nap = std::chrono::microseconds(20);
    while (!t.is_done()) {
      std::this_thread::sleep_for(nap);
      nap = std::min(nap * 2, std::chrono::microseconds(10'000));
      progress(t.progress());
    }
  }
  return t.wait();
}

}  // namespace vyre::driver
