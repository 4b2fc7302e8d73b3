// Speed of the reference interpreter on one core.
//   bench_interp            prints lane-ops a second for kinds of code, and the time of a 2^20
//   saxpy
// A lane-op is one op of the program on one lane; loop control is not counted.

#include "interp/interp.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

#include "ir/ssa_builder.h"

using namespace vyre;

namespace {

double seconds(const std::function<void()>& fn) {
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    fn();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

template <class T>
std::vector<std::byte> bytes(size_t n, T value) {
  std::vector<std::byte> b(n * sizeof(T));
  for (size_t i = 0; i < n; ++i) std::memcpy(b.data() + i * sizeof(T), &value, sizeof(T));
  return b;
}

constexpr uint64_t n = 1 << 20;

Program saxpy() {
  SsaBuilder b("saxpy");
  b.program.buffers = {
      {"a", Role::Scalar, Type::F32}, {"x", Role::In, Type::F32}, {"y", Role::InOut, Type::F32}};
  b.program.workgroup = {256, 1, 1};
  b.program.grid_dims = 1;
  b.program.grid[0] = b.program.formulas.len(2);
  const ValueId i = b.op(Opcode::GlobalId, Type::Void, {}, 0);
  const ValueId a = b.op(Opcode::Scalar, Type::F32, {}, 0);
  const ValueId x = b.op(Opcode::Load, Type::F32, {i}, MemoryRef{.buffer = BufferId(1)}.pack());
  const ValueId y = b.op(Opcode::Load, Type::F32, {i}, MemoryRef{.buffer = BufferId(2)}.pack());
  b.effect(Opcode::Store, Type::F32, {i, b.op(Opcode::Fma, Type::F32, {a, x, y})},
           MemoryRef{.buffer = BufferId(2)}.pack());
  return b.finish();
}

constexpr int body_ops = 16;
constexpr int iterations = 64;

/// `iterations` times `body_ops` dependent ops on a carried value; divergent: in an `if` that half
/// of the lanes take.
Program arithmetic(Type type, Opcode code, bool divergent, uint32_t workgroup) {
  SsaBuilder b("arithmetic");
  b.program.buffers = {{"y", Role::InOut, type}};
  b.program.workgroup = {workgroup, 1, 1};
  b.program.grid_dims = 1;
  b.program.grid[0] = b.program.formulas.len(0);
  const ValueId i = b.op(Opcode::GlobalId, Type::Void, {}, 0);
  const uint64_t one = type == Type::F32 ? 0x3f800001 : type == Type::F64 ? 0x3ff0000000000001 : 3;
  const ValueId k = b.constant(type, one);
  const VarId v = b.declare(b.op(Opcode::Load, type, {i}, MemoryRef{.buffer = BufferId(0)}.pack()));
  b.begin_for(b.constant_u32(0), b.constant_u32(iterations), b.constant_u32(1));
  if (divergent)
    b.begin_if(b.op(Opcode::Eq, Type::U32,
                    {b.op(Opcode::And, Type::U32, {i, b.constant_u32(1)}), b.constant_u32(0)}));
  ValueId x = b.get(v);
  ValueId operands[] = {x, k};
  const size_t arity = info(code).operands.size();
  for (int op = 0; op < body_ops; ++op) {
    operands[0] = x;
    x = b.op(code, type, std::span(operands, arity));
  }
  b.set(v, x);
  if (divergent) b.end_if();
  b.end_for();
  b.effect(Opcode::Store, type, {i, b.get(v)}, MemoryRef{.buffer = BufferId(0)}.pack());
  return b.finish();
}

void measure(const char* what, Type type, Opcode code, bool divergent, uint32_t workgroup) {
  const Program p = arithmetic(type, code, divergent, workgroup);
  LaunchInputs in;
  if (type == Type::F32) {
    in.data = {bytes<float>(n / 16, 0.75f)};  // subnormals are slow on many machines
  } else {
    in.data = {size_of(type) == 4 ? bytes<uint32_t>(n / 16, 1) : bytes<uint64_t>(n / 16, 1)};
  }
  const double t = seconds([&] {
    auto r = interp::run(p, in);
    if (!r) fmt::print("{}\n", render(r.errors(), {}));
  });
  const double ops = double(n / 16) * iterations * body_ops;
  fmt::print("{:<34} {:>9.0f} million lane-ops/s\n", what, ops / t / 1e6);
}

}  // namespace

int main() {
  const Program p = saxpy();
  LaunchInputs in;
  in.data = {bytes<float>(1, 2.0f), bytes<float>(n, 1.0f), bytes<float>(n, 3.0f)};
  const double t = seconds([&] {
    auto r = interp::run(p, in);
    if (!r) fmt::print("{}\n", render(r.errors(), {}));
  });
  fmt::print("saxpy, 2^20 elements, workgroup 256: {:.4f} s (goal: 0.05)\n", t);
  measure("u32 add, workgroup 256", Type::U32, Opcode::Add, false, 256);
  measure("u32 add, workgroup 1", Type::U32, Opcode::Add, false, 1);
  measure("u32 add, half the lanes", Type::U32, Opcode::Add, true, 256);
  measure("u32 div", Type::U32, Opcode::Div, false, 256);
  measure("u64 mul", Type::U64, Opcode::Mul, false, 256);
  measure("f32 mul", Type::F32, Opcode::Mul, false, 256);
  measure("f32 min", Type::F32, Opcode::Min, false, 256);
  measure("f64 add", Type::F64, Opcode::Add, false, 256);
  for (const OpInfo& row : all_ops())  // exp … atan2
    if (row.types == TypeSet::F32)
      measure(fmt::format("f32 {}", row.mnemonic).c_str(), Type::F32, *find_op(row.mnemonic), false,
              256);
}
