#pragma once

// The CPU backend: this machine's cores, by LLVM. Lives in the shared library libvyre_cpu.so
// together with src/codegen/llvm, so that everything else builds and runs without LLVM; the core
// opens it on request (runtime/cpu_component.h).

#include "runtime/backend.h"

namespace vyre::driver {

Backend* cpu_backend();

}  // namespace vyre::driver
