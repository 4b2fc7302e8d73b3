#include "tests/runtime/vulkan/profile_kernels.h"

#include "tests/runtime/driver_util.h"

namespace vyre::driver {
namespace {

using emit_exact::Profile;
using vulkan::TestGroup;

struct Kernel {
  const char* name;
  vulkan::ProfileFlag needs;
  uint32_t elements;
  const char* source;
};

const Kernel more[] = {
    {"narrow elements beside each other", nullptr, 1000, R"(
kernel t(a: in u8[], b: in i16[], y: inout u8[], z: inout i16[], w: inout bool[]) workgroup(64) grid(len(a) / 2) {
  let i = global_id.x * 7 % 1024
  y[i] = a[i + 1] + u8(1)
  z[i] = b[i] - i16(a[i])
  w[i] = a[i] > a[i + 40]
})"},
    // A race, so any value would do; but one that is written by all should be there.
    {"narrow elements that all write", nullptr, 300, R"(
kernel t(a: in u8[], y: out u8[3], z: out bool[2], w: out u32[len(a)]) workgroup(64) grid(len(a)) {
  shared found: bool[4]
  if a[global_id.x] > 0 {
    y[1] = 77
    z[0] = true
    found[2] = true
  }
  barrier workgroup
  w[global_id.x] = u32(found[2])
})"},
    {"narrow arrays and tables", nullptr, 500, R"(
const bytes: u8[] = [3, 1, 4, 1, 5, 9, 255]
const halves: i16[] = [-1, 300, -32768, 7, 11]
kernel t(a: in u32[], y: out u32[len(a)], z: out i32[len(a)]) workgroup(64) grid(len(a)) {
  var own: u8[5]
  var wide: i16[3]
  let i = global_id.x
  let x = a[i]
  for k in 0..5 { own[(x + k) % 6] = u8(x >> k) + bytes[k + x % 4] }
  for k in 0..3 { wide[k] = i16(x * k) + halves[(x + k) % 6] }
  y[i] = u32(own[0]) + 3 * u32(own[x % 7]) + 7 * u32(own[4])
  z[i] = i32(wide[0]) + 3 * i32(wide[x % 4]) - i32(wide[2])
})"},
    {"elements at any byte", nullptr, 1001, R"(
const bytes: u8[] = [1, 2, 3, 254, 5, 6, 7, 8, 129, 10]
kernel t(a: in u8[], y: out u32[len(a)], z: out u64[len(a)], w: out i32[len(a)], f: out f32[len(a)]) workgroup(64) grid(len(a)) {
  shared part: u16[64]
  let i = global_id.x
  part[local_id.x] = u16(a[i]) * 257 + u16(i)
  barrier workgroup
  y[i] = load_as<u32>(a, i) ^ load_as<u32>(bytes, i % 9)
  z[i] = load_as<u64>(a, i * 3 % 1010) + load_as<u64>(part, local_id.x)
  w[i] = i32(load_as<i16>(a, i)) * i32(load_as<i8>(part, local_id.x + 64))
  f[i] = load_as<f32>(a, i + 2)
})"},
    {"several elements at once", nullptr, 1003, R"(
kernel t(x: in u32[], w: in u64[], h: in f16[], b: in u8[], y: out u32[len(x)], z: out u64[len(x)], g: out f16[len(x)], c: out u8[len(x)]) workgroup(64) grid(len(x) / 4 + 1) {
  %0 = global_id.x
  %1 = const 4 : u32
  %2 = mul %0, %1 : u32
  %3, %4, %5, %6 = load_n x[%2] : u32
  store_n y[%2], %6, %5, %4, %3
  %7, %8 = load_n w[%2] : u64
  %9 = add %7, %8 : u64
  store_n z[%2], %9, %7
  %10, %11, %12, %13 = load_n h[%2] : f32
  store_n g[%2], %13, %12, %11, %10
  %14, %15, %16, %17 = load_n b[%2] : u8
  store_n c[%2], %17, %14, %16, %15
})"},
    {"64 bits in all memory", nullptr, 600, R"(
const numbers: u64[] = [1, 0x123456789abcdef0, 0xffffffffffffffff]
kernel t(s: u64, n: i64, a: in u64[], old: inout i64[], y: out u64[len(a)], z: out i64[len(a)]) workgroup(64) grid(len(a)) {
  shared all: u64[64]
  var own: i64[4]
  let i = global_id.x
  all[local_id.x] = a[i] + numbers[i % 4]
  barrier workgroup
  for k in 0..4 { own[(k + i) % 5] = bitcast<i64>(all[(local_id.x + k) % 65]) - n }
  y[i] = all[63 - local_id.x] ^ rotl(a[i], 13) ^ (s + len64(a))
  var sum = own[i % 4]
  for k in 0..(i % 5) { sum = max(sum, own[k]) * 3 - old[i] }
  z[i] = sum
  old[i] = -old[i]
})"},
    {"u64 of one operand", nullptr, 2000, R"(
kernel t(a: in u64[], b: in u64[], y: out u64[len(a)], z: out i64[len(a)], w: out u64[len(a)]) workgroup(64) grid(len(a)) {
  let i = global_id.x
  y[i] = u64(popcount(a[i])) + (reverse_bits(a[i]) ^ u64(ctz(a[i])))
  z[i] = abs(bitcast<i64>(a[i])) + min(bitcast<i64>(b[i]), 77) % 1000
  w[i] = mulhi(a[i], b[i]) + sat_sub(a[i], b[i]) + extract(a[i], 5, 40) + u64(u16(a[i])) + select(a[i] > b[i], 1, 2)
})"},
    {"f16 and bf16 arithmetic", nullptr, 4000, R"(
kernel t(a: in f16[], b: in bf16[], y: out f16[len(a)], z: out bf16[len(a)], w: out u32[len(a)]) workgroup(64) grid(len(a)) {
  let i = global_id.x
  let x = a[i]
  let v = b[i]
  y[i] = x * x + v
  z[i] = (v - x) / (v + 1.5)
  w[i] = u32(x < v) + 2 * u32(x == x) + 4 * u32(v > 0.0)
})"},
    {"functions", nullptr, 600, R"(
kernel t(a: in f32[], e: out f32[len(a)], l: out f32[len(a)], s: out f32[len(a)]) workgroup(64) grid(len(a)) {
  let x = a[global_id.x]
  e[global_id.x] = exp(x)
  l[global_id.x] = log(x)
  s[global_id.x] = sin(x)
})"},
    {"bool and f32", nullptr, 4000, R"(
kernel t(a: in f32[], b: in f32[], n: in u32[], y: out f32[len(a)], z: out u32[len(a)]) workgroup(64) grid(len(a)) {
  let i = global_id.x
  var x = select(n[i] > 5, a[i], -b[i])
  for k in 0..(n[i] % 4) { x = select(x < b[i], x * 1.5 - f32(k), abs(x)) }
  y[i] = x + f32(a[i] == b[i])
  z[i] = u32(bool(x)) + 2 * u32(is_nan(x) || x > a[i])
})"},
    // x + 0.0 is x, but for -0: a compiler that forgets it must not find out these zeros.
    {"zeros that loops and tables have", nullptr, 2304, R"(
const table: f32[] = [1.0, 0.0, -0.0, 0.0]
kernel t(a: in f32[], y: inout f32[], z: out f32[len(a)]) workgroup(64) grid(len(a)) {
  var own: f32[4]
  own[3] = 2.0
  let x = a[global_id.x]
  var falls = 2.0
  var sum: f32 = table[1] + x
  for k in 0..4 {
    sum += (x + table[k]) * (x + own[k]) * (x + f32(k)) * (x + bitcast<f32>(k << 23)) * (x + table[k + 2])
    y[global_id.x * 4 + k] = (x * falls + (0.0 - x)) / floor(f32(k) * 0.25)
    falls -= 1.0
  }
  z[global_id.x] = sum
})"},
    {"zeros of every kind", nullptr, 64, R"(
const table: f32[] = [1.0, 0.0, -0.0, 0.0]
kernel t(a: in f32[], y: inout f32[]) workgroup(1) grid(1) {
  shared all: f32[3]
  var own: f32[4]
  own[0] = 1.0
  var falls = 2.0
  let x = a[1]
  for k in 0..4 {
    y[k] = x + table[k]
    y[k + 4] = x + own[k]
    y[k + 8] = x + f32(k)
    y[k + 12] = x + bitcast<f32>(k << 30)
    y[k + 16] = x + table[k + 3]
    y[k + 20] = x + falls
    y[k + 24] = x + floor(f32(k) * 0.25)
    y[k + 28] = x + select(k == 2, 1.0, 0.0)
    y[k + 32] = x + all[k]
    y[k + 36] = x + f32(k == 1)
    y[k + 40] = x + subgroup_shuffle_up(a[8], k)
    falls -= 1.0
  }
})"},
    {"atomics in order", nullptr, 512, R"(
kernel t(a: in u32[], y: inout u32[], z: inout i32[], sum: out u32[8], most: out i32[2]) workgroup(64) grid(len(a)) {
  shared low: u32[2]
  shared own: i32[64]
  let i = global_id.x
  let x = a[i]
  atomic_store(own[local_id.x], bitcast<i32>(x), acq_rel)
  let old = atomic_exchange(y[i], x, acq_rel) + atomic_and(y[i], 0xffff00ff, acq_rel)
  let was = atomic_cas(z[i], z[i], 5 + atomic_load(own[local_id.x], acq_rel), workgroup, acq_rel)
  y[i] ^= old
  z[i] -= was
  if x % 3 == 0 { atomic_or(low[x % 2], x, acq_rel) }
  barrier workgroup
  if local_id.x < 2 { atomic_xor(sum[workgroup_id.x % 8], low[local_id.x] + local_id.x, acq_rel) }
  atomic_max(most[i % 2], own[63 - local_id.x], acq_rel)
})"},
    {"all 64-bit atomics", &Profile::atomics64, 512, R"(
kernel t(a: in u64[], y: inout u64[], z: inout i64[], bits: out u64[3]) workgroup(64) grid(len(a)) {
  let i = global_id.x
  let x = a[i]
  y[i] = atomic_exchange(y[i], x) + atomic_sub(y[i], x / 3) + atomic_load(y[i])
  z[i] = atomic_cas(z[i], z[i], 5) * 3 + atomic_max(z[i], bitcast<i64>(x)) + atomic_load(z[i])
  atomic_or(bits[0], x & 0xff000000ff)
  atomic_xor(bits[1], x)
  atomic_and(bits[2], x)
})"},
    {"a trap that does not happen", nullptr, 500, R"(
kernel t(a: in u32[], y: out u32[len(a)]) workgroup(64) grid(len(a)) {
  assert(global_id.x < 100000, global_id.x)
  y[global_id.x] = a[global_id.x] + 1
})"},
    {"subgroups of 4", nullptr, 512, R"(
kernel t(a: in u32[], b: in i64[], sum: out u32[len(a)], wide: out i64[len(a)], votes: out u64[len(a)]) workgroup(8, 8) subgroup(4) grid(8, 64) {
  let i = global_id.y * 8 + global_id.x
  sum[i] = subgroup_scan_add(a[i]) + 3 * subgroup_max(a[i]) + lane_id
  wide[i] = subgroup_scan_add(b[i]) ^ subgroup_shuffle_down(b[i], 1) + subgroup_or(b[i])
  votes[i] = subgroup_ballot(a[i] % 3 == 0) + u64(subgroup_any(a[i] == 7))
})"},
    {"subgroups of 32", nullptr, 480, R"(
kernel t(a: in u32[], b: in u64[], sum: out u32[len(a)], wide: out u64[len(a)], votes: out u64[len(a)]) workgroup(48) subgroup(32) grid(len(a)) {
  let i = global_id.x
  sum[i] = subgroup_scan_add(a[i]) + 3 * subgroup_min(a[i]) + subgroup_shuffle(a[i], 31 - lane_id)
  wide[i] = subgroup_scan_add(b[i]) ^ subgroup_shuffle_up(b[i], 5) + subgroup_xor(b[i])
  votes[i] = subgroup_ballot(a[i] % 3 == 0) + u64(subgroup_all(a[i] != 7))
})"},
    {"subgroups where some are elsewhere", nullptr, 512, R"(
kernel t(a: in u32[], b: in u64[], y: out u32[len(a)], z: out u64[len(a)]) workgroup(64) grid(len(a)) {
  let i = global_id.x
  if subgroup_any(a[i] % 16 == 0) {
    y[i] = subgroup_add(a[i]) + subgroup_shuffle_xor(a[i], 1)
    z[i] = subgroup_max(b[i])
  } else {
    y[i] = subgroup_min(a[i])
    z[i] = subgroup_ballot(b[i] > 1000) + subgroup_broadcast(b[i], 2)
  }
})"},
    {"subgroups of floats", &Profile::float64, 512, R"(
kernel t(a: in f64[], b: in f32[], y: out f64[len(a)], z: out f64[len(a)], w: out f32[len(a)]) workgroup(64) grid(len(a)) {
  let i = global_id.x
  y[i] = subgroup_add(a[i]) - subgroup_scan_add(a[i])
  z[i] = subgroup_min(a[i]) + subgroup_shuffle_xor(a[i], 2)
  w[i] = subgroup_max(b[i]) + subgroup_scan_add(b[i]) + subgroup_min(b[i])
})"},
    {"many workgroups in three dimensions", nullptr, 1980, R"(
kernel t(a: in u32[], y: out u32[len(a)], ids: out u32[len(a)]) workgroup(2, 3, 1) grid(22, 9, 10) {
  let i = (global_id.z * 9 + global_id.y) * 22 + global_id.x
  y[i] = a[i] + workgroup_id.x + 100 * workgroup_id.y + 10000 * workgroup_id.z
  ids[i] = num_workgroups.x + 100 * num_workgroups.y + 10000 * num_workgroups.z + lane_id
})"},
    {"many parameters", nullptr, 200, R"(
kernel t(s: u32, f: f32, b: bool, w: u64, n: i8, a: in u32[], c: in u8[], d: in u16[], e: in u64[], g: in u32[],
         y: out u32[len(a)], z: out u64[len(a)]) workgroup(64) grid(len(a)) {
  let i = global_id.x
  y[i] = a[i] + u32(c[i]) * s + u32(d[i]) * bitcast<u32>(i32(n)) + bitcast<u32>(f) + u32(b)
  z[i] = e[i] * w + u64(g[i]) + u64(num_workgroups.x)
})"},
};

TestGroup group_of(const Kernel& k) {
  TestGroup g;
  g.name = k.name;
  g.needs = k.needs;
  g.elements = k.elements;
  g.program = kernel(k.source);
  for (const BufferId b : g.program.buffers.ids())
    if (is_host_output(g.program.buffers[b].role))
      g.rows.push_back({{}, "", g.program.buffers[b].name, b});
  return g;
}

}  // namespace

const std::vector<TestGroup>& profile_kernels() {
  static const auto& groups = *[] {
    // Corners with each other, and as many random numbers as there is time for.
    constexpr uint32_t most = 6144;
    auto* const list = new std::vector<TestGroup>(vulkan::self_test_groups());
    for (TestGroup& g : *list) g.elements = std::min(g.elements, most);
    for (const Kernel& k : more) list->push_back(group_of(k));
    return list;
  }();
  return groups;
}

}  // namespace vyre::driver
