#pragma once

// Each op against its row of ops.def, and each access against its buffer. Needs a program whose
// structure holds.

#include "check/check_report.h"
#include "ir/program.h"

namespace vyre {

/// The types of operands, results, yields and carried values of all ops.
void check_types(const Program& program, Reporter& report);

/// Elements, roles and scopes of one memory op, `len` or `scalar`. (check_memory.cc)
void check_access(const Program& program, OpId op, Reporter& report);

/// Buffers, their lengths and the grid. (buffers.cc)
void check_buffers(const Program& program, Reporter& report);

}  // namespace vyre
