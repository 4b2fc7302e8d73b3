// Handles of the API that were changed, freed, moved from, made by default or taken from another
// device: coded errors without other effects.

#include "ir/graph_launch.h"
#include "opt/opt_report.h"
#include "plan/graph_plan.h"
#include "runtime/run_graph.h"
#include "tests/runtime/driver_util.h"

namespace vyre::driver {
namespace {

const char* add_one =
    "kernel add_one(y: inout u32[]) workgroup(64) grid(len(y)) { y[global_id.x] += 1 }";
const char* fill_up =
    "kernel fill_up(y: out u32[]) workgroup(64) grid(len(y)) { y[global_id.x] = 1 }";
const char* graph_of_one = R"(
kernel add_one(y: inout u32[]) workgroup(64) grid(len(y)) { y[global_id.x] += 1 }
graph g(y: inout u32[]) { call add_one(y) }
)";

/// Every command that takes a buffer, with this one.
std::vector<Command> commands_with(const Buffer& b, const Buffer& good, const Executable& add,
                                   const Executable& fills, std::vector<std::byte>& bytes) {
  return {Upload{b, bytes},   UploadAll{b, std::make_shared<std::vector<std::byte>>(bytes)},
          Readback{b, bytes}, ReadbackAll{b, &bytes},
          Copy{b, good, 4},   Copy{good, b, 4},
          Fill{b, 7},         Fill{b, 7, 0, 4},
          Launch{add, {b}},   Launch{fills, {b}}};
}

void expect_refused(Device& d, const Buffer& b, const Buffer& good, Code code) {
  const Executable add = *d.compile(kernel(add_one)), fills = *d.compile(kernel(fill_up));
  std::vector<std::byte> bytes(4);
  const std::vector<Command> commands = commands_with(b, good, add, fills, bytes);
  for (size_t i = 0; i < commands.size(); ++i) {
    const Result<Ticket> t = d.submit({commands[i]});
    EXPECT_EQ(code_of(t), code) << "command " << i;
    if (!t) {
      EXPECT_FALSE(t.errors()[0].fix.empty());
    }
  }
  EXPECT_EQ(code_of(d.free(b)), code);
  EXPECT_FALSE(d.is_undefined(b));
}

TEST(handles, a_length_that_the_caller_changed_is_an_error) {
  Device d = open();
  const Buffer small = *d.allocate(16), large = *d.allocate(1 << 20);
  for (const uint64_t bytes :
       {uint64_t{1} << 20, uint64_t{20}, uint64_t{12}, uint64_t{0}, ~uint64_t{0}}) {
    Buffer changed = small;
    changed.bytes = bytes;
    expect_refused(d, changed, large, Code::RangeOutside);
  }
  EXPECT_EQ(message_of(d.free({small.device, small.slot, small.generation, 20})),
            "the handle says 20 bytes; its buffer has 16");
  EXPECT_TRUE(d.free(small));
}

TEST(handles, a_changed_length_is_an_error_in_repeated_launches) {
  Failing backend;
  backend.changed.limits.loops = true;  // the driver then keeps runs of launches
  Device d = *Device::open(backend, 0);
  const Executable add = *d.compile(kernel(add_one));
  const Buffer b = *d.allocate(64);
  Buffer changed = b;
  changed.bytes = 1 << 20;
  SubmitOptions o;
  o.call_times = false;
  for (int i = 0; i < 4; ++i)
    ASSERT_TRUE(d.submit(std::vector<Command>(10, Launch{add, {b}}), o)->wait());
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(code_of(d.submit(std::vector<Command>(10, Launch{add, {changed}}), o)),
              Code::RangeOutside);
  ASSERT_TRUE(d.free(b));
  EXPECT_EQ(code_of(d.submit(std::vector<Command>(10, Launch{add, {b}}), o)), Code::StaleBuffer);
}

TEST(handles, those_of_freed_and_reused_memory_are_errors) {
  Device d = open();
  const Buffer good = *d.allocate(16), freed = *d.allocate(16);
  ASSERT_TRUE(d.free(freed));
  expect_refused(d, freed, good, Code::StaleBuffer);
  const Buffer again = *d.allocate(16);
  EXPECT_EQ(again.slot, freed.slot);
  expect_refused(d, freed, good, Code::StaleBuffer);
  Buffer beyond = good;
  beyond.slot = 1000;
  expect_refused(d, beyond, good, Code::StaleBuffer);
}

TEST(handles, those_of_another_device_are_errors) {
  Device d = open(), other = open();
  const Buffer good = *d.allocate(16), theirs = *other.allocate(16);
  expect_refused(d, theirs, good, Code::ForeignBuffer);
  expect_refused(d, Buffer{}, good, Code::ForeignBuffer);
  const Executable foreign = *other.compile(kernel(add_one));
  EXPECT_EQ(code_of(d.submit({Launch{foreign, {good}}})), Code::ForeignBuffer);
  EXPECT_EQ(code_of(d.list_code(foreign)), Code::ForeignBuffer);
  LaunchInputs inputs;
  inputs.data = {bytes(U{1, 2})};
  EXPECT_EQ(code_of(d.memory_need(foreign, inputs)), Code::ForeignBuffer);
}

TEST(handles, those_of_memory_of_a_graph_are_errors) {
  Device d = open();
  const ParseOutcome parsed = parse(R"(
kernel copy(x: in u32[], y: out u32[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] = x[global_id.x]
}
graph g(x: in u32[], y: out u32[len(x)]) {
  buffer t: u32[len(x)]
  call copy(x, t)
  call copy(t, y)
}
)");
  ASSERT_TRUE(parsed.module);
  const Graph& g = parsed.module->graphs[0];
  const Buffer x = *d.allocate(256), y = *d.allocate(256);
  GraphOptions options;
  options.fuse = false;
  auto graph = d.prepare(*parsed.module, g,
                         *resolve_graph(g, std::vector<std::optional<uint64_t>>{64, {}},
                                        std::vector<std::optional<uint64_t>>(2)),
                         options);
  ASSERT_TRUE(graph);
  ASSERT_EQ(graph->memory_bytes(), 256u);
  Buffer guessed = y;
  ++guessed.slot;
  expect_refused(d, guessed, x, Code::StaleBuffer);
  EXPECT_TRUE(d.submit({LaunchGraph{*graph, {x, y}}})->wait());
  graph = GraphExecutable();
  EXPECT_EQ(d.memory_used(), 512u);
}

TEST(handles, a_graph_without_memory_runs_on_its_own_device_only) {
  Device d = open(), other = open();
  ParseOutcome parsed = parse(graph_of_one);
  ASSERT_TRUE(parsed.module);
  const Module& m = *parsed.module;
  const auto shape = resolve_graph(m.graphs[0], std::vector<std::optional<uint64_t>>{4},
                                   std::vector<std::optional<uint64_t>>{{}});
  ASSERT_TRUE(shape);
  const auto graph = other.prepare(m, m.graphs[0], *shape);
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->memory_bytes(), 0u);
  const Buffer b = *d.allocate(16), theirs = *other.allocate(16);
  EXPECT_EQ(code_of(d.submit({LaunchGraph{*graph, {b}}})), Code::ForeignBuffer);
  EXPECT_TRUE(other.submit({LaunchGraph{*graph, {theirs}}})->wait());
  Buffer changed = theirs;
  changed.bytes = 64;
  EXPECT_EQ(code_of(other.submit({LaunchGraph{*graph, {changed}}})), Code::RangeOutside);
}

TEST(handles, a_shape_of_another_graph_is_an_error) {
  Device d = open();
  ParseOutcome parsed = parse(graph_of_one);
  ASSERT_TRUE(parsed.module);
  EXPECT_EQ(code_of(d.prepare(*parsed.module, parsed.module->graphs[0], {})), Code::WrongArgument);
  EXPECT_EQ(code_of(d.memory_need(*parsed.module, parsed.module->graphs[0], {})),
            Code::WrongArgument);
}

/// Everything that a Device does, with one that is empty.
void expect_empty(Device d) {
  ParseOutcome parsed = parse(graph_of_one);
  ASSERT_TRUE(parsed.module);
  const Module& m = *parsed.module;
  LaunchInputs inputs;
  inputs.data = {bytes(U{1, 2})};
  interp::GraphInputs graph_inputs;
  graph_inputs.data = inputs.data;
  EXPECT_EQ(code_of(d.allocate(16)), Code::EmptyHandle);
  EXPECT_EQ(code_of(d.allocate<float>(16)), Code::EmptyHandle);
  EXPECT_EQ(code_of(d.free({})), Code::EmptyHandle);
  EXPECT_EQ(code_of(d.compile(m.kernels[0])), Code::EmptyHandle);
  EXPECT_EQ(code_of(d.list_code({})), Code::EmptyHandle);
  EXPECT_EQ(code_of(d.prepare(m, m.graphs[0], {})), Code::EmptyHandle);
  EXPECT_EQ(code_of(d.memory_need({}, inputs)), Code::EmptyHandle);
  EXPECT_EQ(code_of(d.memory_need(m, m.graphs[0], {})), Code::EmptyHandle);
  EXPECT_EQ(code_of(d.submit({})), Code::EmptyHandle);
  EXPECT_EQ(code_of(run(d, m.kernels[0], inputs)), Code::EmptyHandle);
  EXPECT_EQ(code_of(run_graph(d, m, m.graphs[0], graph_inputs)), Code::EmptyHandle);
  EXPECT_EQ(d.info().name, "");
  EXPECT_EQ(d.chosen_because(), "");
  EXPECT_FALSE(d.has_telemetry());
  EXPECT_EQ(d.memory_used() + d.memory_peak(), 0u);
  EXPECT_FALSE(d.is_undefined({}));
  d.finish();
}

TEST(handles, empty_devices_return_errors) {
  expect_empty(Device());
  Device from = open();
  const Device to = std::move(from);
  expect_empty(from);
  EXPECT_EQ(to.info().backend, "interp");
  EXPECT_EQ(code_of(Device::open(Choice())), Code::EmptyHandle);
}

TEST(handles, empty_tickets_return_errors) {
  Device d = open();
  Ticket from = *d.submit({});
  const Ticket to = std::move(from);
  for (const Ticket& t : {Ticket(), from}) {
    EXPECT_EQ(code_of(t.wait()), Code::EmptyHandle);
    EXPECT_TRUE(t.is_done());
    EXPECT_EQ(t.progress(), 0);
  }
  EXPECT_TRUE(to.wait());
}

TEST(handles, empty_executables_return_errors) {
  Device d = open();
  Executable from = *d.compile(kernel(add_one));
  const Executable to = std::move(from);
  const Buffer b = *d.allocate(16);
  for (const Executable& e : {Executable(), from}) {
    EXPECT_EQ(code_of(d.submit({Launch{e, {b}}})), Code::EmptyHandle);
    EXPECT_EQ(code_of(d.list_code(e)), Code::EmptyHandle);
    EXPECT_EQ(code_of(d.memory_need(e, {})), Code::EmptyHandle);
    EXPECT_EQ(e.program().name + e.optimized().name, "");
    EXPECT_EQ(e.segments() + e.subgroup_size(), 0u);
    EXPECT_EQ(e.coarse(), 1u);
    EXPECT_EQ(e.plan(), nullptr);
    EXPECT_EQ(e.compile_ns() + e.optimize_ns() + e.emit_ns(), 0u);
    EXPECT_TRUE(e.optimizer().choices.empty());
  }
  EXPECT_TRUE(d.submit({Launch{to, {b}}})->wait());
  const GraphExecutable g;
  EXPECT_EQ(code_of(d.submit({LaunchGraph{g, {b}}})), Code::EmptyHandle);
  EXPECT_EQ(g.planned().fused.graph().nodes.size(), 0u);
  EXPECT_EQ(g.executable(0), nullptr);
  EXPECT_EQ(g.memory_bytes() + g.unplanned_bytes() + g.plan_ns(), 0u);
}

TEST(handles, commands_without_a_vector_are_errors) {
  Device d = open();
  const Buffer b = *d.allocate(16);
  EXPECT_EQ(code_of(d.submit({UploadAll{b, nullptr}})), Code::EmptyHandle);
  EXPECT_EQ(code_of(d.submit({ReadbackAll{b, nullptr}})), Code::EmptyHandle);
}

}  // namespace
}  // namespace vyre::driver
