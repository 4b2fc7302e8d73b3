// labels: threads
// Programs with grid barriers on a device without them: split programs give the same results.

#include <fmt/format.h>

#include <chrono>
#include <numeric>

#include "generate/generate.h"
#include "plan/split/split_grid.h"
#include "tests/plan/split/split_control_util.h"
#include "tests/runtime/driver_util.h"
#include "text/print.h"

namespace vyre::driver {
namespace {

U counting(uint32_t n, uint32_t first = 0) {
  U v(n);
  std::iota(v.begin(), v.end(), first);
  return v;
}

/// Inputs for the parameters in order; outputs have none.
LaunchInputs inputs(const Program& p, const std::vector<U>& values) {
  LaunchInputs i;
  i.data.resize(p.buffers.size());
  size_t next = 0;
  for (size_t b = 0; b < p.buffers.size(); ++b)
    if (is_host_input(p.buffers[b].role)) i.data[b] = bytes(values.at(next++));
  return i;
}

/// An error without the segment that it names.
std::string without_segment(std::string message) {
  return message.starts_with("segment ") ? message.substr(message.find(": ") + 2) : message;
}

/// On the device as by the interpreter, bytes or failure.
void same(Device& d, const Program& p, const LaunchInputs& in, const std::string& what) {
  const Result<interp::Outcome> whole = interp::run(p, in);
  const Result<RunOutcome> split = run(d, p, in);
  ASSERT_EQ(bool(whole), bool(split))
      << what << render(whole ? split.errors() : whole.errors(), {});
  if (whole) {
    EXPECT_EQ(whole->buffers, split->buffers) << what;
  } else {
    EXPECT_EQ(whole.errors()[0].code, split.errors()[0].code) << what;
    EXPECT_EQ(whole.errors()[0].message, without_segment(split.errors()[0].message)) << what;
    EXPECT_EQ(whole.errors()[0].place.line, split.errors()[0].place.line) << what;
    EXPECT_EQ(whole.errors()[0].fix, split.errors()[0].fix) << what;
    EXPECT_EQ(whole.errors()[0].op, split.errors()[0].op) << what;
  }
  EXPECT_EQ(d.memory_used(), 0u) << what;
}

struct Case {
  const char* name;
  const char* source;
  std::vector<U> values;
  size_t segments;
  uint64_t launches;
};

const Case cases[] = {
    {"output written in two segments and read between",
     "kernel k(y: out u32[64]) workgroup(8) grid(32) {\n let i = global_id.x\n y[i] = i * 3\n "
     "barrier grid\n y[32 + i] = y[31 - i] + 1 }",
     {},
     2,
     2},
    {"a value from a load whose memory then changes",
     "kernel k(x: inout u32[], y: out u32[len(x)]) workgroup(8) grid(len(x)) {\n let i = "
     "global_id.x\n let before = x[i]\n barrier grid\n x[i] = 1000 + x[i]\n y[i] = before }",
     {counting(24, 5)},
     2,
     2},
    {"a value from an atomic, counted once",
     "kernel k(n: out u32[1], seen: out u32[40], y: out u32[40]) workgroup(8) grid(40) {\n let "
     "ticket = atomic_add(n[0], 1)\n barrier grid\n seen[ticket] = 1\n y[global_id.x] = n[0] }",
     {},
     2,
     2},
    {"a variable assigned in a loop before",
     "kernel k(x: in u32[], y: out u32[len(x)]) workgroup(8) grid(len(x)) {\n let i = "
     "global_id.x\n var sum: u32 = 0\n for j in 0..i % 5 { sum = sum + x[j] * (i + 1) }\n barrier "
     "grid\n y[i] = sum + i }",
     {counting(40, 9)},
     2,
     2},
    {"shared memory across",
     "kernel k(x: inout u32[], sums: out u32[ceil_div(len(x), 8)]) workgroup(8) grid(len(x)) {\n "
     "shared tile: u32[8]\n let i = global_id.x\n let v = x[len(x) - 1 - i]\n tile[local_id.x] = "
     "v\n barrier grid\n x[i] = v\n if local_id.x == 0 { sums[workgroup_id.x] = tile[0] + tile[7] "
     "} }",
     {counting(32)},
     2,
     2},
    {"leading, doubled and trailing barriers",
     "kernel k(y: out u32[16]) workgroup(8) grid(16) {\n barrier grid\n barrier grid\n "
     "y[global_id.x] = 1\n barrier grid\n barrier grid\n y[global_id.x] += y[15 - global_id.x] * 0 "
     "+ 2\n barrier grid }",
     {},
     2,
     2},
    {"a grid larger than any device holds at once",
     "kernel k(y: inout u32[]) workgroup(64) grid(len(y)) {\n let i = global_id.x\n let v = "
     "y[len(y) - 1 - i]\n barrier grid\n y[i] = v }",
     {counting(100'000)},
     2,
     2},
    {"nothing but barriers",
     "kernel k(y: out u32[16]) workgroup(8) grid(16) {\n barrier grid\n barrier grid }",
     {},
     0,
     0},
    {"in nested regions",
     "kernel k(x: inout u32[]) workgroup(8) grid(len(x)) {\n let i = global_id.x\n region \"a\" { "
     "region \"b\" {\n let v = x[(i + 1) % len(x)]\n barrier grid\n x[i] = v } } }",
     {counting(32)},
     2,
     2},
    {"in a uniform if that the host decides",
     "kernel k(n: u32, x: inout u32[]) workgroup(8) grid(len(x)) {\n let i = global_id.x\n if n > "
     "3 {\n let v = x[(i + 1) % len(x)]\n barrier grid\n x[i] = v } else { x[i] = 7 } }",
     {{4}, counting(32)},
     2,
     2},
    {"in a uniform if that depends on memory",
     "kernel k(f: in u32[], x: inout u32[]) workgroup(8) grid(len(x)) {\n let i = global_id.x\n if "
     "f[0] > 3 {\n let v = x[(i + 1) % len(x)]\n barrier grid\n x[i] = v } }",
     {{4}, counting(32)},
     2,
     2},
    {"in a loop that the host counts",
     "kernel relax(n: u32, x: inout u32[], t: scratch u32[len(x)]) workgroup(8) grid(len(x)) {\n "
     "let i = global_id.x\n for round in 0..n {\n t[i] = x[i] + x[(i + 1) % len(x)]\n barrier "
     "grid\n x[i] = t[i]\n barrier grid } }",
     {{9}, counting(40)},
     2,
     18},
    {"in a loop of more launches than one part has",
     "kernel relax(n: u32, x: inout u32[], t: scratch u32[len(x)]) workgroup(8) grid(len(x)) {\n "
     "let i = global_id.x\n for round in 0..n {\n t[i] = x[i] + x[(i + 1) % len(x)]\n barrier "
     "grid\n x[i] = t[i]\n barrier grid } }",
     {{2500}, counting(16)},
     2,
     5000},
    {"in a loop that the device counts",
     "kernel settle(changed: inout u32[1], x: inout u32[], t: scratch u32[len(x)]) workgroup(8) "
     "grid(len(x)) {\n let i = global_id.x\n while uniform_load(changed[0], grid) != 0 {\n t[i] = "
     "max(x[i], x[(i + 1) % len(x)])\n if i == 0 { changed[0] = 0 }\n barrier grid\n if t[i] != "
     "x[i] { atomic_store(changed[0], 1) }\n x[i] = t[i] } }",
     {{1}, counting(40)},
     4,
     1 + 3 * 63},
    {"an empty grid",
     "kernel k(x: in u32[], y: out u32[4], z: out u32[len(x)]) workgroup(8) grid(len(x)) {\n y[0] "
     "= 1\n barrier grid\n y[1] = 2\n z[0] = y[0] }",
     {{}},
     2,
     0},
    {"a trap in the second segment",
     "kernel k(y: out u32[64]) workgroup(8) grid(64) {\n y[global_id.x] = 1\n barrier grid\n "
     "y[global_id.x] += 1\n assert(global_id.x < 20, 9)\n y[global_id.x] = 3 }",
     {},
     2,
     2},
    {"a trap in a loop of the device",
     "kernel k(f: inout u32[1], y: out u32[64]) workgroup(8) grid(64) {\n while uniform_load(f[0], "
     "grid) < 50 {\n barrier grid\n if global_id.x == 0 { f[0] += 1 }\n assert(f[0] < 30, 5)\n "
     "barrier grid }\n y[global_id.x] = 3 }",
     {{0}},
     5,
     0},
};

TEST(Split, every_case_gives_what_the_whole_program_gives) {
  Device d = open_split();
  for (const Case& c : cases) {
    const Program p = kernel(c.source);
    const LaunchInputs i = inputs(p, c.values);
    const Result<Executable> e = d.compile(p);
    ASSERT_TRUE(e) << c.name << render(e.errors(), {});
    EXPECT_EQ(e->segments(), c.segments) << c.name << plan::print(*e->plan());
    same(d, p, i, c.name);
  }
}

TEST(Split, counts_the_launches_and_submits_what_the_host_can_count_at_once) {
  Failing backend;
  backend.changed.limits.native_grid_barrier = false;
  Device d = *Device::open(backend, 0);
  for (const Case& c : cases) {
    if (c.launches == 0 || c.launches > 1000 || std::string_view(c.name).starts_with("a trap"))
      continue;
    const Program p = kernel(c.source);
    const Executable e = *d.compile(p);
    const LaunchInputs given = inputs(p, c.values);
    const LaunchShape shape = *resolve_launch(p, given);
    std::vector<Argument> arguments;
    std::vector<Buffer> made;
    for (size_t i = 0; i < p.buffers.size(); ++i) {
      const auto& b = p.buffers[i];
      if (!is_parameter(b.role) || b.role == Role::Scratch) continue;
      if (b.role == Role::Scalar) {
        arguments.push_back(scalar(std::to_integer<uint32_t>((*given.data[i])[0])));
        continue;
      }
      made.push_back(*d.allocate(shape.counts[i] * size_of(b.element)));
      if (given.data[i]) {
        ASSERT_TRUE(d.submit({Upload{made.back(), *given.data[i]}})->wait());
      }
      arguments.push_back(made.back());
    }
    const int before = backend.submissions;
    const Result<Ticket> t = d.submit({Launch{e, arguments, {}, true}});
    ASSERT_TRUE(t) << c.name << render(t.errors(), {});
    const Result<SubmitReport> r = t->wait();
    ASSERT_TRUE(r) << c.name << render(r.errors(), {});
    EXPECT_EQ(r->launches, c.launches) << c.name;
    EXPECT_GT(r->run_ns, 0u);
    const bool polls = std::string_view(c.name).find("device counts") != std::string_view::npos;
    EXPECT_EQ(backend.submissions - before, polls ? 7 : 1) << c.name;
    for (const Buffer& b : made) ASSERT_TRUE(d.free(b));
  }
  EXPECT_EQ(backend.memory, 0);
}

const char* settle =
    "kernel settle(changed: inout u32[1], x: inout u32[], t: scratch u32[len(x)]) workgroup(8) "
    "grid(len(x)) {\n"
    " let i = global_id.x\n while uniform_load(changed[0], grid) != 0 {\n t[i] = max(x[i], x[(i + "
    "1) % len(x)])\n"
    " if i == 0 { changed[0] = 0 }\n barrier grid\n if t[i] != x[i] { atomic_store(changed[0], 1) "
    "}\n x[i] = t[i] } }";
const char* add_one =
    "kernel add_one(y: inout u32[]) workgroup(64) grid(len(y)) { y[global_id.x] += 1 }";

TEST(Split, later_submissions_wait_for_a_loop_of_the_device) {
  Device d = open_split();
  const Executable loop = *d.compile(kernel(settle)), add = *d.compile(kernel(add_one));
  const U start = counting(200);
  const Buffer flag = *d.allocate(4), x = *d.allocate(800), copy = *d.allocate(800);
  U same_stream(200), other_stream(200), copied(200);
  SubmitOptions other;
  other.stream = 1;
  ASSERT_TRUE(d.submit({Upload{flag, in(U{1})}, Upload{x, in(start)}}));
  const Ticket first = *d.submit({Launch{loop, {flag, x}, {}, true}});
  const Ticket a = *d.submit({Launch{add, {x}, {}, true}, Readback{x, out(same_stream)}});
  const Ticket b = *d.submit({Copy{copy, x, 800}, Launch{add, {copy}, {}, true}}, other);
  const Ticket c = *d.submit(
      {Launch{add, {x}, {}, true}, Readback{x, out(other_stream)}, Readback{copy, out(copied)}});
  EXPECT_EQ(code_of(d.free(x)), Code::BufferInUse);
  ASSERT_TRUE(c.wait());
  ASSERT_TRUE(a.wait());
  ASSERT_TRUE(b.wait());
  EXPECT_TRUE(first.is_done());
  EXPECT_EQ(first.progress(), 1.0);
  EXPECT_EQ(same_stream, U(200, 200));
  EXPECT_EQ(copied, U(200, 201));
  EXPECT_EQ(other_stream, U(200, 201));
  for (const Buffer& f : {flag, x, copy}) ASSERT_TRUE(d.free(f));
  EXPECT_EQ(d.memory_used(), 0u);
}

TEST(Split, two_launches_at_once_and_the_same_kernel_twice_in_one_submission) {
  Device d = open_split();
  const Executable loop = *d.compile(kernel(settle));
  const U start = counting(100);
  std::vector<Buffer> flags, xs;
  std::vector<Ticket> tickets;
  std::vector<U> back(4, U(100));
  for (uint32_t k = 0; k < 4; ++k) {
    flags.push_back(*d.allocate(8));
    xs.push_back(*d.allocate(400));
  }
  for (uint32_t k = 0; k < 4; ++k) {
    SubmitOptions o;
    o.stream = k / 2;
    const Buffer one = *d.allocate(4);
    tickets.push_back(*d.submit(
        {Upload{one, in(U{1})}, Upload{xs[k], in(start)}, Launch{loop, {one, xs[k]}, {}, true},
         Fill{one, 1}, Upload{xs[k], in(counting(100, k))}, Launch{loop, {one, xs[k]}, {}, true},
         Readback{xs[k], out(back[k])}},
        o));
  }
  for (uint32_t k = 0; k < 4; ++k) {
    const Result<SubmitReport> r = tickets[k].wait();
    ASSERT_TRUE(r) << render(r.errors(), {});
    EXPECT_EQ(back[k], U(100, 99 + k));
    EXPECT_EQ(r->read_back, 400u);
  }
}

TEST(Split, a_failure_in_a_loop_of_the_device_names_its_segment_and_spoils_what_follows) {
  Device d = open_split();
  const Executable trap = *d.compile(kernel(cases[16].source)), add = *d.compile(kernel(add_one));
  const Buffer f = *d.allocate(4), y = *d.allocate(256), other = *d.allocate(256);
  U back(64, 77);
  const Ticket t = *d.submit({Launch{trap, {f, y}, {}, true}, Readback{y, out(back)}});
  const Ticket reads_it = *d.submit({Launch{add, {y}, {}, true}, Readback{y, out(back)}});
  const Ticket writes_it = *d.submit({Fill{y, 1}, Launch{add, {other}, {}, true}});
  EXPECT_EQ(message_of(t.wait()).substr(0, 15), "segment 3 of 5:") << message_of(t.wait());
  EXPECT_EQ(code_of(t.wait()), Code::Trapped);
  EXPECT_EQ(code_of(reads_it.wait()), Code::UndefinedBuffer);
  EXPECT_EQ(back, U(64, 77));
  EXPECT_TRUE(writes_it.wait());
  EXPECT_FALSE(d.is_undefined(y));  // it was written as a whole since
  EXPECT_TRUE(d.is_undefined(f));
  ASSERT_TRUE(d.submit({Readback{y, out(back)}})->wait());
  EXPECT_EQ(back[63], 0x01010101u);
}

TEST(Split, the_time_limit_is_for_the_whole) {
  Device d = open_split();
  const struct {
    const char* what;
    const char* source;
  } endless[] = {
      {"a loop of the device",
       "kernel k(f: inout u32[1]) workgroup(8) grid(8) {\n while uniform_load(f[0], grid) == 0 {\n "
       "barrier grid\n f[0] = 0 } }"},
      {"a loop that the host counts and that launches",
       "kernel k(f: inout u32[1]) workgroup(8) grid(8) {\n for i in 0..4000000000 {\n f[0] = 0\n "
       "barrier grid\n f[0] = 1\n barrier grid } }"},
      {"a loop that the host counts and that launches nothing",
       "kernel k(n: u32, f: inout u32[1]) workgroup(8) grid(8) {\n for i in 0..4000000000 {\n if n "
       "== 7 {\n f[0] = 1\n barrier grid } } }"},
  };
  for (const auto& e : endless) {
    const Program p = kernel(e.source);
    const Executable executable = *d.compile(p);
    const Buffer f = *d.allocate(4);
    SubmitOptions o;
    o.time_limit = 0.15;
    std::vector<Argument> arguments = {f};
    if (p.buffers.size() == 2) arguments = {scalar(1u), f};
    const auto begin = std::chrono::steady_clock::now();
    const Result<Ticket> t = d.submit({Launch{executable, arguments, {}, true}}, o);
    ASSERT_TRUE(t);
    const Result<SubmitReport> r = t->wait();
    const auto took = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(code_of(r), Code::TimeLimitExceeded) << e.what;
    EXPECT_NE(message_of(r).find("after 0.15 seconds"), std::string::npos) << message_of(r);
    EXPECT_LT(took, std::chrono::seconds(30)) << e.what;
    EXPECT_TRUE(d.is_undefined(f));
    EXPECT_TRUE(d.submit({Fill{f, 0}})->wait());
    EXPECT_TRUE(d.free(f));
  }
  EXPECT_EQ(d.memory_used(), 0u);
}

TEST(Split, survives_a_failure_at_every_point) {
  const Program p = kernel(settle);
  const LaunchInputs i = inputs(p, {{1}, counting(40)});
  int failed = 0;
  for (int n = 0;; ++n) {
    ASSERT_LT(n, 100);
    Failing backend;
    backend.changed.limits.native_grid_barrier = false;
    Device d = *Device::open(backend, 0);
    backend.allowed = n;
    const Result<RunOutcome> r = run(d, p, i);
    EXPECT_EQ(d.memory_used(), 0u) << "after failure " << n;
    EXPECT_EQ(backend.memory, 0) << "after failure " << n;
    if (r) break;
    ++failed;
    EXPECT_EQ(r.errors()[0].code, Code::OutOfMemory);
    backend.allowed = 1000;
    EXPECT_TRUE(run(d, p, i)) << "unusable after failure " << n;
  }
  // Four segments, two buffers, upload, scratch and two hidden buffers, seven parts, readback.
  EXPECT_EQ(failed, 4 + 2 + 1 + 3 + 7 + 1);
}

TEST(Split, what_must_be_kept_counts_against_the_devices_memory) {
  OpenOptions o;
  o.split_grid_barriers = true;
  o.memory_limit = 1000;
  Device d = open(o);
  const Executable e =
      *d.compile(kernel("kernel k(x: inout u32[]) workgroup(8) grid(len(x)) { let v = "
                        "x[global_id.x]\n barrier grid\n x[global_id.x] = v + x[0] }"));
  const Buffer x = *d.allocate(800);
  const auto r = d.submit({Launch{e, {x}, {}, true}});
  EXPECT_EQ(code_of(r), Code::DeviceMemoryExceeded);
  EXPECT_NE(message_of(r).find("what `k` keeps at its grid barriers needs 800 bytes"),
            std::string::npos)
      << message_of(r);
  EXPECT_EQ(d.memory_used(), 800u);
}

TEST(Split, a_device_may_close_in_the_middle_of_a_loop) {
  Device d = open_split();
  const Executable loop =
      *d.compile(kernel("kernel k(f: inout u32[1]) workgroup(8) grid(8) {\n while "
                        "uniform_load(f[0], grid) == 0 {\n barrier grid\n f[0] = 0 } }"));
  const Buffer f = *d.allocate(4);
  ASSERT_TRUE(d.submit({Launch{loop, {f}, {}, true}}));
  ASSERT_TRUE(d.submit({Fill{f, 1}}));
  SubmitOptions other;
  other.stream = 3;
  ASSERT_TRUE(d.submit({Fill{f, 2}}, other));
}

TEST(Split, random_programs_give_what_they_give_whole) {
  Device d = open_split();
  lab::GenerateOptions options;
  options.graphs = false;
  int found = 0;
  for (uint64_t seed = 1'000'001; found < 2000; ++seed) {
    ASSERT_LT(seed, 1'300'000u);
    const lab::Generated g = lab::generate(seed, options);
    const Program& p = g.module.kernels[0];
    if (!plan::has_grid_barrier(p)) continue;
    ++found;
    same(d, p, g.inputs, fmt::format("seed {}\n{}", seed, print(p)));
    ASSERT_FALSE(HasFailure());
  }
}

TEST(Split, random_control_around_barriers) {
  Device d = open_split();
  for (uint64_t seed = 5001; seed <= 5300; ++seed) {
    const std::string text = plan::random_control(seed);
    const Program p = kernel(text);
    U x(40);
    for (uint32_t i = 0; i < x.size(); ++i) x[i] = uint32_t((seed * 7919 + i * 104729) % 6);
    same(d, p, inputs(p, {x, {uint32_t(seed % 5)}}), fmt::format("seed {}\n{}", seed, text));
    ASSERT_FALSE(HasFailure());
  }
}

}  // namespace
}  // namespace vyre::driver
