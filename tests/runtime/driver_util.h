#pragma once

// Helpers shared by the tests of the runtime: kernels from text, bytes, and a backend that fails on
// demand.

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "interp/interp.h"
#include "runtime/device.h"
#include "runtime/registry.h"
#include "runtime/run_kernel.h"
#include "text/parse.h"

namespace vyre::driver {

inline Program kernel(const std::string& source, size_t index = 0) {
  ParseOutcome r = parse(source);
  EXPECT_TRUE(r.module) << render(r.diagnostics, r.sources);
  return std::move(r.module->kernels[index]);
}

template <class T>
std::span<const std::byte> in(const std::vector<T>& v) {
  return std::as_bytes(std::span(v));
}
template <class T>
std::span<std::byte> out(std::vector<T>& v) {
  return std::as_writable_bytes(std::span(v));
}
template <class T>
std::vector<std::byte> bytes(const std::vector<T>& v) {
  const auto s = in(v);
  return {s.begin(), s.end()};
}

inline Device open(const OpenOptions& o = {}) {
  Result<Device> d = Device::open("interp", o);
  EXPECT_TRUE(d);
  return *d;
}

/// The interpreter, but programs run split at grid barriers.
inline Device open_split() {
  OpenOptions o;
  o.split_grid_barriers = true;
  return open(o);
}

template <class T>
Code code_of(const Result<T>& r) {
  EXPECT_FALSE(r);
  return r ? Code{} : r.errors()[0].code;
}
template <class T>
std::string message_of(const Result<T>& r) {
  EXPECT_FALSE(r);
  return r ? "" : r.errors()[0].message;
}

using U = std::vector<uint32_t>;

/// The interpreter as a separate device with other limits, which fails on demand: after `allowed`
/// more calls that can fail.
class Failing : public Backend {
 public:
  std::atomic<int> allowed{1 << 30};
  std::atomic<int> memory{0};                       // pieces that are alive
  std::atomic<int> submissions{0};                  // so far
  std::atomic<int> loops{0}, replays{0};            // that the device was given so far
  std::atomic<int> launches{0};                     // outside of loops, so far
  std::atomic<int> timed{0};                        // launches of which the time was asked for
  std::atomic<int> fills{0};                        // outside of loops, so far
  std::atomic<int> uploads{0};                      // so far
  std::atomic<const void*> uploaded_from{nullptr};  // the host memory of the last upload
  std::atomic<int> readbacks{0};                    // so far
  std::atomic<uint64_t> read_bytes{0};              // of the readbacks
  std::atomic<uint64_t> zeroed_bytes{0};      // of the host memory for them that held zeros already
  std::atomic<const void*> read_to{nullptr};  // the host memory of the last readback
  std::atomic<uint64_t> at_once{~0ull};       // workgroups that may wait for each other
  std::atomic<bool> holds{false};             // no submission ends until release()
  void release() {
    holds = false;
    holds.notify_all();
  }
  DeviceInfo changed = choose("interp")->backend->probe(nullptr)[0];

  Failing() {
    changed.backend = "failing";
    changed.limits.forward_progress = false;
  }
  std::string_view name() const override { return "failing"; }
  std::string_view summary() const override { return "fails on demand"; }
  std::vector<DeviceInfo> probe(std::string*) override { return {changed}; }
  Result<std::unique_ptr<BackendDevice>> open(uint32_t) override {
    return std::unique_ptr<BackendDevice>(
        std::make_unique<Wrapped>(*this, std::move(*choose("interp")->backend->open(0))));
  }

 private:
  struct Wrapped : BackendDevice {
    Failing& owner;
    std::unique_ptr<BackendDevice> inner;
    Wrapped(Failing& f, std::unique_ptr<BackendDevice> i) : owner(f), inner(std::move(i)) {}
    bool fails() { return owner.allowed-- <= 0; }
    void count(const DeviceCommand& c) {
      using Kind = DeviceCommand::Kind;
      owner.loops += c.kind() == Kind::Loop;
      owner.replays += c.kind() == Kind::Replay;
      owner.fills += c.kind() == Kind::Fill;
      owner.launches += c.kind() == Kind::Launch;
      owner.timed += c.kind() == Kind::Launch && c.timed && c.measured;
      if (const auto* upload = c.as<DeviceUpload>()) {
        ++owner.uploads;
        owner.uploaded_from = upload->staging->data();
      }
      const auto* const readback = c.as<DeviceReadback>();
      if (!readback) return;
      ++owner.readbacks;
      owner.read_bytes += readback->from.bytes;
      owner.zeroed_bytes += readback->staging->size();
      owner.read_to = readback->staging->data();
    }
    Diagnostic failure() { return diagnose(Code::OutOfMemory, {}, "injected").with_fix("none"); }
    const DeviceInfo& info() const override { return owner.changed; }
    Result<MemoryHandle> allocate(uint64_t n) override {
      if (fails()) return failure();
      ++owner.memory;
      return inner->allocate(n);
    }
    void release(MemoryHandle m) override {
      --owner.memory;
      inner->release(m);
    }
    Result<std::shared_ptr<CompiledKernel>> compile(std::shared_ptr<const Program> p,
                                                    const CompileOptions& o) override {
      if (fails()) return failure();
      return inner->compile(p, o);
    }
    Result<SubmissionHandle> submit(
        uint32_t s, std::vector<DeviceCommand> c, std::span<const SubmissionHandle> a,
        std::optional<std::chrono::steady_clock::time_point> d) override {
      if (fails()) return failure();
      ++owner.submissions;
      for (const DeviceCommand& one : c) count(one);
      return inner->submit(s, std::move(c), a, d);
    }
    bool runs_at_once(const CompiledKernel&, const LaunchShape& shape) override {
      return shape.workgroups() <= owner.at_once;
    }
    bool is_done(SubmissionHandle h) override { return !owner.holds && inner->is_done(h); }
    SubmissionOutcome wait(SubmissionHandle h) override {
      owner.holds.wait(true);
      return inner->wait(h);
    }
  };
};

}  // namespace vyre::driver
