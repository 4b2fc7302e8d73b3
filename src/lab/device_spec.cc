#include "lab/device_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "driver/registry.h"
#include "text/literal.h"

namespace vyre::lab {
namespace {

Diagnostic malformed(std::string_view text, std::string_view why) {
  return diagnose(Code::UnknownSubject, {}, fmt::format("`{}` names no device: {}", text, why))
      .with_fix("write it like `cpu`, `cuda:1` or `cpu[isa=x86-64-v2,threads=1]`");
}

std::vector<std::string> split(std::string_view list, bool brackets) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : list) {
    if (brackets) depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth <= 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

}  // namespace

std::vector<std::string> split_specs(std::string_view list) { return split(list, true); }

Result<DeviceSpec> parse_device_spec(std::string_view text) {
  DeviceSpec spec;
  spec.text = std::string(text);
  const size_t open = text.find('[');
  spec.name = std::string(text.substr(0, open));
  if (spec.name.empty()) return malformed(text, "there is no name");
  spec.open.native_grid_barriers = true;  // the form under test does not depend on measurements
  if (open == text.npos) return spec;
  if (text.back() != ']') return malformed(text, "the bracket is not closed");
  for (const std::string& option : split(text.substr(open + 1, text.size() - open - 2), false)) {
    const size_t equals = option.find('=');
    if (option == "split") {
      spec.open.split_grid_barriers = true;
      spec.open.native_grid_barriers = false;
    } else if (equals == std::string::npos || equals == 0) {
      return malformed(text, fmt::format("`{}` is neither `split` nor `name=value`", option));
    } else if (option.starts_with("subgroup=")) {
      const auto size = text::parse_integer(std::string_view(option).substr(equals + 1));
      if (!size || *size > 64 || !std::has_single_bit(*size))
        return malformed(text, "a subgroup has 1, 2, 4, 8, 16, 32 or 64 lanes");
      spec.compile.subgroup_size = static_cast<uint32_t>(*size);
    } else {
      spec.compile.extra.push_back(option);
    }
  }
  std::sort(spec.compile.extra.begin(), spec.compile.extra.end());
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
