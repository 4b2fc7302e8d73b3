#pragma once

// IR to text: the same grammar that people write, with one op a line and explicit carried values.
// parse(print(m)) is m again, and print(parse(print(m))) is print(m).

#include <string>

#include "ir/module.h"

namespace vyre {

std::string print(const Program& program);
std::string print(const Module& module);

}  // namespace vyre
