#pragma once

// Device capabilities: the features of a device, and the ops that it computes as specified.
// Determined by a self-test (the Vulkan driver), or written by hand. Where a device lacks a feature
// or fails the test, expand() (expand.h) and the emitter use other ops instead.
//
// "Right" always refers to exactly the form that the SPIR-V emitter writes: its modes, decorations,
// constant and variable operands.

#include <cstdint>
#include <string>
#include <string_view>

#include "diagnostics/result.h"

namespace vyre::emit_exact {

// X(field, default, meaning)
#define VYRE_PROFILE(X)                                                                          \
  /* What it has. */                                                                             \
  X(int64, true, "64-bit integers")                                                              \
  X(float64, true, "f64")                                                                        \
  X(storage8, true, "8-bit loads and stores in buffers")                                         \
  X(storage16, true, "16-bit loads and stores in buffers")                                       \
  X(shared_bytes, true, "8- and 16-bit elements in shared memory")                               \
  X(atomics64, true, "64-bit atomics in buffers")                                                \
  X(shared_atomics64, true, "64-bit atomics in shared memory")                                   \
  X(float_atomic_add, true, "f32 atomic_add in buffers and shared memory")                       \
  X(ordered_atomics, true, "acquire and release where invocations diverge; else (CPUs) relaxed") \
  X(subgroup_shuffle, true, "shuffles, votes, ballots and integer reductions of subgroups")      \
  X(subgroup_extended_types, true, "the same of 64-bit values")                                  \
  X(linear_lanes, true, "invocation n of a workgroup is lane n % size of subgroup n / size")     \
  X(partial_subgroups, true, "loops with barriers end at once for a subgroup that is not full")  \
  X(uniform_addresses, true, "compiles addresses that all invocations may share in linear time") \
  X(long_loops, true, "loops run until they end, however long; else one that is cut is told")    \
  /* Modes that its modules may declare, by width. */                                            \
  X(rte32, true, "mode: f32 rounds to nearest even")                                             \
  X(rte64, true, "mode: f64 rounds to nearest even")                                             \
  X(denorm_preserve32, true, "mode: f32 keeps subnormals")                                       \
  X(denorm_preserve64, true, "mode: f64 keeps subnormals")                                       \
  X(signed_zero_inf_nan32, true, "mode: f32 keeps -0, infinities and NaN")                       \
  X(signed_zero_inf_nan64, true, "mode: f64 keeps -0, infinities and NaN")                       \
  /* What it computes right, of f32. */                                                          \
  X(add32, true, "f32 add and sub, subnormals included")                                         \
  X(mul32, true, "f32 mul, subnormals included")                                                 \
  X(div32, true, "f32 div, subnormals included")                                                 \
  X(sqrt32, true, "f32 sqrt, subnormals included")                                               \
  X(fma32, true, "f32 fma, fused, subnormals included")                                          \
  X(normal32, true, "add32 and mul32 fail at most where something is subnormal")                 \
  X(fused32, true, "fma32 fails at most where something is subnormal")                           \
  X(min_max32, true, "f32 min and max: NaN, -0 and +0, subnormals")                              \
  X(compare32, true, "f32 comparisons, subnormals included")                                     \
  X(compare_normal32, true, "compare32 does not fail against constants that are normal or inf")  \
  X(choose32, true, "choices by f32 comparisons keep subnormals")                                \
  X(signs32, true, "masks that change the sign of an f32 keep subnormals")                       \
  X(round32, true, "f32 floor, ceil, trunc and round to even")                                   \
  X(convert32, true, "f32 from and to integers, out of range and NaN included")                  \
  X(zero_operands, true, "operands that its compiler knows to be zero are not folded wrong")     \
  /* The same of f64, and between the two. */                                                    \
  X(add64, true, "f64 add and sub")                                                              \
  X(mul64, true, "f64 mul")                                                                      \
  X(div64, true, "f64 div")                                                                      \
  X(sqrt64, true, "f64 sqrt")                                                                    \
  X(fma64, true, "f64 fma")                                                                      \
  X(min_max64, true, "f64 min and max")                                                          \
  X(compare64, true, "f64 comparisons")                                                          \
  X(round64, true, "f64 floor, ceil, trunc and round to even")                                   \
  X(convert64, true, "f64 from and to integers")                                                 \
  X(widen, true, "f32 to f64")                                                                   \
  X(narrow, true, "f64 to f32, subnormal results included")                                      \
  X(bits, true, "bit counts, reversals and field operations of 32-bit integers")                 \
  X(saturate64, true, "64-bit sums and differences that its compiler finds to saturate")

struct Profile {
#define VYRE_FIELD(field, value, text) bool field = value;
  VYRE_PROFILE(VYRE_FIELD)
#undef VYRE_FIELD
  uint32_t subgroup_size = 32;  // that programs observe unless they fix one
  uint64_t push_constant_bytes = 128;
  uint32_t most_workgroups = 65535;  // in each dimension

  bool operator==(const Profile&) const = default;
};

/// "-fma32 -int64 subgroup_size=8": the difference from a device that has everything. Parsing
/// returns the same profile; part of cache keys.
std::string to_text(const Profile& profile);
/// Changes `base` word by word: "-name", "+name", "subgroup_size=8". The name of a device sets
/// everything to its known capabilities ("lavapipe", "swiftshader", "nvidia", and "full", a device
/// that has everything). "weak" sets the features that Vulkan 1.2 requires, and only the ops that
/// every device computes right. Any other word is V0607.
Result<Profile> parse_profile(std::string_view text, const Profile& base = {});

}  // namespace vyre::emit_exact
