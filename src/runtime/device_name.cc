#include "runtime/device_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "runtime/device_options.h"

namespace vyre::driver {
namespace {

Diagnostic malformed(std::string_view text, std::string_view why) {
  return diagnose(Code::UnknownDevice, {}, fmt::format("malformed device name `{}`: {}", text, why))
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

/// Adds one of the options in brackets.
std::optional<Diagnostic> add(const std::string& option, DeviceName& into) {
  const std::string_view name = std::string_view(option).substr(0, option.find('='));
  if (name.empty()) return malformed(into.text, "an option has no name");
  const DeviceOption* known = find_option(name, name_options());
  if (!known) {
    into.extra.push_back(option);
    return std::nullopt;
  }
  if (auto mistake = value_mistake(option, *known)) return mistake;
  if (name == "split")
    into.split = true;
  else
    into.subgroup_size = uint32_t(*option_number({&option, 1}, name));
  return std::nullopt;
}

}  // namespace

std::vector<std::string> split_device_names(std::string_view list) { return split(list, true); }

Result<DeviceName> parse_device_name(std::string_view text) {
  DeviceName name;
  name.text = std::string(text);
  const size_t open = text.find('[');
  name.device = std::string(text.substr(0, open));
  if (name.device.empty()) return malformed(text, "the name is missing");
  if (open == text.npos) return name;
  if (text.back() != ']') return malformed(text, "the bracket is not closed");
  Diagnostics mistakes;
  std::set<std::string, std::less<>> given;
  for (const std::string& option : split(text.substr(open + 1, text.size() - open - 2), false)) {
    if (!given.insert(option.substr(0, option.find('='))).second)
      mistakes.push_back(
          diagnose(Code::GivenTwice, {}, fmt::format("`{}` is in `{}` twice", option, text))
              .with_fix("keep one of them"));
    else if (auto mistake = add(option, name))
      mistakes.push_back(std::move(*mistake));
  }
  if (!mistakes.empty()) return mistakes;
  std::sort(name.extra.begin(), name.extra.end());
  return name;
}

}  // namespace vyre::driver
