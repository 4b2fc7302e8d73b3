// Speed of emitting PTX. Usage: bench_emit_ptx [ops]. The goal is 1 ms for 500 ops.

#include "codegen/ptx/ptx_emit.h"
#include "measure_emit.h"

int main(int argc, char** argv) {
  using namespace vyre;
  bench::measure_emit("", bench::generate(bench::ops_wanted(argc, argv)),
                      [](const Program& program) {
                        const auto kernel = emit_ptx::emit(program, {.arch = emit_ptx::Arch::Sm90});
                        return kernel ? kernel->text.size() : 0;
                      });
  return 0;
}
