#include "runtime/cpu_component.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <vector>

#include "vyre/interface_id.h"

namespace vyre::driver {

namespace {

constexpr const char* library_name = "libvyre_cpu.so";

/// Returns the files to try, the best first. The system's loader searches for a name without a
/// folder.
std::vector<std::string> places() {
  if (const char* given = std::getenv("VYRE_CPU_LIBRARY"); given && *given) return {given};
  std::vector<std::string> found;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    for (const char* folder :
         {".", "../lib", "../lib/x86_64-linux-gnu", "../lib/aarch64-linux-gnu", "../lib64"}) {
      const std::filesystem::path file = program.parent_path() / folder / library_name;
      if (std::filesystem::exists(file, error)) found.push_back(file.lexically_normal().string());
    }
  }
  found.emplace_back(library_name);
  return found;
}

}  // namespace

const CpuComponent* open_cpu_component(const std::string& path, std::string* why) {
  const auto refuse = [&](std::string reason) -> const CpuComponent* {
    if (why) *why = std::move(reason);
    return nullptr;
  };
  // RTLD_LOCAL: the library has its own copy of the core, whose symbols must stay separate.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return refuse(fmt::format("its library cannot be loaded: {}", dlerror()));
  const auto id = reinterpret_cast<VyreCpuInterfaceId>(dlsym(library, cpu_interface_id_symbol));
  const auto component = reinterpret_cast<VyreCpuComponent>(dlsym(library, cpu_component_symbol));
  if (!id || !component) {
    dlclose(library);
    return refuse(fmt::format("{} is not the CPU component of vyre", path));
  }
  if (std::string_view(id()) != VYRE_INTERFACE_ID) {
    const std::string theirs = id();
    dlclose(library);
    return refuse(fmt::format("{} is of another build of vyre (interface {}, not {})", path,
                              theirs.substr(0, 8),
                              std::string_view(VYRE_INTERFACE_ID).substr(0, 8)));
  }
  return component();
}

const CpuComponent* cpu_component(std::string* why) {
  struct Opened {
    const CpuComponent* component = nullptr;
    std::string why;
  };
  static const Opened opened = [] {
    Opened o;
    for (const std::string& path : places()) {
      std::string reason;
      o.component = open_cpu_component(path, &reason);
      if (o.component) break;
      if (o.why.empty()) o.why = std::move(reason);  // the first path is the intended one
    }
    return o;
  }();
  if (!opened.component && why) *why = opened.why;
  return opened.component;
}

Backend* cpu_component_backend(std::string* why) {
  const CpuComponent* component = cpu_component(why);
  return component ? component->backend : nullptr;
}

}  // namespace vyre::driver
