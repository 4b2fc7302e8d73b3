#include "runtime/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <tuple>

#include "runtime/cache/cache.h"
#include "runtime/compile/calibrate.h"
#include "runtime/cpu_component.h"
#include "runtime/cuda/cuda_backend.h"
#include "runtime/interp/interp_backend.h"
#include "runtime/vulkan/vulkan_backend.h"

namespace vyre::driver {
namespace {

std::vector<BackendEntry>& entries() {
  static std::vector<BackendEntry> table = {
      {"cuda", "NVIDIA GPUs", &cuda_backend},
      {"vulkan", "any Vulkan device", &vulkan_backend},
      {"cpu", "this machine's cores, compiled by LLVM", &cpu_component_backend},
      {"interp", "reference interpreter, one core", [](std::string*) { return interp_backend(); }},
  };
  return table;
}

Diagnostic& list_backends(Diagnostic& d) {
  for (const Probed& p : probe_all())
    d.note(p.devices.empty() ? fmt::format("`{}` is not here, because {}", p.entry.name, p.why_none)
                             : fmt::format("`{}` is here: {}", p.entry.name, p.entry.summary));
  return d;
}

/// Returns the name of a device: "cpu", or "cuda:1" where the backend has several devices.
std::string name_of(const DeviceInfo& info, size_t devices) {
  return devices == 1 ? info.backend : fmt::format("{}:{}", info.backend, info.index);
}

std::optional<uint32_t> number(std::string_view digits) {
  uint32_t n = 0;
  const auto r = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  return r.ec == std::errc{} && r.ptr == digits.data() + digits.size() ? std::optional(n)
                                                                       : std::nullopt;
}

/// Returns the index of the device whose name contains this, ignoring case; the number of devices
/// if there is none.
uint32_t index_of(std::string_view which, const std::vector<DeviceInfo>& devices) {
  const auto same = [](char a, char b) {
    return std::tolower(uint8_t(a)) == std::tolower(uint8_t(b));
  };
  const auto it = std::find_if(devices.begin(), devices.end(), [&](const DeviceInfo& d) {
    return !which.empty() && std::search(d.name.begin(), d.name.end(), which.begin(), which.end(),
                                         same) != d.name.end();
  });
  return uint32_t(it - devices.begin());
}

std::string in_ms(uint64_t ns) {
  const double ms = double(ns) / 1e6;
  return ms < 10 ? fmt::format("{:.2g} ms", ms) : fmt::format("{:.0f} ms", ms);
}

}  // namespace

Choice choose_automatically(const CacheOptions& cache) {
  std::vector<Candidate> here;
  std::vector<std::string> names, others;
  for (const BackendEntry& e : entries()) {
    if (!e.automatic) continue;
    const Probed p = probe(e);
    if (p.devices.empty()) others.push_back(fmt::format("{} is not here ({})", e.name, p.why_none));
    for (const DeviceInfo& info : p.devices) {
      const std::string name = name_of(info, p.devices.size());
      if (!info.not_automatic.empty()) {
        others.push_back(fmt::format("{} is passed over ({})", name, info.not_automatic));
        continue;
      }
      here.push_back({p.backend, info});
      names.push_back(name);
    }
  }
  const size_t last = here.size() - 1;  // the interpreter, always available
  size_t best = last;
  std::string why;
  std::vector<Calibration> times(here.size());
  // The interpreter comes last, even if the others took long on a busy machine.
  const auto rank = [&](size_t i) {
    return std::tuple(!times[i].failure.empty(), here[i].info.backend == "interp",
                      times[i].score());
  };
  if (here.size() == 1) {
    why = fmt::format("{} is the only one that is here", names[0]);
  } else {
    times = calibrations(here, cache.enabled ? cache.directory : "");
    for (size_t i = 0; i < here.size(); ++i)
      if (times[i].failure.empty() && rank(i) < rank(best)) best = i;
    std::vector<std::string> measured;
    for (size_t i = 0; i < here.size(); ++i) {
      if (i == best) continue;
      if (times[i].failure.empty())
        measured.push_back(fmt::format("{} by {}", in_ms(times[i].score()), names[i]));
      else
        others.insert(others.begin(), fmt::format("{} failed ({})", names[i], times[i].failure));
    }
    why = !times[best].failure.empty() ? fmt::format("{} is always here", names[best])
          : measured.empty()
              ? fmt::format("{} is the only one that works", names[best])
              : fmt::format("{}: {} against {} for the calibration kernels", names[best],
                            in_ms(times[best].score()), fmt::join(measured, ", "));
  }
  for (const std::string& other : others) why += "; " + other;
  const auto choice = [&](size_t i) {
    Choice c{here[i].backend, here[i].info.index};
    c.split_grid_barriers = times[i].prefers_split();
    return c;
  };
  Choice chosen = choice(best);
  chosen.why = std::move(why);
  if (chosen.split_grid_barriers)
    chosen.why +=
        fmt::format("; grid barriers run split: {} against {}", in_ms(times[best].split_barrier_ns),
                    in_ms(times[best].native_barrier_ns));
  std::vector<size_t> rest;
  for (size_t i = 0; i < here.size(); ++i)
    if (i != best && (times[i].failure.empty() || i == last)) rest.push_back(i);
  std::stable_sort(rest.begin(), rest.end(), [&](size_t a, size_t b) { return rank(a) < rank(b); });
  for (const size_t i : rest) chosen.others.push_back(choice(i));
  return chosen;
}

std::span<const BackendEntry> backend_entries() { return entries(); }

RegisterForTest::RegisterForTest(Backend* backend) {
  entries().insert(entries().begin(),
                   {backend->name(), backend->summary(), nullptr, true, backend});
}
RegisterForTest::~RegisterForTest() { entries().erase(entries().begin()); }

NotAutomaticForTest::NotAutomaticForTest(std::string_view name) : name_(name) {
  for (BackendEntry& e : entries())
    if (e.name == name_) e.automatic = false;
}
NotAutomaticForTest::~NotAutomaticForTest() {
  for (BackendEntry& e : entries())
    if (e.name == name_) e.automatic = true;
}

Probed probe(const BackendEntry& entry) {
  Probed p{entry, nullptr, {}, ""};
  p.backend = entry.backend(&p.why_none);
  if (p.backend) p.devices = p.backend->probe(&p.why_none);
  return p;
}

std::vector<Probed> probe_all() {
  std::vector<Probed> result;
  for (const BackendEntry& e : entries()) result.push_back(probe(e));
  return result;
}

namespace {

/// Chooses a device without options: "cuda", "cuda:1", "cuda:H200". `table` receives its options.
Result<Choice> choose_by_name(std::string_view name, std::span<const DeviceOption>& table) {
  const size_t colon = name.find(':');
  const std::string_view kind = name.substr(0, colon);
  const std::string_view which = colon == name.npos ? "0" : name.substr(colon + 1);
  std::vector<std::string> names = {"auto"};
  for (const BackendEntry& e : entries()) {
    names.emplace_back(e.name);
    if (e.name != kind) continue;
    const Probed p = probe(e);
    if (p.devices.empty()) {
      Diagnostic d =
          diagnose(Code::DeviceNotHere, {},
                   fmt::format("backend `{}` is not here, because {}", kind, p.why_none));
      return list_backends(d).with_fix("use `--backend auto`, or one that is here");
    }
    const std::optional<uint32_t> given = number(which);
    const uint32_t index = given ? *given : index_of(which, p.devices);
    if (index >= p.devices.size()) {
      Diagnostic d =
          diagnose(given ? Code::DeviceIndex : Code::UnknownDevice, {},
                   fmt::format("`{}`: the backend has {} device{}, numbered from 0", name,
                               p.devices.size(), p.devices.size() == 1 ? "" : "s"));
      for (const DeviceInfo& i : p.devices)
        d.note(fmt::format("{}:{} is {}", kind, i.index, i.name));
      return d.with_fix("use an index that is there, or a part of a device's name");
    }
    Choice choice{p.backend, index};
    choice.is_named = true;
    table = p.devices[index].options;
    return choice;
  }
  Diagnostic d =
      diagnose(Code::UnknownDevice, {}, fmt::format("there is no backend called `{}`", name));
  const std::string_view near = nearest(kind, names);
  list_backends(d).with_fix(near.empty() ? "use `--backend auto`"
                                         : fmt::format("write `--backend {}`", near));
  return d;
}

}  // namespace

Result<Choice> choose(std::string_view text) {
  Result<DeviceName> name = parse_device_name(text);
  if (!name) return name.errors();
  const bool is_auto = name->device == "auto";
  std::span<const DeviceOption> table;  // for `auto`: only the common options
  Result<Choice> choice = is_auto ? Choice() : choose_by_name(name->device, table);
  if (!choice) return choice;
  Diagnostics mistakes = option_mistakes(name->extra, table, name->device);
  if (!mistakes.empty()) return mistakes;
  if (is_auto) choice = choose_automatically(CacheOptions::from_environment());
  choice->name = std::move(*name);
  return choice;
}

}  // namespace vyre::driver
