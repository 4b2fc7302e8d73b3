#pragma once

// Options of devices: `threads=1` in `cpu[threads=1]` and in CompileOptions::extra. Each backend
// has a table of its options; name_options() and common_options() list those of every device. One
// function checks all of them, and `vyre devices -v` prints them.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "diagnostics/diagnostic.h"

namespace vyre::driver {

struct DeviceOption {
  enum class Type : uint8_t {
    Flag,     // has no value
    Integer,  // from `min` to `max`
    Word,     // one of `values`
    Text,     // the backend reads it; `values` names its meaning
  };
  std::string_view name;
  Type type = Type::Flag;
  uint64_t min = 0, max = 0;
  /// Words with `|` between them; `random:N` is a word, a colon and an integer.
  std::string_view values;
  std::string_view sentence;  // its effect, for people
};

/// Options that are only part of a device's name, because calls have parameters for them: `split`
/// and `subgroup`.
std::span<const DeviceOption> name_options();
/// Options of CompileOptions::extra that every device has.
std::span<const DeviceOption> common_options();

/// Returns the possible values: "1 to 1024", "order|reverse|random:N"; "" for a flag.
std::string range_of(const DeviceOption& option);

/// Returns the option of this name, or null.
const DeviceOption* find_option(std::string_view name, std::span<const DeviceOption> table);

/// Checks the value of "name=value" or "name". Returns nothing, or V0607.
std::optional<Diagnostic> value_mistake(std::string_view text, const DeviceOption& option);

/// Checks options against common_options() and the table of the device that messages call `device`:
/// V0724 for an unknown option, V0607 for a value outside its range.
Diagnostics option_mistakes(std::span<const std::string> options,
                            std::span<const DeviceOption> table, std::string_view device);

/// Returns the value of "name=value" among checked options; the last one if there are several.
std::optional<std::string_view> option_value(std::span<const std::string> options,
                                             std::string_view name);
/// The same for an Integer.
std::optional<uint64_t> option_number(std::span<const std::string> options, std::string_view name);

}  // namespace vyre::driver
