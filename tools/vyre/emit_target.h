#pragma once

// The target of a command: one kernel or one graph of a module, as a list of named parameters.

#include <string>
#include <string_view>
#include <vector>

#include "diagnostics/result.h"
#include "ir/module.h"
#include "tools/vyre/program_file.h"

namespace vyre::cli {

struct Parameter {
  std::string name;
  Role role = Role::In;
  Type element = Type::U32;
  uint32_t buffer = 0;  // index into the buffers of the kernel or graph
};

/// Points into the module that it was chosen from.
struct Target {
  const Module* module = nullptr;
  const Program* kernel = nullptr;  // one of the two is set
  const Graph* graph = nullptr;
  std::vector<Parameter> parameters;

  const std::string& name() const { return kernel ? kernel->name : graph->name; }
  std::string_view kind() const { return kernel ? "kernel" : "graph"; }
  size_t buffer_count() const { return kernel ? kernel->buffers.size() : graph->buffers.size(); }
  const Parameter* find(std::string_view name) const;
};

/// Describes a parameter: "in f32[]", "scalar u32".
std::string describe(const Parameter& parameter);

/// Returns the kernel or graph called `name`. For "": the only graph, or if there is none the only
/// kernel, of the file's own declarations.
Result<Target> choose_target(const LoadedModule& loaded, const std::string& name,
                             const std::string& file);

/// Chooses by name alone, in a module from another source (a round trip).
Result<Target> choose_target(const Module& module, const std::string& name);

}  // namespace vyre::cli
