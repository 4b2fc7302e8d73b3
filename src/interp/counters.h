#pragma once

#include "interp/interp_code.h"

namespace vyre::interp {

/// The counter functions of a `for` over this integer type; null for other types.
const ForFns* find_counter(Type type);

}  // namespace vyre::interp
