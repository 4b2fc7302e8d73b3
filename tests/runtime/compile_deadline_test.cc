// The deadline of a compilation ends the emitters that run inside the process.

#include <gtest/gtest.h>

#include <thread>

#include "diagnostics/work_deadline.h"
#include "tests/runtime/driver_util.h"
#include "tests/runtime/recording_backend.h"

namespace vyre::driver {
namespace {

TEST(CompileDeadline, ends_an_emitter_that_polls_it) {
  const Program program =
      kernel("kernel k(y: inout u32[]) workgroup(4) grid(len(y)) {\n  y[global_id.x] += 1\n}\n");
  CompileOptions options;
  options.limits = CompileLimits(0.2);
  bool has_polled = false;
  Recording backend;
  backend.before_compile = [&] {  // an emitter that is at work when the time is over
    while (!options.limits.is_over()) std::this_thread::yield();
    for (uint32_t i = 0; i < WorkDeadline::steps_per_question; ++i) WorkDeadline::poll_current();
    has_polled = true;
  };
  Device device = *Device::open(backend, 0);
  EXPECT_EQ(code_of(device.compile(program, options)), Code::TimeLimitExceeded);
  EXPECT_FALSE(has_polled);
  EXPECT_EQ(WorkDeadline::current(), nullptr);
  EXPECT_TRUE(device.compile(program));
  EXPECT_TRUE(has_polled);
}

}  // namespace
}  // namespace vyre::driver
