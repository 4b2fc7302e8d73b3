#include "runtime/device_options.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

namespace vyre::driver {
namespace {

using Type = DeviceOption::Type;

constexpr DeviceOption names[] = {
    {.name = "split", .sentence = "Split kernels at grid barriers, also where the device has one."},
    {.name = "subgroup",
     .type = Type::Word,
     .values = "1|2|4|8|16|32|64",
     .sentence = "Subgroup size of kernels that fix none."},
};

constexpr DeviceOption common[] = {
    {.name = "coarsen",
     .type = Type::Integer,
     .min = 1,
     .max = 16,
     .sentence = "Invocations whose work one does; 1: never more than one."},
};

std::string_view name_in(std::string_view text) { return text.substr(0, text.find('=')); }

std::optional<uint64_t> parse(std::string_view digits) {
  uint64_t n = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return n;
}

/// True for `random:7` and the word `random:N`, and for words that are equal.
bool is_word(std::string_view value, std::string_view word) {
  if (!word.ends_with(":N")) return value == word;
  word.remove_suffix(1);
  return value.starts_with(word) && parse(value.substr(word.size()));
}

bool is_value(std::string_view value, const DeviceOption& option) {
  switch (option.type) {
    case Type::Flag: return false;
    case Type::Integer: {
      const auto n = parse(value);
      return n && *n >= option.min && *n <= option.max;
    }
    case Type::Word:
      for (std::string_view rest = option.values; !rest.empty();) {
        const size_t bar = rest.find('|');
        if (is_word(value, rest.substr(0, bar))) return true;
        rest.remove_prefix(bar == rest.npos ? rest.size() : bar + 1);
      }
      return false;
    case Type::Text: return true;
  }
  return false;
}

Diagnostic unknown(std::string_view name, std::span<const DeviceOption> table,
                   std::string_view device) {
  std::vector<std::string> known;
  for (const auto& options : {table, common_options(), name_options()})
    for (const DeviceOption& o : options) known.emplace_back(o.name);
  const std::string_view near = nearest(name, known);
  return diagnose(Code::UnknownDeviceOption, {},
                  fmt::format("device `{}` has no option `{}`", device, name))
      .with_fix(near.empty() ? "see `vyre devices -v` for the options of each device"
                             : fmt::format("write `{}`", near));
}

}  // namespace

std::span<const DeviceOption> name_options() { return names; }
std::span<const DeviceOption> common_options() { return common; }

std::string range_of(const DeviceOption& option) {
  if (option.type == Type::Integer) return fmt::format("{} to {}", option.min, option.max);
  return std::string(option.values);
}

const DeviceOption* find_option(std::string_view name, std::span<const DeviceOption> table) {
  for (const DeviceOption& o : table)
    if (o.name == name) return &o;
  return nullptr;
}

std::optional<Diagnostic> value_mistake(std::string_view text, const DeviceOption& option) {
  const size_t equals = text.find('=');
  if (option.type == Type::Flag) {
    if (equals == text.npos) return std::nullopt;
    return diagnose(Code::BadOptionValue, {}, fmt::format("`{}`: the option takes no value", text))
        .with_fix(fmt::format("write `{}`", option.name));
  }
  if (equals != text.npos && is_value(text.substr(equals + 1), option)) return std::nullopt;
  return diagnose(Code::BadOptionValue, {},
                  fmt::format("`{}`: the option {}", text,
                              equals == text.npos ? "needs a value" : "has no such value"))
      .with_fix(fmt::format("write `{}=` and {} {}", option.name,
                            option.type == Type::Integer ? "a number from"
                            : option.type == Type::Word  ? "one of"
                                                         : "a",
                            range_of(option)));
}

Diagnostics option_mistakes(std::span<const std::string> options,
                            std::span<const DeviceOption> table, std::string_view device) {
  Diagnostics mistakes;
  for (const std::string_view text : options) {
    const DeviceOption* option = find_option(name_in(text), table);
    if (!option) option = find_option(name_in(text), common);
    if (!option)
      mistakes.push_back(unknown(name_in(text), table, device));
    else if (auto mistake = value_mistake(text, *option))
      mistakes.push_back(std::move(*mistake));
  }
  return mistakes;
}

std::optional<std::string_view> option_value(std::span<const std::string> options,
                                             std::string_view name) {
  std::optional<std::string_view> value;
  for (const std::string_view text : options)
    if (name_in(text) == name && text.size() > name.size()) value = text.substr(name.size() + 1);
  return value;
}

std::optional<uint64_t> option_number(std::span<const std::string> options, std::string_view name) {
  const auto value = option_value(options, name);
  return value ? parse(*value) : std::nullopt;
}

}  // namespace vyre::driver
