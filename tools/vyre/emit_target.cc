#include "tools/vyre/emit_target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace vyre::cli {
namespace {

Target of_kernel(const Module& module, size_t index) {
  Target t;
  t.module = &module;
  t.kernel = &module.kernels[index];
  for (const BufferId i : t.kernel->buffers.ids()) {
    const Buffer& b = t.kernel->buffers[i];
    if (is_parameter(b.role)) t.parameters.push_back({b.name, b.role, b.element, i.value()});
  }
  return t;
}

Target of_graph(const Module& module, size_t index) {
  Target t;
  t.module = &module;
  t.graph = &module.graphs[index];
  for (const GraphBufferId i : t.graph->buffers.ids()) {
    const GraphBuffer& b = t.graph->buffers[i];
    if (b.parameter) t.parameters.push_back({b.name, b.role, b.element, i.value()});
  }
  return t;
}

std::vector<std::string> names(const Module& module, size_t kernels, size_t graphs) {
  std::vector<std::string> list;
  for (size_t i = 0; i < graphs; ++i) list.push_back(module.graphs[i].name);
  for (size_t i = 0; i < kernels; ++i) list.push_back(module.kernels[i].name);
  return list;
}

Diagnostic unknown(const Module& module, const std::string& name, const std::string& file) {
  const auto all = names(module, module.kernels.size(), module.graphs.size());
  Diagnostic d = diagnose(Code::UnknownProgram, {.file = file},
                          fmt::format("`{}` has no kernel or graph called `{}`", file, name));
  if (!all.empty()) d.note(fmt::format("it has: {}", fmt::join(all, ", ")));
  const std::string_view near = nearest(name, all);
  if (!near.empty()) d.with_fix(fmt::format("write `{}:{}`", file, near));
  return d;
}

}  // namespace

const Parameter* Target::find(std::string_view name) const {
  const auto at = std::find_if(parameters.begin(), parameters.end(),
                               [&](const Parameter& p) { return p.name == name; });
  return at == parameters.end() ? nullptr : &*at;
}

std::string describe(const Parameter& p) {
  if (p.role == Role::Scalar) return fmt::format("scalar {}", name(p.element));
  return fmt::format("{} {}[]", name(p.role), name(p.element));
}

Result<Target> choose_target(const Module& module, const std::string& name) {
  if (const uint32_t g = find_graph(module, name); g != none) return of_graph(module, g);
  if (const uint32_t k = find_kernel(module, name); k != none) return of_kernel(module, k);
  return unknown(module, name, "the module");
}

Result<Target> choose_target(const LoadedModule& loaded, const std::string& name,
                             const std::string& file) {
  const Module& module = *loaded.module;
  if (!name.empty()) {
    auto target = choose_target(module, name);
    if (target) return target;
    return unknown(module, name, file);
  }
  if (loaded.own_graphs == 1) return of_graph(module, 0);
  if (loaded.own_graphs == 0 && loaded.own_kernels == 1) return of_kernel(module, 0);
  const auto own = names(module, loaded.own_kernels, loaded.own_graphs);
  if (own.empty())
    return diagnose(Code::UnknownProgram, {.file = file},
                    fmt::format("`{}` has no kernel and no graph of its own to run", file))
        .with_fix(module.kernels.empty()
                      ? "declare a kernel"
                      : fmt::format("name an imported one: `{}:{}`", file, module.kernels[0].name));
  return diagnose(Code::AmbiguousProgram, {.file = file},
                  fmt::format("`{}` has several {}: say which one to run", file,
                              loaded.own_graphs > 1 ? "graphs" : "kernels"))
      .note(fmt::format("it has: {}", fmt::join(own, ", ")))
      .with_fix(fmt::format("write `{}:{}`", file, own[0]));
}

}  // namespace vyre::cli
