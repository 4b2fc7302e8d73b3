// Every kernel of the repository is valid SPIR-V for Vulkan 1.2, for devices with all capabilities,
// with hardly any, and with one missing.

#include <gtest/gtest.h>

#include "tests/codegen/spirv/spirv_util.h"

namespace vyre::emit_spirv {
namespace {

/// True if the kernel is refused because the device lacks a feature.
bool is_refused(const Result<Kernel>& kernel) {
  if (kernel) return false;
  for (const Diagnostic& d : kernel.errors())
    if (d.code != Code::MissingFeature) return false;
  return true;
}

/// SPIRV-Tools takes minutes for the thousands of blocks of programs at our limits: a construct's
/// blocks are found by walking dominators of all of them.
constexpr size_t most_blocks = 400;

size_t blocks_of(const std::vector<uint32_t>& words) {
  size_t n = 0;
  for (const Instruction& i : instructions(words)) n += i.op == spv::OpLabel;
  return n;
}

struct Count {
  size_t valid = 0, refused = 0, large = 0;
};

/// Every `step`-th kernel, from `first` on.
Count validate_cases(const EmitOptions& options, const std::string& what, size_t first,
                     size_t step) {
  Count count;
  size_t n = 0;
  for (const Case& c : all_cases()) {
    if (n++ % step != first % step) continue;
    const Result<Kernel> kernel = emit(*c.program, options);
    if (is_refused(kernel)) {
      ++count.refused;
      continue;
    }
    EXPECT_TRUE(kernel) << what << ": " << c.name << "\n"
                        << (kernel ? "" : render(kernel.errors(), {}));
    if (!kernel) continue;
    if (blocks_of(kernel->words) > most_blocks) {
      ++count.large;
      continue;
    }
    const std::string said = validate(kernel->words);
    EXPECT_EQ(said, "") << what << ": " << c.name;
    ++count.valid;
  }
  return count;
}

#define VYRE_NEED_VALIDATOR() \
  if (!can_validate()) GTEST_SKIP() << "SPIRV-Tools is not on this machine: nothing was validated"

TEST(SpirvValidate, takes_every_kernel) {
  VYRE_NEED_VALIDATOR();
  const Count count = validate_cases({}, "full", 0, 1);
  EXPECT_GT(count.valid, 600u);
  EXPECT_EQ(count.refused, 0u);
  EXPECT_LT(count.large, 10u);
}

TEST(SpirvValidate, takes_kernels_for_weak_devices) {
  VYRE_NEED_VALIDATOR();
  EmitOptions options;
  options.profile = device("weak").profile;
  const Count count = validate_cases(options, "weak", 0, 1);
  EXPECT_GT(count.valid, 500u);
  EXPECT_LT(count.refused, 150u);
}

TEST(SpirvValidate, takes_kernels_for_known_devices) {
  VYRE_NEED_VALIDATOR();
  for (const char* words : {"lavapipe", "nvidia", "swiftshader"}) {
    EmitOptions options;
    options.profile = device(words).profile;
    EXPECT_GT(validate_cases(options, words, 0, 1).valid, 450u) << words;
  }
}

TEST(SpirvValidate, takes_kernels_for_devices_that_lack_one_thing) {
  VYRE_NEED_VALIDATOR();
  const char* fields[] = {
#define VYRE_FIELD(field, value, text) #field,
      VYRE_PROFILE(VYRE_FIELD)
#undef VYRE_FIELD
  };
  size_t n = 0;
  for (const char* field : fields) {
    EmitOptions options;
    options.profile = device(std::string("-") + field).profile;
    EXPECT_GT(validate_cases(options, field, n++, 25).valid, 15u) << field;
  }
}

TEST(SpirvValidate, takes_kernels_with_other_options) {
  VYRE_NEED_VALIDATOR();
  EXPECT_GT(validate_cases({.debug = true}, "debug", 0, 7).valid, 50u);
  EXPECT_GT(validate_cases({.linear_grid = true}, "linear", 1, 7).valid, 50u);
  EXPECT_GT(validate_cases({.stoppable = false}, "not stoppable", 2, 7).valid, 50u);
  for (const uint32_t size : {1u, 2u, 4u, 8u, 16u, 64u})
    EXPECT_GT(validate_cases({.subgroup_size = size}, "other subgroups", size, 9).valid, 50u);
  EmitOptions options;
  options.profile = device("nvidia").profile;
  options.functions = false;
  EXPECT_GT(validate_cases(options, "no functions", 6, 7).valid, 50u);
  options = {};
  options.profile = device("push_constant_bytes=32").profile;
  EXPECT_GT(validate_cases(options, "block in memory", 3, 7).valid, 50u);
  options.profile = device("weak push_constant_bytes=32 subgroup_size=1").profile;
  options.linear_grid = true;
  EXPECT_GT(validate_cases(options, "weak, block in memory", 4, 7).valid, 50u);
}

TEST(SpirvValidate, finds_what_is_wrong) {
  VYRE_NEED_VALIDATOR();
  std::vector<uint32_t> words = emit_or_fail(*all_cases()[0].program, {}, "first").words;
  words.resize(words.size() - 1);  // no OpFunctionEnd
  EXPECT_NE(validate(words), "");
}

}  // namespace
}  // namespace vyre::emit_spirv
