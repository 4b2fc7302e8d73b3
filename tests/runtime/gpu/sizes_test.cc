// Sizes at which devices go wrong: nothing, one, around a tile, far above 16 and 32 bits.

#include "tests/runtime/gpu/gpu_util.h"

namespace vyre::driver {
namespace {

class sizes_on_device : public OnDevice {};

const char* map = R"(
kernel k(x: in u32[], y: out u32[len(x)]) workgroup(128) grid(len(x)) {
  y[global_id.x] = x[global_id.x] * 7 + x[global_id.x + 1]
}
)";
/// A sum a workgroup, through shared memory.
const char* sums = R"(
kernel k(x: in u32[], y: out u32[ceil_div(len(x), 128)]) workgroup(128) grid(len(x)) {
  shared t: u32[128]
  t[local_id.x] = x[global_id.x]
  barrier workgroup
  for k in 0..7 {
    let d = u32(64) >> k
    if local_id.x < d { t[local_id.x] += t[local_id.x + d] }
    barrier workgroup
  }
  if local_id.x == 0 { y[workgroup_id.x] = t[0] }
}
)";
/// Bytes: those of one word belong to several lanes.
const char* narrow = R"(
kernel k(x: in u8[], y: out u8[len(x)], z: out u16[len(x)]) workgroup(128) grid(len(x)) {
  let i = global_id.x
  y[i] = x[i] + 1
  z[i] = u16(x[i]) * 257
}
)";

TEST_F(sizes_on_device, around_a_tile_and_large) {
  for (const char* source : {map, sums, narrow}) {
    const Program p = kernel(source);
    for (const size_t n : {0, 1, 31, 32, 33, 127, 128, 129, 1023, 1024, 1025, 100'001}) {
      SCOPED_TRACE(fmt::format("{} of {}", n, source));
      const U x = noise(n, uint32_t(n));
      std::vector<std::byte> values = bytes(x);
      if (source == narrow) values.resize(n);
      same(device(), p, inputs_of(p, {values}));
    }
  }
}

TEST_F(sizes_on_device, millions_of_elements) {
  const size_t n = is_gpu() ? (1u << 24) + 3 : (1u << 18) + 3;
  const U x = noise(n, 1);
  const Buffer from = buffer(x), to = buffer(n * 4);
  launch(compile(map), {from, to});
  const U y = read(to);
  for (size_t i = 0; i < n; ++i) ASSERT_EQ(y[i], x[i] * 7 + (i + 1 < n ? x[i + 1] : 0)) << i;
}

TEST_F(sizes_on_device, a_grid_with_a_zero_runs_nothing) {
  const Buffer y = buffer(U{5});
  const Executable code =
      compile("kernel k(y: inout u32[]) workgroup(4, 2) grid(1, 1, 1) { atomic_add(y[0], 1) }");
  using Grid = std::array<uint64_t, 3>;
  for (const Grid& grid : {Grid{0, 1, 1}, Grid{7, 0, 1}, Grid{7, 3, 0}, Grid{0, 0, 0}}) {
    std::vector<Command> commands;
    commands.push_back(Launch{code, {y}, grid});
    submit(std::move(commands));
  }
  EXPECT_EQ(read(y), U{5});
}

TEST_F(sizes_on_device, empty_buffers_load_zero_and_take_no_store) {
  const Program p = kernel(R"(
kernel k(x: in u32[], y: inout u8[], o: out u32[4]) workgroup(32) grid(33) {
  let i = global_id.x
  y[i] = 1
  atomic_add(o[0], x[i] + u32(y[i]) + 1)
  if i == 0 { o[1] = len(x) + len(y) }
}
)");
  same(device(), p, inputs_of(p, {{}, {}}));
}

/// Every workgroup leaves a trace of where it was.
TEST_F(sizes_on_device, more_workgroups_than_16_bits_in_every_dimension) {
  const Executable code = compile(R"(
kernel k(n: inout u32[8]) workgroup(1) grid(1) {
  atomic_add(n[0], 1)
  atomic_max(n[1], workgroup_id.x)
  atomic_max(n[2], workgroup_id.y)
  atomic_max(n[3], workgroup_id.z)
  atomic_xor(n[4], workgroup_id.x * 3 + workgroup_id.y * 5 + workgroup_id.z * 7)
  if num_workgroups.x + num_workgroups.y + num_workgroups.z != 70004 { n[5] = 1 }
}
)");
  for (int dim = 0; dim < 3; ++dim) {
    SCOPED_TRACE(dim);
    std::array<uint64_t, 3> grid = {1, 1, 1};
    grid[size_t(dim)] = 70'002;
    const Buffer n = buffer(U(8, 0));
    std::vector<Command> commands;
    commands.push_back(Launch{code, {n}, grid});
    submit(std::move(commands));
    U wanted(8, 0);
    wanted[0] = 70'002;
    wanted[size_t(1 + dim)] = 70'001;
    const uint32_t factor[] = {3, 5, 7};
    for (uint32_t i = 0; i < 70'002; ++i) wanted[4] ^= i * factor[dim];
    EXPECT_EQ(read(n), wanted);
  }
}

/// 66,000 by 3 by 2 workgroups, and the other way round: no dimension is taken for another.
TEST_F(sizes_on_device, large_grids_in_several_dimensions) {
  const Program p = kernel(R"(
kernel k(n: out u32[1], far: out u32[3]) workgroup(2, 1, 2) grid(1) {
  atomic_add(n[0], global_id.x * 3 + global_id.y * 5 + global_id.z)
  atomic_max(far[0], global_id.x)
  atomic_max(far[1], global_id.y)
  atomic_max(far[2], global_id.z)
}
)");
  using Grid = std::array<uint64_t, 3>;
  for (const Grid& grid : {Grid{6, 33'001, 3}, Grid{3, 5, 140'001}})
    same(device(), p, inputs_of(p, {}, grid));
}

TEST_F(sizes_on_device, buffers_above_4_gib) {
  constexpr uint64_t size = (uint64_t{5} << 30) + 64;
  if (!is_gpu()) GTEST_SKIP() << "5 GiB are for a device with memory of its own";
  if (limits().buffer_bytes < size || limits().memory_bytes < size + (1ull << 30))
    GTEST_SKIP() << "the device has " << limits().memory_bytes << " bytes";
  const Buffer x = buffer(size), o = buffer(U(4, 0));
  const Executable code = compile(R"(
kernel far(x: inout u32[], o: inout u32[4]) workgroup(64) grid(64) {
  let last = len64(x) - 64 + u64(global_id.x)
  let middle = u64(1073741824) + u64(global_id.x)
  x[last] = 1000 + global_id.x
  x[middle] = 2000 + global_id.x
  x[len64(x) + u64(global_id.x)] = 7
  if global_id.x == 0 {
    o[0] = u32(len64(x) >> 20)
    o[1] = x[global_id.x]
    o[2] = x[len64(x)]
  }
}
)");
  launch(code, {x, o});
  EXPECT_EQ(read(o), (U{uint32_t((size / 4) >> 20), 0, 0, 0}));
  U head(64, 1), middle(64), tail(64);
  submit({Readback{x, out(head)}, Readback{x, out(middle), uint64_t{4} << 30},
          Readback{x, out(tail), size - 256}});
  EXPECT_EQ(head, U(64, 0));
  EXPECT_EQ(middle, counting(64, 2000));
  EXPECT_EQ(tail, counting(64, 1000));
  // The far end with a fill and a copy, too.
  submit({Fill{x, 0x11, size - 128, 64}, Copy{x, x, 64, 0, size - 128}, Readback{x, out(head)}});
  EXPECT_EQ(head[0], 0x11111111u);
  EXPECT_EQ(head[16], 0u);
}

TEST_F(sizes_on_device, shared_memory_up_to_the_limit) {
  const uint64_t most = std::min<uint64_t>(limits().shared_bytes, 1 << 20) / 4;
  for (const uint64_t words : {uint64_t{1}, uint64_t{12'288}, uint64_t{12'289}, most / 2, most}) {
    if (words > most) continue;
    SCOPED_TRACE(fmt::format("{} bytes", words * 4));
    const Program p = kernel(fmt::format(R"(
kernel k(x: in u32[], y: out u32[1024]) workgroup(256) grid(1024) {{
  shared s: u32[{0}]
  let l = local_id.x
  var sum = s[{0} - 1] + s[l % {0}]
  barrier workgroup
  for i in l..{0} step 256 {{ s[i] = x[i % len(x)] ^ i }}
  barrier workgroup
  for i in 0..8 {{ sum += s[(l * 977 + i * 7919 + workgroup_id.x) % {0}] }}
  y[global_id.x] = sum + s[{0} - 1] + s[{0}]
}}
)",
                                         words));
    same(device(), p, inputs_of(p, {bytes(noise(777, 3))}));
  }
}

TEST_F(sizes_on_device, subgroups_of_every_size) {
  // A workgroup that is not a multiple of most subgroup sizes: the last subgroup is partial.
  const char* source = R"(
kernel k(x: in u32[], f: in f32[], a: out u32[216], b: out f32[216], c: out u32[216], d: out u64[216]) workgroup(72) grid(216) {
  let i = global_id.x
  a[i] = subgroup_add(x[i]) + subgroup_shuffle_xor(x[i], 1) * 3 + lane_id
  b[i] = subgroup_add(f[i]) + subgroup_max(f[i])
  c[i] = subgroup_scan_add(x[i]) ^ subgroup_broadcast(x[i], 0)
  d[i] = subgroup_ballot(x[i] % 3 == 0)
}
)";
  std::vector<float> f(216);
  for (size_t i = 0; i < f.size(); ++i) f[i] = float(i * 37 % 101) * 0.37f - 11.0f;
  const Program p = kernel(source);
  for (const uint32_t size : limits().subgroup_sizes) {
    SCOPED_TRACE(size);
    CompileOptions o;
    o.subgroup_size = size;
    same(device(), p, inputs_of(p, {bytes(noise(216, 5)), bytes(f)}), o);
  }
  EXPECT_FALSE(limits().subgroup_sizes.empty());
}

/// The specification has no size beyond which a program may fail to compile.
TEST_F(sizes_on_device, a_hundred_thousand_operations) {
  std::string source =
      "kernel k(x: in u32[], o: out u32[64]) workgroup(64) grid(64) {\n  var v = x[global_id.x]\n";
  const int lines = is_gpu() ? 50'000 : 20'000;
  for (int i = 0; i < lines; ++i) source += fmt::format("  v = (v ^ {}) * 1664525\n", i * 7 + 1);
  source += "  o[global_id.x] = v\n}\n";
  const Program p = kernel(source);
  const auto begin = Clock::now();
  CompileOptions o;
  o.optimize.passes.emplace();  // the operations as they are
  same(device(), p, inputs_of(p, {bytes(noise(64, 9))}), o);
  EXPECT_LT(seconds_since(begin), 120);
}

}  // namespace
}  // namespace vyre::driver
