#include "differential/device_spec.h"

#include <fmt/format.h>

#include "runtime/registry.h"

namespace vyre::lab {

Result<DeviceSpec> parse_device_spec(std::string_view text) {
  auto name = driver::parse_device_name(text);
  if (!name) return name.errors();
  DeviceSpec spec;
  // The configuration under test does not depend on measurements.
  spec.open.split_grid_barriers = name->split;
  spec.open.native_grid_barriers = !name->split;
  spec.compile.subgroup_size = name->subgroup_size;
  spec.compile.extra = std::move(name->extra);
  spec.text = std::move(name->text);
  return spec;
}

std::vector<PresentDevice> present_devices() {
  std::vector<PresentDevice> list;
  for (const driver::Probed& p : driver::probe_all())
    for (const driver::DeviceInfo& d : p.devices)
      list.push_back({p.devices.size() == 1 ? std::string(p.entry.name)
                                            : fmt::format("{}:{}", p.entry.name, d.index),
                      d});
  return list;
}

}  // namespace vyre::lab
