// Speed of emitting PTX. Usage: bench_emit_ptx [ops].
//
// The goal is 1 ms for 500 ops. The yardstick in the same run is compact(), which copies a program
// once. CPU time of this thread, the best of many.

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>

#include "emit/ptx/emit.h"
#include "ir/builder.h"

namespace {

using namespace vyre;

/// Loads, arithmetic of several kinds and stores, a loop every 50 ops.
Program generate(uint32_t ops) {
  Builder b("generated");
  Program& p = b.program;
  p.buffers.push_back({.name = "x", .role = Role::In, .element = Type::F32});
  p.buffers.push_back({.name = "y", .role = Role::InOut, .element = Type::F32});
  p.workgroup = {256, 1, 1};
  p.grid_dims = 1;
  p.grid[0] = p.formulas.len(1);
  const ValueId i = b.op(Opcode::GlobalId, Type::Void, {}, 0);
  const VarId sum = b.declare(b.op(Opcode::Cast, Type::F32, {i}));
  for (uint32_t line = 1; p.ops.size() < ops; ++line) {
    const ValueId at = b.op(Opcode::Add, Type::U32, {i, b.constant_u32(line)});
    const ValueId x = b.op(Opcode::Load, Type::F32, {at}, MemoryRef{.buffer = 0}.pack());
    b.set(sum, b.op(Opcode::Fma, Type::F32, {x, x, b.get(sum)}));
    b.set(sum, b.op(Opcode::Div, Type::F32, {b.get(sum), x}));
    b.effect(Opcode::Store, Type::F32, {at, b.get(sum)}, MemoryRef{.buffer = 1}.pack());
    if (line % 8 != 0) continue;
    b.begin_for(b.constant_u32(0), b.constant_u32(5), b.constant_u32(1));
    b.set(sum, b.op(Opcode::Mul, Type::F32, {b.get(sum), x}));
    b.end_for();
  }
  return b.finish();
}

double cpu_us() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) * 1e6 + double(t.tv_nsec) * 1e-3;
}

template <class Fn>
double best_us(Fn&& fn) {
  double best = 1e30;
  for (int round = 0; round < 200; ++round) {
    const double start = cpu_us();
    fn();
    best = std::min(best, cpu_us() - start);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const uint32_t ops = argc > 1 ? static_cast<uint32_t>(std::strtoul(argv[1], nullptr, 10)) : 500;
  const Program program = generate(ops);
  size_t bytes = 0;
  const double emit_us = best_us([&] {
    const auto kernel = emit_ptx::emit(program, {.arch = emit_ptx::Arch::Sm90});
    bytes = kernel ? kernel->text.size() : 0;
  });
  const double copy_us = best_us([&] {
    Program copy = program;
    compact(copy);
  });
  fmt::print("{} ops: {:.0f} us, {} bytes; {:.2f} us an op; {:.1f} times a copy with compact()\n",
             program.ops.size(), emit_us, bytes, emit_us / double(program.ops.size()),
             emit_us / copy_us);
  return 0;
}
