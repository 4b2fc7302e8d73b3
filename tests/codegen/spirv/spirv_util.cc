#include "tests/codegen/spirv/spirv_util.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#ifdef VYRE_HAVE_SPIRV_TOOLS
#include <spirv-tools/libspirv.h>
#endif

namespace vyre::emit_spirv {

const std::vector<Case>& all_cases() {
  static const std::vector<Case> list = [] {
    std::vector<Case> cases;
    for (const emit_ptx::Case& c : emit_ptx::all_cases())
      if (!c.native_grid_barrier) cases.push_back({c.name, &c.program});
    return cases;
  }();
  return list;
}

Device device(std::string_view words) {
  const auto profile = emit_exact::parse_profile(words);
  EXPECT_TRUE(profile) << words;
  return {std::string(words), profile ? *profile : emit_exact::Profile{}};
}

Kernel emit_or_fail(const Program& program, const EmitOptions& options, const std::string& name) {
  Result<Kernel> kernel = emit(program, options);
  EXPECT_TRUE(kernel) << name << ": " << (kernel ? "" : render(kernel.errors(), {}));
  return kernel ? std::move(*kernel) : Kernel{};
}

#ifdef VYRE_HAVE_SPIRV_TOOLS
bool can_validate() { return true; }

std::string validate(const std::vector<uint32_t>& words) {
  static const spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_2);
  spv_const_binary_t binary{words.data(), words.size()};
  spv_diagnostic said = nullptr;
  const spv_result_t result = spvValidate(context, &binary, &said);
  std::string text;
  if (result != SPV_SUCCESS)
    text = said ? fmt::format("at {}: {}", said->position.index, said->error)
                : fmt::format("result {}", static_cast<int>(result));
  spvDiagnosticDestroy(said);
  return text;
}
#else
bool can_validate() { return false; }
std::string validate(const std::vector<uint32_t>&) { return "SPIRV-Tools is not here"; }
#endif

std::vector<Instruction> instructions(const std::vector<uint32_t>& words) {
  std::vector<Instruction> list;
  for (size_t at = 5; at < words.size();) {
    const uint32_t count = words[at] >> 16;
    if (count == 0 || at + count > words.size()) break;
    list.push_back({static_cast<spv::Op>(words[at] & 0xffff),
                    {words.begin() + static_cast<ptrdiff_t>(at) + 1,
                     words.begin() + static_cast<ptrdiff_t>(at + count)}});
    at += count;
  }
  return list;
}

}  // namespace vyre::emit_spirv
