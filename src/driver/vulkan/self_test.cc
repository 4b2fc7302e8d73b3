#include "driver/vulkan/self_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>

#include "driver/vulkan/self_test_cases.h"
#include "interp/interp.h"

namespace vyre::driver::vulkan {
namespace {

using Bytes = std::vector<std::byte>;
using emit_exact::Profile;

DeviceCommand command(DeviceCommand::Kind kind, MemoryHandle memory, uint64_t bytes) {
  DeviceCommand c;
  c.kind = kind;
  c.memory = memory;
  c.bytes = bytes;
  c.timed = false;
  return c;
}

/// A launch of a kernel of the self-test, on the device and on the interpreter.
class TestRun {
 public:
  TestRun(const TestGroup& group, uint32_t subgroup_size) : g_(group) {
    const Program& p = g_.program;
    inputs_.data.resize(p.buffers.size());
    inputs_.lengths.resize(p.buffers.size());
    for (uint32_t b = 0; b < p.buffers.size(); ++b)
      if (is_host_input(p.buffers[b].role)) {
        const bool fixed = p.buffers[b].count != no_formula;
        inputs_.data[b] = self_test_input(p, b, fixed ? 4 : g_.elements);
      }
    options_.subgroup_size = subgroup_size;
  }

  /// By buffer. Once: it does not depend on the profile.
  Result<interp::Outcome>& expected() {
    if (!expected_) expected_ = interp::run(g_.program, inputs_, options_);
    return *expected_;
  }

  /// The device's, for buffers that the host gets back.
  Result<std::vector<Bytes>> actual(VulkanDevice& d) {
    Result<interp::Outcome>& want = expected();
    if (!want) return want.errors();
    auto program = std::make_shared<Program>(g_.program);
    Result<std::shared_ptr<CompiledKernel>> kernel = d.compile(program, {});
    if (!kernel) return kernel.errors();
    std::vector<MemoryHandle> memory(program->buffers.size());
    std::vector<DeviceCommand> commands;
    std::vector<Bytes> got(program->buffers.size());
    std::vector<std::shared_ptr<std::vector<std::byte>>> staging(program->buffers.size());
    Result<> done = Ok{};
    for (uint32_t b = 0; b < memory.size() && done; ++b) {
      if (!is_parameter(program->buffers[b].role)) continue;
      const uint64_t bytes = want->shape.counts[b] * size_of(program->buffers[b].element);
      Result<MemoryHandle> m = d.allocate(bytes);
      if (!m) {
        done = m.errors();
        break;
      }
      memory[b] = *m;
      if (!inputs_.data[b]) continue;
      commands.push_back(command(DeviceCommand::Kind::Upload, *m, bytes));
      commands.back().staging = std::make_shared<std::vector<std::byte>>(*inputs_.data[b]);
    }
    if (done) {
      commands.push_back(command(DeviceCommand::Kind::Launch, 0, 0));
      DeviceCommand& launch = commands.back();
      launch.program = program;
      launch.kernel = *kernel;
      launch.buffers = memory;
      launch.scalars.assign(memory.size(), 0);
      launch.shape = want->shape;
      for (uint32_t b = 0; b < memory.size(); ++b) {
        if (!is_host_output(program->buffers[b].role)) continue;
        const uint64_t bytes = want->buffers[b].size();
        commands.push_back(command(DeviceCommand::Kind::Readback, memory[b], bytes));
        staging[b] = commands.back().staging = std::make_shared<std::vector<std::byte>>(bytes);
      }
      Result<SubmissionHandle> submitted = d.submit(0, std::move(commands), {}, std::nullopt);
      if (!submitted) {
        done = submitted.errors();
      } else {
        SubmissionOutcome o = d.wait(*submitted);
        if (o.kind == SubmissionOutcome::Kind::Failed) done = o.errors;
        else if (o.kind != SubmissionOutcome::Kind::Done)
          done = diagnose(Code::DeviceFailed, {}, "a kernel of the self-test was stopped");
      }
    }
    for (const MemoryHandle m : memory)
      if (m) d.release(m);
    if (!done) return done.errors();
    for (uint32_t b = 0; b < memory.size(); ++b)
      if (staging[b]) got[b] = std::move(*staging[b]);
    return got;
  }

  /// What is wrong with a result, for people; "" if nothing.
  std::string difference(const TestRow& row, const Bytes& got) {
    const Bytes& want = expected()->buffers[row.buffer];
    if (got == want) return "";
    const size_t size = size_of(g_.program.buffers[row.buffer].element);
    size_t first = want.size(), count = 0;
    for (size_t at = 0; at < want.size(); at += size)
      if (std::memcmp(want.data() + at, got.data() + at, size) != 0) {
        first = std::min(first, at);
        ++count;
      }
    const size_t element = first / size;
    std::string operands;
    for (uint32_t b = 0; b < g_.program.buffers.size(); ++b) {
      const auto& data = inputs_.data[b];
      const size_t n = size_of(g_.program.buffers[b].element);
      if (!data || (element + 1) * n > data->size() || want.size() / size != data->size() / n) continue;
      operands += fmt::format("{}{:#x}", operands.empty() ? "" : ", ", bits(*data, element * n, n));
    }
    return fmt::format("{}: {} of {} wrong; of ({}) it gave {:#x}, not {:#x}", row.expression, count,
                       want.size() / size, operands, bits(got, first, size), bits(want, first, size));
  }

 private:
  static uint64_t bits(const Bytes& bytes, size_t at, size_t n) {
    uint64_t v = 0;
    std::memcpy(&v, bytes.data() + at, n);
    return v;
  }

  const TestGroup& g_;
  LaunchInputs inputs_;
  interp::Options options_;
  std::optional<Result<interp::Outcome>> expected_;
};

/// One group until it is right, or wrong with everything switched off.
Result<> test_group(VulkanDevice& d, const TestGroup& g, TestedProfile& t) {
  if (g.needs && !(t.profile.*g.needs)) return Ok{};
  TestRun run(g, t.profile.subgroup_size);
  for (;;) {  // each round switches something off, or is the last
    d.profile = t.profile;
    const Result<std::vector<Bytes>> got = run.actual(d);
    if (!got) {
      const Code code = got.errors()[0].code;
      // Left out: features, and loops that the device cuts (which is told from now on).
      if (code == Code::MissingFeature || code == Code::NotExact) return Ok{};
      if (code != Code::CodeRejected) return got.errors();
    }
    const Profile before = t.profile;
    bool changed = false, wrong = false;
    std::map<std::string, std::string> stays;
    for (const TestRow& row : g.rows) {
      const std::string what = got ? run.difference(row, (*got)[row.buffer])
                                   : fmt::format("{}: {}", row.expression, got.errors()[0].message);
      if (what.empty()) continue;
      wrong = true;
      // Relaxed atomics do instead of ordered ones on a CPU only.
      const bool is_cpu =
          d.context().physical.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
      const auto on = std::find_if(row.flags.begin(), row.flags.end(), [&](const auto& f) {
        return before.*f.first && (is_cpu || f.first != &Profile::ordered_atomics);
      });
      if (on == row.flags.end()) {
        stays.emplace(row.key, what);
        continue;
      }
      if (std::exchange(t.profile.*on->first, false))
        t.findings.push_back(fmt::format("{}: {}", on->second, what));
      changed = true;
    }
    if (!wrong) return Ok{};
    if (changed) continue;
    t.inexact.merge(stays);
    return Ok{};
  }
}

}  // namespace

Result<TestedProfile> self_test(VulkanDevice& device) {
  const auto begin = std::chrono::steady_clock::now();
  TestedProfile t;
  t.profile = device.context().physical.reported;
  static const auto& groups = *new std::vector<TestGroup>(self_test_groups());
  std::vector<const TestGroup*> wrong;
  for (const TestGroup& g : groups) wrong.push_back(&g);
  // What stays wrong may rest on something that was found wrong later: it gets another chance.
  Profile before;
  do {
    before = t.profile;
    std::map<std::string, std::string> inexact;
    std::vector<const TestGroup*> still;
    for (const TestGroup* g : wrong) {
      t.inexact.clear();
      if (Result<> done = test_group(device, *g, t); !done) {
        for (Diagnostic& d : done.errors()) d.note(fmt::format("in the self-test of {}", g->name));
        return done.errors();
      }
      if (!t.inexact.empty()) still.push_back(g);
      inexact.merge(t.inexact);
    }
    t.inexact = std::move(inexact);
    wrong = std::move(still);
  } while (!wrong.empty() && before != t.profile);
  t.test_ns = uint64_t(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
  return t;
}

Result<TestedProfile> tested_profile(VulkanDevice& device, const std::string& directory) {
  const PhysicalDevice& physical = device.context().physical;
  // One at a time: others wait for the result instead of testing as well.
  static auto& mutex = *new std::mutex();
  static auto& known = *new std::map<std::array<uint8_t, VK_UUID_SIZE>, TestedProfile>();
  const std::lock_guard lock(mutex);
  if (const auto it = known.find(physical.device_uuid); it != known.end()) return it->second;
  std::optional<TestedProfile> found = find_profile(directory, physical);
  if (!found) {
    Result<TestedProfile> tested = self_test(device);
    if (!tested) return tested;
    found = std::move(*tested);
    keep_profile(directory, physical, *found);
  }
  return known[physical.device_uuid] = *found;
}

}  // namespace vyre::driver::vulkan
