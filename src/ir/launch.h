#pragma once

// Computes the sizes of a launch from a program and the host's inputs: lengths by formula, the
// grid, and every rule of the specification that is checked before a launch. Backends share it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "diagnostics/result.h"
#include "ir/program.h"

namespace vyre {

/// The host's inputs, by index into Program::buffers. Entries that a role does not need are empty.
struct LaunchInputs {
  PublicIdMap<BufferId, std::optional<std::vector<std::byte>>>
      data;  // In, InOut, Uniform, Scalar (one element)
  PublicIdMap<BufferId, std::optional<uint64_t>>
      lengths;                                  // elements of Out and Scratch without a formula
  std::optional<std::array<uint64_t, 3>> grid;  // invocations wanted, instead of the kernel's
};

/// Sizes of a launch.
struct LaunchShape {
  PublicIdMap<BufferId, uint64_t> counts;  // elements of every buffer of the program
  std::array<uint64_t, 3> invocations_wanted = {0, 0, 0};
  std::array<uint64_t, 3> num_workgroups = {0, 0, 0};  // any zero: nothing runs

  /// All of them, or the largest number if there are more. Each dimension has fewer than 2^32.
  uint64_t workgroups() const {
    uint64_t all = 0;
    const bool more =
        __builtin_mul_overflow(num_workgroups[0] * num_workgroups[1], num_workgroups[2], &all);
    return more ? ~uint64_t{0} : all;
  }
};

/// Larger total sizes of all buffers are refused (they come from a wrong formula).
inline constexpr uint64_t max_buffer_bytes = 1ull << 48;

/// Checks and computes. Reports all errors: missing inputs, bytes that are not a multiple of the
/// element, lengths that differ from their formula, uniforms above 64 KiB, 2^32 elements where
/// `len` is used, too many invocations, formulas that fail.
Result<LaunchShape> resolve_launch(const Program& program, const LaunchInputs& inputs);
Result<LaunchShape> resolve_launch(const Program& program,
                                   std::span<const std::optional<std::vector<std::byte>>> data,
                                   std::span<const std::optional<uint64_t>> lengths,
                                   const std::optional<std::array<uint64_t, 3>>& grid);

/// The same from lengths that are known already (`counts[i]` for parameters with host bytes or
/// device buffers, and scalars' bits): used for the calls of a graph.
Result<LaunchShape> resolve_launch(const Program& program,
                                   std::span<const std::optional<uint64_t>> counts,
                                   std::span<const std::optional<uint64_t>> scalar_bits,
                                   const std::optional<std::array<uint64_t, 3>>& grid);

}  // namespace vyre
