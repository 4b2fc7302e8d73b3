// The self-test of a device: its findings, its stored result, and its part of `vyre devices -v`.

#include "runtime/vulkan/self_test.h"

#include <filesystem>
#include <fstream>
#include <set>

#include "runtime/cache/cache_directory.h"
#include "runtime/vulkan/self_test_cases.h"
#include "support/json.h"
#include "tests/runtime/vulkan/failing_vulkan.h"

namespace vyre::driver {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using vulkan::PhysicalDevice;
using vulkan::TestedProfile;

/// A temporary folder.
struct Folder {
  Folder() {
    std::string name = "/tmp/vyre_vulkan_XXXXXX";
    EXPECT_TRUE(mkdtemp(name.data()));
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  fs::path file() const {
    const fs::path entries = path / CacheDirectory::entries_name;
    if (!fs::exists(entries)) return {};
    for (const auto& e : fs::directory_iterator(entries))
      if (e.path().filename().string().starts_with("vulkan-")) return e.path();
    return {};
  }
  fs::path path;
};

PhysicalDevice physical() { return vulkan::physical_devices(*vulkan::instance(nullptr)).at(0); }

TestedProfile some_result() {
  TestedProfile t;
  t.profile.fma32 = false;
  t.profile.subgroup_size = 8;
  t.inexact["sqrt f32"] = "sqrt(2) gave 1.5";
  t.findings = {"fma32: not fused"};
  t.workgroups_go_on = true;
  t.lanes_go_on = true;
  t.stop_ns = 1234567;
  t.test_ns = 123456789;
  return t;
}

TEST_F(VulkanTest, results_are_kept_for_just_this_device_and_driver) {
  const Folder folder;
  const std::string at = folder.path.string();
  PhysicalDevice d = physical();
  EXPECT_FALSE(find_profile(at, d));
  keep_profile(at, d, some_result());
  EXPECT_EQ(find_profile(at, d), some_result());
  TestedProfile unseen = some_result();
  unseen.stop_ns.reset();
  unseen.workgroups_go_on = unseen.lanes_go_on = false;
  keep_profile(at, d, unseen);
  EXPECT_EQ(find_profile(at, d), unseen);
  PhysicalDevice newer = d;
  ++newer.properties.driverVersion;
  EXPECT_FALSE(find_profile(at, newer)) << "another version of the driver";
  PhysicalDevice other = d;
  other.device_uuid[3] ^= 1;
  EXPECT_FALSE(find_profile(at, other)) << "another device";
  PhysicalDevice more = d;
  more.reported.float64 = !more.reported.float64;
  EXPECT_FALSE(find_profile(at, more)) << "it reports something else";
  EXPECT_FALSE(find_profile("", d));
  keep_profile("", d, some_result());
  keep_profile("/proc/no/such/folder", d, some_result());
}

TEST_F(VulkanTest, a_damaged_result_is_no_result) {
  const Folder folder;
  const std::string at = folder.path.string();
  const PhysicalDevice d = physical();
  keep_profile(at, d, some_result());
  std::ifstream in(folder.file());
  const std::string good{std::istreambuf_iterator<char>(in), {}};
  const auto write = [&](const std::string& text) {
    std::ofstream(folder.file(), std::ios::trunc) << text;
  };
  std::string other = good;
  other.replace(other.find("-fma32"), 6, "-fmaXX");
  std::vector<std::string> bads = {"", good.substr(0, good.size() / 2), "[]", "{\"key\": 3}",
                                   other};
  const Json json = parse_json<Json>(good);
  for (const auto& [name, value] : json.items()) {  // as of a vyre that did not test it
    Json without = json;
    without.erase(name);
    bads.push_back(json_text(without));
  }
  Json older = json;
  older["key"][0] = json["key"][0].get<int>() - 1;
  bads.push_back(json_text(older));
  for (const std::string& bad : bads) {
    write(bad);
    EXPECT_FALSE(find_profile(at, d)) << bad;
  }
  write(good);
  EXPECT_TRUE(find_profile(at, d));
}

TEST_F(VulkanTest, devices_v_shows_the_profile_and_takes_it_from_the_cache) {
  const Folder folder;
  const std::vector<std::string> environment = {"VYRE_CACHE_DIR=" + folder.path.string()};
  const auto devices = [&] { return run_vyre(environment, "devices -v"); };
  const Ran first = devices();
  EXPECT_EQ(first.status, 0);
  for (const char* part : {"llvmpipe", "-fma32", "self-test", "fma(x, y, z)"})
    EXPECT_NE(first.output.find(part), std::string::npos) << part << "\n" << first.output;
  ASSERT_FALSE(folder.file().empty());
  const auto kept = fs::last_write_time(folder.file());
  EXPECT_EQ(devices().output, first.output) << "the time, too, is that of the first one's test";
  EXPECT_EQ(fs::last_write_time(folder.file()), kept) << "read, not made again";
  std::ofstream(folder.file(), std::ios::trunc) << "nonsense";
  const Ran third = devices();
  EXPECT_NE(third.output.find("-fma32"), std::string::npos) << third.output;
  EXPECT_GT(fs::file_size(folder.file()), 100u) << "tested again, and kept";
}

TEST_F(VulkanTest, devices_v_tells_who_goes_on_and_whether_launches_can_be_stopped) {
  const Folder folder;
  const std::vector<std::string> environment = {"VYRE_CACHE_DIR=" + folder.path.string()};
  const auto vulkan = [&] {
    const Json all = parse_json<Json>(run_vyre(environment, "devices -v --json").output);
    for (const Json& b : all["backends"])
      if (b["name"] == "vulkan") return b["devices"][0];
    return Json();
  };
  Json device = vulkan();
  EXPECT_EQ(device["properties"]["stop word"].get<std::string>().substr(0, 6), "seen: ") << device;
  EXPECT_TRUE(device["properties"]["found"].is_array()) << "more than one thing: " << device;
  EXPECT_FALSE(device["limits"]["forward_progress"].get<bool>()) << "it cuts long loops";
  // Another device, as its self-test would have been kept.
  const auto keep = [&](bool workgroups, const char* profile) {
    Json file = Json::parse(std::ifstream(folder.file()));
    file["workgroups_go_on"] = workgroups;
    file["profile"] = profile;
    file["stop_ns"] = nullptr;
    std::ofstream(folder.file(), std::ios::trunc) << file;
    device = vulkan();
  };
  keep(true, "");
  EXPECT_EQ(device["properties"]["stop word"].get<std::string>().substr(0, 10), "not seen: ")
      << device;
  EXPECT_TRUE(device["limits"]["forward_progress"].get<bool>()) << device;
  keep(false, "");
  EXPECT_FALSE(device["limits"]["forward_progress"].get<bool>()) << device;
  const std::string text = run_vyre(environment, "devices -v").output;
  for (const char* part :
       {"progress          workgroups that have begun: no;", "stop word         not seen"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST_F(VulkanTest, a_profile_may_be_forced_by_the_environment) {
  const std::string run = "run --backend vulkan --set a=2 --in x=1,2 --in y=3,4 " VYRE_SOURCE_DIR
                          "/examples/saxpy.vyre";
  const Ran weak = run_vyre({"VYRE_VULKAN_PROFILE=weak"}, run);
  EXPECT_EQ(weak.status, 0) << weak.output;
  EXPECT_NE(weak.output.find("5 8"), std::string::npos) << weak.output;
  const Ran wrong = run_vyre({"VYRE_VULKAN_PROFILE=strong"}, run);
  EXPECT_NE(wrong.status, 0);
  EXPECT_NE(wrong.output.find("V0607"), std::string::npos) << wrong.output;
}

TEST_F(VulkanTest, what_is_refused_is_an_op_of_the_program_that_found_it) {
  for (const vulkan::TestGroup& g : vulkan::self_test_groups()) {
    std::set<std::string> keys;
    for (const OpId op : g.program.ops.ids()) keys.insert(vulkan::op_key(g.program, op));
    for (const vulkan::TestRow& row : g.rows)
      EXPECT_TRUE(keys.contains(row.key)) << g.name << ": " << row.key << " for " << row.expression;
  }
}

// ---- Devices that compute wrong: the driver gets other words than vyre wrote.

/// Instructions with this opcode (and, for an extended one, this number) get another one.
struct Change {
  uint16_t opcode = 0, other = 0;
  uint32_t extended = 0, other_extended = 0;
};

void apply(const Change& change, std::vector<uint32_t>& words) {
  constexpr uint16_t ext_inst = 12;
  for (size_t at = 5; at < words.size(); at += words[at] >> 16) {
    if ((words[at] & 0xffff) != change.opcode) continue;
    if (change.opcode != ext_inst)
      words[at] = (words[at] & 0xffff0000) | change.other;
    else if (words[at + 4] == change.extended)
      words[at + 4] = change.other_extended;
  }
}

/// Returns the result of the self-test on a device whose driver gets words that `change_code`
/// has changed.
TestedProfile test_with(std::function<void(std::vector<uint32_t>&)> change_code) {
  FailingVulkan failing;
  failing.change_code = std::move(change_code);
  Result<std::unique_ptr<BackendDevice>> d = failing.open(0);
  EXPECT_TRUE(d) << render(d.errors(), {});
  const Result<TestedProfile> t = vulkan::self_test(static_cast<vulkan::VulkanDevice&>(**d));
  EXPECT_TRUE(t) << render(t.errors(), {});
  return t ? *t : TestedProfile{};
}

TestedProfile test_with(const Change& change) {
  return test_with([&](std::vector<uint32_t>& words) { apply(change, words); });
}

TEST_F(VulkanTest, what_was_blamed_wrongly_is_switched_on_again) {
  constexpr uint16_t ext_inst = 12;
  constexpr uint32_t floor = 8, ceil = 9;
  // Wrong in the first module that has it, and never again: as if something else had been the
  // cause.
  int wrong = 0;
  const TestedProfile t = test_with([&](std::vector<uint32_t>& words) {
    const std::vector<uint32_t> before = words;
    if (wrong == 0) apply({ext_inst, 0, floor, ceil}, words);
    wrong += words != before;
  });
  EXPECT_EQ(wrong, 1);
  EXPECT_TRUE(t.profile.round32);
  for (const std::string& f : t.findings) EXPECT_FALSE(f.starts_with("round32")) << f;
  EXPECT_FALSE(t.profile.fma32) << "what is wrong stays off";
}

/// The instructions of a module, by the ids that they make.
class Made {
 public:
  explicit Made(const std::vector<uint32_t>& words) : words_(words) {}
  void add(size_t at) {
    if (words_[at] >> 16 > 3) at_[words_[at + 2]] = at;
  }
  /// The operand of the instruction that made it; 0 if it was another one.
  uint32_t operand(uint32_t id, uint16_t opcode, size_t k) {
    const size_t at = at_[id];
    return at && (words_[at] & 0xffff) == opcode ? words_[at + 3 + k] : 0;
  }
  bool is_constant(uint32_t id) { return operand(id, 43, 0) != 0; }
  /// As operands are where zeros are folded wrong, which lavapipe does.
  bool is_hidden_constant(uint32_t id) {
    return is_constant(operand(operand(operand(id, bitcast, 0), bit_or, 0), bitcast, 0));
  }
  /// As limits are where choices flush.
  bool is_hidden_limit(uint32_t id) {
    return is_constant(operand(operand(id, bitcast, 0), bit_or, 1));
  }

 private:
  static constexpr uint16_t bitcast = 124, bit_or = 197;
  const std::vector<uint32_t>& words_;
  std::map<uint32_t, size_t> at_;
};

constexpr uint16_t f_less = 184, f_less_equal = 188;

/// Comparisons that are wrong: all of them, or those without a constant, however that is written.
void change_compares(std::vector<uint32_t>& words, bool all) {
  Made made(words);
  const auto is_constant = [&](uint32_t id) {
    return made.is_constant(id) || made.is_hidden_constant(id) || made.is_hidden_limit(id);
  };
  for (size_t at = 5; at < words.size(); at += words[at] >> 16) {
    if ((words[at] & 0xffff) == f_less &&
        (all || (!is_constant(words[at + 3]) && !is_constant(words[at + 4]))))
      words[at] += f_less_equal - f_less;
    made.add(at);
  }
}

TEST_F(VulkanTest, comparisons_with_constants_are_judged_for_themselves) {
  for (const bool all : {false, true}) {
    const TestedProfile t =
        test_with([&](std::vector<uint32_t>& words) { change_compares(words, all); });
    EXPECT_FALSE(t.profile.compare32) << all;
    EXPECT_EQ(t.profile.compare_normal32, !all);
    EXPECT_TRUE(t.profile.choose32) << all;
    EXPECT_TRUE(t.inexact.empty()) << t.inexact.begin()->second;
  }
}

/// Swaps the operands of selects between a value and a constant whose condition compares with a
/// constant that is visible to the compiler.
void change_choices(std::vector<uint32_t>& words) {
  constexpr uint16_t select = 169;
  Made made(words);
  const auto is_constant = [&](uint32_t id) {
    return made.is_constant(id) || made.is_hidden_constant(id);
  };
  for (size_t at = 5; at < words.size(); at += words[at] >> 16) {
    if ((words[at] & 0xffff) == select && !is_constant(words[at + 4]) &&
        is_constant(words[at + 5]) && is_constant(made.operand(words[at + 3], f_less, 1)))
      std::swap(words[at + 4], words[at + 5]);
    made.add(at);
  }
}

TEST_F(VulkanTest, choices_are_judged_where_comparisons_are_wrong_too) {
  const TestedProfile t = test_with([&](std::vector<uint32_t>& words) {
    change_choices(words);
    change_compares(words, false);
  });
  EXPECT_FALSE(t.profile.compare32);
  EXPECT_TRUE(t.profile.compare_normal32);
  EXPECT_FALSE(t.profile.choose32);
  EXPECT_TRUE(t.inexact.empty()) << t.inexact.begin()->second;
}

TEST_F(VulkanTest, the_self_test_finds_ops_that_are_wrong) {
  constexpr uint16_t f_div = 136, f_mul = 133, u_mod = 137, u_div = 134, ext_inst = 12;
  constexpr uint32_t floor = 8, ceil = 9;
  // Rounding can be made of integers.
  const TestedProfile rounds = test_with({ext_inst, 0, floor, ceil});
  EXPECT_FALSE(rounds.profile.round32);
  EXPECT_TRUE(rounds.inexact.empty()) << rounds.inexact.begin()->second;
  EXPECT_TRUE(rounds.workgroups_go_on && rounds.stop_ns) << "which have nothing to do with it";
  // Remainders of u32 cannot be had in another way.
  const TestedProfile divides = test_with({u_mod, u_div, 0, 0});
  EXPECT_TRUE(divides.inexact.contains("rem u32"));
  // Division of f32 begins with the device's own.
  const TestedProfile floats = test_with({f_div, f_mul, 0, 0});
  EXPECT_FALSE(floats.profile.div32);
  EXPECT_FALSE(floats.findings.empty());
}

}  // namespace
}  // namespace vyre::driver
