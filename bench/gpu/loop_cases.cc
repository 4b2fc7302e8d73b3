#include <fmt/format.h>

#include "gpu_cases.h"

namespace bench {
namespace {

/// Loops whose bounds are known at run time only: counted, counted with memory, and `while`.
constexpr const char* loop_kernels = R"(
kernel for_sum(n: u32, x: in u32[], y: out u32[len(x)]) workgroup(256) grid(len(x)) {
  var s = x[global_id.x]
  for k in 0..n { s = s * 1664525 + k }
  y[global_id.x] = s
}
kernel for_load(n: u32, x: in u32[], y: out u32[len(x)]) workgroup(256) grid(len(x)) {
  var s: u32 = 0
  for k in 0..n { s = s * 31 + x[(global_id.x + k) & 1023] }
  y[global_id.x] = s
}
kernel while_sum(n: u32, x: in u32[], y: out u32[len(x)]) workgroup(256) grid(len(x)) {
  var s = x[global_id.x]
  var k: u32 = 0
  while k < n {
    s = s * 1664525 + k
    k += 1
  }
  y[global_id.x] = s
}
kernel while_load(n: u32, x: in u32[], y: out u32[len(x)]) workgroup(256) grid(len(x)) {
  var s: u32 = 0
  var k: u32 = 0
  while k < n {
    s = s * 31 + x[(global_id.x + k) & 1023]
    k += 1
  }
  y[global_id.x] = s
}
)";

}  // namespace

std::vector<std::function<Case()>> loop_cases(ProgramSize size) {
  std::vector<std::function<Case()>> cases;
  for (const char* kernel : {"for_sum", "for_load", "while_sum", "while_load"})
    for (const uint32_t n : {64, 255, 257, 1024, 4096, 16384, 65536}) {
      if (size == ProgramSize::Tiny && n > 257) continue;
      cases.emplace_back([=] {
        const ProgramEntry entry = {
            .name = fmt::format("{} n={}", kernel, n),
            .entry = kernel,
            .lines = {{"n", std::to_string(n), {}}, {"x", "1000/64K/1M", {}}}};
        Case c = kernel_case(make_program(entry, loop_kernels, size));
        c.twin = {};
        return c;
      });
    }
  return cases;
}

}  // namespace bench
