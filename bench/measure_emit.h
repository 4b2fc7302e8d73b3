// Speed of emitting: a generated kernel, and CPU time against compact(), which copies a program
// once.
#pragma once

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>

#include "ir/ssa_builder.h"

namespace vyre::bench {

/// Loads, arithmetic of several kinds and stores, a loop every 50 ops; `salt` makes it another one.
inline Program generate(uint32_t ops, uint32_t salt = 0) {
  SsaBuilder b("generated");
  Program& p = b.program;
  p.buffers.push_back({.name = "x", .role = Role::In, .element = Type::F32});
  p.buffers.push_back({.name = "y", .role = Role::InOut, .element = Type::F32});
  p.workgroup = {256, 1, 1};
  p.grid_dims = 1;
  p.grid[0] = p.formulas.len(1);
  const ValueId i = b.op(Opcode::GlobalId, Type::Void, {}, 0);
  const VarId sum = b.declare(b.op(Opcode::Cast, Type::F32, {i}));
  for (uint32_t line = 1; p.ops.size() < ops; ++line) {
    const ValueId at = b.op(Opcode::Add, Type::U32, {i, b.constant_u32(line + salt)});
    const ValueId x = b.op(Opcode::Load, Type::F32, {at}, MemoryRef{.buffer = BufferId(0)}.pack());
    b.set(sum, b.op(Opcode::Fma, Type::F32, {x, x, b.get(sum)}));
    b.set(sum, b.op(Opcode::Div, Type::F32, {b.get(sum), x}));
    b.effect(Opcode::Store, Type::F32, {at, b.get(sum)}, MemoryRef{.buffer = BufferId(1)}.pack());
    if (line % 8 != 0) continue;
    b.begin_for(b.constant_u32(0), b.constant_u32(5), b.constant_u32(1));
    b.set(sum, b.op(Opcode::Mul, Type::F32, {b.get(sum), x}));
    b.end_for();
  }
  return b.finish();
}

/// CPU time of this thread.
inline double cpu_us() {
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

/// The argument of the command line: how many ops.
inline uint32_t ops_wanted(int argc, char** argv) {
  return argc > 1 ? static_cast<uint32_t>(std::strtoul(argv[1], nullptr, 10)) : 500;
}

/// `emit` gives the bytes of what it has made.
template <class Fn>
void measure_emit(const char* what, const Program& program, Fn&& emit) {
  size_t bytes = 0;
  const double emit_us = best_us([&] { bytes = emit(program); });
  const double copy_us = best_us([&] {
    Program copy = program;
    compact(copy);
  });
  fmt::print("{}{} ops: {:.0f} us, {} bytes; {:.2f} us an op; {:.1f} times a copy with compact()\n",
             what, program.ops.size(), emit_us, bytes, emit_us / double(program.ops.size()),
             emit_us / copy_us);
}

}  // namespace vyre::bench
