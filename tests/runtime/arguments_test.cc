// Arguments of launches: typed scalars and buffers, lengths by name; and programs that were not
// checked.

#include "ir/graph_launch.h"
#include "ir/kernel.h"
#include "plan/graph_plan.h"
#include "tests/runtime/driver_util.h"

namespace vyre::driver {
namespace {

/// A kernel that stores its scalar, and the value that a launch with an argument stores.
template <class T>
struct Store {
  explicit Store(Type t) {
    const std::string type(name(t));
    code = *device.compile(kernel("kernel k(a: " + type + ", y: out " + type +
                                  "[1]) workgroup(1) grid(1) { y[0] = a }"));
    y = *device.allocate<T>(1);
  }
  T stored(const Argument& a) {
    T result[1] = {};
    const Result<Ticket> t =
        device.submit({Launch{code, {a, y}}, read_back(y, std::span<T>(result))});
    EXPECT_TRUE(t) << render(t.errors(), {});
    if (t) {
      EXPECT_TRUE(t->wait());
    }
    return result[0];
  }
  std::string refused(const Argument& a) {
    const Result<Ticket> t = device.submit({Launch{code, {a, y}}});
    EXPECT_EQ(code_of(t), Code::WrongArgument);
    if (!t) {
      EXPECT_FALSE(t.errors()[0].fix.empty());
    }
    return message_of(t);
  }
  Device device = open();
  Executable code;
  TypedBuffer<T> y;
};

TEST(arguments, a_number_is_converted_where_that_is_exact) {
  Store<float> f(Type::F32);
  EXPECT_EQ(f.stored(2.5f), 2.5f);
  EXPECT_EQ(f.stored(scalar(2.0)), 2.0f);
  EXPECT_EQ(f.stored(scalar(2)), 2.0f);
  EXPECT_EQ(f.stored(scalar(int64_t{-3})), -3.0f);
  EXPECT_EQ(f.stored(true), 1.0f);
  EXPECT_EQ(f.refused(0.1),
            "command 1: parameter `a` of `k` is f32, which cannot represent 0.1 (f64) exactly");
  EXPECT_EQ(
      f.refused(16777217),
      "command 1: parameter `a` of `k` is f32, which cannot represent 16777217 (i32) exactly");
  Store<uint64_t> u(Type::U64);
  EXPECT_EQ(u.stored(scalar(5)), 5u);
  EXPECT_EQ(u.stored(5.0), 5u);
  EXPECT_EQ(u.refused(-1),
            "command 1: parameter `a` of `k` is u64, which cannot represent -1 (i32) exactly");
  Store<int8_t> i(Type::I8);
  EXPECT_EQ(i.stored(-128l), -128);
  EXPECT_EQ(i.refused(128u),
            "command 1: parameter `a` of `k` is i8, which cannot represent 128 (u32) exactly");
  Store<bool> b(Type::Bool);
  EXPECT_EQ(b.stored(true), true);
  EXPECT_EQ(b.stored(1u), true);
  EXPECT_EQ(b.refused(2u),
            "command 1: parameter `a` of `k` is bool, which cannot represent 2 (u32) exactly");
  EXPECT_NE(b.refused(Scalar{}).find("(void)"), std::string::npos);
}

TEST(arguments, sizes_follow_from_converted_scalars) {
  Device d = open();
  const Executable e = *d.compile(
      kernel("kernel k(n: i64, y: out u32[n]) workgroup(64) grid(n) { y[global_id.x] = 9 }"));
  const auto y = *d.allocate<uint32_t>(5);
  U result(5);
  ASSERT_TRUE(d.submit({Launch{e, {5.0f, y}}, read_back(y, result)})->wait());
  EXPECT_EQ(result, (U{9, 9, 9, 9, 9}));
  EXPECT_EQ(code_of(d.submit({Launch{e, {4, y}}})), Code::LengthDiffers);
  EXPECT_EQ(code_of(d.submit({Launch{e, {4.5, y}}})), Code::WrongArgument);
}

TEST(arguments, graphs_check_and_convert_theirs_too) {
  ParseOutcome parsed = parse(R"(
kernel scale(by: f32, y: inout f32[]) workgroup(64) grid(len(y)) { y[global_id.x] *= by }
graph g(by: f32, y: inout f32[]) { call scale(by, y) }
)");
  ASSERT_TRUE(parsed.module);
  Device d = open();
  const Graph& g = parsed.module->graphs[0];
  const auto shape = resolve_graph(g, std::vector<std::optional<uint64_t>>{{}, 2},
                                   std::vector<std::optional<uint64_t>>{scalar(1.0f).bits, {}});
  ASSERT_TRUE(shape);
  const auto graph = *d.prepare(*parsed.module, g, *shape);
  const auto y = *d.allocate<float>(2);
  const auto words = *d.allocate<uint32_t>(2);
  std::vector<float> values = {1, 2};
  ASSERT_TRUE(d.submit({upload(y, values), LaunchGraph{graph, {2, y}}, LaunchGraph{graph, {2.5, y}},
                        read_back(y, values)})
                  ->wait());
  EXPECT_EQ(values, (std::vector<float>{5, 10}));
  EXPECT_EQ(message_of(d.submit({LaunchGraph{graph, {0.1, y}}})),
            "command 1: parameter `by` of graph `g` is f32, which cannot represent 0.1 (f64) "
            "exactly");
  EXPECT_EQ(message_of(d.submit({LaunchGraph{graph, {2, words}}})),
            "command 1: parameter `y` of graph `g` has elements of f32, its buffer of u32");
}

TEST(arguments, a_typed_buffer_is_checked_against_its_parameter) {
  Device d = open();
  const Executable e = *d.compile(
      kernel("kernel k(y: inout f32[]) workgroup(64) grid(len(y)) { y[global_id.x] += 1.0 }"));
  const auto floats = *d.allocate<float>(4);
  const auto words = *d.allocate<uint32_t>(4);
  EXPECT_EQ(floats.size(), 4u);
  EXPECT_EQ(floats.bytes, 16u);
  EXPECT_TRUE(d.submit({Launch{e, {floats}}})->wait());
  EXPECT_TRUE(d.submit({Launch{e, {*d.allocate(16)}}})->wait());  // bytes of any type
  EXPECT_TRUE(d.submit({Launch{e, {TypedBuffer<float>(words)}}})->wait());
  EXPECT_TRUE(d.submit({Launch{e, {*d.allocate(Type::F32, 4)}}})->wait());
  EXPECT_EQ(message_of(d.submit({Launch{e, {words}}})),
            "command 1: parameter `y` of `k` has elements of f32, its buffer of u32");
  EXPECT_EQ(code_of(d.submit({Launch{e, {*d.allocate(Type::F16, 8)}}})), Code::WrongArgument);
  EXPECT_EQ(code_of(d.allocate<double>(~0ull)), Code::DeviceMemoryExceeded);
  EXPECT_EQ(code_of(d.allocate<double>((~0ull >> 3) + 2)), Code::DeviceMemoryExceeded);
}

TEST(arguments, a_typed_buffer_is_checked_in_repeated_launches) {
  Failing backend;
  backend.changed.limits.loops = true;  // the driver then keeps runs of launches
  Device d = *Device::open(backend, 0);
  const Executable e = *d.compile(kernel(
      "kernel k(a: f32, y: inout f32[]) workgroup(64) grid(len(y)) { y[global_id.x] += a }"));
  const auto y = *d.allocate<float>(2);
  SubmitOptions o;
  o.call_times = false;
  const auto many = [&](const Argument& a, const Buffer& b) {
    return d.submit(std::vector<Command>(10, Launch{e, {a, b}}), o);
  };
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(many(1.0f, y)->wait());
    ASSERT_TRUE(many(1, y)->wait());
    // The bits of 1.0f as another number.
    EXPECT_EQ(code_of(many(int32_t{0x3f800001}, y)), Code::WrongArgument);
    EXPECT_EQ(code_of(many(1.0f, TypedBuffer<uint32_t>(y))), Code::WrongArgument);
  }
  std::vector<float> values(2);
  ASSERT_TRUE(d.submit({read_back(y, values)})->wait());
  EXPECT_EQ(values, (std::vector<float>{80, 80}));
}

TEST(arguments, spans_are_copied_in_and_out) {
  Device d = open();
  const auto b = *d.allocate<int16_t>(6);
  const std::vector<int16_t> all = {1, 2, 3, 4, 5, 6};
  const int16_t two[] = {-7, -8};
  std::array<int16_t, 3> last = {};
  std::vector<int16_t> rest(2);
  ASSERT_TRUE(d.submit({upload(b, all), upload(b, two, 3), read_back(b, last, 3),
                        read_back(b, std::span(rest).first(1), 2)})
                  ->wait());
  EXPECT_EQ(last, (std::array<int16_t, 3>{-7, -8, 6}));
  EXPECT_EQ(rest, (std::vector<int16_t>{3, 0}));
  EXPECT_EQ(code_of(d.submit({upload(b, all, 1)})), Code::RangeOutside);
  EXPECT_EQ(code_of(d.submit({read_back(b, rest, 5)})), Code::RangeOutside);
  EXPECT_EQ(code_of(d.submit({upload(b, two, uint64_t{1} << 63)})), Code::RangeOutside);
  EXPECT_EQ(code_of(d.submit({read_back(b, rest, ~0ull)})), Code::RangeOutside);
}

TEST(arguments, lengths_of_scratch_parameters_go_by_name) {
  Device d = open();
  const Executable e = *d.compile(kernel(
      "kernel k(y: out u32[2], first: scratch u32[], second: scratch u32[]) workgroup(1) grid(1) "
      "{ y[0] = len(first)\n y[1] = len(second)\n first[0] = 1\n second[0] = 1 }"));
  const auto y = *d.allocate<uint32_t>(2);
  Launch launch{e, {y}};
  launch.lengths = {{"second", 7}, {"first", 3}};
  U result(2);
  ASSERT_TRUE(d.submit({launch, read_back(y, result)})->wait());
  EXPECT_EQ(result, (U{3, 7}));
  launch.lengths = {{"secnd", 7}, {"first", 3}};
  const Result<Ticket> misspelt = d.submit({launch});
  EXPECT_EQ(message_of(misspelt), "command 1: kernel `k` has no scratch parameter `secnd`");
  EXPECT_EQ(misspelt.errors()[0].fix, "write `second`");
  launch.lengths = {{"y", 2}, {"second", 7}, {"first", 3}};
  EXPECT_EQ(code_of(d.submit({launch})), Code::WrongArgument);
  launch.lengths = {{"first", 3}};
  EXPECT_FALSE(d.submit({launch}));
}

/// Parsing gives a program that only check() refuses: a barrier in flow that is not uniform.
Module not_legal() {
  ParseOutcome parsed = parse(R"(
kernel bad(y: inout u32[]) workgroup(64) grid(len(y)) {
  if y[global_id.x] == 0 { barrier workgroup }
}
kernel good(y: inout u32[]) workgroup(64) grid(len(y)) { y[global_id.x] = 1 }
graph calls_bad(y: inout u32[]) { call bad(y) }
graph calls_good(y: inout u32[]) { call good(y) }
)");
  EXPECT_TRUE(parsed.module);
  return std::move(*parsed.module);
}

TEST(arguments, programs_are_checked_unless_they_are_said_to_be) {
  Device d = open();
  const Module m = not_legal();
  LaunchInputs inputs;
  inputs.data = {bytes(U{1, 2})};
  CompileOptions checked;
  checked.checked = true;
  const Code code = code_of(d.compile(m.kernels[0]));
  EXPECT_EQ(to_string(code)[1], '0');
  EXPECT_EQ(code_of(run(d, m.kernels[0], inputs)), code);
  EXPECT_TRUE(d.compile(m.kernels[1]));
  EXPECT_TRUE(run(d, m.kernels[1], inputs));
  EXPECT_TRUE(d.compile(m.kernels[0], checked));  // the caller's word is taken for it
  EXPECT_EQ(code_of(d.compile(m.kernels[0])), code);
}

TEST(arguments, graphs_are_checked_with_the_kernels_that_they_call) {
  Device d = open();
  const Module m = not_legal();
  const auto shape = *resolve_graph(m.graphs[0], std::vector<std::optional<uint64_t>>{4},
                                    std::vector<std::optional<uint64_t>>{{}});
  const Code code = code_of(d.compile(m.kernels[0]));
  EXPECT_EQ(code_of(d.prepare(m, m.graphs[0], shape)), code);
  EXPECT_EQ(code_of(d.memory_need(m, m.graphs[0], shape)), code);
  EXPECT_TRUE(d.prepare(m, m.graphs[1], shape));
  Graph broken = m.graphs[1];
  broken.nodes.front().kernel = 1000;
  EXPECT_FALSE(d.prepare(m, broken, shape));
}

TEST(arguments, programs_whose_arrays_contradict_each_other_are_errors) {
  Device d = open();
  Program p = kernel("kernel k(y: out u32[4]) workgroup(4) grid(4) { y[global_id.x] = 1 }");
  EXPECT_TRUE(d.compile(p));  // known as legal from now on, but only as it is
  p.buffers[0].count = 1000;
  LaunchInputs inputs;
  EXPECT_FALSE(d.compile(p));
  EXPECT_FALSE(run(d, p, inputs));
}

}  // namespace
}  // namespace vyre::driver
