// run() and run_graph() read back the outputs that the caller requests, restore only what a launch
// changes, and time single calls only on request. Counted on a device that passes its commands on
// to the interpreter.

#include "runtime/run_graph.h"
#include "tests/runtime/driver_util.h"

namespace vyre::driver {
namespace {

Module module_of(const std::string& text) {
  ParseOutcome r = parse(text);
  EXPECT_TRUE(r.module) << render(r.diagnostics, r.sources);
  return std::move(*r.module);
}

/// A backend that counts, and one device of it.
struct Counted {
  Failing backend;
  Device device;
  explicit Counted(OpenOptions o = {}, uint64_t warm_up_ns = 0) {
    o.use_cache = false;
    backend.changed.warm_up_ns = warm_up_ns;
    device = *Device::open(backend, 0, o);
  }
};

const char* two_outputs = R"(
kernel two(x: in u32[], small: out u32[2], large: out u32[len(x)], both: inout u32[len(x)])
    workgroup(4) grid(len(x)) {
  let i = global_id.x
  if i < 2 { small[i] = i + 1 }
  if i < len(x) {
    large[i] = x[i] * 2
    both[i] += 1
  }
}
graph g(x: in u32[], small: out u32[2], large: out u32[len(x)], both: inout u32[len(x)]) {
  call two(x, small, large, both)
}
)";
const U x = {1, 2, 3, 4, 5};

TEST(requested_outputs, run_reads_back_all_without_a_request) {
  Counted c;
  const Module m = module_of(two_outputs);
  const auto r = run(c.device, m.kernels[0], {{bytes(x), {}, {}, bytes(x)}, {}, {}});
  ASSERT_TRUE(r);
  EXPECT_EQ(c.backend.readbacks, 3);
  EXPECT_EQ(c.backend.read_bytes, 8u + 20u + 20u);
  EXPECT_EQ(r->read_back, 48u);
  EXPECT_EQ(r->buffers[1], bytes(U{1, 2}));
  EXPECT_EQ(r->buffers[2], bytes(U{2, 4, 6, 8, 10}));
  EXPECT_EQ(r->buffers[3], bytes(U{2, 3, 4, 5, 6}));
}

TEST(requested_outputs, run_reads_back_what_is_requested) {
  Counted c;
  const Module m = module_of(two_outputs);
  RunOptions o;
  o.outputs = {false, true};
  const auto r = run(c.device, m.kernels[0], {{bytes(x), {}, {}, bytes(x)}, {}, {}}, o);
  ASSERT_TRUE(r);
  EXPECT_EQ(c.backend.readbacks, 1);
  EXPECT_EQ(c.backend.read_bytes, 8u);
  EXPECT_EQ(r->read_back, 8u);
  EXPECT_EQ(r->buffers[1], bytes(U{1, 2}));
  EXPECT_EQ(r->buffers[2].capacity(), 0u);
  EXPECT_EQ(r->buffers[3].capacity(), 0u);
}

TEST(requested_outputs, run_graph_reads_back_what_is_requested) {
  Counted c;
  const Module m = module_of(two_outputs);
  RunOptions o;
  o.outputs = {false, false, false, true};
  const auto r = run_graph(c.device, m, m.graphs[0], {{bytes(x), {}, {}, bytes(x)}, {}}, o);
  ASSERT_TRUE(r);
  EXPECT_EQ(c.backend.readbacks, 1);
  EXPECT_EQ(c.backend.read_bytes, 20u);
  EXPECT_EQ(r->buffers[1].capacity(), 0u);
  EXPECT_EQ(r->buffers[2].capacity(), 0u);
  EXPECT_EQ(r->buffers[3], bytes(U{2, 3, 4, 5, 6}));
}

TEST(requested_outputs, memory_of_an_output_is_neither_zeroed_nor_copied) {
  Counted c;
  const Module m = module_of(two_outputs);
  RunOptions o;
  o.outputs = {false, false, true};
  const LaunchInputs inputs{{bytes(x), {}, {}, bytes(x)}, {}, {}};
  const auto r = run(c.device, m.kernels[0], inputs, o);
  ASSERT_TRUE(r);
  EXPECT_EQ(c.backend.zeroed_bytes, 0u);
  EXPECT_EQ(c.backend.read_to, r->buffers[2].data());
  const auto g = run_graph(c.device, m, m.graphs[0], {inputs.data, {}}, o);
  ASSERT_TRUE(g);
  EXPECT_EQ(c.backend.zeroed_bytes, 0u);
  EXPECT_EQ(c.backend.read_to, g->buffers[2].data());
}

TEST(repeats, restore_only_what_a_launch_may_change_from_a_copy_on_the_device) {
  Counted c;
  const Module m = module_of(two_outputs);
  const LaunchInputs inputs{{bytes(x), {}, {}, bytes(x)}, {}, {}};
  const auto once = run(c.device, m.kernels[0], inputs, {});
  ASSERT_TRUE(once);
  RunOptions o;
  o.repeat = 4;
  c.backend.uploads = 0;
  const auto r = run(c.device, m.kernels[0], inputs, o);
  ASSERT_TRUE(r);
  EXPECT_EQ(c.backend.uploads, 2 + 1);  // the inputs, and the copy
  EXPECT_EQ(r->uploaded, 40u);
  EXPECT_EQ(r->device_bytes, once->device_bytes);
  EXPECT_EQ(r->buffers[3], bytes(U{2, 3, 4, 5, 6}));
  c.backend.uploads = 0;
  const auto g = run_graph(c.device, m, m.graphs[0], {inputs.data, {}}, o);
  ASSERT_TRUE(g);
  EXPECT_EQ(c.backend.uploads, 2 + 1);
  EXPECT_EQ(g->uploaded, 40u);
  EXPECT_EQ(g->buffers[3], bytes(U{2, 3, 4, 5, 6}));
}

TEST(repeats, upload_again_where_the_memory_limit_leaves_no_room_for_a_copy) {
  const Module m = module_of(two_outputs);
  const LaunchInputs inputs{{bytes(x), {}, {}, bytes(x)}, {}, {}};
  constexpr uint64_t of_buffers = 20 + 8 + 20 + 20;
  for (const auto& [room, uploads] : {std::pair(uint64_t{0}, 2 + 1 + 1), {20, 2 + 1}}) {
    Counted c;
    RunOptions o;
    o.repeat = 3;
    o.memory_limit = of_buffers + room;
    const auto r = run(c.device, m.kernels[0], inputs, o);
    ASSERT_TRUE(r);
    EXPECT_EQ(c.backend.uploads, uploads) << room;
    EXPECT_EQ(r->buffers[3], bytes(U{2, 3, 4, 5, 6}));
  }
}

TEST(repeats, warm_up_a_device_that_lowers_its_clocks) {
  const Module m = module_of(two_outputs);
  const LaunchInputs inputs{{bytes(x), {}, {}, bytes(x)}, {}, {}};
  RunOptions o;
  o.repeat = 3;
  for (const uint64_t warm_up_ns : {0, 20'000'000}) {
    Counted c({}, warm_up_ns);
    const auto judge = [&](const auto& ran) {
      ASSERT_TRUE(ran);
      ASSERT_EQ(ran->device_ns.size(), 3u);
      EXPECT_EQ(c.backend.launches > 3, warm_up_ns > 0);
      EXPECT_EQ(std::count_if(ran->events.begin(), ran->events.end(),
                              [](const RunEvent& e) { return e.name == "warm-up"; }),
                warm_up_ns > 0);
      EXPECT_EQ(ran->buffers[3], bytes(U{2, 3, 4, 5, 6}));
      c.backend.launches = 0;
    };
    judge(run(c.device, m.kernels[0], inputs, o));
    judge(run_graph(c.device, m, m.graphs[0], {inputs.data, {}}, o));
  }
}

TEST(repeats, upload_all_does_not_copy_host_memory) {
  Counted c;
  const Buffer b = *c.device.allocate(20);
  const auto data = std::make_shared<std::vector<std::byte>>(bytes(x));
  std::vector<std::byte> after;
  const auto t = c.device.submit({UploadAll{b, data}, ReadbackAll{b, &after}});
  ASSERT_TRUE(t);
  const auto r = t->wait();
  ASSERT_TRUE(r);
  EXPECT_EQ(r->uploaded, 20u);
  EXPECT_EQ(c.backend.uploaded_from, data->data());
  EXPECT_EQ(after, bytes(x));
  const auto large = std::make_shared<std::vector<std::byte>>(24);
  EXPECT_FALSE(c.device.submit({UploadAll{b, large}}));
}

TEST(requested_outputs, failed_readback_leaves_the_vector_as_it_was) {
  Counted c;
  const Module m = module_of("kernel k(x: inout u32[]) workgroup(1) grid(1) { assert(false, 3) }");
  const Executable e = *c.device.compile(m.kernels[0]);
  const Buffer b = *c.device.allocate(8);
  std::vector<std::byte> before = bytes(U{7, 8, 9});
  const auto t = c.device.submit({Upload{b, in(U{1, 2})}, Launch{e, {b}}, ReadbackAll{b, &before}});
  ASSERT_TRUE(t);
  EXPECT_EQ(code_of(t->wait()), Code::Trapped);
  EXPECT_EQ(before, bytes(U{7, 8, 9}));
  ASSERT_TRUE(c.device.submit({Upload{b, in(U{1, 2})}, ReadbackAll{b, &before}})->wait());
  EXPECT_EQ(before, bytes(U{1, 2}));
}

const char* chain = R"(
kernel sum(x: inout u32[]) workgroup(1) grid(1) {
  for i in 1..len(x) { x[i] += x[i - 1] }
}
graph g(x: inout u32[]) {
  call sum(x)
  call sum(x)
  call sum(x)
}
kernel split(x: inout u32[]) workgroup(1) grid(len(x)) {
  x[global_id.x] += 1
  barrier grid
  x[global_id.x] *= 2
  barrier grid
  x[global_id.x] += 3
}
)";

TEST(call_times, calls_of_a_graph_are_timed_on_request) {
  const Module m = module_of(chain);
  for (const bool wanted : {false, true}) {
    Counted c;
    RunOptions o;
    o.call_times = wanted;
    o.fuse = false;
    const auto r = run_graph(c.device, m, m.graphs[0], {{bytes(x)}, {}}, o);
    ASSERT_TRUE(r);
    EXPECT_EQ(c.backend.launches, 3);
    EXPECT_EQ(c.backend.timed, wanted ? 3 : 0);
    EXPECT_EQ(r->calls, 3u);
    EXPECT_EQ(r->call_ns.size(), wanted ? 3u : 0u);
    EXPECT_EQ(r->device_ns.size(), 1u);
    EXPECT_GT(r->device_ns[0], 0u);
  }
}

TEST(call_times, launches_of_a_split_kernel_are_timed_on_request) {
  const Module m = module_of(chain);
  for (const bool wanted : {false, true}) {
    OpenOptions open;
    open.split_grid_barriers = true;
    Counted c(open);
    RunOptions o;
    o.call_times = wanted;
    const auto r = run(c.device, m.kernels[1], {{bytes(x)}, {}, {}}, o);
    ASSERT_TRUE(r);
    EXPECT_EQ(c.backend.launches, 3);
    EXPECT_EQ(c.backend.timed, wanted ? 3 : 0);
    EXPECT_GT(r->device_ns[0], 0u);
  }
}

TEST(call_times, telemetry_times_every_call) {
  const Module m = module_of(chain);
  int samples = 0;
  OpenOptions open;
  open.telemetry = [&](const LaunchSample&) { ++samples; };
  Counted c(open);
  RunOptions o;
  o.fuse = false;
  ASSERT_TRUE(run_graph(c.device, m, m.graphs[0], {{bytes(x)}, {}}, o));
  EXPECT_EQ(c.backend.timed, 3);
  EXPECT_EQ(samples, 3);
}

}  // namespace
}  // namespace vyre::driver
