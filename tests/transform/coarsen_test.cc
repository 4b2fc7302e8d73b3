// Coarse programs give the bytes of the programs that they were made of, and only programs of the
// right kind have a coarse form.

#include "transform/coarsen.h"

#include <random>

#include "generate/generate.h"
#include "interp/interp.h"
#include "tests/plan/split/split_util.h"

namespace vyre::plan {
namespace {

const char* const kernels[] = {
    "kernel copy(x: in u32[], y: out u32[len(x)]) workgroup(8) grid(len(x)) {\n y[global_id.x] = "
    "x[global_id.x] }",
    "kernel guarded(x: in u32[], y: inout u32[]) workgroup(8) grid(len(x)) {\n let i = "
    "global_id.x\n if i + 3 < len(x) { y[i] = x[i] + y[i] * 3 + workgroup_id.x } }",
    "kernel returns(x: in u32[], y: out u32[len(x)]) workgroup(8) grid(len(x)) {\n let i = "
    "global_id.x\n if x[i] % 3 == 0 { return }\n y[i] = x[len(x) - 1 - i] * "
    "num_workgroups.x }",
    "kernel plane(w: u32, x: in u32[], y: out u32[len(x)]) workgroup(4, 2) grid(w, "
    "ceil_div(len(x), "
    "w)) {\n let c = global_id.x\n let r = global_id.y\n if c > 0 && c < w - 1 { y[r * w + c] = "
    "x[r "
    "* w + c - 1] + x[r * w + c + 1] + local_id.x * 100 + local_id.y } }",
    "kernel bytes(x: in u8[], y: out u8[len(x)]) workgroup(16) grid(len(x)) {\n y[global_id.x] = "
    "~x[global_id.x] }",
    "kernel same(s: u32, x: in u32[], y: out u32[4 * len(x)]) workgroup(8) grid(len(x)) {\n let t "
    "= "
    "s * 7 + x[1]\n if s > 2 { y[global_id.x] = t + local_id.x } }",
};

std::vector<std::byte> random_bytes(uint64_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(n);
  for (std::byte& b : bytes) b = std::byte(random());
  return bytes;
}

LaunchInputs inputs_of(const Program& p, uint64_t n) {
  LaunchInputs in;
  in.data.resize(p.buffers.size());
  in.lengths.resize(p.buffers.size());
  for (size_t i = 0; i < p.buffers.size(); ++i) {
    const Buffer& b = p.buffers[i];
    if (b.role == Role::Scalar)
      in.data[i] = to_bytes(U{9});
    else if (is_host_input(b.role))
      in.data[i] = random_bytes(n * size_of(b.element), n + i);
  }
  return in;
}

/// As the program, however many do the work of one, in any order.
void same(const Program& p, const LaunchInputs& in, const std::string& what) {
  const Result<interp::Outcome> wanted = interp::run(p, in);
  for (const uint32_t by : {2, 3, 4, 8}) {
    const Program coarse = coarsen(p, by);
    const Diagnostics found = check(coarse);
    ASSERT_FALSE(has_errors(found)) << what << render(found, {}) << print(coarse);
    for (const interp::Schedule schedule : {interp::Schedule::Order, interp::Schedule::Reverse}) {
      interp::Options options;
      options.schedule = schedule;
      const Result<interp::Outcome> got = interp::run(coarse, in, options);
      ASSERT_EQ(bool(wanted), bool(got)) << what << " by " << by << "\n" << print(coarse);
      if (wanted) {
        ASSERT_EQ(wanted->buffers, got->buffers) << what << " by " << by << "\n" << print(coarse);
      }
    }
  }
}

TEST(Coarsen, gives_the_same_bytes_for_every_size) {
  for (const char* const text : kernels) {
    const Program p = kernel(text);
    ASSERT_TRUE(can_coarsen(p)) << text;
    for (const uint64_t n : {0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 1000})
      same(p, inputs_of(p, n), std::string(text) + " of " + std::to_string(n));
  }
}

TEST(Coarsen, moves_sixteen_bytes_at_once) {
  const auto by = [](const std::string& type) {
    return coarsening(
        kernel("kernel k(x: in " + type + "[], y: out " + type +
               "[len(x)]) workgroup(64) grid(len(x)) { y[global_id.x] = x[global_id.x] }"));
  };
  EXPECT_EQ(by("f32"), 4u);
  EXPECT_EQ(by("u64"), 2u);
  EXPECT_EQ(by("f16"), 1u);
  EXPECT_EQ(by("u8"), 1u);
}

TEST(Coarsen, all_loads_come_before_the_first_store) {
  const Program coarse = coarsen(kernel(kernels[0]), 4);
  std::string order;
  const OpId branch = coarse.op(coarse.blocks[body_block].last).prev;  // all at once, or one by one
  walk(coarse, coarse.block(branch, 0), [&](OpId op) {
    if (coarse.op(op).code == Opcode::Load) order += 'l';
    if (coarse.op(op).code == Opcode::Store) order += 's';
  });
  EXPECT_EQ(order, "llllssss") << print(coarse);
}

TEST(Coarsen, leaves_other_programs_alone) {
  const std::string head =
      "kernel k(x: inout u32[], y: out u32[len(x)]) workgroup(8) grid(len(x)) {\n ";
  const char* const bodies[] = {
      "shared t: u32[8]\n y[global_id.x] = x[0] }",
      "var a: u32[4]\n a[global_id.x % 4] = 1\n y[global_id.x] = a[2] }",
      "y[global_id.x] = atomic_add(x[0], 1) }",
      "for k in 0..3 { y[global_id.x] += x[k] } }",
      "barrier workgroup\n y[global_id.x] = x[0] }",
      "y[global_id.x] = subgroup_add(x[global_id.x]) }",
      "assert(x[0] == 0, 7)\n y[global_id.x] = 1 }",
      "y[global_id.x] = 1\n if x[0] > 3 { y[0] = 2 } }",  // a store before the guard
      "if x[0] > 3 { y[global_id.x] = 2 } else { y[global_id.x] = 3 } }",  // two arms
      "if x[0] > 3 { y[global_id.x] = 2 }\n y[global_id.x] += 3 }",        // code after the guard
      "if x[0] > 3 { if x[1] > 3 { y[global_id.x] = 2 } } }",              // two guards
  };
  for (const char* const body : bodies) {
    const Program p = kernel(head + body);
    EXPECT_FALSE(can_coarsen(p)) << body;
    EXPECT_EQ(coarsening(p), 1u) << body;
  }
  // These could be, and gain nothing.
  EXPECT_EQ(coarsening(kernel(head + "let a = x[global_id.x] }")), 1u);
  std::string much = head + "var v = x[global_id.x]\n ";
  for (int i = 0; i < 80; ++i) much += "v = v * 3 + " + std::to_string(i) + "\n ";
  EXPECT_EQ(coarsening(kernel(much + "y[global_id.x] = v }")), 1u);
}

TEST(Coarsen, random_programs) {
  lab::GenerateOptions options;
  options.graphs = false;
  int found = 0;
  for (uint64_t seed = 1; found < 60 && seed < 30'000; ++seed) {
    const lab::Generated g = lab::generate(seed, options);
    const Program& p = g.module.kernels[0];
    if (!can_coarsen(p)) continue;
    ++found;
    same(p, g.inputs, "seed " + std::to_string(seed));
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GE(found, 20);
}

}  // namespace
}  // namespace vyre::plan
