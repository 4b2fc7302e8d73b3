// Launches that never end, traps, and exceeded device limits: each is an error with its cause and
// location, and the device stays usable.

#include "tests/runtime/gpu/gpu_util.h"

namespace vyre::driver {
namespace {

class limits_on_device : public OnDevice {
 protected:
  /// Is stopped soon after its time, with the kernel's name and the line in the error.
  void expect_stopped(const std::string& source, const std::string& name, uint32_t line,
                      std::vector<Argument> arguments) {
    SCOPED_TRACE(source);
    const Executable code = compile(source);
    SubmitOptions o;
    o.time_limit = 0.2;
    std::vector<Command> commands;
    commands.push_back(Launch{code, std::move(arguments)});
    const auto begin = Clock::now();
    const Result<SubmitReport> r = attempt(std::move(commands), o);
    EXPECT_LT(seconds_since(begin), 5);
    ASSERT_FALSE(r) << "it ended";
    const Diagnostic& d = r.errors()[0];
    EXPECT_EQ(to_string(d.code), to_string(Code::TimeLimitExceeded)) << text_of(r.errors());
    EXPECT_NE(text_of(r.errors()).find("`" + name + "`"), std::string::npos) << text_of(r.errors());
    EXPECT_EQ(d.place.line, line) << text_of(r.errors());
    still_works();
  }
};

TEST_F(limits_on_device, stops_an_endless_loop) {
  expect_stopped(
      "kernel endless(x: inout u32[]) workgroup(64) grid(1024) {\n"
      "  var v = x[global_id.x]\n"
      "  while v != 1 { v = (v * 2) & 4094 }\n"
      "  x[global_id.x] = v\n"
      "}",
      "endless", 3, {buffer(U(1024, 2))});
}

TEST_F(limits_on_device, stops_a_compare_and_swap_that_never_succeeds) {
  expect_stopped(
      "kernel never(x: inout u32[]) workgroup(64) grid(1024) {\n"
      "  var done = false\n"
      "  while !done {\n"
      "    done = atomic_cas(x[0], 5, 6) == 5\n"
      "  }\n"
      "}",
      "never", 3, {buffer(U{1})});
}

TEST_F(limits_on_device, stops_a_lane_that_waits_for_another) {
  // The writer is in the same subgroup and comes after the loop: it never gets there.
  expect_stopped(
      "kernel waits(flag: inout u32[]) workgroup(32) grid(32) {\n"
      "  if local_id.x == 0 {\n"
      "    while atomic_load(flag[0]) == 0 { }\n"
      "  }\n"
      "  if local_id.x == 1 && flag[1] == 9 { atomic_store(flag[0], 1) }\n"
      "}",
      "waits", 3, {buffer(U{0, 0})});
}

TEST_F(limits_on_device, stops_an_endless_loop_around_a_barrier) {
  expect_stopped(
      "kernel turns(x: inout u32[]) workgroup(128) grid(1024) {\n"
      "  shared t: u32[128]\n"
      "  while uniform_load(x[0]) == 0 {\n"
      "    t[local_id.x] += 1\n"
      "    barrier workgroup\n"
      "  }\n"
      "  x[1] = t[0]\n"
      "}",
      "turns", 3, {buffer(U{0, 0})});
}

TEST_F(limits_on_device, stops_an_endless_loop_of_grid_barriers) {
  const std::string source =
      "kernel rounds(x: inout u32[]) workgroup(64) grid(640) {\n"
      "  while uniform_load(x[0], grid) == 0 {\n"
      "    if global_id.x == 0 { x[1] += 1 }\n"
      "    barrier grid\n"
      "  }\n"
      "}";
  SubmitOptions o;
  o.time_limit = 0.3;
  const Buffer x = buffer(U{0, 0});
  std::vector<Command> commands;
  commands.push_back(Launch{compile(source), {x}});
  const auto begin = Clock::now();
  const auto r = attempt(std::move(commands), o);
  EXPECT_LT(seconds_since(begin), 6);
  expect_code(r, Code::TimeLimitExceeded);
  still_works();
}

TEST_F(limits_on_device, stops_the_rest_of_a_submission) {
  const Executable slow = compile(
      "kernel slow(x: inout u32[]) workgroup(64) grid(64) {\n"
      "  var v = x[0]\n"
      "  for i in 0..4000000000 { v = v * 3 + i }\n"
      "  if v == 77 { x[0] = 1 }\n"
      "}");
  const Buffer x = buffer(U{0}), y = buffer(U{1});
  std::vector<Command> commands;
  for (int i = 0; i < 20; ++i) commands.push_back(Launch{slow, {x}});
  U seen{42};
  commands.push_back(Readback{y, out(seen)});
  SubmitOptions o;
  o.time_limit = 0.3;
  const auto begin = Clock::now();
  expect_code(attempt(std::move(commands), o), Code::TimeLimitExceeded);
  EXPECT_LT(seconds_since(begin), 6);
  EXPECT_EQ(seen, U{42}) << "a failed submission gives nothing back";
  still_works();
}

TEST_F(limits_on_device, other_streams_go_on_while_one_is_stopped) {
  const Executable endless = compile(
      "kernel endless(x: inout u32[]) workgroup(64) grid(64) { while atomic_load(x[0]) == 0 { } }");
  const Executable twice =
      compile("kernel twice(x: inout u32[]) workgroup(64) grid(len(x)) { x[global_id.x] *= 2 }");
  const Buffer x = buffer(U{0}), y = buffer(counting(1000, 1));
  SubmitOptions limited;
  limited.time_limit = 0.5;
  limited.stream = 1;
  std::vector<Command> commands;
  commands.push_back(Launch{endless, {x}});
  const auto ticket = device().submit(std::move(commands), limited);
  ASSERT_TRUE(ticket);
  launch(twice, {y});
  U wanted = counting(1000, 1);
  for (uint32_t& v : wanted) v *= 2;
  EXPECT_EQ(read(y), wanted);
  expect_code(ticket->wait(), Code::TimeLimitExceeded);
  launch(twice, {y});
  for (uint32_t& v : wanted) v *= 2;
  EXPECT_EQ(read(y), wanted);
}

TEST_F(limits_on_device, a_limit_that_is_not_reached_changes_nothing) {
  const Executable code = compile(
      "kernel k(n: u32, x: inout u32[]) workgroup(64) grid(len(x)) {\n"
      "  var v = x[global_id.x]\n"
      "  for i in 0..n { v = v * 1664525 + 1013904223 }\n"
      "  x[global_id.x] = v\n"
      "}");
  U wanted = noise(1000, 3);
  const Buffer x = buffer(wanted);
  SubmitOptions o;
  o.time_limit = 60;
  std::vector<Command> commands;
  commands.push_back(Launch{code, {scalar(5000u), x}});
  submit(std::move(commands), o);
  for (uint32_t& v : wanted)
    for (int i = 0; i < 5000; ++i) v = v * 1664525 + 1013904223;
  EXPECT_EQ(read(x), wanted);
}

TEST_F(limits_on_device, one_lane_in_a_million_traps) {
  const Program p = kernel(
      "kernel k(at: u32, y: inout u32[]) workgroup(128) grid(len(y)) {\n"
      "  let i = global_id.x\n"
      "  if i % 1000 >= 500 {\n"
      "    for k in 0..i % 7 {\n"
      "      if i == at && k == 2 { trap i }\n"
      "    }\n"
      "  }\n"
      "  y[i] = i\n"
      "}");
  const size_t n = is_gpu() ? 1'000'000 : 20'000;
  for (const uint32_t at : {999u, 17'507u, 5u}) {  // the last one does not trap
    SCOPED_TRACE(at);
    same(device(), p, inputs_of(p, {bytes(U{at}), bytes(U(n, 3))}));
  }
  still_works();
}

TEST_F(limits_on_device, the_lowest_of_many_traps_is_told) {
  const Program p = kernel(
      "kernel k(y: inout u32[]) workgroup(64) grid(len(y)) {\n"
      "  let i = global_id.x\n"
      "  assert(i % 97 != 96, i + 1)\n"
      "  if i % 89 == 88 { trap 7 }\n"
      "  y[i] = 1\n"
      "}");
  for (int round = 0; round < 5; ++round) same(device(), p, inputs_of(p, {bytes(U(100'000, 0))}));
}

TEST_F(limits_on_device, more_memory_than_there_is) {
  const uint64_t used = device().memory_used();
  const Result<Buffer> r = device().allocate(limits().memory_bytes + (uint64_t{1} << 40));
  ASSERT_FALSE(r);
  const std::string text = text_of(r.errors());
  EXPECT_TRUE(r.errors()[0].code == Code::DeviceMemoryExceeded ||
              r.errors()[0].code == Code::OutOfMemory)
      << text;
  EXPECT_FALSE(r.errors()[0].fix.empty()) << text;
  EXPECT_NE(text.find_first_of("0123456789", text.find(']')), std::string::npos) << text;
  EXPECT_EQ(device().memory_used(), used);
  still_works();
}

/// Piece after piece until nothing is left: the last one fails with numbers, and all are given
/// back.
TEST_F(limits_on_device, fills_the_memory_and_gives_it_back) {
  if (!is_gpu()) GTEST_SKIP() << "the machine's own memory is better left alone";
  std::vector<Buffer> pieces;
  const uint64_t piece = std::min<uint64_t>(limits().buffer_bytes, limits().memory_bytes / 5);
  Diagnostics errors;
  while (pieces.size() < 4096 && errors.empty()) {
    Result<Buffer> b = device().allocate(piece);
    if (b)
      pieces.push_back(*b);
    else
      errors = b.errors();
  }
  ASSERT_FALSE(errors.empty()) << pieces.size() << " pieces of " << piece << " bytes were given";
  EXPECT_GE(pieces.size(), 2u);
  EXPECT_FALSE(errors[0].fix.empty()) << text_of(errors);
  for (const Buffer& b : pieces) EXPECT_TRUE(device().free(b));
  const Result<Buffer> again = device().allocate(piece);
  ASSERT_TRUE(again) << text_of(again.errors());
  EXPECT_TRUE(device().free(*again));
  still_works();
}

TEST_F(limits_on_device, an_index_that_is_not_there) {
  const std::string name = device().info().backend;
  const Result<Device> r = Device::open(name + ":99");
  expect_code(r, Code::DeviceIndex);
  if (r) return;
  EXPECT_NE(r.errors()[0].message.find("99"), std::string::npos) << text_of(r.errors());
  EXPECT_FALSE(r.errors()[0].fix.empty());
}

}  // namespace
}  // namespace vyre::driver
