#include "tools/vyre/backends.h"

#include <fmt/format.h>

#include <vector>

namespace vyre::cli {
namespace {

constexpr BackendProperty interp_properties[] = {
    {"subgroup sizes", "1 2 4 8 16 32 64 (32 unless --subgroup-size says otherwise)"},
    {"workgroup", "up to 1024 invocations"},
    {"schedules", "order, reverse, random:SEED"},
    {"types", "bool i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64"},
    {"atomics", "i32 u32 i64 u64, f32 add"},
    {"native", "everything: this backend is the definition of every operation"},
    {"expanded", "nothing"},
    {"forward progress", "no"},
};

constexpr std::string_view not_built = "this build has no such backend";

constexpr BackendInfo table[] = {
    {"interp", true, "reference interpreter, one core", "", interp_properties},
    {"cpu", false, "this machine's cores, compiled by LLVM", not_built, {}},
    {"cuda", false, "NVIDIA GPUs", not_built, {}},
    {"vulkan", false, "any Vulkan device", not_built, {}},
};

Diagnostic& list_backends(Diagnostic& d) {
  for (const BackendInfo& b : table)
    d.note(b.available ? fmt::format("`{}` is here: {}", b.name, b.summary)
                       : fmt::format("`{}` is not here, because {}", b.name, b.why));
  return d;
}

}  // namespace

std::span<const BackendInfo> backends() { return table; }

Result<const BackendInfo*> choose_backend(const std::string& name) {
  std::vector<std::string> names = {"auto"};
  for (const BackendInfo& b : table) {
    names.emplace_back(b.name);
    if (b.available && (name == b.name || name == "auto")) return &b;
    if (name != b.name) continue;
    Diagnostic d = diagnose(Code::BackendNotHere, {},
                            fmt::format("backend `{}` is not here, because {}", name, b.why));
    return list_backends(d).with_fix("use `--backend auto`, or one that is here");
  }
  Diagnostic d =
      diagnose(Code::UnknownBackend, {}, fmt::format("there is no backend called `{}`", name));
  const std::string_view near = nearest(name, names);
  list_backends(d).with_fix(near.empty() ? "use `--backend auto`"
                                         : fmt::format("write `--backend {}`", near));
  return d;
}

}  // namespace vyre::cli
