#pragma once

// What must hold for any text given as a device name: a name, or errors with a code and a fix; and
// the same for options that are compared with a table. libFuzzer calls it with what it finds, the
// tests with seeded names.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "check_errors.h"
#include "runtime/device_name.h"
#include "runtime/device_options.h"

namespace vyre {

/// A table with an option of each type.
inline constexpr driver::DeviceOption fuzzed_options[] = {
    {.name = "threads", .type = driver::DeviceOption::Type::Integer, .min = 1, .max = 1024},
    {.name = "schedule",
     .type = driver::DeviceOption::Type::Word,
     .values = "order|reverse|random:N"},
    {.name = "flags", .type = driver::DeviceOption::Type::Text, .values = "list"},
    {.name = "quiet", .type = driver::DeviceOption::Type::Flag},
};

/// The name as parse_device_name() understood it, in canonical form.
inline std::string written_name(const driver::DeviceName& name) {
  std::vector<std::string> options = name.extra;
  if (name.split) options.push_back("split");
  if (name.subgroup_size) options.push_back("subgroup=" + std::to_string(name.subgroup_size));
  std::string text = name.device;
  for (size_t i = 0; i < options.size(); ++i) text += (i ? "," : "[") + options[i];
  return options.empty() ? text : text + "]";
}

/// "" or what is wrong.
inline std::string check_device_name(std::string_view text) {
  const std::vector<std::string> list = driver::split_device_names(text);
  std::string joined;
  for (const std::string& part : list) joined += (&part == list.data() ? "" : ",") + part;
  if (joined != text) return "a list of names loses bytes";
  const Result<driver::DeviceName> name = driver::parse_device_name(text);
  if (!name) return check_errors(name.errors());
  if (name->text != text) return "the name is not kept as it was written";
  if (!std::is_sorted(name->extra.begin(), name->extra.end())) return "the options are not sorted";
  const std::string written = written_name(*name);
  const Result<driver::DeviceName> again = driver::parse_device_name(written);
  if (!again || written_name(*again) != written) return "the name does not come back: " + written;
  const Diagnostics mistakes = driver::option_mistakes(name->extra, fuzzed_options, "toy");
  if (!mistakes.empty()) return check_errors(mistakes);
  const auto threads = driver::option_number(name->extra, "threads");
  if (threads && (*threads < 1 || *threads > 1024)) return "a number outside of its range";
  return "";
}

}  // namespace vyre
