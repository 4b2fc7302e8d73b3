// Speed of emitting SPIR-V. Usage: bench_emit_spirv [ops]. The goal is 1 ms for 500 ops on a device
// with everything; what a weaker one lacks makes the program larger before it is written.

#include "emit/spirv/emit.h"
#include "measure_emit.h"

int main(int argc, char** argv) {
  using namespace vyre;
  const Program program = bench::generate(bench::ops_wanted(argc, argv));
  for (const char* device : {"full", "nvidia", "lavapipe", "swiftshader"}) {
    emit_spirv::EmitOptions options;
    options.profile = *emit_exact::parse_profile(device);
    bench::measure_emit(fmt::format("{}: ", device).c_str(), program, [&](const Program& p) {
      const auto kernel = emit_spirv::emit(p, options);
      return kernel ? kernel->words.size() * 4 : 0;
    });
  }
  return 0;
}
