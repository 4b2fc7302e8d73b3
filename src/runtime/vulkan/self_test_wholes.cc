// Kernels that are more than an expression: lanes, loops, control flow, subgroups, atomics, shared
// memory.

#include "runtime/vulkan/self_test_tables.h"

namespace vyre::driver::vulkan {

const std::vector<Whole>& self_test_wholes() {
  static const auto& kernels = *new std::vector<Whole>{
      {"lane numbers",
       "",
       512,
       R"(
kernel t(a: in u32[], lane: out u32[len(a)], first: out u32[len(a)]) workgroup(8, 8, 2) grid(8, 8, 8) {
  let l = (workgroup_id.z * 2 + local_id.z) * 64 + local_id.y * 8 + local_id.x
  lane[l] = lane_id
  first[l] = subgroup_broadcast(a[l], 0)
})",
       {{"linear_lanes", "lane_id", "lane", "lane_id"},
        {"linear_lanes", "subgroup_broadcast u32", "first", "subgroup_broadcast(x, 0)"}}},
      {"lane numbers of odd workgroups",
       "",
       576,
       R"(
kernel t(a: in u32[], lane: out u32[len(a)], first: out u32[len(a)]) workgroup(6, 3, 2) grid(6, 3, 32) {
  let l = (workgroup_id.z * 2 + local_id.z) * 18 + local_id.y * 6 + local_id.x
  lane[l] = lane_id
  first[l] = subgroup_broadcast(a[l], 0) + subgroup_add(a[l] & 0xff)
})",
       {{"linear_lanes", "lane_id", "lane", "lane_id"},
        {"linear_lanes", "subgroup_broadcast u32", "first", "subgroup_broadcast(x, 0)"}}},
      // Loads by inactive invocations find zeros in memory.
      {"loops with barriers of odd workgroups",
       "",
       518,
       R"(
kernel t(a: in u32[], y: out u32[len(a)]) workgroup(37) grid(len(a)) {
  let first = a[workgroup_id.x] % 6 + 1
  var n: u32 = first
  while n < 8 {
    barrier workgroup
    n += 1
  }
  y[global_id.x] = a[global_id.x] + n * 16 + first
})",
       {{"partial_subgroups", "while", "y", "while n < 8 { barrier workgroup … } of 37"}}},
      {"ordered atomics",
       "",
       64,
       R"(
kernel t(a: in u32[], y: out u32[len(a)]) workgroup(64) grid(len(a)) {
  shared own: u32[64]
  for n in 0..local_id.x { atomic_add(own[local_id.x], n, acq_rel) }
  barrier workgroup
  y[global_id.x] = own[63 - local_id.x] + a[global_id.x]
})",
       {{"ordered_atomics", "atomic_add u32", "y", "atomic_add(x, n, acq_rel) in a loop"}}},
      // These comparisons stay as they are where all others are legalized, so only they can reveal
      // it.
      {"loops that end by f32",
       "",
       0,
       R"(
kernel t(a: in f32[], b: in f32[], y: out u32[len(a)], u: out u32[len(a)], v: out u32[len(a)],
         z: out u32[len(a)], w: out u32[len(a)]) workgroup(64) grid(len(a)) {
  let i = global_id.x
  let end = b[i]
  var x = a[i]
  var n: u32 = 0
  while n < 4 && x < end {
    x = end - x
    n += 1
  }
  y[i] = n
  x = a[i]
  n = 0
  while n < 4 && (x >= end || x == 0.0) {
    x = bitcast<f32>(bitcast<u32>(x) ^ (0x80000000 >> n))
    n += 1
  }
  u[i] = n
  x = a[i]
  n = 0
  while n < 4 && bool(x) {
    x = bitcast<f32>(bitcast<u32>(x) >> 12)
    n += 1
  }
  v[i] = n
  x = a[i]
  n = 0
  while n < 4 && x < 0.75 {
    x += 0.25
    n += 1
  }
  z[i] = n
  n = 0
  while -0.75 <= x && n < 9 {
    x -= 0.25
    n += 1
  }
  w[i] = n
})",
       {{"compare32", "lt f32", "y", "while n < 4 && x < y"},
        {"compare32", "ge f32", "u", "while n < 4 && (x >= y || x == 0.0)"},
        {"compare32", "cast bool f32", "v", "while n < 4 && bool(x)"},
        {"compare32 compare_normal32 choose32", "lt f32", "z", "while n < 4 && x < 0.75"},
        {"compare32 compare_normal32 choose32", "le f32", "w", "while -0.75 <= x && n < 9"}}},
      {"f32 choices by flow",
       "",
       0,
       R"(
kernel t(a: in f32[], y: out f32[len(a)], z: out f32[len(a)], w: out f32[len(a)]) workgroup(64) grid(len(a)) {
  let i = global_id.x
  var x = a[i]
  if x > 1.0 { x = 1.0 }
  y[i] = x
  var once = a[i]
  while once < -1.0 { once = -1.0 }
  z[i] = once
  var kept = 2.0
  if a[i] <= 2.0 { kept = a[i] }
  w[i] = kept
})",
       {{"choose32 compare32 compare_normal32", "gt f32", "y", "if x > 1.0 { x = 1.0 }"},
        {"choose32 compare32 compare_normal32", "lt f32", "z", "while x < -1.0 { x = -1.0 }"},
        {"choose32 compare32 compare_normal32", "le f32", "w", "if x <= 2.0 { y = x }"}}},
      {"long loops",
       "",
       64,
       R"(
kernel t(a: in u32[], y: out u32[len(a)]) workgroup(64) grid(len(a)) {
  var n: u32 = 0
  var x = a[global_id.x] | 1
  while n < 200000 + local_id.x {
    x = x * 5 + n
    n += 1
  }
  y[global_id.x] = x
})",
       {{"long_loops", "while", "y", "200,000 rounds"}}},
      {"subgroups",
       "",
       1024,
       R"(
kernel t(a: in u32[], f: in f32[], sum: out u32[len(a)], low: out i32[len(a)], both: out u32[len(a)],
         scan: out u32[len(a)], ballot: out u64[len(a)], vote: out u32[len(a)], shuffle: out u32[len(a)],
         updown: out u32[len(a)], some: out u32[len(a)], floats: out f32[len(a)]) workgroup(128) grid(len(a)) {
  let i = global_id.x
  let x = a[i]
  sum[i] = subgroup_add(x)
  low[i] = subgroup_min(bitcast<i32>(x)) + subgroup_max(i32(x >> 3))
  both[i] = subgroup_and(x | 7) ^ subgroup_or(x & 0xff00) ^ subgroup_xor(x)
  scan[i] = subgroup_scan_add(x)
  ballot[i] = subgroup_ballot((x & 1) != 0)
  vote[i] = u32(subgroup_any(x % 7 == 3)) + 2 * u32(subgroup_all(x != 0))
  shuffle[i] = subgroup_shuffle(x, (x >> 5) % subgroup_size) + subgroup_shuffle_xor(x, 3)
  updown[i] = subgroup_shuffle_up(x, 2) * 3 + subgroup_shuffle_down(x, 1)
  some[i] = subgroup_add(x) + subgroup_broadcast(x, 1)
  floats[i] = subgroup_add(f[i] * 0.001) + subgroup_max(f[i])
})",
       {{"subgroup_shuffle", "subgroup_add u32", "sum", "subgroup_add(x)"},
        {"subgroup_shuffle", "subgroup_min i32", "low", "subgroup_min and max"},
        {"subgroup_shuffle", "subgroup_and u32", "both", "subgroup_and, or, xor"},
        {"subgroup_shuffle", "subgroup_scan_add u32", "scan", "subgroup_scan_add(x)"},
        {"subgroup_shuffle", "subgroup_ballot", "ballot", "subgroup_ballot(c)"},
        {"subgroup_shuffle", "subgroup_any", "vote", "subgroup_any and all"},
        {"subgroup_shuffle", "subgroup_shuffle u32", "shuffle", "subgroup_shuffle and _xor"},
        {"subgroup_shuffle", "subgroup_shuffle_up u32", "updown", "subgroup_shuffle_up and _down"},
        {"subgroup_shuffle", "subgroup_broadcast u32", "some", "subgroup_broadcast(x, 1)"},
        {"subgroup_shuffle", "subgroup_add f32", "floats", "subgroup_add and max of f32"}}},
      {"subgroups of 64-bit values",
       "",
       1024,
       R"(
kernel t(a: in u64[], sum: out u64[len(a)], shuffle: out u64[len(a)]) workgroup(128) grid(len(a)) {
  let i = global_id.x
  sum[i] = subgroup_add(a[i]) ^ subgroup_min(a[i])
  shuffle[i] = subgroup_shuffle_xor(a[i], 1) + subgroup_broadcast(a[i], 0)
})",
       {{"subgroup_extended_types", "subgroup_add u64", "sum", "subgroup_add and min of u64"},
        {"subgroup_extended_types", "subgroup_shuffle_xor u64", "shuffle", "shuffles of u64"}}},
      {"atomics",
       "",
       2048,
       R"(
kernel t(a: in u32[], add: out u32[4], low: inout i32[4], high: out u32[4], bits: inout u32[4], swap: out u32[len(a)],
         tiles: out u32[32]) workgroup(64) grid(len(a)) {
  shared tile: u32[4]
  let i = global_id.x
  let x = a[i]
  atomic_add(add[i % 4], x)
  atomic_sub(add[(i + 1) % 4], x * 3)
  atomic_min(low[i % 4], bitcast<i32>(x))
  atomic_max(high[i % 4], x)
  atomic_xor(bits[i % 4], x)
  atomic_or(bits[3], x & 0xff)
  atomic_cas(swap[i], 0, x)
  atomic_add(tile[i % 4], x & 0xffff)
  barrier workgroup
  if local_id.x == 0 { tiles[workgroup_id.x] = tile[0] + 3 * tile[1] + 5 * tile[2] + 7 * tile[3] }
})",
       {{"", "atomic_add u32", "add", "atomic_add and sub"},
        {"", "atomic_min i32", "low", "atomic_min"},
        {"", "atomic_max u32", "high", "atomic_max"},
        {"", "atomic_xor u32", "bits", "atomic_xor and or"},
        {"", "atomic_cas u32", "swap", "atomic_cas"},
        {"", "atomic_add u32", "tiles", "atomic_add in shared memory"}}},
      {"64-bit atomics",
       "atomics64",
       2048,
       R"(
kernel t(a: in u64[], add: out u64[4], high: out u64[4], low: inout i64[4]) workgroup(64) grid(len(a)) {
  let i = global_id.x
  atomic_add(add[i % 4], a[i])
  atomic_max(high[i % 4], a[i])
  atomic_min(low[i % 4], bitcast<i64>(a[i]))
})",
       {{"atomics64", "atomic_add u64", "add", "atomic_add"},
        {"atomics64", "atomic_max u64", "high", "atomic_max"},
        {"atomics64", "atomic_min i64", "low", "atomic_min"}}},
      {"64-bit atomics in shared memory",
       "shared_atomics64",
       2048,
       R"(
kernel t(a: in u64[], sums: out u64[32]) workgroup(64) grid(len(a)) {
  shared tile: u64[2]
  atomic_add(tile[global_id.x % 2], a[global_id.x])
  barrier workgroup
  if local_id.x == 0 { sums[workgroup_id.x] = tile[0] ^ tile[1] }
})",
       {{"shared_atomics64", "atomic_add u64", "sums", "atomic_add in shared memory"}}},
      {"float atomics",
       "",
       1024,
       R"(
kernel t(a: in u32[], sum: out f32[4], sums: out f32[16]) workgroup(64) grid(len(a)) {
  shared tile: f32[1]
  atomic_add(sum[global_id.x % 4], f32(a[global_id.x] % 1024) * 0.25)
  atomic_add(tile[0], f32(a[global_id.x] % 512))
  barrier workgroup
  if local_id.x == 0 { sums[workgroup_id.x] = tile[0] }
})",
       {{"float_atomic_add", "atomic_add f32", "sum", "atomic_add"},
        {"float_atomic_add", "atomic_add f32", "sums", "atomic_add in shared memory"}}},
      {"narrow elements in shared memory",
       "",
       1024,
       R"(
kernel t(a: in u32[], y: out u32[len(a)]) workgroup(64) grid(len(a)) {
  shared b: u8[64]
  shared h: i16[64]
  let l = local_id.x
  b[l] = u8(a[global_id.x])
  h[63 - l] = i16(a[global_id.x] >> 8)
  barrier workgroup
  y[global_id.x] = u32(b[(l * 5 + 1) % 64]) ^ bitcast<u32>(i32(h[(l * 3) % 64]))
})",
       {{"shared_bytes", "store u8", "y", "u8 and i16 in shared memory"}}},
  };
  return kernels;
}

}  // namespace vyre::driver::vulkan
