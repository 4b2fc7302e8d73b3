#pragma once

// The state that the functions of one module share; each is written by a separate Emitter.

#include <map>
#include <utility>
#include <vector>

#include "codegen/spirv/spirv_abi.h"
#include "codegen/spirv/spirv_module.h"
#include "ir/program.h"

namespace vyre::emit_spirv {

struct Unit {
  Module module;
  KernelInfo info;
  std::vector<Words> functions;                 // in pieces; the kernel is the last one
  std::map<std::pair<Opcode, Type>, Id> forms;  // functions that compute ops exactly
  Id push = 0;                                  // the push constants
  bool uses_f32 = false, uses_f64 = false;
};

}  // namespace vyre::emit_spirv
