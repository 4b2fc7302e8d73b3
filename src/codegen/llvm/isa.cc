#include "codegen/llvm/isa.h"

#include <llvm/ADT/StringRef.h>
#include <llvm/TargetParser/Host.h>

#include <array>

namespace vyre::emit_llvm {

namespace {

struct Description {
  Isa isa;
  std::string_view name;
  std::string_view triple;
  std::string_view cpu;
  std::string_view features;
  unsigned vector_bytes;
};

// LLVM's x86-64-v4 prefers half registers for the sake of CPUs that slow down their clock; a
// subgroup is meant to fill a register.
constexpr std::array<Description, 4> descriptions = {{
    {Isa::X86_64_V2, "x86-64-v2", "x86_64-unknown-linux-gnu", "x86-64-v2", "", 16},
    {Isa::X86_64_V3, "x86-64-v3", "x86_64-unknown-linux-gnu", "x86-64-v3", "", 32},
    {Isa::X86_64_V4, "x86-64-v4", "x86_64-unknown-linux-gnu", "x86-64-v4", "-prefer-256-bit", 64},
    {Isa::AArch64, "aarch64", "aarch64-unknown-linux-gnu", "generic", "+neon", 16},
}};

const Description& describe(Isa isa) { return descriptions[static_cast<size_t>(isa)]; }

}  // namespace

std::string_view name(Isa isa) { return describe(isa).name; }
std::string_view triple(Isa isa) { return describe(isa).triple; }
std::string_view cpu(Isa isa) { return describe(isa).cpu; }
std::string_view features(Isa isa) { return describe(isa).features; }
unsigned vector_bytes(Isa isa) { return describe(isa).vector_bytes; }

std::optional<Isa> parse_isa(std::string_view name) {
  for (const Description& each : descriptions) {
    if (each.name == name) return each.isa;
  }
  return std::nullopt;
}

bool host_runs(Isa isa) {
#if defined(__x86_64__)
  // Asks the processor and whether the system saves the registers.
  switch (isa) {
    case Isa::X86_64_V2: return __builtin_cpu_supports("x86-64-v2");
    case Isa::X86_64_V3: return __builtin_cpu_supports("x86-64-v3");
    case Isa::X86_64_V4: return __builtin_cpu_supports("x86-64-v4");
    case Isa::AArch64: return false;
  }
  return false;
#elif defined(__aarch64__)
  return isa == Isa::AArch64;
#else
  return false;
#endif
}

Isa host_isa() {
#if defined(__aarch64__)
  return Isa::AArch64;
#else
  for (Isa isa : {Isa::X86_64_V4, Isa::X86_64_V3}) {
    if (host_runs(isa)) return isa;
  }
  return Isa::X86_64_V2;
#endif
}

std::string tune_cpu(Isa isa) {
  if (host_runs(isa)) {
    const llvm::StringRef host = llvm::sys::getHostCPUName();
    if (!host.empty() && host != "generic") return host.str();
  }
  return std::string(cpu(isa));
}

}  // namespace vyre::emit_llvm
