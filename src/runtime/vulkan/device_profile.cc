#include "runtime/vulkan/device_profile.h"

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/cache/cache_directory.h"
#include "runtime/cache/cache_key.h"
#include "support/hash.h"
#include "support/json.h"

namespace vyre::driver::vulkan {
namespace {

using Json = nlohmann::json;

template <size_t N>
std::string hex(const std::array<uint8_t, N>& bytes) {
  std::string text;
  for (const uint8_t b : bytes) text += fmt::format("{:02x}", b);
  return text;
}

/// The version of the file format: another number for every change of the contents.
constexpr int version = 2;

/// Returns everything that the result depends on.
Json key_of(const PhysicalDevice& d) {
  return Json::array({version, build_id(), d.properties.deviceName, d.driver,
                      d.properties.driverVersion, hex(d.device_uuid), hex(d.driver_uuid),
                      emit_exact::to_text(d.reported)});
}

std::string file_name(const Json& key) {
  const Hash128 h = hash128(json_text(key));
  return fmt::format("vulkan-{:016x}.json", h.lo);
}

}  // namespace

std::string op_key(const Program& p, OpId id) {
  const Op& op = p.ops[id];
  std::string key(mnemonic(op.code));
  if (op.code == Opcode::Load || op.code == Opcode::Store)
    key += fmt::format(" {}", name(p.buffers[p.memory(id).buffer].element));
  else if (op.type != Type::Void)
    key += fmt::format(" {}", name(op.type));
  if (op.code == Opcode::Cast && op.operands.count > 0)
    key += fmt::format(" {}", name(p.values[p.ids[op.operands.begin]].type));
  return key;
}

std::optional<TestedProfile> find_profile(const std::string& directory, const PhysicalDevice& d) {
  if (directory.empty()) return std::nullopt;
  std::string why;
  const auto folder = CacheDirectory::open(directory, CacheDirectory::Open::Existing, why);
  if (!folder) return std::nullopt;
  const Json key = key_of(d);
  const CacheDirectory::Contents file = folder->read(file_name(key), 1 << 20);
  if (file.kind != CacheDirectory::Contents::Kind::Read) return std::nullopt;
  try {
    const Json json = parse_json<Json>(
        std::string_view(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()));
    if (json.at("key") != key) return std::nullopt;
    TestedProfile t;
    const auto profile = emit_exact::parse_profile(json.at("profile").get<std::string>());
    if (!profile) return std::nullopt;
    t.profile = *profile;
    t.inexact = json.at("inexact").get<std::map<std::string, std::string>>();
    t.findings = json.at("findings").get<std::vector<std::string>>();
    t.workgroups_go_on = json.at("workgroups_go_on").get<bool>();
    t.lanes_go_on = json.at("lanes_go_on").get<bool>();
    if (const Json& ns = json.at("stop_ns"); !ns.is_null()) t.stop_ns = whole_number<uint64_t>(ns);
    t.test_ns = whole_number<uint64_t>(json.at("test_ns"));
    return t;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void keep_profile(const std::string& directory, const PhysicalDevice& d, const TestedProfile& t) {
  if (directory.empty()) return;
  std::string why;
  const auto folder = CacheDirectory::open(directory, CacheDirectory::Open::Create, why);
  if (!folder) return;
  const Json key = key_of(d);
  const std::string text = json_text(Json{{"key", key},
                                          {"profile", emit_exact::to_text(t.profile)},
                                          {"inexact", t.inexact},
                                          {"findings", t.findings},
                                          {"workgroups_go_on", t.workgroups_go_on},
                                          {"lanes_go_on", t.lanes_go_on},
                                          {"stop_ns", t.stop_ns ? Json(*t.stop_ns) : Json()},
                                          {"test_ns", t.test_ns}},
                                     2) +
                           "\n";
  folder->write(file_name(key), std::as_bytes(std::span(text)), ::write);
}

Result<emit_exact::Profile> force_profile(std::string_view text, const emit_exact::Profile& base,
                                          const PhysicalDevice& device) {
  Result<emit_exact::Profile> forced = emit_exact::parse_profile(text, base);
  if (!forced) return forced;
  // Names of whole profiles ("weak") are not about sizes.
  const auto says = [&](std::string_view word) { return text.find(word) != text.npos; };
  if (!says("subgroup_size=")) forced->subgroup_size = base.subgroup_size;
  if (!says("push_constant_bytes=")) forced->push_constant_bytes = base.push_constant_bytes;
  if (!says("most_workgroups=")) forced->most_workgroups = base.most_workgroups;
  std::string beyond;
  // A capability of a named device is useless where this device computes it wrong.
#define VYRE_FIELD(field, value, what)                                 \
  if (says("+" #field)) {                                              \
    if (forced->field && !device.reported.field) beyond += " " #field; \
  } else {                                                             \
    forced->field = forced->field && base.field;                       \
  }
  VYRE_PROFILE(VYRE_FIELD)
#undef VYRE_FIELD
  if (forced->push_constant_bytes > device.reported.push_constant_bytes)
    beyond += " push_constant_bytes";
  if (forced->most_workgroups > device.reported.most_workgroups) beyond += " most_workgroups";
  // The device's own: programs get others from `--subgroup-size`.
  if (forced->subgroup_size < device.least_subgroup || forced->subgroup_size > device.most_subgroup)
    beyond += " subgroup_size";
  if (beyond.empty()) return forced;
  return diagnose(Code::BadOptionValue, {},
                  fmt::format("the profile `{}` has what {} does not report:{}", text,
                              device.properties.deviceName, beyond))
      .with_fix("take it out: a profile may only leave things out");
}

}  // namespace vyre::driver::vulkan
