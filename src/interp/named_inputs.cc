#include "interp/named_inputs.h"

#include <fmt/format.h>

#include "ir/named_sizes.h"

namespace vyre {
namespace {

template <class Buffers>
Result<std::span<const std::byte>> find_output(const Buffers& declared, const std::string& owner,
                                               std::span<const std::vector<std::byte>> buffers,
                                               std::string_view wanted, Type element) {
  std::vector<std::string> names;
  for (size_t i = 0; i < declared.size() && i < buffers.size(); ++i) {
    if (!is_host_output(declared[i].role)) continue;
    names.push_back(declared[i].name);
    if (declared[i].name != wanted) continue;
    if (declared[i].element == element) return std::span<const std::byte>(buffers[i]);
    return diagnose(Code::WrongArgument, {},
                    fmt::format("parameter `{}` of {} has elements of {}, not {}", wanted, owner,
                                name(declared[i].element), name(element)))
        .with_fix(fmt::format("read it as {}", name(declared[i].element)));
  }
  return unknown_parameter(wanted, owner, names);
}

}  // namespace

NamedInputs::NamedInputs(const Program& program)
    : owner_(fmt::format("kernel `{}`", program.name)) {
  for (const Buffer& b : program.buffers) add({b.name, b.role, b.element}, is_parameter(b.role));
}
NamedInputs::NamedInputs(const Graph& graph) : owner_(fmt::format("graph `{}`", graph.name)) {
  for (const GraphBuffer& b : graph.buffers) add({b.name, b.role, b.element}, b.parameter);
}

void NamedInputs::add(const NamedParameter& parameter, bool is_parameter) {
  parameters_.push_back(is_parameter ? parameter : NamedParameter());
  inputs_.data.emplace_back();
  inputs_.lengths.emplace_back();
}

void NamedInputs::mistake(Code code, std::string message, std::string fix) {
  errors_.push_back(diagnose(code, {}, std::move(message)).with_fix(std::move(fix)));
}

/// The index of the parameter, or none and an error.
uint32_t NamedInputs::find(std::string_view name, bool is_length) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].name == name && !name.empty()) {
      const bool again = is_length ? inputs_.lengths[i].has_value() : inputs_.data[i].has_value();
      if (!again) return i;
      mistake(Code::GivenTwice, fmt::format("parameter `{}` of {} is set twice", name, owner_),
              "set it once");
      return none;
    }
    if (!parameters_[i].name.empty()) names.push_back(parameters_[i].name);
  }
  errors_.push_back(unknown_parameter(name, owner_, names));
  return none;
}

NamedInputs& NamedInputs::set(std::string_view name, Scalar value) {
  const uint32_t i = find(name, false);
  if (i == none) return *this;
  const Type type = parameters_[i].element;
  if (parameters_[i].role != Role::Scalar) {
    mistake(Code::WrongArgument, fmt::format("parameter `{}` of {} takes a buffer", name, owner_),
            fmt::format("pass a vector of {}", vyre::name(type)));
    return *this;
  }
  const std::optional<uint64_t> bits = convert_exactly(value, type);
  if (!bits) {
    errors_.push_back(not_exact(name, owner_, type, value));
    return *this;
  }
  std::vector<std::byte> bytes(size_of(type));
  std::memcpy(bytes.data(), &*bits, bytes.size());
  inputs_.data[i] = std::move(bytes);
  return *this;
}

NamedInputs& NamedInputs::set(std::string_view name, Type element,
                              std::span<const std::byte> bytes) {
  const uint32_t i = find(name, false);
  if (i == none) return *this;
  const NamedParameter& p = parameters_[i];
  if (p.role == Role::Scalar)
    mistake(Code::WrongArgument, fmt::format("parameter `{}` of {} takes a scalar", name, owner_),
            fmt::format("pass one {}", vyre::name(p.element)));
  else if (!is_host_input(p.role))
    mistake(Code::WrongArgument,
            fmt::format("parameter `{}` of {} takes no input: its role is `{}`", name, owner_,
                        vyre::name(p.role)),
            "remove it, or set its length by set_length()");
  else if (p.element != element)
    mistake(Code::WrongArgument,
            fmt::format("parameter `{}` of {} has elements of {}, not {}", name, owner_,
                        vyre::name(p.element), vyre::name(element)),
            fmt::format("pass elements of {}", vyre::name(p.element)));
  else
    inputs_.data[i].emplace(bytes.begin(), bytes.end());
  return *this;
}

NamedInputs& NamedInputs::set_length(std::string_view name, uint64_t elements) {
  const uint32_t i = find(name, true);
  if (i == none) return *this;
  if (parameters_[i].role == Role::Out || parameters_[i].role == Role::Scratch)
    inputs_.lengths[i] = elements;
  else
    mistake(Code::WrongArgument,
            fmt::format("parameter `{}` of {} has the length of its input", name, owner_),
            "set the length of `out` and `scratch` parameters only");
  return *this;
}

NamedInputs& NamedInputs::set_grid(uint64_t x, uint64_t y, uint64_t z) {
  inputs_.grid = {x, y, z};
  return *this;
}

Result<LaunchInputs> NamedInputs::finish() const {
  if (!errors_.empty()) return errors_;
  return inputs_;
}

Result<interp::GraphInputs> NamedInputs::finish_graph() const {
  Diagnostics errors = errors_;
  if (inputs_.grid)
    errors.push_back(diagnose(Code::GridOfGraph, {}, fmt::format("{} has no grid", owner_))
                         .with_fix("remove set_grid()"));
  if (!errors.empty()) return errors;
  return interp::GraphInputs{inputs_.data, inputs_.lengths};
}

Result<std::span<const std::byte>> output_bytes(const Program& program,
                                                std::span<const std::vector<std::byte>> buffers,
                                                std::string_view name, Type element) {
  return find_output(program.buffers, fmt::format("kernel `{}`", program.name), buffers, name,
                     element);
}
Result<std::span<const std::byte>> output_bytes(const Graph& graph,
                                                std::span<const std::vector<std::byte>> buffers,
                                                std::string_view name, Type element) {
  return find_output(graph.buffers, fmt::format("graph `{}`", graph.name), buffers, name, element);
}

}  // namespace vyre
