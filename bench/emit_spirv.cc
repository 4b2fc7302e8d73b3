// Speed of emitting SPIR-V. Usage: bench_emit_spirv [ops] [profile]...  The goal is 1 ms for 500
// ops; legalization for a weaker device makes the program larger first.

#include <string>
#include <vector>

#include "codegen/spirv/spirv_emit.h"
#include "measure_emit.h"

int main(int argc, char** argv) {
  using namespace vyre;
  const Program program = bench::generate(bench::ops_wanted(argc, argv));
  std::vector<std::string> devices(argv + std::min(argc, 2), argv + argc);
  if (devices.empty()) devices = {"full", "nvidia", "lavapipe", "swiftshader"};
  for (const std::string& device : devices) {
    const auto profile = emit_exact::parse_profile(device);
    if (!profile) {
      fmt::print("{}\n", profile.errors()[0].message);
      return 1;
    }
    emit_spirv::EmitOptions options;
    options.profile = *profile;
    bench::measure_emit((device + ": ").c_str(), program, [&](const Program& p) {
      const auto kernel = emit_spirv::emit(p, options);
      return kernel ? kernel->words.size() * 4 : 0;
    });
  }
  return 0;
}
