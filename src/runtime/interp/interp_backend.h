#pragma once

// The reference interpreter as a backend: memory is host memory, and a stream is a thread that runs
// its submissions in order.
//
// Its own compile option: "schedule=order|reverse|random:SEED".

#include "runtime/backend.h"

namespace vyre::driver {

Backend* interp_backend();

}  // namespace vyre::driver
