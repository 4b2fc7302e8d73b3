// labels: threads
// Devices, buffers and submissions, on the interpreter and on a backend that fails on demand.

#include <cmath>
#include <thread>

#include "tests/runtime/driver_util.h"

namespace vyre::driver {
namespace {

const char* add_one =
    "kernel add_one(y: inout u32[]) workgroup(64) grid(len(y)) op_id(\"test.add\") { "
    "y[global_id.x] += 1 }";
const char* trap_at =
    "kernel trap_at(n: u32, y: inout u32[]) workgroup(64) grid(len(y)) { assert(global_id.x != n, "
    "9)\n y[global_id.x] = 7 }";

TEST(device, buffers_stay_on_the_device_over_many_launches) {
  Device d = open();
  const Executable add = *d.compile(kernel(add_one));
  std::vector<uint32_t> data(1000, 5);
  const Buffer b = *d.allocate(data.size() * 4);
  ASSERT_TRUE(d.submit({Upload{b, in(data)}}));
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(d.submit({Launch{add, {b}, {}, true}}));
  const Ticket t = *d.submit({Readback{b, out(data)}});
  const Result<SubmitReport> r = t.wait();
  ASSERT_TRUE(r) << render(r.errors(), {});
  EXPECT_EQ(data, std::vector<uint32_t>(1000, 25));
  EXPECT_EQ(r->read_back, 4000u);
  EXPECT_TRUE(t.is_done());
  EXPECT_TRUE(t.wait());  // twice gives the same
  EXPECT_EQ(d.memory_used(), 4000u);
  EXPECT_TRUE(d.free(b));
  EXPECT_EQ(d.memory_used(), 0u);
}

TEST(device, each_launch_of_a_submission_has_its_own_shape) {
  const char* source = R"(
kernel some(n: u32, by: u32, y: inout u32[]) workgroup(1) grid(n) { y[global_id.x] += by }
kernel twice(n: u32, by: u32, y: inout u32[]) workgroup(1) grid(2 * n) { y[global_id.x] += by }
kernel all(n: u32, by: u32, y: inout u32[]) workgroup(1) grid(len(y)) { y[global_id.x] += by }
kernel exact(n: u32, y: out u32[n]) workgroup(1) grid(n) { y[global_id.x] = n }
)";
  Device d = open();
  std::array<Executable, 4> e;
  for (size_t i = 0; i < e.size(); ++i) e[i] = *d.compile(kernel(source, i));
  const Buffer a = *d.allocate(6 * 4), b = *d.allocate(8 * 4);
  const auto launch = [&](size_t which, uint32_t n, uint32_t by, const Buffer& y) {
    return Launch{e[which], {scalar(n), scalar(by), y}};
  };
  Launch given = launch(2, 0, 1000000, b);
  given.grid = {5, 1, 1};
  U first(6), second(8);
  ASSERT_TRUE(
      d.submit({launch(0, 2, 1, a), launch(0, 2, 10, a),     // the same but for what is added
                launch(0, 3, 100, a), launch(1, 3, 100, a),  // a scalar, the kernel
                launch(2, 0, 10000, a), launch(2, 9, 100000, b), given, launch(2, 0, 10000000, b),
                Readback{a, out(first)}, Readback{b, out(second)}})
          ->wait());
  EXPECT_EQ(first, (U{10211, 10211, 10200, 10100, 10100, 10100}));
  EXPECT_EQ(second,
            (U{11100000, 11100000, 11100000, 11100000, 11100000, 10100000, 10100000, 10100000}));
  const Result<Ticket> t = d.submit({Launch{e[3], {scalar(6u), a}}, Launch{e[3], {scalar(6u), a}},
                                     Launch{e[3], {scalar(5u), a}}, Launch{e[3], {scalar(6u), b}}});
  ASSERT_FALSE(t);
  ASSERT_EQ(t.errors().size(), 2u);
  EXPECT_EQ(t.errors()[0].code, Code::LengthDiffers);
  EXPECT_TRUE(t.errors()[0].message.starts_with("command 3: ")) << t.errors()[0].message;
  EXPECT_TRUE(t.errors()[1].message.starts_with("command 4: ")) << t.errors()[1].message;
}

TEST(device, ranged_uploads_copies_fills_and_readbacks) {
  Device d = open();
  const Buffer a = *d.allocate(16), b = *d.allocate(16);
  const std::vector<uint8_t> bytes = {1, 2, 3, 4};
  std::vector<uint8_t> all(16), part(3);
  const Ticket t = *d.submit({Fill{a, 9}, Upload{a, in(bytes), 4}, Copy{b, a, 6, 1, 3},
                              Readback{a, out(all)}, Readback{b, out(part), 1}});
  ASSERT_TRUE(t.wait());
  EXPECT_EQ(all, (std::vector<uint8_t>{9, 9, 9, 9, 1, 2, 3, 4, 9, 9, 9, 9, 9, 9, 9, 9}));
  EXPECT_EQ(part, (std::vector<uint8_t>{9, 1, 2}));
}

TEST(device, fresh_memory_is_zero) {
  Device d = open();
  const Buffer b = *d.allocate(8);
  std::vector<uint8_t> bytes(8, 1);
  ASSERT_TRUE(d.submit({Readback{b, out(bytes)}})->wait());
  EXPECT_EQ(bytes, std::vector<uint8_t>(8, 0));
}

TEST(device, a_trap_leaves_outputs_alone_and_buffers_undefined) {
  Device d = open();
  const Executable e = *d.compile(kernel(trap_at));
  std::vector<uint32_t> data(100, 5), back(100, 77);
  const Buffer b = *d.allocate(400);
  ASSERT_TRUE(d.submit({Upload{b, in(data)}})->wait());
  const Result<SubmitReport> r =
      d.submit({Launch{e, {scalar(42u), b}, {}, true}, Readback{b, out(back)}})->wait();
  EXPECT_EQ(code_of(r), Code::Trapped);
  EXPECT_EQ(back, std::vector<uint32_t>(100, 77));
  EXPECT_TRUE(d.is_undefined(b));
  EXPECT_EQ(code_of(d.submit({Readback{b, out(back)}})), Code::UndefinedBuffer);
  EXPECT_EQ(code_of(d.submit({Upload{b, in(std::vector<uint32_t>{1}), 4}})),
            Code::UndefinedBuffer);  // not the whole
  ASSERT_TRUE(d.submit({Upload{b, in(data)}, Launch{e, {scalar(1000u), b}, {}, true},
                        Readback{b, out(back)}})
                  ->wait());
  EXPECT_EQ(back[99], 7u);
  EXPECT_FALSE(d.is_undefined(b));
}

TEST(device, stops_at_the_deadline_and_goes_on) {
  Device d = open();
  const Executable spin = *d.compile(
      kernel("kernel spin(y: out u32[1]) workgroup(1) grid(1) { while true { y[0] += 1 } }"));
  const Buffer b = *d.allocate(4);
  SubmitOptions o;
  o.time_limit = 0.05;
  const Result<SubmitReport> r = d.submit({Launch{spin, {b}, {}, true}}, o)->wait();
  EXPECT_EQ(code_of(r), Code::TimeLimitExceeded);
  EXPECT_TRUE(d.submit({Fill{b, 1}})->wait());
}

TEST(device, each_mistake_has_its_code) {
  Device d = open(), other = open();
  const Executable add = *d.compile(kernel(add_one)), foreign = *other.compile(kernel(add_one));
  const Buffer b = *d.allocate(16), theirs = *other.allocate(16), odd = *d.allocate(6);
  std::vector<uint8_t> bytes(32);
  EXPECT_EQ(code_of(d.submit({Fill{theirs, 0}})), Code::ForeignBuffer);
  EXPECT_EQ(code_of(d.submit({Launch{foreign, {b}, {}, true}})), Code::ForeignBuffer);
  EXPECT_EQ(code_of(d.submit({Upload{b, in(bytes)}})), Code::RangeOutside);
  EXPECT_EQ(code_of(d.submit({Readback{b, out(bytes)}})), Code::RangeOutside);
  EXPECT_EQ(code_of(d.submit({Copy{b, b, 8, 12, 0}})), Code::RangeOutside);
  EXPECT_EQ(code_of(d.submit({Fill{b, 0, 20, 1}})), Code::RangeOutside);
  EXPECT_EQ(code_of(d.submit({Launch{add, {}, {}, true}})), Code::WrongArgument);
  EXPECT_EQ(code_of(d.submit({Launch{add, {scalar(1u)}, {}, true}})), Code::WrongArgument);
  EXPECT_EQ(code_of(d.submit({Launch{add, {odd}, {}, true}})), Code::WrongArgument);
  const Executable two = *d.compile(
      kernel("kernel two(x: in u32[], y: out u32[4]) workgroup(4) grid(4) { y[0] = x[0] }"));
  EXPECT_EQ(code_of(d.submit({Launch{two, {b, b}, {}, true}})), Code::OverlappingArguments);
  const Buffer small = *d.allocate(8);
  EXPECT_FALSE(
      d.submit({Launch{two, {b, small}, {}, true}}));  // the length differs from its formula
  SubmitOptions limited;
  limited.output_limit = 8;
  bytes.resize(16);
  EXPECT_EQ(code_of(d.submit({Readback{b, out(bytes)}}, limited)), Code::ReadbackLimit);
  ASSERT_TRUE(d.free(b));
  EXPECT_EQ(code_of(d.free(b)), Code::StaleBuffer);
  EXPECT_EQ(code_of(d.submit({Fill{b, 0}})), Code::StaleBuffer);
  const Buffer again = *d.allocate(16);  // the slot is used again, the old handle stays stale
  EXPECT_EQ(again.slot, b.slot);
  EXPECT_EQ(code_of(d.submit({Fill{b, 0}})), Code::StaleBuffer);
}

TEST(device, reports_all_mistakes_of_a_submission) {
  Device d = open(), other = open();
  const Buffer b = *d.allocate(4), theirs = *other.allocate(4);
  const auto r = d.submit({Fill{theirs, 0}, Fill{b, 0, 9, 1}, Fill{b, 0}});
  ASSERT_FALSE(r);
  EXPECT_EQ(r.errors().size(), 2u);
  EXPECT_NE(r.errors()[1].message.find("command 2"), std::string::npos);
}

TEST(device, refuses_kernels_and_memory_beyond_its_limits) {
  OpenOptions o;
  o.memory_limit = 1000;
  Device d = open(o);
  EXPECT_TRUE(d.allocate(900));
  const auto r = d.allocate(200);
  EXPECT_EQ(code_of(r), Code::DeviceMemoryExceeded);
  EXPECT_NE(r.errors()[0].message.find("900 of 1000"), std::string::npos) << r.errors()[0].message;
  EXPECT_EQ(code_of(d.allocate(1ull << 60)), Code::DeviceMemoryExceeded);
  const Executable scratchy =
      *d.compile(kernel("kernel k(y: out u32[1], t: scratch u32[1000]) workgroup(1) grid(1) { t[0] "
                        "= 1\n y[0] = t[0] }"));
  const Buffer y = *d.allocate(4);
  EXPECT_EQ(code_of(d.submit({Launch{scratchy, {y}, {}, true}})), Code::DeviceMemoryExceeded);
  EXPECT_EQ(d.memory_used(), 904u);  // nothing is lost
  Program large = kernel(add_one);
  large.workgroup = {4096, 1, 1};
  CompileOptions checked;  // check() has its own limits
  checked.checked = true;
  EXPECT_EQ(code_of(d.compile(large, checked)), Code::KernelTooLarge);
  Program odd = kernel(add_one);
  odd.subgroup = 48;
  EXPECT_EQ(code_of(d.compile(odd, checked)), Code::KernelTooLarge);
}

/// One error with this code, these words in its message, and a fix.
template <class T>
void expect_error(const Result<T>& r, Code code, std::string_view words) {
  ASSERT_FALSE(r) << words;
  EXPECT_EQ(r.errors()[0].code, code) << r.errors()[0].message;
  EXPECT_NE(r.errors()[0].message.find(words), std::string::npos) << r.errors()[0].message;
  EXPECT_FALSE(r.errors()[0].fix.empty()) << r.errors()[0].message;
}

TEST(device, says_with_numbers_what_it_has_too_little_of) {
  Failing backend;
  backend.changed.name = "a small device";
  backend.changed.limits.workgroup_invocations = 128;
  backend.changed.limits.shared_bytes = 1024;
  backend.changed.limits.buffer_bytes = 4096;
  backend.changed.limits.memory_bytes = 10'000;
  Device d = *Device::open(backend, 0);
  expect_error(
      d.compile(kernel("kernel k(y: out u32[1]) workgroup(16, 16) grid(1, 1) { y[0] = 1 }")),
      Code::KernelTooLarge, "workgroups of 256 invocations; a small device allows 128");
  expect_error(d.compile(kernel("kernel k(y: out u32[1]) workgroup(8) grid(8) { shared s: "
                                "u32[300]\n s[local_id.x] = 1\n y[0] = s[0] }")),
               Code::KernelTooLarge, "1200 bytes of shared memory; a small device has 1024");
  expect_error(d.allocate(5000), Code::DeviceMemoryExceeded,
               "a buffer of 5000 bytes; a small device allows 4096 in one buffer");
  const Buffer a = *d.allocate(4096), b = *d.allocate(4096);
  expect_error(d.allocate(4000), Code::DeviceMemoryExceeded,
               "needs 4000 bytes; 8192 of 10000 are in use on a small device");
  const Executable scratchy =
      *d.compile(kernel("kernel k(y: inout u32[], t: scratch u32[1100]) workgroup(64) grid(1) { "
                        "t[0] = 1\n y[0] = t[0] }"));
  expect_error(d.submit({Launch{scratchy, {a}}}), Code::DeviceMemoryExceeded,
               "`t` of `k` has 4400 bytes; a small device allows 4096");
  const Executable fixed =
      *d.compile(kernel("kernel k(y: inout u32[10]) workgroup(64) grid(1) { y[0] = 1 }"));
  expect_error(d.submit({Launch{fixed, {a}}}), Code::LengthDiffers, "1024");
  // And it still works.
  U back(1024, 5);
  ASSERT_TRUE(d.submit({Fill{b, 1}, Readback{b, out(back)}})->wait());
  EXPECT_EQ(back, U(1024, 0x01010101));
  ASSERT_TRUE(d.free(a));
  ASSERT_TRUE(d.free(b));
  EXPECT_EQ(backend.memory, 0);
}

TEST(device, a_submission_behind_a_failed_one_does_not_use_what_it_left) {
  Device d = open();
  const Executable e = *d.compile(kernel(trap_at)), add = *d.compile(kernel(add_one));
  const Buffer b = *d.allocate(400), c = *d.allocate(400);
  U back(100, 77);
  const Ticket trapped = *d.submit({Launch{e, {scalar(3u), b}}});
  const Ticket uses = *d.submit({Launch{add, {b}}});
  const Ticket copies = *d.submit({Copy{c, b, 400}, Readback{c, out(back)}});
  const Ticket other = *d.submit({Fill{c, 2}});
  expect_error(copies.wait(), Code::UndefinedBuffer,
               "command 1: the buffer of 400 bytes is undefined");
  EXPECT_EQ(code_of(uses.wait()), Code::UndefinedBuffer);
  EXPECT_EQ(code_of(trapped.wait()), Code::Trapped);
  EXPECT_EQ(back, U(100, 77));
  EXPECT_TRUE(other.wait());
  EXPECT_TRUE(d.is_undefined(b));
  EXPECT_FALSE(d.is_undefined(c)) << "written as a whole since";
}

TEST(device, a_buffer_in_use_is_not_freed) {
  Device d = open();
  const Executable spin = *d.compile(
      kernel("kernel spin(y: out u32[1]) workgroup(1) grid(1) { while true { y[0] += 1 } }"));
  const Buffer b = *d.allocate(4);
  SubmitOptions o;
  o.time_limit = 0.2;
  const Ticket t = *d.submit({Launch{spin, {b}, {}, true}}, o);
  EXPECT_EQ(code_of(d.free(b)), Code::BufferInUse);
  EXPECT_FALSE(t.wait());
  EXPECT_TRUE(d.free(b));
}

TEST(device, streams_wait_for_each_other_at_shared_buffers) {
  Device d = open();
  const Executable add = *d.compile(kernel(add_one));
  std::vector<uint32_t> data(4096, 0);
  const Buffer b = *d.allocate(data.size() * 4);
  for (uint32_t i = 0; i < 60; ++i) {
    SubmitOptions o;
    o.stream = i % 5;
    ASSERT_TRUE(d.submit({Launch{add, {b}, {}, true}}, o));
  }
  SubmitOptions o;
  o.stream = 9;
  ASSERT_TRUE(d.submit({Readback{b, out(data)}}, o)->wait());
  EXPECT_EQ(data, std::vector<uint32_t>(4096, 60));
}

TEST(device, many_threads_share_a_device) {
  Device d = open();
  const Executable add = *d.compile(kernel(add_one));
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (uint32_t k = 0; k < 6; ++k)
    threads.emplace_back([&, k] {
      for (int i = 0; i < 30; ++i) {
        std::vector<uint32_t> data(100, k);
        const Result<Buffer> b = d.allocate(400);
        SubmitOptions o;
        o.stream = k % 3;
        const auto t = d.submit(
            {Upload{*b, in(data)}, Launch{add, {*b}, {}, true}, Readback{*b, out(data)}}, o);
        if (!t || !t->wait() || data != std::vector<uint32_t>(100, k + 1) || !d.free(*b)) ++wrong;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(d.memory_used(), 0u);
}

TEST(device, tickets_may_be_dropped_and_outlive_their_device) {
  Ticket t;
  std::vector<uint32_t> data(8, 3);
  {
    Device d = open();
    const Buffer b = *d.allocate(32);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(d.submit({Fill{b, 1}}));
    t = *d.submit({Readback{b, out(data)}});
  }
  ASSERT_TRUE(t.wait());
  EXPECT_EQ(data[7], 0x01010101u);
}

TEST(device, telemetry_sees_every_launch_that_is_timed) {
  std::vector<LaunchSample> samples;
  OpenOptions o;
  o.telemetry = [&](const LaunchSample& s) { samples.push_back(s); };
  Device d = open(o);
  const Executable add = *d.compile(kernel(add_one));
  const Buffer b = *d.allocate(4000);
  ASSERT_TRUE(d.submit({Launch{add, {b}, {}, true}, Launch{add, {b}, {}, true}})->wait());
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[0].op_id, "test.add");
  EXPECT_EQ(samples[0].device, "interp: reference interpreter, one core");
  EXPECT_EQ(samples[0].bytes, 4000u);
  EXPECT_GT(samples[0].device_ns, 0u);

  SubmitOptions untimed;
  untimed.call_times = false;
  const auto report = d.submit({Launch{add, {b}}, Launch{add, {b}}}, untimed)->wait();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->launches, 2u);
  EXPECT_GT(report->run_ns, 0u);
  EXPECT_EQ(samples.size(), 2u) << "whose time it was is not known";
}

TEST(registry, names_indices_and_auto) {
  const auto a = choose("auto");
  ASSERT_TRUE(a);
  EXPECT_FALSE(a->why.empty());
  EXPECT_TRUE(choose("interp"));
  EXPECT_TRUE(choose("interp:0"));
  EXPECT_EQ(code_of(choose("interp:1")), Code::DeviceIndex);
  EXPECT_EQ(code_of(choose("interpp")), Code::UnknownDevice);
  EXPECT_EQ(code_of(choose("interp:no such name")), Code::UnknownDevice);
  EXPECT_EQ(code_of(choose("interp:")), Code::UnknownDevice);
  EXPECT_TRUE(choose("interp:Reference"));  // a part of the name
  const auto cuda = choose("cuda");
  if (!cuda) {
    EXPECT_EQ(cuda.errors()[0].code, Code::DeviceNotHere);
    EXPECT_GE(cuda.errors()[0].notes.size(), 4u);
  }
}

TEST(run, does_a_whole_kernel_and_gives_the_memory_back) {
  Device d = open();
  const Program p = kernel(
      "kernel k(a: u32, x: in u32[], y: out u32[len(x)], t: scratch u32[4]) workgroup(64) "
      "grid(len(x)) { t[0] = a\n y[global_id.x] = x[global_id.x] * a }");
  std::vector<uint32_t> x = {1, 2, 3}, a = {10};
  LaunchInputs inputs;
  inputs.data = {bytes(a), bytes(x), std::nullopt, std::nullopt};
  RunOptions o;
  o.repeat = 3;
  const Result<RunOutcome> r = run(d, p, inputs, o);
  ASSERT_TRUE(r) << render(r.errors(), {});
  EXPECT_EQ(r->buffers[2], bytes(U{10, 20, 30}));
  EXPECT_EQ(r->device_ns.size(), 3u);
  EXPECT_EQ(r->uploaded, 12u);
  EXPECT_EQ(d.memory_used(), 0u);
}

TEST(device, a_kernel_that_requires_forward_progress_needs_a_device_that_promises_it) {
  Program p = kernel(add_one);
  p.requires_forward_progress = true;
  EXPECT_TRUE(open().compile(p));
  Failing backend;
  backend.allowed = 1000;
  EXPECT_EQ(code_of(Device::open(backend, 0)->compile(p)), Code::NeedsForwardProgress);
}

TEST(device, survives_a_failure_at_every_point) {
  const Program p = kernel(
      "kernel k(x: in u32[], y: out u32[len(x)], t: scratch u32[4], s: scratch u8[9]) "
      "workgroup(64) grid(len(x)) { t[0] = 1\n s[0] = 2\n y[global_id.x] = x[global_id.x] }");
  LaunchInputs inputs;
  inputs.data = {std::vector<std::byte>(12), std::nullopt, std::nullopt, std::nullopt};
  int failed = 0;
  for (int n = 0;; ++n) {
    Failing backend;
    Device d = *Device::open(backend, 0);
    backend.allowed = n;
    const Result<RunOutcome> r = run(d, p, inputs);
    EXPECT_EQ(d.memory_used(), 0u) << "after failure " << n;
    EXPECT_EQ(backend.memory, 0) << "after failure " << n;
    if (r) break;
    ++failed;
    EXPECT_EQ(r.errors()[0].code, Code::OutOfMemory);
    backend.allowed = 1000;
    EXPECT_TRUE(run(d, p, inputs)) << "unusable after failure " << n;
  }
  EXPECT_GE(failed, 7);  // compile, two buffers, upload, two scratch buffers, launch, readback
}

TEST(device, a_time_limit_ends_a_submission_that_only_fills) {
  Device d = open();
  const Buffer b = *d.allocate(64);
  SubmitOptions o;
  o.time_limit = 1e-9;
  EXPECT_EQ(code_of(d.submit({Fill{b, 1}}, o)->wait()), Code::TimeLimitExceeded);
  EXPECT_TRUE(d.submit({Fill{b, 1}})->wait());
}

TEST(device, a_time_limit_below_0_or_not_a_number_is_an_error) {
  Device d = open();
  const Buffer b = *d.allocate(64);
  for (const double limit : {-1.0, -HUGE_VAL, std::nan("")}) {
    SubmitOptions o;
    o.time_limit = limit;
    EXPECT_EQ(code_of(d.submit({Fill{b, 1}}, o)), Code::BadOptionValue) << limit;
  }
}

}  // namespace
}  // namespace vyre::driver
