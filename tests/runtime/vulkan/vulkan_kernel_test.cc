// Compiled kernels and their cached data.

#include "runtime/vulkan/vulkan_kernel.h"

#include <fmt/format.h>

#include "tests/runtime/vulkan/failing_vulkan.h"

namespace vyre::driver {
namespace {

using vulkan::VulkanDevice;

const char* source =
    "kernel triple(y: inout u32[]) workgroup(64) grid(len(y)) { y[global_id.x] *= 3 }";

struct Opened {
  Opened() {
    std::string why;
    device = std::move(*vulkan_backend(&why)->open(0));
    program = std::make_shared<Program>(kernel(source));
  }
  std::unique_ptr<BackendDevice> device;
  std::shared_ptr<const Program> program;
};

TEST_F(VulkanTest, kept_code_is_taken_back) {
  Opened o;
  const std::vector<std::byte> kept = (*o.device->compile(o.program, {}))->serialize();
  ASSERT_FALSE(kept.empty());
  EXPECT_TRUE(o.device->load_kernel(o.program, {}, kept));
  CompileOptions other;
  other.subgroup_size = 4;
  EXPECT_FALSE(o.device->load_kernel(o.program, other, kept)) << "made for another size";
}

TEST_F(VulkanTest, kept_code_that_is_damaged_is_not_used) {
  Opened o;
  const std::vector<std::byte> kept = (*o.device->compile(o.program, {}))->serialize();
  for (size_t n : {size_t{0}, size_t{7}, kept.size() / 2, kept.size() - 1})
    EXPECT_FALSE(o.device->load_kernel(o.program, {}, std::span(kept).first(n))) << n;
  for (size_t at = 0; at < kept.size(); at += 1 + kept.size() / 50) {
    std::vector<std::byte> bad = kept;
    bad[at] ^= std::byte{0x10};
    EXPECT_FALSE(o.device->load_kernel(o.program, {}, bad)) << at;
  }
  std::vector<std::byte> longer = kept;
  longer.push_back({});
  EXPECT_FALSE(o.device->load_kernel(o.program, {}, longer));
}

TEST_F(VulkanTest, a_pipeline_cache_that_the_driver_does_not_know_is_compiled_anew) {
  Opened o;
  auto made = std::static_pointer_cast<vulkan::VulkanKernel>(*o.device->compile(o.program, {}));
  for (const size_t n : {1u, 32u, 1000u}) {
    const std::vector<std::byte> nonsense(n, std::byte{0x20});
    const auto p = vulkan::Pipeline::make(made->context, made->code.words, made->code.info,
                                          "triple", nonsense);
    EXPECT_TRUE(p) << render(p.errors(), {});
  }
}

/// Returns a kernel with nested blocks; each reads a different word.
std::string nested(const std::string& begin, int depth) {
  std::string text = "kernel nested(a: in u32[], o: out u32[1]) workgroup(1) grid(1) {";
  for (int i = 0; i < depth; ++i) text += fmt::format(fmt::runtime(begin), i);
  text += "o[0] += 7";
  return text + std::string(size_t(std::count(text.begin(), text.end(), '{')), '}');
}

/// lavapipe leaves out what is nested deeper than it has room for, and says nothing.
TEST_F(VulkanTest, nesting_that_the_compiler_gets_wrong_is_refused) {
  const std::string ifs = "if a[{0}] != 0 {{", loops = "for n{0} in 0..a[{0}] {{";
  const LaunchInputs inputs = {.data = {bytes(U(100, 1)), std::nullopt}};
  same_as_interp(nested(ifs, 64), inputs);
  same_as_interp(nested(ifs + loops, 20), inputs);
  for (const std::string& begin : {ifs, loops}) {
    const auto r = open().compile(kernel(nested(begin, 80)));
    ASSERT_EQ(code_of(r), Code::KernelTooLarge);
    EXPECT_NE(message_of(r).find("80 ifs or loops"), std::string::npos) << message_of(r);
  }
  std::string beside = "kernel beside(a: in u32[], o: out u32[100]) workgroup(1) grid(1) {";
  for (int i = 0; i < 90; ++i) beside += fmt::format("if a[{0}] != 0 {{ o[{0}] = {0} }}\n", i);
  same_as_interp(beside + "}", inputs);
}

TEST_F(VulkanTest, the_listing_is_spirv) {
  Opened o;
  const auto listing = o.device->list_code(*o.program, {});
  ASSERT_TRUE(listing && *listing);
  EXPECT_EQ((*listing)->language, "SPIR-V");
}

}  // namespace
}  // namespace vyre::driver
