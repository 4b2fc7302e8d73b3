#pragma once

// The limits that every program is held to (docs/specification.md, "Limits"), and what every device
// has.

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
// What every device has; more is a warning.
inline constexpr uint32_t common_workgroup = 256;
inline constexpr uint64_t common_shared_bytes = 32 << 10;
}  // namespace limits

/// Names, workgroup and subgroup size, bytes of tables and shared memory. The limits of nesting and
/// ops belong to the structure.
void check_limits(const Program& program, Reporter& report);

/// What is wrong with a name, in words after "the name …": "is empty", …; "" if nothing is.
std::string fault_of_name(std::string_view name);
/// The name in backquotes, cut if it is long and without bytes that a terminal would act on.
std::string quoted(std::string_view name);

}  // namespace vyre
