#pragma once

// Buffers of which a launch overwrites every element before anybody looks at it, so that what they
// held before does not matter: the driver need not clear an `out` buffer, and scratch reuse may
// give it memory that was used.
//
// Known for the commonest form only: a store at global_id.x that every invocation gets to, before
// any other access of the buffer and before anything that could end the invocation. Elements from 0
// up to the launch's invocations in x are then written. An invocation that traps does not get to
// its store, but of a failed launch nobody sees anything. Linear.

#include <vector>

#include "ir/program.h"

namespace vyre::opt {

/// By buffer: is element i written by the invocations with global_id.x = i?
std::vector<bool> find_full_writes(const Program& program);

}  // namespace vyre::opt
