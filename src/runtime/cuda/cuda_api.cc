#include "runtime/cuda/cuda_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

namespace vyre::driver::cuda {
namespace {

constexpr const char* library_name = "libcuda.so.1";

/// 12.4: earlier versions limit conditional nodes more than our loops allow.
constexpr int conditions_since = 12040;

std::string library_path() {
  const char* given = std::getenv("VYRE_CUDA_LIBRARY");
  return given && *given ? given : library_name;
}

std::unique_ptr<Api> load(const std::string& path, std::string* why) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* said = dlerror();
    *why = fmt::format("the NVIDIA driver's library cannot be opened ({})", said ? said : path);
    return nullptr;
  }
  auto api = std::make_unique<Api>();
  api->path = path;
  const char* missing = nullptr;
#define VYRE_CUDA_FIND(member, symbol, parameters) \
  api->member = reinterpret_cast<decltype(api->member)>(dlsym(library, symbol));
#define VYRE_CUDA_NEED(member, symbol, parameters) \
  VYRE_CUDA_FIND(member, symbol, parameters)       \
  if (!api->member && !missing) missing = symbol;
  VYRE_CUDA_REQUIRED(VYRE_CUDA_NEED)
  VYRE_CUDA_OPTIONAL(VYRE_CUDA_FIND)
#undef VYRE_CUDA_NEED
#undef VYRE_CUDA_FIND
  if (api->driver_version && api->driver_version(&api->version) != Status::Success)
    api->version = 0;
  if (!missing) return api;
  *why = fmt::format("{} has no function `{}`; the driver is of CUDA {}, 11.0 is needed", path,
                     missing, version_text(api->version));
  dlclose(library);
  return nullptr;
}

}  // namespace

bool Api::has_graphs() const {
  return graph_create && graph_destroy && graph_add_kernel && graph_add_memset && graph_add_copy &&
         graph_set_node_attribute && graph_instantiate && graph_exec_destroy && graph_launch &&
         graph_update_kernel && graph_update_memset && graph_update_copy;
}

bool Api::has_conditions() const {
  return has_graphs() && graph_create_condition && graph_add_node && version >= conditions_since;
}

std::string Api::describe(Status status) const {
  const char *name = nullptr, *text = nullptr;
  error_name(status, &name);
  error_string(status, &text);
  return fmt::format("{} ({}): {}", name ? name : "an unknown error", static_cast<int>(status),
                     text ? text : "the driver has no words for it");
}

const Api* find_api(std::string* why) {
  static std::mutex mutex;
  // Guarded, and never destroyed: devices may be closed while the process ends.
  static auto& found = *new std::map<std::string, std::unique_ptr<Api>>();
  const std::string path = library_path();
  const std::lock_guard lock(mutex);
  std::unique_ptr<Api>& api = found[path];
  std::string reason;
  if (!api) api = load(path, &reason);
  if (!api && why) *why = std::move(reason);
  return api.get();
}

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace vyre::driver::cuda
