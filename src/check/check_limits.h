#pragma once

// The limits of every program (docs/specification.md, "Limits"), and the limits that every device
// supports.

#include <cstdint>
#include <string>
#include <string_view>

#include "check/check_report.h"
#include "ir/program.h"

namespace vyre {

namespace limits {
inline constexpr uint32_t nesting = 1000;
inline constexpr uint64_t ops = 16ull << 20;
inline constexpr uint32_t buffers = 64;
inline constexpr uint32_t name_bytes = 255;
inline constexpr uint32_t workgroup = 1024;
inline constexpr uint64_t table_bytes = 64 << 10;
inline constexpr uint64_t uniform_bytes = 64 << 10;
inline constexpr uint32_t subgroup = 64;
inline constexpr uint32_t vector_bytes = 16;
// A formula is a DAG; printed it is a tree, which can be exponentially larger.
inline constexpr uint64_t formula_nodes = 10'000;
// The limits that every device supports; larger values cause a warning.
inline constexpr uint32_t common_workgroup = 256;
inline constexpr uint64_t common_shared_bytes = 32 << 10;
}  // namespace limits

/// Names, workgroup and subgroup size, bytes of tables and shared memory. The structure checks the
/// limits of nesting and ops.
void check_limits(const Program& program, Reporter& report);

/// Returns the fault of a name, in words after "the name …": "is empty", …; "" if none.
std::string fault_of_name(std::string_view name);
/// The name in backquotes, truncated if it is long and without bytes that a terminal would
/// interpret.
std::string quoted(std::string_view name);

}  // namespace vyre
