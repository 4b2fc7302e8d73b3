// Launches on lavapipe, against the interpreter and against what is known.

#include "tests/runtime/vulkan/vulkan_util.h"

namespace vyre::driver {
namespace {

const char* add_one =
    "kernel add_one(y: inout u32[]) workgroup(64) grid(len(y)) { y[global_id.x] += 1 }";

TEST_F(VulkanTest, buffers_stay_on_the_device_over_many_launches) {
  Device d = open();
  const auto add = d.compile(kernel(add_one));
  ASSERT_TRUE(add) << render(add.errors(), {});
  U data(1000, 5);
  const Buffer b = *d.allocate(data.size() * 4);
  ASSERT_TRUE(d.submit({Upload{b, in(data)}}));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(d.submit({Launch{*add, {b}, {}, true}}));
  const Result<SubmitReport> r = d.submit({Readback{b, out(data)}})->wait();
  ASSERT_TRUE(r) << render(r.errors(), {});
  EXPECT_EQ(data, U(1000, 25));
}

TEST_F(VulkanTest, launches_of_one_submission_see_each_other) {
  Device d = open();
  const Executable add = *d.compile(kernel(add_one));
  U data(5000, 1);
  const Buffer b = *d.allocate(data.size() * 4), c = *d.allocate(data.size() * 4);
  std::vector<Command> commands = {Upload{b, in(data)}};
  for (int i = 0; i < 64; ++i) commands.push_back(Launch{add, {b}, {}, true});
  commands.push_back(Copy{c, b, data.size() * 4});
  commands.push_back(Fill{b, 0});
  commands.push_back(Launch{add, {c}, {}, true});
  commands.push_back(Readback{c, out(data)});
  const Result<SubmitReport> r = d.submit(commands)->wait();
  ASSERT_TRUE(r) << render(r.errors(), {});
  EXPECT_EQ(data, U(5000, 66));
  EXPECT_GT(r->run_ns, 0u);
}

TEST_F(VulkanTest, more_parameters_than_can_be_pushed) {
  same_as_interp(R"(
kernel many(a: in u32[], b: in u32[], c: in u32[], d: in u32[], e: in u32[], f: in u32[], g: in u32[], h: in u32[],
            i: in u32[], j: in u32[], k: in u32[], l: in u32[], s: u64, t: f32, y: out u32[len(a)]) workgroup(32) grid(len(a)) {
  let n = global_id.x
  y[n] = a[n] + b[n] * 3 + c[n] * 5 + d[n] * 7 + e[n] * 11 + f[n] * 13 + g[n] * 17 + h[n] * 19 + i[n] + j[n] + k[n] + l[n] + u32(s) + u32(t)
})",
                 [] {
                   LaunchInputs in;
                   in.data.resize(15);
                   in.lengths.resize(15);
                   for (uint32_t i = 0; i < 12; ++i) in.data[i] = bytes(U(100, i + 1));
                   in.data[12] = bytes(std::vector<uint64_t>{70000});
                   in.data[13] = bytes(std::vector<float>{3.5f});
                   return in;
                 }());
}

TEST_F(VulkanTest, grids_beyond_the_limit_of_a_dimension) {
  Device d = open();
  const Executable count = *d.compile(
      kernel("kernel count(n: u32, y: inout u32[2]) workgroup(1) grid(n) { atomic_add(y[0], 1)\n "
             "atomic_add(y[1], global_id.x) }"));
  const Buffer b = *d.allocate(8);
  for (const uint32_t n : {65535u, 65536u, 200000u}) {
    U got(2);
    const auto r =
        d.submit({Fill{b, 0}, Launch{count, {scalar(n), b}, {}, true}, Readback{b, out(got)}})
            ->wait();
    ASSERT_TRUE(r) << render(r.errors(), {});
    EXPECT_EQ(got, (U{n, uint32_t(uint64_t{n} * (n - 1) / 2)}));
  }
}

TEST_F(VulkanTest, grids_beyond_all_dimensions_together) {
  Device d = open();
  const Executable e = *d.compile(
      kernel("kernel t(n: u32, y: inout u32[1]) workgroup(1) grid(n, n, 4) { y[0] = 7 }"));
  const Buffer b = *d.allocate(4);
  // 2^50, and 2^64, which must not be taken for 0.
  for (const uint32_t n : {1u << 24, 1u << 31})
    EXPECT_EQ(code_of(d.submit({Launch{e, {scalar(n), b}, {}, true}})), Code::KernelTooLarge);
}

TEST_F(VulkanTest, a_grid_with_a_zero_does_nothing) {
  Device d = open();
  const Executable add = *d.compile(kernel(add_one));
  const Buffer b = *d.allocate(0);
  const auto r = d.submit({Launch{add, {b}, {}, true}})->wait();
  EXPECT_TRUE(r) << render(r.errors(), {});
}

TEST_F(VulkanTest, traps_name_code_and_the_lowest_invocation) {
  Device d = open();
  const Executable e = *d.compile(kernel(
      "kernel t(n: u32, y: inout u32[]) workgroup(64) grid(len(y)) { assert(global_id.x < n, "
      "global_id.x + 1)\n y[global_id.x] = 7 }"));
  U data(1000, 5), back(1000, 77);
  const Buffer b = *d.allocate(4000);
  const auto r = d.submit({Upload{b, in(data)}, Launch{e, {scalar(300u), b}, {}, true},
                           Readback{b, out(back)}})
                     ->wait();
  ASSERT_FALSE(r);
  EXPECT_EQ(r.errors()[0].code, Code::Trapped);
  EXPECT_NE(r.errors()[0].message.find("301"), std::string::npos) << r.errors()[0].message;
  EXPECT_NE(r.errors()[0].message.find("300, 0, 0"), std::string::npos) << r.errors()[0].message;
  EXPECT_EQ(back, U(1000, 77));
  EXPECT_TRUE(d.is_undefined(b));
  const auto again =
      d.submit({Fill{b, 0}, Launch{e, {scalar(1024u), b}, {}, true}, Readback{b, out(back)}})
          ->wait();
  ASSERT_TRUE(again) << render(again.errors(), {});
  EXPECT_EQ(back, U(1000, 7));
}

// Many short loops: lavapipe itself ends long ones.
const char* hours = R"(
kernel hours(n: u32, rounds: u32, y: inout u32[]) workgroup(64) grid(n) {
  var x = global_id.x
  for i in 0..rounds {
    x = x * 1664525 + (x >> 7) + i
  }
  if x == 77 { y[0] = n }
})";

TEST_F(VulkanTest, a_launch_of_hours_stops_at_its_deadline_and_says_where) {
  Device d = open();
  const Executable e = *d.compile(kernel(hours));
  const Executable add = *d.compile(kernel(add_one));
  const Buffer b = *d.allocate(400), c = *d.allocate(400);
  const auto begin = std::chrono::steady_clock::now();
  SubmitOptions limited;
  limited.time_limit = 0.3;
  const auto r =
      d.submit({Launch{e, {scalar(1u << 20), scalar(20000u), b}, {}, true}}, limited)->wait();
  const double took =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  ASSERT_FALSE(r);
  EXPECT_EQ(r.errors()[0].code, Code::TimeLimitExceeded);
  EXPECT_EQ(r.errors()[0].place.line, 4u) << render(r.errors(), {});
  EXPECT_GT(took, 0.29);
  EXPECT_LT(took, 30.0);
  // The device goes on.
  U got(100);
  const auto after =
      d.submit({Launch{add, {c}, {}, true}, Readback{c, out(got)}}, {.time_limit = 100})->wait();
  ASSERT_TRUE(after) << render(after.errors(), {});
  EXPECT_EQ(got, U(100, 1));
}

TEST_F(VulkanTest, a_loop_that_the_device_ends_by_itself_is_told) {
  Device d = open();
  const Executable e = *d.compile(kernel(R"(
kernel endless(y: inout u32[]) workgroup(64) grid(len(y)) {
  while y[0] == 0 {
    if y[1] == 7 { break }
  }
})"));
  const Buffer b = *d.allocate(400);
  const auto r = d.submit({Launch{e, {b}, {}, true}}, {.time_limit = 20})->wait();
  ASSERT_EQ(code_of(r), Code::NotExact) << "never a result that the program does not have";
  EXPECT_EQ(r.errors()[0].place.line, 3u) << render(r.errors(), {});
}

TEST_F(VulkanTest, closing_a_device_stops_what_runs) {
  const auto begin = std::chrono::steady_clock::now();
  {
    Device d = open();
    const Executable e = *d.compile(kernel(hours));
    const Buffer b = *d.allocate(400);
    ASSERT_TRUE(d.submit({Launch{e, {scalar(1u << 20), scalar(20000u), b}, {}, true}}));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

}  // namespace
}  // namespace vyre::driver
