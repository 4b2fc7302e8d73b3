#pragma once

// This machine's cores, by LLVM. Lives in the shared library libvyre_cpu.so together with
// src/emit/llvm, so that everything else builds and runs without LLVM; the core opens it on request
// (driver/cpu_component.h).

#include "driver/backend.h"

namespace vyre::driver {

Backend* cpu_backend();

}  // namespace vyre::driver
