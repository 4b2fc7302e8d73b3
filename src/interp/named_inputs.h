#pragma once

// Inputs and outputs of a launch by the names of the parameters, with their types.
//
//   auto inputs = NamedInputs(program).set("a", 2.0).set("x", xs).set_length("y", 8).finish();
//   if (!inputs) return inputs.errors();
//   auto outcome = interp::run(program, *inputs);
//   …
//   Result<std::vector<float>> y = output_of<float>(program, outcome->buffers, "y");

#include <cstring>
#include <ranges>
#include <string_view>

#include "interp/interp.h"
#include "ir/launch.h"
#include "ir/module.h"
#include "ir/scalar.h"

namespace vyre {

/// A parameter of a kernel or graph, as its callers see it.
struct NamedParameter {
  std::string name;
  Role role = Role::In;
  Type element = Type::Void;
};

/// Collects inputs; finish() returns all mistakes at once. The bytes are copied.
class NamedInputs {
 public:
  explicit NamedInputs(const Program& program);
  explicit NamedInputs(const Graph& graph);

  /// A scalar: converted if the parameter's type has exactly that number.
  NamedInputs& set(std::string_view name, Scalar value);
  template <HostNumber T>
  NamedInputs& set(std::string_view name, T value) {
    return set(name, scalar(value));
  }
  /// The elements of a buffer: a vector, array or span of numbers of the parameter's type.
  template <std::ranges::contiguous_range Range>
    requires HostNumber<std::ranges::range_value_t<Range>>
  NamedInputs& set(std::string_view name, const Range& elements) {
    return set(name, type_of<std::ranges::range_value_t<Range>>(),
               std::as_bytes(std::span(std::ranges::data(elements), std::ranges::size(elements))));
  }
  /// The same as bytes, also for types without a C++ equivalent.
  NamedInputs& set(std::string_view name, Type element, std::span<const std::byte> bytes);
  /// Elements of an `out` or `scratch` parameter without a formula.
  NamedInputs& set_length(std::string_view name, uint64_t elements);
  /// Invocations of a kernel; overrides its grid.
  NamedInputs& set_grid(uint64_t x, uint64_t y = 1, uint64_t z = 1);

  Result<LaunchInputs> finish() const;
  Result<interp::GraphInputs> finish_graph() const;

 private:
  void add(const NamedParameter& parameter, bool is_parameter);
  uint32_t find(std::string_view name, bool is_length);
  void mistake(Code code, std::string message, std::string fix);

  std::string owner_;                       // "kernel `k`"
  std::vector<NamedParameter> parameters_;  // by buffer; others have no name
  LaunchInputs inputs_;
  Diagnostics errors_;
};

/// The bytes of an output, if its elements have that type. `buffers` are those of an outcome.
Result<std::span<const std::byte>> output_bytes(const Program& program,
                                                std::span<const std::vector<std::byte>> buffers,
                                                std::string_view name, Type element);
Result<std::span<const std::byte>> output_bytes(const Graph& graph,
                                                std::span<const std::vector<std::byte>> buffers,
                                                std::string_view name, Type element);

/// The elements of an output by name. `Source`: a Program or a Graph.
template <HostNumber T, class Source>
  requires(!std::same_as<T, bool>)
Result<std::vector<T>> output_of(const Source& source,
                                 std::span<const std::vector<std::byte>> buffers,
                                 std::string_view name) {
  const auto bytes = output_bytes(source, buffers, name, type_of<T>());
  if (!bytes) return bytes.errors();
  std::vector<T> values(bytes->size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes->data(), values.size() * sizeof(T));
  return values;
}

}  // namespace vyre
