#include "opt/full_writes.h"

#include <gtest/gtest.h>

#include "text/parse.h"

namespace vyre::opt {
namespace {

/// Of `y`, in a kernel with this body.
bool is_full(const std::string& body) {
  const std::string source =
      "kernel k(x: in u32[], y: out u32[]) workgroup(64) grid(len(x)) {\n" + body + "\n}\n";
  const ParseOutcome r = parse(source);
  EXPECT_TRUE(r.module) << render(r.diagnostics, r.sources);
  return find_full_writes(r.module->kernels[0])[1];
}

TEST(full_writes, a_store_that_every_invocation_gets_to) {
  EXPECT_TRUE(is_full("y[global_id.x] = 1"));
  EXPECT_TRUE(is_full("let i = workgroup_id.x * 64 + local_id.x\ny[i] = x[i]"));
  EXPECT_TRUE(is_full("region \"a\" { let v = x[global_id.x] + 1\n y[global_id.x] = v }"));
  EXPECT_TRUE(is_full("assert(x[0] != 3, 1)\ny[global_id.x] = 1"));  // nobody sees a failed launch
  EXPECT_TRUE(is_full("if x[0] > 3 { y[global_id.x] = 0 }\ny[global_id.x + 0] = 1") == false);
  EXPECT_TRUE(is_full("y[global_id.x] = 1\ny[global_id.x] = y[global_id.x] + y[0]"));
}

TEST(full_writes, not_if_something_is_left_out_or_looked_at_before) {
  EXPECT_FALSE(is_full(""));
  EXPECT_FALSE(is_full("if global_id.x < len(y) { y[global_id.x] = 1 }"));
  EXPECT_FALSE(is_full("y[global_id.x + 1] = 1"));
  EXPECT_FALSE(is_full("y[global_id.x * 2] = 1"));
  EXPECT_FALSE(is_full("y[u64(global_id.x) * 2] = 1"));
  EXPECT_FALSE(is_full("y[0] = 1"));
  EXPECT_FALSE(is_full("y[local_id.x] = 1"));
  EXPECT_FALSE(is_full("y[workgroup_id.x] = 1"));
  EXPECT_FALSE(is_full("if x[global_id.x] == 0 { return }\ny[global_id.x] = 1"));
  EXPECT_FALSE(is_full("y[global_id.x] += 1"));
  EXPECT_FALSE(is_full("let v = y[global_id.x + 1]\ny[global_id.x] = v"));
  EXPECT_FALSE(is_full("atomic_add(y[global_id.x], 1)"));
  EXPECT_FALSE(is_full("for i in 0..x[0] { y[global_id.x] = 1 }"));
  EXPECT_FALSE(is_full("y[x[global_id.x]] = 1"));
}

}  // namespace
}  // namespace vyre::opt
