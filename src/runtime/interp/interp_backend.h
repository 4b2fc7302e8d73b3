#pragma once

// The reference interpreter as a backend: memory is host memory, a stream is a thread that runs its
// submissions in order.
//
// Compile options of its own: "schedule=order|reverse|random:SEED".

#include "runtime/backend.h"

namespace vyre::driver {

Backend* interp_backend();

}  // namespace vyre::driver
