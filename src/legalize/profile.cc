#include "legalize/profile.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

namespace vyre::emit_exact {
namespace {

struct Flag {
  std::string_view name;
  bool Profile::* field;
};
constexpr Flag flags[] = {
#define VYRE_FIELD(field, value, text) {#field, &Profile::field},
    VYRE_PROFILE(VYRE_FIELD)
#undef VYRE_FIELD
};

// Measured capabilities of devices, as words relative to a device with everything. (NVIDIA: an H200
// with driver 580.)
struct Preset {
  std::string_view name;
  std::string_view words;
};
constexpr Preset presets[] = {
    {"full", ""},
    {"lavapipe",
     "-ordered_atomics -partial_subgroups -uniform_addresses -fma32 -fused32 -min_max32 "
     "-zero_operands -fma64 -min_max64 subgroup_size=8"},
    {"nvidia",
     "-denorm_preserve32 -denorm_preserve64 -sqrt32 -fma32 -compare32 -choose32 "
     "-signs32 -convert32 -sqrt64 -convert64 -widen -saturate64 push_constant_bytes=256"},
    {"swiftshader",
     "-int64 -float64 -storage8 -storage16 -shared_bytes -atomics64 -shared_atomics64 "
     "-float_atomic_add -subgroup_extended_types -denorm_preserve32 -add32 -mul32 -div32 -sqrt32 "
     "-fma32 -fused32 -min_max32 -compare32 -round32 subgroup_size=4"},
};

Profile weak() {
  Profile p;
  for (const Flag& f : flags) p.*f.field = false;
  return p;
}

Diagnostic bad(std::string message) {
  return diagnose(Code::BadOptionValue, {}, std::move(message));
}

Diagnostic unknown(std::string_view word, std::string_view name) {
  std::vector<std::string> names = {"weak", "subgroup_size", "push_constant_bytes",
                                    "most_workgroups"};
  for (const Flag& f : flags) names.emplace_back(f.name);
  for (const Preset& p : presets) names.emplace_back(p.name);
  Diagnostic d = bad(fmt::format("`{}` is no word of a device profile", word));
  const std::string_view near = nearest(name, names);
  if (!near.empty()) return d.with_fix(fmt::format("did you mean `{}`?", near));
  return d.with_fix("name a device (full, nvidia, lavapipe, swiftshader, weak), or write `-int64`");
}

template <class T>
Result<> set_number(T& field, std::string_view word, std::string_view digits, uint64_t least,
                    uint64_t most) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < least || value > most)
    return bad(fmt::format("`{}` needs a number from {} to {}", word, least, most))
        .with_fix(
            fmt::format("write a number, as in `{}={}`", word.substr(0, word.find('=')), least));
  field = static_cast<T>(value);
  return Ok{};
}

Result<> apply(Profile& p, std::string_view word) {
  if (const size_t equals = word.find('='); equals != word.npos) {
    const std::string_view name = word.substr(0, equals), digits = word.substr(equals + 1);
    if (name == "push_constant_bytes")
      return set_number(p.push_constant_bytes, word, digits, 8, 1u << 16);
    if (name == "most_workgroups") return set_number(p.most_workgroups, word, digits, 1, ~0u);
    if (name != "subgroup_size") return unknown(word, name);
    uint32_t size = 0;
    if (auto set = set_number(size, word, digits, 1, 64); !set) return set;
    if (size & (size - 1))
      return bad(fmt::format("`{}` needs a power of two", word))
          .with_fix("write 1, 2, 4, 8, 16, 32 or 64");
    p.subgroup_size = size;
    return Ok{};
  }
  if (word[0] == '-' || word[0] == '+') {
    for (const Flag& f : flags)
      if (f.name == word.substr(1)) {
        p.*f.field = word[0] == '+';
        return Ok{};
      }
    return unknown(word, word.substr(1));
  }
  if (word == "weak") {
    p = weak();
    return Ok{};
  }
  for (const Preset& preset : presets)
    if (preset.name == word) {
      auto parsed = parse_profile(preset.words);
      if (parsed) p = *parsed;
      return Ok{};
    }
  return unknown(word, word);
}

}  // namespace

std::string to_text(const Profile& profile) {
  const Profile full;
  std::string text;
  const auto add = [&](const std::string& word) { text += text.empty() ? word : " " + word; };
  for (const Flag& f : flags)
    if (profile.*f.field != full.*f.field)
      add((profile.*f.field ? "+" : "-") + std::string(f.name));
  if (profile.subgroup_size != full.subgroup_size)
    add(fmt::format("subgroup_size={}", profile.subgroup_size));
  if (profile.push_constant_bytes != full.push_constant_bytes)
    add(fmt::format("push_constant_bytes={}", profile.push_constant_bytes));
  if (profile.most_workgroups != full.most_workgroups)
    add(fmt::format("most_workgroups={}", profile.most_workgroups));
  return text;
}

Result<Profile> parse_profile(std::string_view text, const Profile& base) {
  constexpr std::string_view blank = " \t\n,";
  Profile profile = base;
  for (size_t at = text.find_first_not_of(blank); at != text.npos;
       at = text.find_first_not_of(blank, at)) {
    const size_t end = std::min(text.find_first_of(blank, at), text.size());
    if (auto done = apply(profile, text.substr(at, end - at)); !done)
      return std::move(done.errors());
    at = end;
  }
  return profile;
}

}  // namespace vyre::emit_exact
