// vyre devices: lists the devices that programs can run on.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "runtime/registry.h"
#include "tools/vyre/commands.h"
#include "tools/vyre/diagnostic_output.h"
#include "tools/vyre/json_output.h"

namespace vyre::cli {
namespace {

/// "96 KiB", "15.6 GiB": three digits are enough to identify a device.
std::string bytes(uint64_t n) {
  constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(n);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, value == static_cast<uint64_t>(value) ? 0 : 1,
                     units[unit]);
}

void row(std::string_view name, const std::string& value) {
  if (!value.empty()) write_out(fmt::format("    {:<18}{}\n", name, value));
}

/// "threads=1 to 1024", "split".
std::string form_of(const driver::DeviceOption& o) {
  if (o.type == driver::DeviceOption::Type::Flag) return std::string(o.name);
  return fmt::format("{}={}", o.name, range_of(o));
}

void show_details(const driver::DeviceInfo& d) {
  const driver::DeviceLimits& l = d.limits;
  row("memory", fmt::format("{}, up to {} in one buffer", bytes(l.memory_bytes),
                            bytes(std::min(l.buffer_bytes, l.memory_bytes))));
  row("workgroup", fmt::format("up to {} invocations, {} of shared memory", l.workgroup_invocations,
                               bytes(l.shared_bytes)));
  row("subgroup sizes", fmt::format("{} ({} unless the kernel or --subgroup-size says otherwise)",
                                    fmt::join(l.subgroup_sizes, " "), l.default_subgroup_size));
  row("grid barrier", l.native_grid_barrier ? "native" : "by splitting the kernel");
  row("forward progress", l.forward_progress ? "yes" : "no");
  row("target", d.target);
  row("driver version", d.driver_version);
  for (const auto& [name, value] : d.properties) row(name, value);
  std::string label = "options";
  for (const auto& table : {driver::name_options(), driver::common_options(), d.options})
    for (const driver::DeviceOption& o : table)
      row(std::exchange(label, ""), fmt::format("{:<43}{}", form_of(o), o.sentence));
}

/// Adds the properties of devices that are known only when they are open: the self-test's findings.
void ask_open_devices(std::vector<driver::Probed>& backends) {
  for (driver::Probed& b : backends)
    for (driver::DeviceInfo& d : b.devices) {
      const auto opened = b.backend->open(d.index);
      if (opened)
        d = (*opened)->info();
      else
        d.properties.emplace_back("cannot be opened", opened.errors()[0].message);
    }
}

}  // namespace

int devices(const DevicesCommand& command) {
  std::vector<driver::Probed> backends = driver::probe_all();
  if (command.verbose) ask_open_devices(backends);
  if (command.json) {
    write_out(backends_json(backends));
    return exit_done;
  }
  for (const driver::Probed& b : backends) {
    if (b.devices.empty())
      write_out(fmt::format("{:<10}not here, because {}\n", b.entry.name, b.why_none));
    for (const driver::DeviceInfo& d : b.devices) {
      write_out(fmt::format("{:<10}{}\n", fmt::format("{}:{}", b.entry.name, d.index), d.name));
      if (command.verbose) show_details(d);
    }
  }
  return exit_done;
}

}  // namespace vyre::cli
