#pragma once

// The interpreter as a backend that records the requests of the runtime: commands and allocations.

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/registry.h"

namespace vyre::driver {

class Recording : public Backend {
 public:
  std::vector<DeviceCommand> commands;  // all but those with bytes of the host, in order
  uint64_t bytes = 0, peak = 0;         // allocated now; the most at once
  std::function<void()> before_compile;
  std::function<void(const DeviceCommand&)> on_command;  // called for each one, in order
  DeviceInfo changed = choose("interp")->backend->probe(nullptr)[0];

  /// `optimizes`: kernels get the passes of a release, so that clears can be proved unnecessary.
  explicit Recording(bool optimizes = true) {
    changed.backend = "recording";
    changed.optimizes = optimizes;
  }
  std::string_view name() const override { return "recording"; }
  std::string_view summary() const override { return "records its commands"; }
  std::vector<DeviceInfo> probe(std::string*) override { return {changed}; }
  Result<std::unique_ptr<BackendDevice>> open(uint32_t) override {
    return std::unique_ptr<BackendDevice>(
        std::make_unique<Wrapped>(*this, std::move(*choose("interp")->backend->open(0))));
  }

 private:
  struct Wrapped : BackendDevice {
    Recording& owner;
    std::unique_ptr<BackendDevice> inner;
    std::mutex mutex;
    std::map<MemoryHandle, uint64_t> sizes;

    Wrapped(Recording& r, std::unique_ptr<BackendDevice> i) : owner(r), inner(std::move(i)) {}
    const DeviceInfo& info() const override { return owner.changed; }
    Result<MemoryHandle> allocate(uint64_t n) override {
      Result<MemoryHandle> made = inner->allocate(n);
      const std::lock_guard lock(mutex);
      if (!made) return made;
      sizes[*made] = n;
      owner.peak = std::max(owner.peak, owner.bytes += n);
      return made;
    }
    void release(MemoryHandle m) override {
      {
        const std::lock_guard lock(mutex);
        owner.bytes -= sizes[m];
        sizes.erase(m);
      }
      inner->release(m);
    }
    Result<std::shared_ptr<CompiledKernel>> compile(std::shared_ptr<const Program> p,
                                                    const CompileOptions& o) override {
      if (owner.before_compile) owner.before_compile();
      return inner->compile(p, o);
    }
    Result<SubmissionHandle> submit(
        uint32_t s, std::vector<DeviceCommand> c, std::span<const SubmissionHandle> a,
        std::optional<std::chrono::steady_clock::time_point> d) override {
      using Kind = DeviceCommand::Kind;
      const std::lock_guard lock(mutex);
      for (const DeviceCommand& one : c) {
        if (owner.on_command) owner.on_command(one);
        if (one.kind() == Kind::Launch || one.kind() == Kind::Fill || one.body())
          owner.commands.push_back(one);
      }
      return inner->submit(s, std::move(c), a, d);
    }
    bool is_done(SubmissionHandle h) override { return inner->is_done(h); }
    SubmissionOutcome wait(SubmissionHandle h) override { return inner->wait(h); }
  };
};

}  // namespace vyre::driver
