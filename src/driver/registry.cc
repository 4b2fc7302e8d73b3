#include "driver/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "driver/reference/interp_backend.h"

namespace vyre::driver {
namespace {

std::vector<BackendEntry>& entries() {
  static std::vector<BackendEntry> table = {
      {"cuda", "NVIDIA GPUs", nullptr, "this build has no such backend"},
      {"vulkan", "any Vulkan device", nullptr, "this build has no such backend"},
      {"cpu", "this machine's cores, compiled by LLVM", nullptr, "this build has no such backend"},
      {"interp", "reference interpreter, one core", interp_backend(), ""},
  };
  return table;
}

Diagnostic& list_backends(Diagnostic& d) {
  for (const Probed& p : probe_all())
    d.note(p.devices.empty() ? fmt::format("`{}` is not here, because {}", p.entry.name, p.why_none)
                             : fmt::format("`{}` is here: {}", p.entry.name, p.entry.summary));
  return d;
}

}  // namespace

std::span<const BackendEntry> backend_entries() { return entries(); }

RegisterForTest::RegisterForTest(Backend* backend) {
  entries().insert(entries().begin(), {backend->name(), backend->summary(), backend, ""});
}
RegisterForTest::~RegisterForTest() { entries().erase(entries().begin()); }

std::vector<Probed> probe_all() {
  std::vector<Probed> result;
  for (const BackendEntry& e : entries()) {
    Probed p{e, {}, std::string(e.why_absent)};
    if (e.backend) p.devices = e.backend->probe(&p.why_none);
    result.push_back(std::move(p));
  }
  return result;
}

Result<Choice> choose(std::string_view name) {
  if (name == "auto") {
    // One backend can run programs today; with more, calibration decides (driver/calibrate.h).
    std::string others;
    for (const Probed& p : probe_all()) {
      if (p.devices.empty()) {
        others += fmt::format("{}{} ({})", others.empty() ? "" : ", ", p.entry.name, p.why_none);
        continue;
      }
      return Choice{p.entry.backend, 0, fmt::format("{} is the first that is here{}{}", p.entry.name, others.empty() ? "" : "; not here: ", others)};
    }
  }
  const size_t colon = name.find(':');
  const std::string_view kind = name.substr(0, colon);
  uint32_t index = 0;
  bool numbered = true;
  if (colon != std::string_view::npos) {
    const std::string_view digits = name.substr(colon + 1);
    const auto r = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    numbered = r.ec == std::errc{} && r.ptr == digits.data() + digits.size();
  }
  std::vector<std::string> names = {"auto"};
  for (const Probed& p : probe_all()) {
    names.emplace_back(p.entry.name);
    if (p.entry.name != kind || !numbered) continue;
    if (p.devices.empty()) {
      Diagnostic d = diagnose(Code::DeviceNotHere, {}, fmt::format("backend `{}` is not here, because {}", kind, p.why_none));
      return list_backends(d).with_fix("use `--backend auto`, or one that is here");
    }
    if (index >= p.devices.size()) {
      Diagnostic d = diagnose(Code::DeviceIndex, {}, fmt::format("`{}`: the backend has {} device{}, numbered from 0", name, p.devices.size(), p.devices.size() == 1 ? "" : "s"));
      for (const DeviceInfo& i : p.devices) d.note(fmt::format("{}:{} is {}", kind, i.index, i.name));
      return d.with_fix("use an index that is there");
    }
    return Choice{p.entry.backend, index, ""};
  }
  Diagnostic d = diagnose(Code::UnknownDevice, {}, fmt::format("there is no backend called `{}`", name));
  const std::string_view near = nearest(kind, names);
  list_backends(d).with_fix(near.empty() ? "use `--backend auto`" : fmt::format("write `--backend {}`", near));
  return d;
}

}  // namespace vyre::driver
