// Precompiled for the CPU component: see core.h. PassBuilder.h and the Orc headers stay out: one source each
// includes them.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include "core.h"
