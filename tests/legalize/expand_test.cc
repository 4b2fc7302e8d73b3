// expand() as a whole: unchanged programs, refused programs, and programs with special structure.

#include "legalize/expand.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "check/check.h"
#include "ir/expand_functions.h"
#include "tests/legalize/judge_util.h"
#include "text/parse.h"
#include "wire/fingerprint.h"

namespace vyre::emit_exact {
namespace {

Program kernel_of(const std::string& text) {
  const ParseOutcome parsed = parse(text, {.file_name = "k.vyre"});
  EXPECT_TRUE(parsed.module) << parsed.diagnostics[0].message;
  for (const Diagnostic& d : check(*parsed.module))
    EXPECT_NE(d.severity, Severity::Error) << d.message;
  Program p = parsed.module->kernels[0];
  expand_functions(p);
  return p;
}

/// Inputs by buffer: numbers of the element's type; lengths for outputs that need one.
LaunchInputs inputs_of(const Program& p, const std::vector<std::vector<uint64_t>>& values,
                       uint64_t length = 0) {
  LaunchInputs in;
  in.data.resize(p.buffers.size());
  in.lengths.resize(p.buffers.size());
  size_t next = 0;
  for (size_t b = 0; b < p.buffers.size(); ++b) {
    const Buffer& buffer = p.buffers[b];
    if (is_host_input(buffer.role)) {
      const size_t size = size_of(buffer.element);
      std::vector<std::byte> bytes(values[next].size() * size);
      for (size_t i = 0; i < values[next].size(); ++i)
        std::memcpy(&bytes[i * size], &values[next][i], size);
      in.data[b] = std::move(bytes);
      ++next;
    } else if (buffer.role == Role::Out && buffer.count == no_formula) {
      in.lengths[b] = length;
    }
  }
  return in;
}

TEST(exact_expand, leaves_a_program_alone_that_the_device_can_run) {
  const Program p = kernel_of(R"(
kernel k(x: in f32[], y: out f64[len(x)]) workgroup(64) grid(len(x)) {
  let i = global_id.x
  y[i] = f64(fma(x[i], 2.0, sqrt(x[i]))) / 3.0
})");
  const auto same = expand(p, Profile{});
  ASSERT_TRUE(same);
  EXPECT_EQ(fingerprint(*same), fingerprint(p));
  const auto other = expand(p, profile_of("-fma32 -fused32"));
  ASSERT_TRUE(other);
  EXPECT_NE(fingerprint(*other), fingerprint(p));
}

TEST(exact_expand, new_ops_have_the_place_of_the_old_one) {
  const Program p = kernel_of(R"(
kernel k(x: in f32[], y: out f32[len(x)]) workgroup(64) grid(len(x)) {
  let i = global_id.x
  y[i] =
    fma(x[i], 2.0, 1.0)
})");
  const auto expanded = expand(p, profile_of("-fma32 -fused32"));
  ASSERT_TRUE(expanded);
  uint32_t muls = 0;
  walk(*expanded, [&](OpId id) {
    if (expanded->op(id).code != Opcode::Mul) return;
    ++muls;
    EXPECT_EQ(expanded->place(expanded->op(id).loc).line, 5u);
  });
  EXPECT_EQ(muls, 2u);
}

TEST(exact_expand, f64_without_f64_is_refused_with_its_line) {  // V0734
  const Program p = kernel_of(R"(
kernel k(x: in f32[], y: out f32[len(x)]) workgroup(64) grid(len(x)) {
  let i = global_id.x
  y[i] = f32(f64(x[i]) * 2.0)
})");
  for (const char* words : {"-float64", "-int64", "weak"}) {
    const auto refused = expand(p, profile_of(words));
    ASSERT_FALSE(refused) << words;
    const Diagnostic& d = refused.errors()[0];
    EXPECT_EQ(to_string(d.code), "V0734");
    EXPECT_EQ(d.place.line, 4u);
    EXPECT_NE(d.message.find("f64"), std::string::npos) << d.message;
  }
  EXPECT_TRUE(expand(p, profile_of("-atomics64")));
}

TEST(exact_expand, an_f64_buffer_that_nobody_reads_is_no_reason_to_refuse) {
  const Program p = kernel_of(R"(
kernel k(x: in f64[], n: u64, y: out u64[len(x)]) workgroup(64) grid(len(x)) {
  y[global_id.x] = n + u64(len(x))
})");
  EXPECT_EQ(judge(p, inputs_of(p, {{1, 2, 3}, {0xfffffffful}}), profile_of("weak")), "");
}

TEST(exact_expand, atomics_of_64_bits_without_them_are_refused) {  // V0734
  const Program global = kernel_of(R"(
kernel k(y: inout u64[]) workgroup(64) grid(64) {
  atomic_add(y[0], 1)
})");
  const Program shared = kernel_of(R"(
kernel k(y: inout u64[]) workgroup(64) grid(64) {
  shared t: u64[1]
  atomic_add(t[0], 1)
  barrier workgroup
  y[global_id.x] = t[0]
})");
  for (const char* words : {"-atomics64", "-int64"})
    EXPECT_FALSE(expand(global, profile_of(words))) << words;
  for (const char* words : {"-shared_atomics64", "-int64"})
    EXPECT_FALSE(expand(shared, profile_of(words))) << words;
  EXPECT_TRUE(expand(global, profile_of("-shared_atomics64")));
  EXPECT_TRUE(expand(shared, profile_of("-atomics64")));
}

TEST(exact_expand, loops_that_count_in_64_bits_end_where_they_should) {
  const Program p = kernel_of(R"(
kernel k(lo: in i64[], hi: in i64[], s: in i64[], y: out i64[len(lo)], z: out u64[len(lo)]) workgroup(64) grid(len(lo)) {
  let i = global_id.x
  var sum: i64 = 0
  for k in lo[i]..hi[i] step s[i] {
    if k % 7 == 3 { continue }
    sum += k
    if sum % 1001 == 17 { break }
    for m in u64(k)..u64(k) + 5 step 2 { sum ^= i64(m) }
  }
  y[i] = sum
  var n: u64 = 0
  for k in u64(lo[i])..u64(hi[i]) step u64(s[i]) {
    n += k ^ 5
    if n > 0xffff000000000000 { break }
    if n % 3 == 0 { continue }
    n += 1
  }
  z[i] = n
})");
  const uint64_t max = ~0ull >> 1, min = 1ull << 63;
  const std::vector<uint64_t> lo = {0, max - 20,   min,     ~0ull - 30, 5,  9,
                                    0, 0xfffffff0, max - 3, ~0ull - 9,  100};
  const std::vector<uint64_t> hi = {50, max, min + 40, 11, 5, 3, 10, 0x10000000f, max, ~0ull, 200};
  const std::vector<uint64_t> step = {1, 7, 3, 4, 1, 1, 0, 1, max, max, ~0ull};
  for (const char* words : {"-int64", "weak"})
    EXPECT_EQ(judge(p, inputs_of(p, {lo, hi, step}), profile_of(words)), "") << words;
}

TEST(exact_expand, memory_of_64_bits_is_checked_once_for_both_halves) {
  const Program p = kernel_of(R"(
const table: u64[3] = [0x0123456789abcdef, 1, 0xffffffff00000000]
kernel k(x: in u64[], at: in i64[], w: in u64[], b: in u8[], y: inout u64[], r: out u64[len(at) * 8]) workgroup(32) grid(len(at)) {
  shared t: u64[32]
  var own: i64[3]
  let i = global_id.x
  let j = at[i]
  t[local_id.x] = x[w[i]] ^ x[j]
  own[j] = j
  barrier workgroup
  y[j + 1] = x[j] + 1
  r[i * 8] = x[j]
  r[i * 8 + 1] = x[w[i]]
  r[i * 8 + 2] = t[j]
  r[i * 8 + 3] = table[w[i]]
  r[i * 8 + 4] = u64(own[j]) ^ u64(own[2])
  r[i * 8 + 5] = load_as<u64>(b, j)
  r[i * 8 + 6] = u64(b[w[i]]) ^ u64(b[j]) << 8
  r[i * 8 + 7] = len64(x) ^ len64(b) << 20 ^ u64(len(y)) << 40
})");
  std::vector<uint64_t> x, at, w, b, y;
  for (uint64_t i = 0; i < 20; ++i)
    x.push_back(i * 0x123456789abcdull), y.push_back(~i), b.push_back(i * 37);
  for (const int64_t j : {0l,          1l,           2l,           3l,
                          11l,         12l,          13l,          18l,
                          19l,         20l,          21l,          -1l,
                          -2l,         0x100000000l, 0x100000001l, 0x7fffffffffffffffl,
                          0x80000000l, 0xffffffffl,  0xfffffffel,  0x7fffffffl}) {
    at.push_back(uint64_t(j));
    w.push_back(uint64_t(j) ^ (at.size() % 5 == 0 ? 0x100000000ull : 0));
  }
  for (const char* words : {"-int64", "weak"})
    EXPECT_EQ(judge(p, inputs_of(p, {x, at, w, b, y}), profile_of(words)), "") << words;
}

TEST(exact_expand, scalars_and_carried_values_of_64_bits) {
  const Program p = kernel_of(R"(
kernel k(n: u64, m: i64, low: u32, x: in u64[], y: out u64[len(x) + low]) workgroup(16) grid(len(x)) {
  let i = global_id.x
  var a: u64 = n
  var c: i64 = m
  if x[i] % 2 == 0 {
    a = x[i]
  } else {
    c = i64(x[i])
  }
  while a > 1 {
    if a % 2 == 0 { a /= 2 } else { a = 3 * a + 1 }
    c -= 1
    if c < -100 { break }
  }
  y[i] = a ^ u64(c)
})");
  for (const char* words : {"-int64", "weak"})
    EXPECT_EQ(
        judge(p,
              inputs_of(
                  p,
                  {{0xdeadbeef12345678}, {~0ull - 5}, {3}, {7, 8, 9, 27, 1ull << 40, 0xfffffffff}}),
              profile_of(words)),
        "")
        << words;
}

TEST(exact_expand, reductions_where_lanes_are_absent) {
  for (const uint32_t invocations : {1, 3, 5, 8, 13, 31, 32, 33, 45, 64})
    for (const uint32_t size : {2, 4, 8, 32, 64}) {
      const Program p = kernel_of(fmt::format(R"(
kernel k(x: in f32[], w: in u64[], y: out f32[len(x) * 4], z: out u64[len(x) * 8]) workgroup({}) subgroup({}) grid(len(x)) {{
  let i = global_id.x
  let v = x[i]
  y[i * 4] = subgroup_add(v)
  y[i * 4 + 1] = subgroup_min(v)
  y[i * 4 + 2] = subgroup_max(v)
  y[i * 4 + 3] = subgroup_scan_add(v)
  let u = w[i]
  z[i * 8] = subgroup_add(u)
  z[i * 8 + 1] = subgroup_min(u)
  z[i * 8 + 2] = u64(subgroup_max(i64(u)))
  z[i * 8 + 3] = subgroup_and(u)
  z[i * 8 + 4] = subgroup_scan_add(u)
  z[i * 8 + 5] = subgroup_ballot(u % 3 == 0)
  z[i * 8 + 6] = subgroup_shuffle(u, u32(u) % 70)
  z[i * 8 + 7] = subgroup_broadcast(u, 1) ^ subgroup_shuffle_down(u, 3)
}})",
                                              invocations, size));
      const uint64_t n = invocations * 2;
      std::vector<uint64_t> x, w;
      for (uint64_t i = 0; i < n; ++i) {
        const uint64_t r = (i + 1) * 0x9e3779b97f4a7c15ull;
        x.push_back(i % 9 == 4    ? 0x80000000u
                    : i % 11 == 5 ? 0x7fc00000u
                    : i % 5 == 1  ? r >> 42
                                  : 0x3f000000u + (r >> 36));
        w.push_back(r ^ r >> 31);
      }
      for (const char* words :
           {"full", "-int64", "-subgroup_extended_types", "-add32 -min_max32 -compare32", "weak"})
        EXPECT_EQ(judge(p, inputs_of(p, {x, w}), profile_of(words)), "")
            << words << " " << invocations << " by " << size;
    }
}

TEST(exact_expand, a_reduction_is_as_uniform_as_it_was) {
  const Program p = kernel_of(R"(
kernel k(x: in f32[], y: out f32[len(x)]) workgroup(64) subgroup(32) grid(len(x)) {
  let i = global_id.x
  let most = subgroup_max(x[i])
  var n: f32 = 0.0
  var left = most
  while left > 1.0 {
    n += subgroup_add(left)
    left = left * 0.5
  }
  if most > 3.0 { n += subgroup_min(x[i]) }
  y[i] = n
})");
  std::vector<uint64_t> x;
  for (uint64_t i = 0; i < 128; ++i) x.push_back(0x3f000000 + i * 0x12345);
  for (const char* words : {"full", "weak", "nvidia"})
    EXPECT_EQ(judge(p, inputs_of(p, {x}), profile_of(words)), "") << words;
}

TEST(exact_profile, is_what_its_text_says) {
  for (const char* words :
       {"", "weak", "lavapipe", "nvidia", "swiftshader", "-fma32 +fma32",
        "weak +int64 subgroup_size=16 push_constant_bytes=256 most_workgroups=1000"}) {
    const Profile p = profile_of(words);
    EXPECT_EQ(profile_of(to_text(p)), p) << words;
  }
  EXPECT_EQ(to_text(Profile{}), "");
  EXPECT_EQ(to_text(profile_of("-int64 subgroup_size=8")), "-int64 subgroup_size=8");
  EXPECT_FALSE(profile_of("weak").add32);
  EXPECT_TRUE(profile_of("weak full").add32);
  const auto based = parse_profile("+fma32", profile_of("lavapipe"));
  ASSERT_TRUE(based);
  EXPECT_TRUE(based->fma32);
  EXPECT_FALSE(based->min_max32);
}

TEST(exact_profile, a_word_that_is_none) {  // V0607
  const auto unknown = parse_profile("-fma32 -sqrt23");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(to_string(unknown.errors()[0].code), "V0607");
  EXPECT_NE(unknown.errors()[0].fix.find("sqrt32"), std::string::npos) << unknown.errors()[0].fix;
  for (const char* words : {"fma32", "-", "=", "subgroup_size=", "subgroup_size=12",
                            "subgroup_size=128", "lavapip", "size=8", "push_constant_bytes=x"})
    EXPECT_FALSE(parse_profile(words)) << words;
}

}  // namespace
}  // namespace vyre::emit_exact
