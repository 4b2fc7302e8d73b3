#pragma once

// Running programs on the reference interpreter, which defines what they mean, on one core.
//
//   interp::run(program, inputs, options)         one kernel: Result<interp::Outcome>
//   interp::run(module, graph, inputs, options)   a graph: Result<interp::GraphOutcome>
//
//   NamedInputs      collects inputs by the names of parameters, checks their types, and converts
//                    scalars where that is exact; finish() and finish_graph() return what run()
//                    takes
//   output_of<T>(program, outcome->buffers, "y")   the elements of an output, by name
//
//   LaunchInputs     the host's data, by index into Program::buffers: data[i] (In, InOut,
//                    Uniform; a Scalar is one element), lengths[i] (elements of an Out buffer that
//                    has no formula), and a grid instead of the kernel's own. Vectors may be
//                    shorter than the list of buffers. inputs_for(program) has room for all.
//   Outcome          buffers[i] of InOut and Out buffers, the sizes of the launch, a count of work.
//   Options          time_limit, memory_limit, output_limit for programs that you do not trust;
//                    subgroup_size, schedule and seed where semantics are unspecified;
//                    progress.
//
// Bytes are little-endian elements without padding; a bool is one byte. bytes_of and values_of turn
// C++ values into bytes and back.
//
// The program must have passed check() without errors. Inputs may be arbitrary: a missing input, a
// wrong length, a trap or an exceeded limit returns a Result with errors and no outputs. Runs share
// nothing and may run in several threads at once; inputs are read, not changed; `progress` is
// called in the thread that called run.
//
//   auto inputs = vyre::NamedInputs(program)
//                     .set("a", 2.0f)
//                     .set("x", std::vector<float>{1, 2, 3})
//                     .set("y", std::vector<float>{10, 20, 30})
//                     .finish();
//   if (!inputs) return fail(inputs.errors());
//   auto outcome = vyre::interp::run(program, *inputs, {.time_limit = 10});
//   if (!outcome) return fail(outcome.errors());
//   auto y = vyre::output_of<float>(program, outcome->buffers, "y");

#include <bit>
#include <cstring>
#include <ranges>
#include <type_traits>

#include "interp/interp.h"
#include "interp/named_inputs.h"
#include "ir/launch.h"
#include "vyre/diagnostic.h"
#include "vyre/program.h"

namespace vyre {

static_assert(std::endian::native == std::endian::little, "the bytes of buffers are little-endian");

/// Inputs with an empty entry for every buffer.
inline LaunchInputs inputs_for(const Program& program) {
  LaunchInputs inputs;
  inputs.data.resize(program.buffers.size());
  inputs.lengths.resize(program.buffers.size());
  return inputs;
}
inline interp::GraphInputs inputs_for(const Graph& graph) {
  interp::GraphInputs inputs;
  inputs.data.resize(graph.buffers.size());
  inputs.lengths.resize(graph.buffers.size());
  return inputs;
}

/// The bytes of one element (a scalar parameter).
template <class T>
  requires std::is_arithmetic_v<T>
std::vector<std::byte> bytes_of(T value) {
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

/// The bytes of the elements of a vector, array or span.
template <std::ranges::contiguous_range Range>
  requires std::is_arithmetic_v<std::ranges::range_value_t<Range>>
std::vector<std::byte> bytes_of(const Range& elements) {
  const auto bytes =
      std::as_bytes(std::span(std::ranges::data(elements), std::ranges::size(elements)));
  return {bytes.begin(), bytes.end()};
}

/// The elements that the bytes hold; an incomplete element at the end is dropped.
template <class T>
  requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
std::vector<T> values_of(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace vyre
