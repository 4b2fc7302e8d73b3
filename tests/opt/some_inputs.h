#pragma once

// Runs programs on the interpreter with generated inputs, to compare two programs.

#include <string>

#include "interp/interp.h"
#include "ir/program.h"

namespace vyre::opt {

/// Inputs of `count` small numbers for every buffer, and `scalar` for every scalar.
inline LaunchInputs some_inputs(const Program& p, uint64_t count, uint64_t scalar) {
  LaunchInputs in;
  in.data.resize(p.buffers.size());
  in.lengths.resize(p.buffers.size());
  for (size_t i = 0; i < p.buffers.size(); ++i) {
    const Buffer& b = p.buffers[i];
    const bool is_scalar = b.role == Role::Scalar;
    if (is_host_input(b.role)) {
      std::vector<std::byte> bytes((is_scalar ? 1 : count) * size_of(b.element));
      for (size_t k = 0; k < bytes.size(); k += size_of(b.element))
        bytes[k] = std::byte(is_scalar ? scalar : 3 + 7 * (k / size_of(b.element)) % 50);
      in.data[i] = std::move(bytes);
    } else if ((b.role == Role::Out || b.role == Role::Scratch) && b.count == no_formula) {
      in.lengths[i] = count;
    }
  }
  return in;
}

/// Returns the bytes of all outputs, or what it trapped with.
inline std::string results_of(const Program& p, uint64_t count, uint64_t scalar,
                              interp::Schedule schedule = interp::Schedule::Order) {
  interp::Options options;
  options.schedule = schedule;
  const auto outcome = interp::run(p, some_inputs(p, count, scalar), options);
  if (!outcome) return outcome.errors()[0].message;
  std::string all;
  for (const auto& bytes : outcome->buffers)
    all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return all;
}

/// Calls `compare(count, scalar)` for buffers that are empty, short and long, and scalars below and
/// above their lengths.
template <class Compare>
void for_some_sizes(const Program& p, Compare compare) {
  bool has_scalars = false;
  for (const Buffer& b : p.buffers) has_scalars |= b.role == Role::Scalar;
  for (const uint64_t count : {0, 1, 7, 15, 16, 17, 33, 100, 200})
    for (const uint64_t scalar : {0, 1, 7, 8, 40, 200})
      if (scalar == 0 || has_scalars) compare(count, scalar);
}

}  // namespace vyre::opt
