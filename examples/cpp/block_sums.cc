// block_sums.vyre in C++: shared memory, barriers, a mutable variable, a loop. The program is the
// same to the last op: both have one fingerprint.
//
// prints: sums: 32640 98176 42939

#include <numeric>

#include "example.h"

using namespace vyre;

namespace {

// A function makes the kernel for any size of block: what `const` is in the language.
Result<Program> block_sums(uint32_t block) {
  Kernel k("block_sums");
  Buf x = k.in(Type::U32, "x");
  Buf sums = k.out(Type::U32, "sums", ceil_div(k.len(x), block));
  k.workgroup(block).grid(k.len(x));
  Buf tile = k.shared(Type::U32, block, "tile");
  Val l = k.local_id();
  tile[l] = x[k.global_id()];
  k.barrier(Scope::Workgroup);
  Var stride = k.var(Type::U32, block / 2);
  k.while_([&] { return stride > 0; },
           [&] {
             k.if_(l < stride, [&] {
               Val mine = tile[l], other = tile[l + stride];
               tile[l] = mine + other;
             });
             k.barrier(Scope::Workgroup);
             stride = stride >> 1;
           });
  k.if_(l == 0, [&] {
    Val block_number = k.workgroup_id();
    sums[block_number] = tile[0];
  });
  return k.finish();
}

}  // namespace

int main(int argc, char** argv) {
  const Result<Program> program = block_sums(256);
  if (!program) return example::fail(program.errors());
  if (const Diagnostics d = check(*program); has_errors(d)) return example::fail(d);

  std::vector<uint32_t> x(590);
  std::iota(x.begin(), x.end(), 0u);
  const auto inputs = NamedInputs(*program).set("x", x).finish();  // outputs need nothing
  if (!inputs) return example::fail(inputs.errors());
  const auto outcome = interp::run(*program, *inputs);
  if (!outcome) return example::fail(outcome.errors());
  const auto sums = output_of<uint32_t>(*program, outcome->buffers, "sums");
  if (!sums) return example::fail(sums.errors());
  example::print("sums", *sums);
  return example::save(*program, argc, argv);
}
