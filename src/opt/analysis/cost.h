#pragma once

// Static costs of a program, as counts: the values before and after every pass.

#include <array>
#include <cstdint>
#include <string_view>

#include "ir/program.h"

namespace vyre::opt {

struct Cost {
  uint64_t nodes = 0;                 // ops, blocks and values
  uint64_t static_storage_bytes = 0;  // shared, private, tables, buffers of constant size
  uint64_t instructions = 0;          // ops that become code: no constants, regions or block ends
  uint64_t memory_ops = 0;
  uint64_t atomics = 0;
  uint64_t control_flow = 0;
  uint64_t register_pressure = 0;  // 32-bit words that are alive at once, at most
  uint64_t ir_allocations = 0;     // arrays that the IR has
  uint64_t ir_bytes = 0;
  bool operator==(const Cost&) const = default;
};

struct CostField {
  std::string_view name;
  uint64_t Cost::* value;
};
inline constexpr std::array<CostField, 9> cost_fields = {{
    {"nodes", &Cost::nodes},
    {"static_storage_bytes", &Cost::static_storage_bytes},
    {"instructions", &Cost::instructions},
    {"memory_ops", &Cost::memory_ops},
    {"atomics", &Cost::atomics},
    {"control_flow", &Cost::control_flow},
    {"register_pressure", &Cost::register_pressure},
    {"ir_allocations", &Cost::ir_allocations},
    {"ir_bytes", &Cost::ir_bytes},
}};

/// Runs in time linear in the number of ops.
Cost cost_of(const Program& program);

/// Returns the largest reduction of a cost, 0 if none was reduced.
uint64_t largest_reduction(const Cost& before, const Cost& after);

/// Returns the 32-bit words of values that are live at once, at most: an estimate of registers. A
/// value lives from its definition to its last use in program order, and through every loop that it
/// enters from outside. Runs in time linear in ops, operands and the depth of loops.
uint64_t register_pressure(const Program& program);

}  // namespace vyre::opt
