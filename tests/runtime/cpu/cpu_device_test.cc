// labels: threads
// The CPU backend as a device: kernels that trap, never end, are kept and loaded again; its
// options; many threads at once. Other tests compare the results of operations with the
// interpreter.

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <thread>

#include "codegen/llvm/llvm_emit.h"
#include "runtime/cpu/cpu_backend.h"
#include "runtime/cpu/cpu_launch.h"
#include "runtime/device.h"
#include "runtime/registry.h"
#include "tests/runtime/driver_util.h"

namespace vyre::driver {
namespace {

using namespace std::chrono_literals;

const char* const add_one =
    "kernel add_one(y: inout u32[]) workgroup(64) grid(len(y)) { y[global_id.x] += 1 }";
const char* const trap_from =
    "kernel trap_from(n: u32, y: inout u32[]) workgroup(64) grid(len(y)) {\n"
    "  assert(global_id.x < n, 9)\n"
    "  y[global_id.x] = 7\n"
    "}\n";
const char* const endless =
    "kernel endless(y: inout u32[]) workgroup(64) grid(len(y)) {\n"
    "  var a: u32 = y[global_id.x]\n"
    "  while true { a = a * 3 + 1\n if a == 0 && y[0] == 12345 { break } }\n"
    "  y[global_id.x] = a\n"
    "}\n";

Device open_on(Backend& backend) {
  OpenOptions options;
  options.use_cache = false;
  Result<Device> d = Device::open(backend, 0, options);
  EXPECT_TRUE(d) << render(d.errors(), {});
  return *d;
}
Device open_cpu() { return open_on(*cpu_backend()); }
Device open_interp() { return open_on(*choose("interp")->backend); }

/// An environment variable while it lives.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Setting() { unsetenv(name_); }

 private:
  const char* name_;
};

/// y after `times` launches of add_one on `n` zeros.
std::vector<uint32_t> counted(Device& d, size_t n, int times, const CompileOptions& options = {}) {
  const Result<Executable> add = d.compile(kernel(add_one), options);
  EXPECT_TRUE(add) << render(add.errors(), {});
  std::vector<uint32_t> data(n, 0);
  const Buffer b = *d.allocate(n * 4);
  EXPECT_TRUE(d.submit({Upload{b, in(data)}}));
  for (int i = 0; i < times; ++i) EXPECT_TRUE(d.submit({Launch{*add, {b}, {}, true}}));
  const Result<SubmitReport> r = d.submit({Readback{b, out(data)}})->wait();
  EXPECT_TRUE(r) << render(r.errors(), {});
  EXPECT_TRUE(d.free(b));
  return data;
}

/// A launch over w · h elements that held 9s before; `filled` says whether the driver cleared them.
std::vector<uint32_t> run_2d(const std::string& body, uint32_t w, uint32_t h, bool& filled) {
  Device d = open_cpu();
  const Result<Executable> e = d.compile(
      kernel("kernel k(w: u32, h: u32, y: out u32[w * h]) workgroup(16, 8) grid(w, h) {\n" + body +
             "\n}\n"));
  EXPECT_TRUE(e) << render(e.errors(), {});
  std::vector<uint32_t> y(size_t{w} * h);
  const Buffer b = *d.allocate(y.size() * 4);
  EXPECT_TRUE(d.submit({Fill{b, 9}}));
  const Result<SubmitReport> r =
      d.submit({Launch{*e, {scalar(w), scalar(h), b}, {}, true}})->wait();
  EXPECT_TRUE(r) << render(r.errors(), {});
  filled = r && r->fill_ns > 0;
  EXPECT_TRUE(d.submit({Readback{b, out(y)}})->wait());
  return y;
}

TEST(cpu_device, clears_outputs_only_if_the_launch_may_leave_an_element_out) {
  bool filled = true;
  const uint32_t w = 500, h = 301;
  std::vector<uint32_t> expected(size_t{w} * h);
  std::iota(expected.begin(), expected.end(), 1u);
  const std::string ids = "let c = global_id.x\nlet r = global_id.y\n";
  EXPECT_EQ(run_2d(ids + "if c < w && r < h { y[r * w + c] = r * w + c + 1 }", w, h, filled),
            expected);
  EXPECT_FALSE(filled);
  EXPECT_EQ(run_2d(ids + "if c >= w || r >= h { return }\nlet i = r * w + c\n"
                         "if c == 0 { y[i] = i + 1 } else { y[i] = i + 1 }",
                   w, h, filled),
            expected);
  EXPECT_FALSE(filled);
  for (uint32_t i = 0; i < expected.size(); ++i)
    if (i % w == w - 1) expected[i] = 0;
  EXPECT_EQ(run_2d(ids + "if c + 1 < w && r < h { y[r * w + c] = r * w + c + 1 }", w, h, filled),
            expected);
  EXPECT_TRUE(filled);
}

TEST(cpu_device, runs_every_invocation_once) {
  Device d = open_cpu();
  for (const size_t n : {1, 63, 64, 65, 1000, 100'000, 3'000'001})
    EXPECT_EQ(counted(d, n, 3), std::vector<uint32_t>(n, 3)) << n;
}

TEST(cpu_device, says_what_it_is) {
  std::string why;
  const std::vector<DeviceInfo> found = cpu_backend()->probe(&why);
  ASSERT_EQ(found.size(), 1u) << why;
  EXPECT_EQ(found[0].backend, "cpu");
  EXPECT_NE(found[0].target.find(emit_llvm::name(emit_llvm::host_isa())), std::string::npos);
  EXPECT_NE(found[0].driver_version.find("LLVM 19.1"), std::string::npos);
  EXPECT_FALSE(found[0].limits.native_grid_barrier);
}

TEST(cpu_device, every_instruction_set_that_the_machine_runs) {
  Device d = open_cpu();
  int ran = 0;
  for (const char* isa : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"}) {
    CompileOptions options;
    options.extra = {std::string("isa=") + isa};
    if (emit_llvm::host_runs(*emit_llvm::parse_isa(isa))) {
      EXPECT_EQ(counted(d, 1000, 1, options), std::vector<uint32_t>(1000, 1)) << isa;
      ++ran;
    } else {
      const auto refused = d.compile(kernel(add_one), options);
      ASSERT_FALSE(refused) << isa;
      EXPECT_EQ(refused.errors()[0].code, Code::BadOptionValue);
    }
  }
  EXPECT_GE(ran, 1);
}

TEST(cpu_device, one_thread_and_many) {
  for (const char* threads : {"1", "2", "7"}) {
    const Setting setting("VYRE_CPU_THREADS", threads);
    Device d = open_cpu();
    EXPECT_NE(d.info().name.find(std::string(threads) + " thread"), std::string::npos)
        << d.info().name;
    EXPECT_EQ(counted(d, 1'000'000, 2), std::vector<uint32_t>(1'000'000, 2)) << threads;
  }
  Device d = open_cpu();
  CompileOptions options;
  options.extra = {"threads=1"};
  EXPECT_EQ(counted(d, 1'000'000, 2, options), std::vector<uint32_t>(1'000'000, 2));
}

TEST(cpu_device, options_that_mean_nothing) {
  Device d = open_cpu();
  for (const char* wrong :
       {"isa=z80", "isa=", "threads=0", "threads=x", "threads=-1", "threads=99999"}) {
    CompileOptions options;
    options.extra = {wrong};
    const auto r = d.compile(kernel(add_one), options);
    ASSERT_FALSE(r) << wrong;
    EXPECT_EQ(r.errors()[0].code, Code::BadOptionValue) << wrong;
  }
  const Setting setting("VYRE_CPU_ISA", "z80");
  std::string why;
  EXPECT_TRUE(cpu_backend()->probe(&why).empty());
  EXPECT_NE(why.find("z80"), std::string::npos) << why;
  EXPECT_FALSE(Device::open(*cpu_backend(), 0));
}

/// The errors of trap_from on a device.
Diagnostics trap_errors(Device& d, uint32_t from, size_t n) {
  const Executable k = *d.compile(kernel(trap_from));
  const Buffer y = *d.allocate(n * 4);
  const auto r = d.submit({Launch{k, {scalar(from), y}, {}, true}})->wait();
  EXPECT_FALSE(r);
  EXPECT_TRUE(d.is_undefined(y));
  return r ? Diagnostics{} : r.errors();
}

TEST(cpu_device, trap_is_told_in_the_words_of_the_interpreter) {
  Device cpu = open_cpu(), interp = open_interp();
  for (const uint32_t from : {0u, 1u, 77u, 63u, 5000u}) {
    const Diagnostics ours = trap_errors(cpu, from, 100'000),
                      theirs = trap_errors(interp, from, 100'000);
    ASSERT_EQ(ours.size(), 1u);
    EXPECT_EQ(render(ours, {}), render(theirs, {}));
    EXPECT_NE(ours[0].message.find("code 9 in invocation (" + std::to_string(from) + ", 0, 0)"),
              std::string::npos)
        << ours[0].message;
  }
  EXPECT_EQ(counted(cpu, 100, 1), std::vector<uint32_t>(100, 1));  // it goes on
}

TEST(cpu_device, endless_loop_ends_at_the_deadline) {
  Device d = open_cpu();
  const Executable k = *d.compile(kernel(endless));
  for (const size_t n : {1, 1'000'000}) {
    const Buffer y = *d.allocate(n * 4);
    SubmitOptions options;
    options.time_limit = 0.3;
    const auto begin = std::chrono::steady_clock::now();
    const auto r = d.submit({Launch{k, {y}, {}, true}}, options)->wait();
    const auto took = std::chrono::steady_clock::now() - begin;
    ASSERT_FALSE(r);
    EXPECT_EQ(r.errors()[0].code, Code::TimeLimitExceeded);
    EXPECT_NE(r.errors()[0].message.find("in the loop at line 3 after 0.3 seconds"),
              std::string::npos)
        << r.errors()[0].message;
    EXPECT_GE(took, 300ms);
    EXPECT_LT(took, 30s);
    EXPECT_TRUE(d.is_undefined(y));
    EXPECT_EQ(counted(d, 1000, 2), std::vector<uint32_t>(1000, 2));  // it goes on
  }
}

TEST(cpu_device, grid_that_never_ends_ends_at_the_deadline) {
  Device d = open_cpu();
  const Executable k =
      *d.compile(kernel("kernel k(x: inout u32[]) workgroup(1) grid(1) { atomic_add(x[0], 1) }"));
  for (const uint64_t z : {1, 2, 4}) {  // 2^62, 2^63 and 2^64 workgroups
    const Buffer x = *d.allocate(4);
    Launch l{k, {x}};
    l.grid = {uint64_t{1} << 31, uint64_t{1} << 31, z};
    SubmitOptions options;
    options.time_limit = 0.1;
    const auto begin = std::chrono::steady_clock::now();
    const auto r = d.submit({l}, options)->wait();
    ASSERT_FALSE(r) << z;
    EXPECT_EQ(r.errors()[0].code, Code::TimeLimitExceeded);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
  }
}

TEST(cpu_device, deadline_that_is_not_reached_changes_nothing) {
  Device d = open_cpu();
  const Executable add = *d.compile(kernel(add_one));
  const Buffer y = *d.allocate(4000);
  SubmitOptions options;
  for (const double limit : {100.0, 50.0, 10.0, 20.0}) {
    options.time_limit = limit;
    EXPECT_TRUE(d.submit({Launch{add, {y}, {}, true}}, options)->wait());
  }
}

TEST(cpu_device, closing_stops_what_runs_and_drops_what_waits) {
  const auto begin = std::chrono::steady_clock::now();
  {
    Device d = open_cpu();
    const Executable k = *d.compile(kernel(endless));
    const Buffer y = *d.allocate(400'000);
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(d.submit({Launch{k, {y}, {}, true}}));
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

TEST(cpu_device, closing_stops_what_its_own_threads_wait_for) {
  const auto begin = std::chrono::steady_clock::now();
  {
    Device d = open_cpu();
    // Only the device knows how the loop goes on, so a thread of the stream launches and waits.
    const Executable k = *d.compile(
        kernel("kernel stuck(n: inout u32[1], y: inout u32[]) workgroup(64) grid(len(y)) {\n"
               "  while uniform_load(n[0], grid) != 0 {\n"
               "    var a: u32 = y[global_id.x]\n"
               "    while true { a = a * 3 + 1\n if a == 0 && y[0] == 12345 { break } }\n"
               "    y[global_id.x] = a\n"
               "    barrier grid\n"
               "  }\n"
               "}\n"));
    const std::vector<uint32_t> one = {1};
    const Buffer n = *d.allocate(4), y = *d.allocate(4000);
    ASSERT_TRUE(d.submit({Upload{n, in(one)}, Fill{y, 0}, Launch{k, {n, y}, {}, true}}));
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

TEST(cpu_device, memory_that_is_not_there) {
  const auto opened = cpu_backend()->open(0);
  ASSERT_TRUE(opened);
  const auto r = (*opened)->allocate(uint64_t{1} << 62);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.errors()[0].code, Code::OutOfMemory);
  const auto large = (*opened)->allocate(uint64_t{1} << 28);  // untouched, so it costs nothing
  ASSERT_TRUE(large);
  (*opened)->release(*large);
}

// ---- Kept code.

TEST(cpu_device, compiled_code_is_kept_and_loaded_again) {
  const auto opened = cpu_backend()->open(0);
  ASSERT_TRUE(opened);
  BackendDevice& d = **opened;
  const auto program = std::make_shared<Program>(kernel(add_one));
  std::vector<std::byte> bytes;
  {
    const auto compiled = d.compile(program, {});
    ASSERT_TRUE(compiled) << render(compiled.errors(), {});
    bytes = (*compiled)->serialize();
  }
  const auto loaded = d.load_kernel(program, {}, bytes);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->serialize(), bytes);
  DeviceLaunch launch;
  launch.program = program;
  launch.kernel = loaded;
  launch.buffers = {*d.allocate(1000 * 4)};
  launch.scalars = {0};
  const std::optional<uint64_t> count = 1000, scalar;
  launch.shape = *resolve_launch(*program, {&count, 1}, {&scalar, 1}, std::nullopt);
  const auto staging = std::make_shared<std::vector<std::byte>>(4000);
  const DeviceReadback back{{launch.buffers[0], 0, 4000}, staging};
  const auto submitted = d.submit(0, {{launch}, {launch}, {back}}, {}, std::nullopt);
  ASSERT_TRUE(submitted);
  EXPECT_EQ(d.wait(*submitted).kind, SubmissionOutcome::Kind::Done);
  std::vector<uint32_t> y(1000);
  std::memcpy(y.data(), staging->data(), 4000);
  EXPECT_EQ(y, std::vector<uint32_t>(1000, 2));
}

TEST(cpu_device, kept_code_that_was_changed_is_not_loaded) {
  const auto opened = cpu_backend()->open(0);
  ASSERT_TRUE(opened);
  BackendDevice& d = **opened;
  const auto program = std::make_shared<Program>(kernel(add_one));
  const std::vector<std::byte> bytes = (*d.compile(program, {}))->serialize();
  ASSERT_TRUE(d.load_kernel(program, {}, bytes));
  for (size_t i = 0; i < bytes.size(); i += i < 64 ? 1 : 97) {
    std::vector<std::byte> changed = bytes;
    changed[i] ^= std::byte{1};
    EXPECT_FALSE(d.load_kernel(program, {}, changed)) << i;
  }
  for (const size_t n : {size_t{0}, size_t{7}, size_t{47}, bytes.size() - 1})
    EXPECT_FALSE(d.load_kernel(program, {}, std::span(bytes).first(n))) << n;
  CompileOptions other;
  other.extra = {"isa=x86-64-v2"};
  if (emit_llvm::host_isa() != emit_llvm::Isa::X86_64_V2) {
    EXPECT_FALSE(d.load_kernel(program, other, bytes));
  }
}

// ---- Many at once.

TEST(cpu_device, host_threads_submit_at_once) {
  Device d = open_cpu();
  constexpr int threads = 4, rounds = 30;
  std::vector<std::thread> hosts;
  std::atomic<int> wrong{0};
  for (int t = 0; t < threads; ++t) {
    hosts.emplace_back([&, t] {
      const Result<Executable> add = d.compile(kernel(add_one));  // compiling too
      const size_t n = 100 + 40'000 * t;
      const Buffer y = *d.allocate(n * 4);
      std::vector<uint32_t> data(n);
      SubmitOptions options;
      options.stream = uint32_t(t % 3);
      options.time_limit = 100;
      if (!add || !d.submit({Fill{y, 0}}, options)) ++wrong;
      for (int i = 0; i < rounds; ++i) {
        const auto ticket = d.submit({Launch{*add, {y}, {}, true}}, options);
        if (!ticket || (i % 5 == 0 && !ticket->wait())) ++wrong;
      }
      if (!d.submit({Readback{y, out(data)}}, options)->wait()) ++wrong;
      if (data != std::vector<uint32_t>(n, rounds)) ++wrong;
      if (!d.free(y)) ++wrong;
    });
  }
  for (std::thread& h : hosts) h.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(d.memory_used(), 0u);
}

TEST(cpu_device, devices_come_and_go_at_once) {
  std::vector<std::thread> hosts;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    hosts.emplace_back([&] {
      for (int i = 0; i < 5; ++i) {
        Device d = open_cpu();
        if (counted(d, 5000, 3) != std::vector<uint32_t>(5000, 3)) ++wrong;
      }
    });
  }
  for (std::thread& h : hosts) h.join();
  EXPECT_EQ(wrong, 0);
}

TEST(cpu_device, closed_workers_run_on_the_calling_thread) {
  Workers workers(4);
  const auto caller = std::this_thread::get_id();
  std::vector<std::pair<uint64_t, uint64_t>> parts;
  workers.close();
  workers.run(0, 100, 1, 4, [&](uint64_t first, uint64_t last) {
    ASSERT_EQ(std::this_thread::get_id(), caller);
    parts.emplace_back(first, last);
  });
  EXPECT_EQ(parts, (std::vector<std::pair<uint64_t, uint64_t>>{{0, 100}}));
  EXPECT_EQ(workers.threads(), 4u);
}

}  // namespace
}  // namespace vyre::driver
