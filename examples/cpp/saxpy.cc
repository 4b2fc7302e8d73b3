// saxpy.vyre in C++: a kernel is built, checked, and run on the reference interpreter.
//
// prints: y: 12 24 36 48

#include "example.h"

using namespace vyre;

int main(int argc, char** argv) {
  Kernel k("saxpy");
  Val a = k.scalar(Type::F32, "a");
  Buf x = k.in(Type::F32, "x"), y = k.inout(Type::F32, "y", k.len(x));
  k.workgroup(256).grid(k.len(y));
  Val i = k.global_id();
  Val xi = x[i], yi = y[i];  // named, because C++ may evaluate arguments in any order
  y[i] = fma(a, xi, yi);

  // Mistakes made above come out here, all at once.
  const Result<Program> program = k.finish();
  if (!program) return example::fail(program.errors());
  if (const Diagnostics d = check(*program); has_errors(d)) return example::fail(d);

  const auto inputs = NamedInputs(*program)
                          .set("a", 2.0f)
                          .set("x", std::vector<float>{1, 2, 3, 4})
                          .set("y", std::vector<float>{10, 20, 30, 40})
                          .finish();
  if (!inputs) return example::fail(inputs.errors());
  const auto outcome = interp::run(*program, *inputs);
  if (!outcome) return example::fail(outcome.errors());
  const auto result = output_of<float>(*program, outcome->buffers, "y");
  if (!result) return example::fail(result.errors());
  example::print("y", *result);
  return example::save(*program, argc, argv);
}
