#include "runtime/vulkan/self_test_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/vulkan/self_test_launch.h"

namespace vyre::driver::vulkan {
namespace {

/// Up to 8 bytes as a number.
uint64_t bits(const Bytes& bytes, size_t at, size_t n) {
  uint64_t v = 0;
  std::memcpy(&v, bytes.data() + at, n);
  return v;
}

}  // namespace

TestRun::TestRun(const TestGroup& group, uint32_t subgroup_size)
    : g_(group), program_(std::make_shared<Program>(group.program)) {
  const Program& p = g_.program;
  inputs_.data.resize(p.buffers.size());
  inputs_.lengths.resize(p.buffers.size());
  for (const BufferId b : p.buffers.ids()) {
    if (!is_host_input(p.buffers[b].role)) continue;
    const bool fixed = p.buffers[b].count != no_formula;
    const uint32_t elements = p.buffers[b].role == Role::Scalar ? 1 : fixed ? 4 : g_.elements;
    inputs_.data[b] = self_test_input(p, b, elements);
  }
  options_.subgroup_size = subgroup_size;
}

Result<interp::Outcome>& TestRun::expected() {
  if (!expected_) expected_ = interp::run(g_.program, inputs_, options_);
  return *expected_;
}

Result<IdMap<BufferId, Bytes>> TestRun::actual(
    VulkanDevice& d, const Result<std::shared_ptr<CompiledKernel>>& kernel) {
  if (!expected()) return expected().errors();
  if (!kernel) return kernel.errors();
  Result<TestEnd> end = run_test(d, {program_, *kernel, inputs_});
  if (!end) return end.errors();
  if (end->kind != SubmissionOutcome::Kind::Done)
    return diagnose(Code::DeviceFailed, {}, "a kernel of the self-test was stopped");
  return std::move(end->buffers);
}

std::string TestRun::difference(const TestRow& row, const Bytes& got) {
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
  for (const BufferId b : g_.program.buffers.ids()) {
    const auto& data = inputs_.data[b];
    const size_t n = size_of(g_.program.buffers[b].element);
    if (!data || (element + 1) * n > data->size() || want.size() / size != data->size() / n)
      continue;
    operands += fmt::format("{}{:#x}", operands.empty() ? "" : ", ", bits(*data, element * n, n));
  }
  return fmt::format("{}: {} of {} wrong; of ({}) it gave {:#x}, not {:#x}", row.expression, count,
                     want.size() / size, operands, bits(got, first, size), bits(want, first, size));
}

}  // namespace vyre::driver::vulkan
