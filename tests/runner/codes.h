#pragma once

// Lists of expected codes: `V0140 "expected u32" V0119`.

#include "differential/expected_codes.h"

namespace vyre::runner {

using lab::ExpectedCode;
using lab::parse_codes;
using lab::print_codes;

}  // namespace vyre::runner
