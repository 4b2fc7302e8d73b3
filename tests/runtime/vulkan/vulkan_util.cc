#include "tests/runtime/vulkan/vulkan_util.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "runtime/vulkan/vulkan_instance.h"

namespace vyre::driver {
namespace {

std::string first_there(std::initializer_list<const char*> paths) {
  for (const char* p : paths)
    if (access(p, R_OK) == 0) return p;
  return "";
}

/// Before anything asks for Vulkan. The self-test of the device is kept for all tests.
const bool environment_is_set = [] {
  setenv("VK_ICD_FILENAMES", lavapipe_icd().c_str(), 1);
  unsetenv("VK_DRIVER_FILES");
  unsetenv("VYRE_VULKAN_PROFILE");
  setenv("VYRE_VULKAN_VALIDATION", "1", 1);
  setenv("VYRE_CACHE_DIR", VYRE_BIN_DIR "/vulkan_test_cache", 1);
  return true;
}();

}  // namespace

std::string lavapipe_icd() {
  return first_there({"/usr/share/vulkan/icd.d/lvp_icd.x86_64.json",
                      "/usr/share/vulkan/icd.d/lvp_icd.aarch64.json",
                      "/usr/share/vulkan/icd.d/lvp_icd.json"});
}

std::string swiftshader_icd() { return first_there({"/usr/lib/chromium/vk_swiftshader_icd.json"}); }

void VulkanTest::SetUp() {
  if (lavapipe_icd().empty()) GTEST_SKIP() << "lavapipe is not here (mesa-vulkan-drivers)";
  std::string why;
  const vulkan::Instance* const instance = vulkan::instance(&why);
  ASSERT_TRUE(instance) << why;
  if (!instance->validation)
    RecordProperty("validation", "the layer is not here (vulkan-validationlayers)");
}

void VulkanTest::TearDown() {
  for (const std::string& message : vulkan::take_validation_messages()) ADD_FAILURE() << message;
}

void VulkanTest::same_as_interp(const std::string& source, const LaunchInputs& inputs,
                                const CompileOptions& compile, size_t index) {
  const Program p = kernel(source, index);
  Device d = open(), i = *Device::open("interp");
  RunOptions o;
  o.compile = compile;
  const Result<RunOutcome> got = run(d, p, inputs, o);
  ASSERT_TRUE(got) << render(got.errors(), {});
  o.compile.extra.clear();
  if (!o.compile.subgroup_size) o.compile.subgroup_size = d.info().limits.default_subgroup_size;
  const Result<RunOutcome> want = run(i, p, inputs, o);
  ASSERT_TRUE(want) << render(want.errors(), {});
  EXPECT_EQ(got->buffers, want->buffers) << source;
}

Ran run_vyre(const std::vector<std::string>& environment, const std::string& arguments) {
  std::string command = "env";
  for (const std::string& e : environment) command += fmt::format(" '{}'", e);
  command += fmt::format(" {}/vyre {} 2>&1", VYRE_BIN_DIR, arguments);
  Ran ran;
  FILE* const pipe = popen(command.c_str(), "r");
  if (!pipe) return {-1, "popen failed"};
  char buffer[4096];
  while (const size_t n = fread(buffer, 1, sizeof buffer, pipe)) ran.output.append(buffer, n);
  const int status = pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return ran;
}

}  // namespace vyre::driver
