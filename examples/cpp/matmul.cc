// matmul.vyre in C++, with tiles of any size; each gives the same bits, because the order of
// summation is the same.
//
// prints: c: 58 64 139 154
// prints: c: 58 64 139 154

#include "example.h"

using namespace vyre;

namespace {

Result<Program> matmul(uint32_t tile) {
  Kernel kernel("matmul");
  Val m = kernel.scalar(Type::U32, "m"), n = kernel.scalar(Type::U32, "n");
  Val k = kernel.scalar(Type::U32, "k");
  const Size rows = kernel.size_of_scalar(m), columns = kernel.size_of_scalar(n);
  const Size inner = kernel.size_of_scalar(k);
  Buf a = kernel.in(Type::F32, "a", rows * inner), b = kernel.in(Type::F32, "b", inner * columns);
  Buf c = kernel.out(Type::F32, "c", rows * columns);
  kernel.workgroup(tile, tile).grid(columns, rows);

  Buf ta = kernel.shared(Type::F32, tile * tile, "ta");
  Buf tb = kernel.shared(Type::F32, tile * tile, "tb");
  Val row = kernel.global_id(1), column = kernel.global_id(0);
  Val x = kernel.local_id(0), y = kernel.local_id(1);
  Val mine = y * tile + x;
  Val side = kernel.constant(Type::U32, tile);
  Var sum = kernel.var(Type::F32, 0.0f);
  kernel.for_(0, kernel.apply(Opcode::CeilDiv, {k, side}), [&](Val t) {
    Val first = t * tile;
    ta[mine] = a[row * k + first + x];
    tb[mine] = b[(first + y) * n + column];
    kernel.barrier(Scope::Workgroup);
    kernel.for_(0, min(side, k - first), [&](Val i) {
      Val left = ta[y * tile + i], right = tb[i * tile + x];
      sum = fma(left, right, sum);
    });
    kernel.barrier(Scope::Workgroup);
  });
  kernel.if_((row < m) & (column < n), [&] { c[row * n + column] = sum; });
  return kernel.finish();
}

}  // namespace

int main(int argc, char** argv) {
  for (const uint32_t tile : {2u, 16u}) {
    const Result<Program> program = matmul(tile);
    if (!program) return example::fail(program.errors());
    if (const Diagnostics d = check(*program); has_errors(d)) return example::fail(d);

    const auto inputs = NamedInputs(*program)
                            .set("m", 2)
                            .set("n", 2)
                            .set("k", 3)
                            .set("a", std::vector<float>{1, 2, 3, 4, 5, 6})
                            .set("b", std::vector<float>{7, 8, 9, 10, 11, 12})
                            .finish();
    if (!inputs) return example::fail(inputs.errors());
    const auto outcome = interp::run(*program, *inputs);
    if (!outcome) return example::fail(outcome.errors());
    const auto c = output_of<float>(*program, outcome->buffers, "c");
    if (!c) return example::fail(c.errors());
    example::print("c", *c);
    if (tile == 16) return example::save(*program, argc, argv);
  }
}
