#include "ir/named_sizes.h"

#include <fmt/format.h>

#include <algorithm>

namespace vyre {

Diagnostic unknown_parameter(std::string_view name, const std::string& owner,
                             const std::vector<std::string>& names) {
  const std::string_view near = nearest(name, names);
  return diagnose(Code::UnknownParameter, {}, fmt::format("{} has no parameter `{}`", owner, name))
      .with_fix(near.empty() ? fmt::format("name a parameter of {}", owner)
                             : fmt::format("write `{}`", near));
}

Diagnostic not_exact(std::string_view parameter, const std::string& owner, Type type,
                     Scalar value) {
  return diagnose(Code::WrongArgument, {},
                  fmt::format("parameter `{}` of {} is {}, which cannot represent {} exactly",
                              parameter, owner, name(type), to_string(value)))
      .with_fix(fmt::format("convert the number to {}", name(type)));
}

Result<GraphShape> resolve_graph(const Graph& graph, const std::vector<NamedSize>& sizes) {
  const std::string owner = fmt::format("graph `{}`", graph.name);
  const size_t n = graph.buffers.size();
  std::vector<std::optional<uint64_t>> counts(n), scalars(n);
  std::vector<std::string> names;
  for (const GraphBuffer& b : graph.buffers)
    if (b.parameter) names.push_back(b.name);
  Diagnostics errors;
  for (const NamedSize& size : sizes) {
    const auto i = size_t(std::find(names.begin(), names.end(), size.name) - names.begin());
    if (i == names.size()) {
      errors.push_back(unknown_parameter(size.name, owner, names));
      continue;
    }
    // Parameters come first: their index is that of the buffer.
    const bool is_scalar = graph.buffers[i].role == Role::Scalar;
    const Type type = is_scalar ? graph.buffers[i].element : Type::U64;
    std::optional<uint64_t>& slot = is_scalar ? scalars[i] : counts[i];
    if (slot) {
      errors.push_back(diagnose(Code::GivenTwice, {},
                                fmt::format("parameter `{}` of {} has two sizes", size.name, owner))
                           .with_fix("give it once"));
      continue;
    }
    slot = convert_exactly(size.value, type);
    if (slot) continue;
    errors.push_back(is_scalar ? not_exact(size.name, owner, type, size.value)
                               : diagnose(Code::WrongArgument, {},
                                          fmt::format("the length of parameter `{}` of {} is {}",
                                                      size.name, owner, to_string(size.value)))
                                     .with_fix("pass a number of elements"));
  }
  if (!errors.empty()) return errors;
  return resolve_graph(graph, counts, scalars);
}

}  // namespace vyre
