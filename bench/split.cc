// Speed of splitting a program at its grid barriers. Usage: bench_split [ops].
//
// The yardstick in the same run is compact(), which copies a program once.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "ir/ssa_builder.h"
#include "plan/split/check_split.h"
#include "plan/split/split_grid.h"

namespace {

using namespace vyre;

/// Loads, arithmetic and stores; a barrier every `gap` ops; every fourth one in a separate loop.
Program generate(uint32_t ops, uint32_t gap) {
  SsaBuilder b("generated");
  Program& p = b.program;
  p.buffers.push_back({.name = "x", .role = Role::In, .element = Type::U32});
  p.buffers.push_back({.name = "y", .role = Role::InOut, .element = Type::U32});
  p.workgroup = {256, 1, 1};
  p.grid_dims = 1;
  p.grid[0] = p.formulas.len(1);
  const StringId file = p.add_string("generated.vyre");
  const ValueId i = b.op(Opcode::GlobalId, Type::Void, {}, 0);
  const VarId sum = b.declare(i);
  const auto barrier = [&] {
    b.effect(Opcode::Barrier, Type::Void, {}, static_cast<uint64_t>(Scope::Grid));
  };
  size_t next = gap;
  uint32_t barriers = 0;
  for (uint32_t line = 1; p.ops.size() < ops; ++line) {
    b.loc = p.add_location({.file = file, .line = line, .column = 3, .length = 12});
    const ValueId x = b.op(Opcode::Load, Type::U32, {i}, MemoryRef{.buffer = BufferId(0)}.pack());
    const ValueId k = b.constant_u32(line);
    b.set(sum, b.op(Opcode::Add, Type::U32, {b.op(Opcode::Mul, Type::U32, {x, k}), b.get(sum)}));
    b.effect(Opcode::Store, Type::U32, {i, b.get(sum)}, MemoryRef{.buffer = BufferId(1)}.pack());
    if (p.ops.size() < next) continue;
    next += gap;
    if (++barriers % 4 != 0) {
      barrier();
      continue;
    }
    const ValueId j = b.begin_for(b.constant_u32(0), b.constant_u32(5), b.constant_u32(1));
    b.set(sum, b.op(Opcode::Xor, Type::U32, {b.get(sum), j}));
    barrier();
    b.end_for();
  }
  return b.finish();
}

template <class Fn>
double best_us(Fn&& fn) {
  using Clock = std::chrono::steady_clock;
  double best = 1e30;
  const auto end = Clock::now() + std::chrono::milliseconds(300);
  do {
    const auto start = Clock::now();
    fn();
    best = std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  } while (Clock::now() < end);
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const uint32_t ops = argc > 1 ? static_cast<uint32_t>(std::atoi(argv[1])) : 1000;
  fmt::print("{} hardware threads; goal: 1,000 ops in at most 2,000 us\n",
             std::thread::hardware_concurrency());
  for (const uint32_t gap : {500u, 100u, 20u, 5u}) {
    const Program p = generate(ops, gap);
    const auto plan = plan::split_at_grid_barriers(p);
    if (!plan) {
      fmt::print("{}\n", render(plan.errors(), {}));
      return 1;
    }
    size_t out = 0;
    for (const Program& s : plan->segments) out += s.ops.size();
    const double split = best_us([&] { (void)plan::split_at_grid_barriers(p); });
    const double check = best_us([&] { (void)plan::check_split(p, *plan); });
    const double copy = best_us([&] {
      Program c = p;
      compact(c);
    });
    fmt::print(
        "{:6} ops, {:4} segments with {:6} ops: split {:7.0f} us ({:.0f} x compact), {:.2f} us an "
        "op made; check {:7.0f} us\n",
        p.ops.size(), plan->segments.size(), out, split, split / copy,
        split / static_cast<double>(out), check);
  }
}
