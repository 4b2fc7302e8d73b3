#pragma once

// IR to text: the grammar of hand-written programs, with one op per line and explicit carried
// values. parse(print(m)) is m again, and print(parse(print(m))) is print(m).

#include <string>

#include "diagnostics/listing.h"
#include "ir/module.h"

namespace vyre {

std::string print(const Program& program);
std::string print(const Module& module);

/// The lines of print(), each with the source location of its op.
Listing print_lines(const Program& program);

}  // namespace vyre
