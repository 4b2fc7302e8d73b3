// labels: slow
// Every legalization on a real driver: profiles are forced as users force them, each with one
// capability disabled, and the kernels of profile_kernels.h must give the interpreter's bytes. A
// kernel runs only if the forced profile changes its code. At least one kernel must run, so every
// word of the profile is tested.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "runtime/vulkan/self_test_run.h"
#include "runtime/vulkan/vulkan_kernel.h"
#include "tests/runtime/vulkan/failing_vulkan.h"
#include "tests/runtime/vulkan/profile_kernels.h"

namespace vyre::driver {
namespace {

using emit_exact::Profile;
using vulkan::TestGroup;
using vulkan::TestRun;
using vulkan::VulkanDevice;

/// The interpreter's bytes are computed once per kernel.
TestRun& run_of(const TestGroup& g, uint32_t subgroup_size) {
  static auto& runs = *new std::map<std::pair<const TestGroup*, uint32_t>, TestRun>();
  return runs.try_emplace({&g, subgroup_size}, g, subgroup_size).first->second;
}

/// True if legalization must refuse the group: it needs f64 or 64-bit atomics that the device
/// lacks, or a large subgroup in divergent code.
bool must_refuse(const TestGroup& g, const emit_spirv::EmitOptions& o) {
  const Profile& p = o.profile;
  if (g.needs && (!(p.*g.needs) || !p.int64)) return true;
  return g.name == "subgroups where some are elsewhere" && o.subgroup_size > p.subgroup_size;
}

struct Used {
  uint32_t ran = 0, refused = 0;  // kernels
};

class ProfileTest : public VulkanTest {
 protected:
  void SetUp() override {
    VulkanTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    Result<std::unique_ptr<BackendDevice>> opened = failing_.open(0);
    ASSERT_TRUE(opened) << render(opened.errors(), {});
    opened_ = std::move(*opened);
  }

  VulkanDevice& device() { return static_cast<VulkanDevice&>(*opened_); }
  const Profile& own() { return device().profile; }

  static CompileOptions forcing(const std::string& words, uint32_t subgroup_size = 0) {
    CompileOptions o;
    o.subgroup_size = subgroup_size;
    if (!words.empty()) o.extra = {"profile=" + words};
    return o;
  }
  emit_spirv::EmitOptions emitting(const CompileOptions& options) {
    const Result<emit_spirv::EmitOptions> o = device().options_for(options);
    EXPECT_TRUE(o) << render(o.errors(), {});
    return o ? *o : emit_spirv::EmitOptions{};
  }
  Profile forced(const std::string& words) { return emitting(forcing(words)).profile; }

  /// The kernel's code is `words`, if they are given.
  void same_bytes(const TestGroup& g, const CompileOptions& options,
                  const std::vector<uint32_t>* words = nullptr) {
    TestRun& run = run_of(g, options.subgroup_size ? options.subgroup_size : own().subgroup_size);
    const Result<std::shared_ptr<CompiledKernel>> kernel = device().compile(run.program(), options);
    ASSERT_TRUE(kernel) << g.name << "\n" << render(kernel.errors(), {});
    const auto& code = static_cast<const vulkan::VulkanKernel&>(**kernel).code;
    EXPECT_TRUE(!words || code.words == *words) << g.name << ": the forced profile was not used";
    const Result<IdMap<BufferId, vulkan::Bytes>> got = run.actual(device(), kernel);
    if (g.name == "long loops" &&
        !own().long_loops) {  // a loop that the device cuts short is an error, not a result
      EXPECT_EQ(code_of(got), Code::NotExact);
      return;
    }
    ASSERT_TRUE(got) << g.name << "\n" << render(got.errors(), {});
    for (const vulkan::TestRow& row : g.rows)
      EXPECT_EQ(run.difference(row, (*got)[row.buffer]), "") << g.name;
  }

  /// Runs the kernels whose code differs from the code for `other`.
  Used run_changed(const std::string& words, const Profile& other, uint32_t subgroup_size = 0) {
    const CompileOptions options = forcing(words, subgroup_size);
    const emit_spirv::EmitOptions without = emitting(options);
    emit_spirv::EmitOptions with = emitting({});
    with.profile = other;
    Used used;
    for (const TestGroup& g : profile_kernels()) {
      const Result<emit_spirv::Kernel> code = emit_spirv::emit(g.program, without);
      EXPECT_EQ(!code, must_refuse(g, without)) << g.name;
      if (!code) {
        EXPECT_EQ(code_of(code), Code::MissingFeature) << g.name;
        ++used.refused;
        continue;
      }
      const Result<emit_spirv::Kernel> before = emit_spirv::emit(g.program, with);
      if (before && before->words == code->words) continue;
      ++used.ran;
      same_bytes(g, options, &code->words);
    }
    return used;
  }

  FailingVulkan failing_;  // counts what is compiled
  std::unique_ptr<BackendDevice> opened_;
};

// ---- One thing off.

struct Field {
  const char* name;
  vulkan::ProfileFlag flag;
};
const Field fields[] = {
#define VYRE_FIELD(field, value, text) {#field, &Profile::field},
    VYRE_PROFILE(VYRE_FIELD)
#undef VYRE_FIELD
};

/// Fields that say how wrong another one is: alone they change nothing.
const std::map<std::string, std::string> only_with = {
    {"normal32", "-add32 -mul32"},  // what is left of these two
    {"fused32", "-fma32"},          // the same
    {"compare_normal32", "-compare32"},
};
/// Fields without an expansion: kernels that need them are refused (V0734).
const std::set<std::string> only_refused = {"shared_atomics64"};

class WithoutField : public ProfileTest, public ::testing::WithParamInterface<Field> {};

TEST_P(WithoutField, gives_the_bytes_of_the_interpreter) {
  const auto [name, flag] = GetParam();
  std::string words = fmt::format("-{}", name);
  if (const auto it = only_with.find(name); it != only_with.end()) words += " " + it->second;
  // If the device itself lacks the capability, its normal code runs, and `with` describes a device
  // that does not exist.
  Profile with = forced(words);
  with.*flag = true;
  const Used used = run_changed(words, with);
  EXPECT_GT(only_refused.contains(name) ? used.refused : used.ran, 0u)
      << "no kernel of profile_kernels() uses what replaces " << name;
  RecordProperty("kernels", int(used.ran));
}

INSTANTIATE_TEST_SUITE_P(Profile, WithoutField, ::testing::ValuesIn(fields),
                         [](const auto& info) { return std::string(info.param.name); });

// ---- Several: expansions that rest on others, whole devices, and sizes.

struct Several {
  const char* words;
  const char* than;  // kernels run that are other code than under this profile
};
class WithProfile : public ProfileTest, public ::testing::WithParamInterface<Several> {};

TEST_P(WithProfile, gives_the_bytes_of_the_interpreter) {
  EXPECT_GT(run_changed(GetParam().words, forced(GetParam().than)).ran, 0u);
}

const Several several[] = {
    {"weak", ""},
    {"nvidia", ""},
    {"swiftshader", ""},
    {"-div32 -sqrt32 -float64", "-float64"},
    {"-div32 -sqrt32 -int64", "-int64"},
    {"-div32 -sqrt32 -widen -narrow", "-widen -narrow"},
    {"-compare32 -compare64", ""},
    {"-compare32 -choose32 +zero_operands", "-compare32 +zero_operands"},
    {"-int64 -bits", "-int64"},
    {"-int64 -subgroup_shuffle", "-int64"},
    {"-int64 -storage8 -storage16 -shared_bytes", "-int64"},
    {"-linear_lanes -subgroup_shuffle", "-subgroup_shuffle"},
    {"push_constant_bytes=8", ""},
    {"-int64 push_constant_bytes=100", "-int64"},
};

std::string test_name(std::string words) {
  std::replace_if(
      words.begin(), words.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return words;
}
INSTANTIATE_TEST_SUITE_P(Profile, WithProfile, ::testing::ValuesIn(several),
                         [](const auto& info) { return test_name(info.param.words); });

TEST_F(ProfileTest, grids_beyond_a_forced_limit) {
  const auto test = [&](const TestGroup& g, const std::string& words) {
    const int before = failing_.calls(Function::CreateShaderModule);
    same_bytes(g, forcing(words));
    const auto& n = run_of(g, own().subgroup_size).expected()->shape.num_workgroups;
    const bool beyond = *std::max_element(n.begin(), n.end()) > forced(words).most_workgroups;
    EXPECT_EQ(failing_.calls(Function::CreateShaderModule) - before, beyond ? 2 : 1)
        << g.name << ": one form for grids that fit, another for those that do not";
  };
  for (const TestGroup& g : profile_kernels()) {
    // Those with more elements differ only in what they compute of each.
    if (g.elements <= 2048) test(g, "most_workgroups=5");
    if (g.name == "many workgroups in three dimensions") test(g, "most_workgroups=7 -int64");
  }
}

TEST_F(ProfileTest, grids_that_a_forced_limit_is_too_small_for) {
  Device d = open();
  const Program p =
      kernel("kernel t(y: inout u32[1]) workgroup(1) grid(70000) { atomic_add(y[0], 1) }");
  LaunchInputs inputs;
  inputs.data = {bytes(U{0})};
  inputs.lengths.resize(1);
  RunOptions o;
  o.compile = forcing("most_workgroups=1");
  const Result<RunOutcome> got = run(d, p, inputs, o);
  ASSERT_TRUE(got) << render(got.errors(), {});
  EXPECT_EQ(got->buffers[0], bytes(U{70000}));
}

TEST_F(ProfileTest, other_subgroups_than_the_device_has) {
  EXPECT_GT(run_changed("", own(), 1).ran, 3u);
  for (const char* words : {"", "-linear_lanes", "-subgroup_shuffle", "-int64"})
    for (const uint32_t size : {4u, 32u})
      EXPECT_GT(run_changed(words, forced(words), size).ran, 3u) << words << ", " << size;
}

TEST_F(ProfileTest, sizes_that_the_device_does_not_have) {
  for (const char* words :
       {"subgroup_size=4", "subgroup_size=16", "push_constant_bytes=512", "most_workgroups=65536"})
    EXPECT_EQ(code_of(device().compile(run_of(profile_kernels()[0], 8).program(), forcing(words))),
              Code::BadOptionValue)
        << words;
}

const char* const traps = R"(
kernel t(n: u32, y: inout u32[]) workgroup(64) grid(len(y)) {
  shared all: u32[64]
  all[63 - local_id.x] = y[global_id.x]
  barrier workgroup
  assert(global_id.x % n != 77 || all[local_id.x] == 0, global_id.x + 5)
  y[global_id.x] = all[local_id.x]
})";

TEST_F(ProfileTest, traps_are_those_of_the_interpreter) {
  const Program p = kernel(traps);
  Device vulkan = open(), interp = *Device::open("interp");
  LaunchInputs inputs;
  inputs.data = {bytes(U{100}), bytes(U(1000, 3))};
  inputs.lengths.resize(2);
  const std::string want = message_of(run(interp, p, inputs));
  for (const char* words : {"-atomics64", "-int64", "weak"}) {
    RunOptions o;
    o.compile = forcing(words);
    EXPECT_EQ(message_of(run(vulkan, p, inputs, o)), want) << words;
  }
}

}  // namespace
}  // namespace vyre::driver
