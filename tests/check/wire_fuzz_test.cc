// Corrupted wire files through the decoder into the checker: 20,000 seeded cases of fuzz/checker.h.

#include <gtest/gtest.h>

#include <random>

#include "fuzz/checker.h"
#include "fuzz/wire_decoder.h"
#include "text/parse.h"

namespace vyre {
namespace {

const char* source = R"(
const T: u8[] = [1, 2, 3]
kernel k(n: u32, x: in u32[], y: inout f32[len(x)], t: scratch u32[n]) workgroup(8, 2) subgroup(8) grid(len(x), 2) {
  shared tile: u32[16]
  var w: i16[3]
  let l = local_id.x
  tile[l] = x[global_id.x] + u32(T[l])
  barrier workgroup
  var s: u32 = 0
  for i in 0..n step 2 {
    if tile[i] > 3 { s += tile[i] } else { continue }
    if s > 100 { break }
  }
  while s > 5 { s = s / 3 }
  region "tail" { atomic_add(t[s], 1, acq_rel) }
  y[global_id.x] = fma(y[l], 2.5, f32(subgroup_add(s)))
  if global_id.x == 7 { trap 3 }
}
)";

TEST(wire_fuzz, corrupted_programs_through_the_checker_20000) {
  const ParseOutcome r = parse(source);
  ASSERT_TRUE(r.module) << render(r.diagnostics, r.sources);
  const std::vector<std::byte> good = encode(r.module->kernels[0]);
  ASSERT_EQ(check_checker(good), "");
  size_t decoded = 0;
  for (uint32_t seed = 0; seed < 20000; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::byte> bytes = good;
    for (uint32_t edits = 1 + random() % 3; edits > 0; --edits)
      bytes[random() % bytes.size()] ^= std::byte(1u << random() % 8);
    const std::vector<std::byte> sealed = resealed(bytes);
    decoded += bool(decode_program(sealed));
    ASSERT_EQ(check_checker(sealed), "") << "seed " << seed;
  }
  EXPECT_GT(decoded, 100u);  // else nothing reaches the checker
}

}  // namespace
}  // namespace vyre
