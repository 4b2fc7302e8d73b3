#include "driver/vulkan/self_test_cases.h"

#include <fmt/format.h>

#include <cassert>

#include "text/parse.h"

namespace vyre::driver::vulkan {
namespace {

using emit_exact::Profile;

/// Corners with each other, and 10^5 random operands.
constexpr uint32_t many = 102'400;

struct Row {
  const char* flags;  // separated by blanks
  const char* key;
  const char* type;        // of the result
  const char* expression;  // of x, y, z: an element each of a, b, c
};

struct Group {
  const char* name;
  const char* types;  // of a, b and c, separated by blanks
  const char* needs;  // a flag, or ""
  std::vector<Row> rows;
};

ProfileFlag find_flag(std::string_view wanted) {
#define VYRE_FIELD(field, value, text) \
  if (wanted == #field) return &Profile::field;
  VYRE_PROFILE(VYRE_FIELD)
#undef VYRE_FIELD
  return nullptr;
}

std::vector<std::pair<ProfileFlag, std::string>> find_flags(std::string_view words) {
  std::vector<std::pair<ProfileFlag, std::string>> flags;
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    flags.emplace_back(find_flag(words.substr(0, end)), words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return flags;
}

const std::vector<Group>& arithmetic() {
  static const auto& groups = *new std::vector<Group>{
      {"f32",
       "f32 f32 f32",
       "",
       {{"add32 normal32", "add f32", "f32", "x + y"},
        {"add32 normal32", "sub f32", "f32", "x - y"},
        {"mul32 normal32", "mul f32", "f32", "x * y"},
        {"div32", "div f32", "f32", "x / y"},
        {"fma32 fused32", "fma f32", "f32", "fma(x, y, z)"},
        {"min_max32", "min f32", "f32", "min(x, y)"},
        {"min_max32", "max f32", "f32", "max(x, y)"},
        {"min_max32", "clamp f32", "f32", "clamp(x, y, z)"}}},
      {"f32 of one operand",
       "f32",
       "",
       {{"sqrt32", "sqrt f32", "f32", "sqrt(x)"},
        {"sqrt32", "rsqrt f32", "f32", "rsqrt(x)"},
        {"round32", "floor f32", "f32", "floor(x)"},
        {"round32", "ceil f32", "f32", "ceil(x)"},
        {"round32", "round f32", "f32", "round(x)"},
        {"round32", "trunc f32", "f32", "trunc(x)"},
        {"signs32", "neg f32", "f32", "-x"},
        {"signs32", "abs f32", "f32", "abs(x)"},
        {"signs32", "xor u32", "u32", "bitcast<u32>(x) ^ 0x80000000"},
        {"signs32", "and u32", "u32", "bitcast<u32>(x) & 0x7fffffff"},
        {"signs32", "or u32", "f32", "bitcast<f32>(bitcast<u32>(x) | 0x80000000)"},
        {"compare32", "is_nan f32", "u32", "u32(is_nan(x))"},
        {"compare32", "is_inf f32", "u32", "u32(is_inf(x))"}}},
      {"f32 comparisons",
       "f32 f32",
       "",
       {{"compare32", "eq f32", "u32", "u32(x == y)"},
        {"compare32", "ne f32", "u32", "u32(x != y)"},
        {"compare32", "lt f32", "u32", "u32(x < y)"},
        {"compare32", "le f32", "u32", "u32(x <= y)"},
        {"compare32", "gt f32", "u32", "u32(x > y)"},
        {"compare32", "ge f32", "u32", "u32(x >= y)"},
        {"compare32", "eq f32", "u32", "u32(x == x)"},
        {"zero_operands compare32", "lt f32", "u32", "u32(x < 0.0) + 2 * u32(0.0 < x) + 4 * u32(x == 0.0)"},
        {"compare32", "ge f32", "u32", "u32(x >= 1.0) + 2 * u32(x > bits(0x00000001))"},
        {"compare32", "cast bool f32", "u32", "u32(bool(x))"}}},
      {"f32 choices",
       "f32 f32",
       "",
       {{"choose32 compare32", "select f32", "f32", "select(x < y, x, y)"},
        {"choose32 compare32", "select f32", "f32", "select(x > y, x, y)"},
        {"choose32 compare32", "select f32", "f32", "select(x <= y, y, x)"},
        {"choose32 compare32", "select f32", "f32", "select(x < 0.0, 0.0, x)"},
        {"choose32 compare32", "select f32", "f32", "select(x >= 1.0, 1.0, x)"},
        {"choose32 compare32", "select f32", "f32", "select(x < 0.0, -x, x)"},
        {"choose32 compare32", "select f32", "f32", "select(x == 0.0, y, x)"}}},
      {"f32 with constants",
       "f32 f32",
       "",
       {{"zero_operands add32 normal32", "add f32", "f32", "x + 0.0"},
        {"zero_operands add32 normal32", "add f32", "f32", "-0.0 + x"},
        {"zero_operands add32 normal32", "sub f32", "f32", "0.0 - x"},
        {"zero_operands add32 normal32", "sub f32", "f32", "-0.0 - x"},
        {"zero_operands add32 normal32", "sub f32", "f32", "x - 0.0"},
        {"zero_operands mul32 normal32", "mul f32", "f32", "x * 0.0"},
        {"zero_operands mul32 normal32", "mul f32", "f32", "-0.0 * x"},
        {"mul32 normal32", "mul f32", "f32", "x * 1.0 + -1.0 * x"},
        {"add32 normal32", "sub f32", "f32", "x - x"},
        {"add32 normal32", "add f32", "f32", "(x + 1.0) - x"},
        {"mul32 normal32", "mul f32", "f32", "x * y + 3.0"},
        {"div32", "div f32", "f32", "x / x"},
        {"zero_operands div32", "div f32", "f32", "0.0 / x"},
        {"div32", "div f32", "f32", "1.0 / x"},
        {"div32", "div f32", "f32", "x / 3.0"},
        {"zero_operands min_max32", "max f32", "f32", "max(x, 0.0)"},
        {"zero_operands min_max32", "min f32", "f32", "min(-0.0, x)"},
        {"zero_operands fma32 fused32", "fma f32", "f32", "fma(x, y, 0.0)"},
        {"fma32 fused32", "fma f32", "f32", "fma(x, 1.0, y)"}}},
      {"f32 and integers",
       "f32 u32",
       "",
       {{"convert32", "cast i32 f32", "i32", "i32(x)"},
        {"convert32", "cast u32 f32", "u32", "u32(x)"},
        {"convert32", "cast u8 f32", "u32", "u32(u8(x))"},
        {"convert32", "cast i16 f32", "i32", "i32(i16(x))"},
        {"convert32", "cast f32 u32", "f32", "f32(y)"},
        {"convert32", "cast f32 i32", "f32", "f32(bitcast<i32>(y))"},
        {"convert32", "cast i64 f32", "i64", "i64(x)"},
        {"convert32", "cast u64 f32", "u64", "u64(x)"}}},
      {"f32 of 64-bit integers",
       "u64",
       "",
       {{"convert32", "cast f32 u64", "f32", "f32(x)"},
        {"convert32", "cast f32 i64", "f32", "f32(bitcast<i64>(x))"}}},
      {"f64",
       "f64 f64 f64",
       "float64",
       {{"add64", "add f64", "f64", "x + y"},
        {"add64", "sub f64", "f64", "x - y"},
        {"mul64", "mul f64", "f64", "x * y"},
        {"div64", "div f64", "f64", "x / y"},
        {"fma64", "fma f64", "f64", "fma(x, y, z)"},
        {"min_max64", "min f64", "f64", "min(x, y)"},
        {"min_max64", "max f64", "f64", "max(x, y)"},
        {"narrow", "cast f32 f64", "f32", "f32(x)"}}},
      {"f64 of one operand",
       "f64",
       "float64",
       {{"sqrt64", "sqrt f64", "f64", "sqrt(x)"},
        {"round64", "floor f64", "f64", "floor(x)"},
        {"round64", "ceil f64", "f64", "ceil(x)"},
        {"round64", "round f64", "f64", "round(x)"},
        {"round64", "trunc f64", "f64", "trunc(x)"},
        {"compare64", "neg f64", "f64", "-x"},
        {"compare64", "abs f64", "f64", "abs(x)"},
        {"compare64", "is_nan f64", "u32", "u32(is_nan(x)) + 2 * u32(is_inf(x))"},
        {"zero_operands add64", "add f64", "f64", "x + 0.0"},
        {"zero_operands add64", "sub f64", "f64", "0.0 - x"},
        {"zero_operands mul64", "mul f64", "f64", "x * 0.0"}}},
      {"f64 comparisons and conversions",
       "f64 f64 u64",
       "float64",
       {{"compare64", "eq f64", "u32", "u32(x == y) + 2 * u32(x != y)"},
        {"compare64", "lt f64", "u32", "u32(x < y) + 2 * u32(x <= y)"},
        {"compare64", "gt f64", "u32", "u32(x > y) + 2 * u32(x >= y) + 4 * u32(x == 0.0)"},
        {"convert64", "cast i32 f64", "i32", "i32(x)"},
        {"convert64", "cast u32 f64", "u32", "u32(x)"},
        {"convert64", "cast i64 f64", "i64", "i64(x)"},
        {"convert64", "cast u64 f64", "u64", "u64(x)"},
        {"convert64", "cast f64 u64", "f64", "f64(z)"},
        {"convert64", "cast f64 i64", "f64", "f64(bitcast<i64>(z))"},
        {"convert64", "cast f64 u32", "f64", "f64(u32(z))"}}},
      {"f64 from f32", "f32", "float64", {{"widen", "cast f64 f32", "f64", "f64(x)"}}},
      {"u32",
       "u32 u32 u32",
       "",
       {{"bits", "clz u32", "u32", "clz(x)"},
        {"bits", "ctz u32", "u32", "ctz(x)"},
        {"bits", "popcount u32", "u32", "popcount(x)"},
        {"bits", "reverse_bits u32", "u32", "reverse_bits(x)"},
        {"bits", "extract u32", "u32", "extract(x, y % 40, z % 40)"},
        {"bits", "insert u32", "u32", "insert(x, y, z % 40, (z >> 8) % 40)"},
        {"bits", "extract i32", "i32", "extract(bitcast<i32>(x), y % 40, z % 40)"},
        {"", "rotl u32", "u32", "rotl(x, y)"},
        {"", "mulhi u32", "u32", "mulhi(x, y)"},
        {"", "div u32", "u32", "x / y"},
        {"", "rem u32", "u32", "x % y"},
        {"", "shl u32", "u32", "x << y"},
        {"", "sat_add u32", "u32", "sat_add(x, y)"}}},
      {"i32",
       "i32 i32",
       "",
       {{"", "div i32", "i32", "x / y"},
        {"", "rem i32", "i32", "x % y"},
        {"", "mulhi i32", "i32", "mulhi(x, y)"},
        {"", "shr i32", "i32", "x >> y"},
        {"", "sat_sub i32", "i32", "sat_sub(x, y)"},
        {"", "min i32", "i32", "min(x, y)"},
        {"", "abs i32", "i32", "abs(x)"}}},
      {"u64",
       "u64 u64",
       "",
       {{"int64", "add u64", "u64", "x + y"},
        {"int64", "mul u64", "u64", "x * y"},
        {"int64", "div u64", "u64", "x / y"},
        {"int64", "rem u64", "u64", "x % y"},
        {"int64", "shl u64", "u64", "x << y"},
        {"int64", "shr u64", "u64", "x >> y"},
        {"int64", "clz u64", "u64", "clz(x)"},
        {"int64", "lt u64", "u32", "u32(x < y)"},
        {"int64", "div i64", "i64", "bitcast<i64>(x) / bitcast<i64>(y)"},
        {"int64", "shr i64", "i64", "bitcast<i64>(x) >> bitcast<i64>(y)"}}},
      {"8- and 16-bit elements",
       "u8 u16 u32",
       "",
       {{"storage8", "store u8", "u8", "x + u8(z)"},
        {"storage8", "store i8", "i8", "i8(z) - bitcast<i8>(x)"},
        {"storage8", "store bool", "bool", "(z & 3) == u32(x) % 4"},
        {"storage16", "store u16", "u16", "y * u16(x)"},
        {"storage16", "store i16", "i16", "i16(z) / bitcast<i16>(y)"}}},
      {"f16 and bf16 elements",
       "f16 bf16 f32",
       "",
       {{"storage16", "store f16", "f16", "z"},
        {"storage16", "store bf16", "bf16", "z"},
        {"storage16", "load f16", "f32", "x"},
        {"storage16", "load bf16", "f32", "y"}}},
  };
  return groups;
}

/// Kernels that are more than one expression an element.
struct Whole {
  const char* name;
  const char* needs;
  uint32_t elements;  // 0: as many as of one expression
  const char* source;
  std::vector<Row> rows;  // type: the name of the output
};

const std::vector<Whole>& wholes() {
  static const auto& kernels = *new std::vector<Whole>{
      {"lane numbers", "", 512, R"(
kernel t(a: in u32[], lane: out u32[len(a)], first: out u32[len(a)]) workgroup(8, 8, 2) grid(8, 8, 8) {
  let l = (workgroup_id.z * 2 + local_id.z) * 64 + local_id.y * 8 + local_id.x
  lane[l] = lane_id
  first[l] = subgroup_broadcast(a[l], 0)
})",
       {{"linear_lanes", "lane_id", "lane", "lane_id"},
        {"linear_lanes", "subgroup_broadcast u32", "first", "subgroup_broadcast(x, 0)"}}},
      {"lane numbers of odd workgroups", "", 576, R"(
kernel t(a: in u32[], lane: out u32[len(a)], first: out u32[len(a)]) workgroup(6, 3, 2) grid(6, 3, 32) {
  let l = (workgroup_id.z * 2 + local_id.z) * 18 + local_id.y * 6 + local_id.x
  lane[l] = lane_id
  first[l] = subgroup_broadcast(a[l], 0) + subgroup_add(a[l] & 0xff)
})",
       {{"linear_lanes", "lane_id", "lane", "lane_id"},
        {"linear_lanes", "subgroup_broadcast u32", "first", "subgroup_broadcast(x, 0)"}}},
      {"ordered atomics", "", 64, R"(
kernel t(a: in u32[], y: out u32[len(a)]) workgroup(64) grid(len(a)) {
  shared own: u32[64]
  for n in 0..local_id.x { atomic_add(own[local_id.x], n, acq_rel) }
  barrier workgroup
  y[global_id.x] = own[63 - local_id.x] + a[global_id.x]
})",
       {{"ordered_atomics", "atomic_add u32", "y", "atomic_add(x, n, acq_rel) in a loop"}}},
      {"loops that end by f32", "", 0, R"(
kernel t(a: in f32[], b: in f32[], y: out u32[len(a)]) workgroup(64) grid(len(a)) {
  let i = global_id.x
  var x = a[i]
  var n: u32 = 0
  while n < 4 && x < b[i] {
    x = b[i] - x
    n += 1
  }
  y[i] = n
})",
       {{"compare32", "lt f32", "y", "while n < 4 && x < y"}}},
      {"long loops", "", 64, R"(
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
      {"subgroups", "", 1024, R"(
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
      {"subgroups of 64-bit values", "", 1024, R"(
kernel t(a: in u64[], sum: out u64[len(a)], shuffle: out u64[len(a)]) workgroup(128) grid(len(a)) {
  let i = global_id.x
  sum[i] = subgroup_add(a[i]) ^ subgroup_min(a[i])
  shuffle[i] = subgroup_shuffle_xor(a[i], 1) + subgroup_broadcast(a[i], 0)
})",
       {{"subgroup_extended_types", "subgroup_add u64", "sum", "subgroup_add and min of u64"},
        {"subgroup_extended_types", "subgroup_shuffle_xor u64", "shuffle", "shuffles of u64"}}},
      {"atomics", "", 2048, R"(
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
      {"64-bit atomics", "atomics64", 2048, R"(
kernel t(a: in u64[], add: out u64[4], high: out u64[4], low: inout i64[4]) workgroup(64) grid(len(a)) {
  let i = global_id.x
  atomic_add(add[i % 4], a[i])
  atomic_max(high[i % 4], a[i])
  atomic_min(low[i % 4], bitcast<i64>(a[i]))
})",
       {{"atomics64", "atomic_add u64", "add", "atomic_add"},
        {"atomics64", "atomic_max u64", "high", "atomic_max"},
        {"atomics64", "atomic_min i64", "low", "atomic_min"}}},
      {"64-bit atomics in shared memory", "shared_atomics64", 2048, R"(
kernel t(a: in u64[], sums: out u64[32]) workgroup(64) grid(len(a)) {
  shared tile: u64[2]
  atomic_add(tile[global_id.x % 2], a[global_id.x])
  barrier workgroup
  if local_id.x == 0 { sums[workgroup_id.x] = tile[0] ^ tile[1] }
})",
       {{"shared_atomics64", "atomic_add u64", "sums", "atomic_add in shared memory"}}},
      {"float atomics", "", 1024, R"(
kernel t(a: in u32[], sum: out f32[4], sums: out f32[16]) workgroup(64) grid(len(a)) {
  shared tile: f32[1]
  atomic_add(sum[global_id.x % 4], f32(a[global_id.x] % 1024) * 0.25)
  atomic_add(tile[0], f32(a[global_id.x] % 512))
  barrier workgroup
  if local_id.x == 0 { sums[workgroup_id.x] = tile[0] }
})",
       {{"float_atomic_add", "atomic_add f32", "sum", "atomic_add"},
        {"float_atomic_add", "atomic_add f32", "sums", "atomic_add in shared memory"}}},
      {"narrow elements in shared memory", "", 1024, R"(
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

TestGroup group_of(const Group& g) {
  std::string parameters, body = "  let i = global_id.x\n", stores;
  const std::string_view types = g.types;
  size_t at = 0;
  uint32_t inputs = 0;
  while (at < types.size()) {
    const size_t end = std::min(types.find(' ', at), types.size());
    parameters += fmt::format("{}: in {}[], ", "abc"[inputs], types.substr(at, end - at));
    body += fmt::format("  let {} = {}[i]\n", "xyz"[inputs], "abc"[inputs]);
    ++inputs;
    at = end + 1;
  }
  TestGroup made;
  made.name = g.name;
  made.needs = find_flag(g.needs);
  made.elements = many;
  for (size_t i = 0; i < g.rows.size(); ++i) {
    const Row& r = g.rows[i];
    parameters += fmt::format("{}r{}: out {}[len(a)]", i ? ", " : "", i, r.type);
    stores += fmt::format("  r{}[i] = {}\n", i, r.expression);
    made.rows.push_back({find_flags(r.flags), r.key, r.expression, inputs + uint32_t(i)});
  }
  made.program = self_test_program(fmt::format(
      "kernel t({}) workgroup(64) grid(len(a)) {{\n{}{}}}", parameters, body, stores));
  return made;
}

TestGroup group_of(const Whole& w) {
  TestGroup made;
  made.name = w.name;
  made.needs = find_flag(w.needs);
  made.elements = w.elements ? w.elements : many;
  made.program = self_test_program(w.source);
  for (const Row& r : w.rows)
    for (uint32_t b = 0; b < made.program.buffers.size(); ++b)
      if (made.program.buffers[b].name == r.type)
        made.rows.push_back({find_flags(r.flags), r.key, r.expression, b});
  return made;
}

}  // namespace

Program self_test_program(const std::string& source) {
  ParseOutcome r = parse(source);
  assert(r.module && "a kernel of the self-test does not parse");
  return r.module ? std::move(r.module->kernels[0]) : Program{};
}

std::vector<TestGroup> self_test_groups() {
  std::vector<TestGroup> groups;
  for (const Whole& w : wholes()) groups.push_back(group_of(w));
  for (const Group& g : arithmetic()) groups.push_back(group_of(g));
  return groups;
}

}  // namespace vyre::driver::vulkan
