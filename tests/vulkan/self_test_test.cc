// The self-test of a device: what it finds, how it is kept, and what `vyre devices -v` says of it.

#include <filesystem>
#include <fstream>
#include <set>

#include "driver/vulkan/self_test.h"
#include "driver/vulkan/self_test_cases.h"
#include "tests/vulkan/failing_vulkan.h"

namespace vyre::driver {
namespace {

namespace fs = std::filesystem;
using vulkan::PhysicalDevice;
using vulkan::TestedProfile;

/// A folder of its own.
struct Folder {
  Folder() {
    std::string name = "/tmp/vyre_vulkan_XXXXXX";
    EXPECT_TRUE(mkdtemp(name.data()));
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  fs::path file() const {
    for (const auto& e : fs::directory_iterator(path))
      if (e.path().filename().string().starts_with("vulkan-")) return e.path();
    return {};
  }
  fs::path path;
};

PhysicalDevice physical() {
  return vulkan::physical_devices(*vulkan::instance(nullptr)).at(0);
}

TestedProfile some_result() {
  TestedProfile t;
  t.profile.fma32 = false;
  t.profile.subgroup_size = 8;
  t.inexact["sqrt f32"] = "sqrt(2) gave 1.5";
  t.findings = {"fma32: not fused"};
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
  for (const std::string& bad : {std::string(), good.substr(0, good.size() / 2), std::string("[]"),
                                 std::string("{\"key\": 3}"), other}) {
    write(bad);
    EXPECT_FALSE(find_profile(at, d)) << bad;
  }
  write(good);
  EXPECT_TRUE(find_profile(at, d));
}

TEST_F(VulkanTest, devices_v_shows_the_profile_and_takes_it_from_the_cache) {
  const Folder folder;
  const std::vector<std::string> environment = {"VYRE_CACHE_DIR=" + folder.path.string()};
  const auto time = [&](Ran& ran) {
    const auto begin = std::chrono::steady_clock::now();
    ran = run_vyre(environment, "devices -v");
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  Ran first, second, third;
  time(first);
  EXPECT_EQ(first.status, 0);
  for (const char* part : {"llvmpipe", "-fma32", "self-test", "fma(x, y, z)"})
    EXPECT_NE(first.output.find(part), std::string::npos) << part << "\n" << first.output;
  ASSERT_FALSE(folder.file().empty());
  EXPECT_LT(time(second), 2.0);
  EXPECT_EQ(second.output, first.output) << "the time, too, is that of the test";
  std::ofstream(folder.file(), std::ios::trunc) << "nonsense";
  time(third);
  EXPECT_NE(third.output.find("-fma32"), std::string::npos) << third.output;
  EXPECT_GT(fs::file_size(folder.file()), 100u) << "tested again, and kept";
}

TEST_F(VulkanTest, a_profile_may_be_forced_by_the_environment) {
  const std::string run = "run --backend vulkan --set a=2 --in x=1,2 --in y=3,4 " VYRE_SOURCE_DIR "/examples/saxpy.vyre";
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
    for (OpId op = 0; op < g.program.ops.size(); ++op) keys.insert(vulkan::op_key(g.program, op));
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
Change change;
PFN_vkCreateShaderModule create_module;

VKAPI_ATTR VkResult VKAPI_CALL create_changed(VkDevice d, const VkShaderModuleCreateInfo* info,
                                              const VkAllocationCallbacks* a, VkShaderModule* m) {
  std::vector<uint32_t> words(info->pCode, info->pCode + info->codeSize / 4);
  constexpr uint16_t ext_inst = 12;
  for (size_t at = 5; at < words.size(); at += words[at] >> 16) {
    if ((words[at] & 0xffff) != change.opcode) continue;
    if (change.opcode != ext_inst)
      words[at] = (words[at] & 0xffff0000) | change.other;
    else if (words[at + 4] == change.extended)
      words[at + 4] = change.other_extended;
  }
  VkShaderModuleCreateInfo changed = *info;
  changed.pCode = words.data();
  return create_module(d, &changed, a, m);
}

/// What the self-test finds on a device with this mistake.
TestedProfile test_with(const Change& c) {
  FailingVulkan failing;
  Result<std::unique_ptr<BackendDevice>> d = failing.open(0);
  EXPECT_TRUE(d) << render(d.errors(), {});
  auto& device = static_cast<vulkan::VulkanDevice&>(**d);
  create_module = device.context().vk.vkCreateShaderModule;
  change = c;
  device.context().vk.vkCreateShaderModule = &create_changed;
  const Result<TestedProfile> t = vulkan::self_test(device);
  EXPECT_TRUE(t) << render(t.errors(), {});
  return t ? *t : TestedProfile{};
}

TEST_F(VulkanTest, the_self_test_finds_ops_that_are_wrong) {
  constexpr uint16_t f_div = 136, f_mul = 133, u_mod = 137, u_div = 134, ext_inst = 12;
  constexpr uint32_t floor = 8, ceil = 9;
  // Rounding can be made of integers.
  const TestedProfile rounds = test_with({ext_inst, 0, floor, ceil});
  EXPECT_FALSE(rounds.profile.round32);
  EXPECT_TRUE(rounds.inexact.empty()) << rounds.inexact.begin()->second;
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
