// The conformance suite finds what is wrong with a backend, and nothing where nothing is.

#include "conformance/certify.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "differential/device_subject.h"
#include "fuzz/fuzz.h"
#include "runtime/registry.h"
#include "support/embedded_files.h"
#include "tests/differential/toy_backend_util.h"
#include "tools/vyre/certify_command.h"

namespace vyre::lab {
namespace {

CertifyReport certify_toy(Flaw flaw, const std::string& only, uint64_t fuzz = 30) {
  ToyBackend backend(flaw);
  const driver::RegisterForTest here(&backend);
  driver::OpenOptions open;
  open.use_cache = false;
  auto device = driver::Device::open("toy", open);
  EXPECT_TRUE(device);
  CertifyOptions options;
  options.spec = *parse_device_spec("toy");
  options.only = only;
  options.fuzz = fuzz;
  options.prepare = cli::prepare_run;
  auto report = certify(*device, options);
  EXPECT_TRUE(report) << render(report.errors(), {});
  if (!report) return {};
  if (!report->folder.empty()) std::filesystem::remove_all(report->folder);
  return *report;
}

std::set<std::string> failed(const CertifyReport& r) {
  std::set<std::string> names;
  for (const CaseReport& c : r.cases)
    if (c.result == CaseResult::Failed) names.insert(c.group + "/" + c.name);
  return names;
}

TEST(certify, a_backend_without_flaw_conforms) {
  const CertifyReport r = certify_toy(Flaw::None, "");
  EXPECT_TRUE(failed(r).empty()) << *failed(r).begin();
  EXPECT_EQ(r.count(&GroupReport::refused), 0u);
  std::set<std::string> groups;
  for (const GroupReport& g : r.groups) {
    groups.insert(g.name);
    EXPECT_GT(g.passed, 0u) << g.name;
  }
  EXPECT_EQ(groups, (std::set<std::string>{"features", "text", "conformance", "examples",
                                           "operations", "programs", "memory", "faults", "fuzz"}));
}

TEST(certify, a_wrong_operation_is_found_and_named) {
  const CertifyReport r = certify_toy(Flaw::MinIsMax, "operations/min");
  EXPECT_EQ(failed(r), std::set<std::string>{"operations/min.i32"});
  ASSERT_EQ(r.cases.size(), 1u);
  EXPECT_EQ(r.cases[0].repeat, "vyre certify --backend 'toy' --only 'operations/min.i32'");
  EXPECT_FALSE(failed(certify_toy(Flaw::MinIsMax, "text/")).empty());
}

TEST(certify, a_failing_text_test_has_its_command) {
  const CertifyReport r = certify_toy(Flaw::MinIsMax, "text/");
  ASSERT_FALSE(r.cases.empty());
  bool found = false;
  for (const CaseReport& c : r.cases)
    if (c.result == CaseResult::Failed) {
      found = true;
      EXPECT_TRUE(c.repeat.starts_with("vyre run ")) << c.repeat;
      EXPECT_NE(c.repeat.find(" --backend toy"), std::string::npos) << c.repeat;
    }
  EXPECT_TRUE(found);
}

TEST(certify, lost_fills_are_found) {
  EXPECT_EQ(failed(certify_toy(Flaw::ForgetsFill, "memory/fresh")),
            std::set<std::string>{"memory/fresh_memory_is_zero"});
  EXPECT_TRUE(failed(certify_toy(Flaw::ForgetsFill, "memory/outputs_start"))
                  .contains("memory/outputs_start_as_zeros_in_every_launch"));
}

TEST(certify, memory_that_is_not_zero_is_found) {
  EXPECT_TRUE(
      failed(certify_toy(Flaw::DirtyMemory, "memory/")).contains("memory/fresh_memory_is_zero"));
}

TEST(certify, a_trap_of_another_invocation_is_found) {
  const auto names = failed(certify_toy(Flaw::LateTrap, "trap"));
  EXPECT_TRUE(names.contains("faults/the_trap_of_the_lowest_invocation_is_told"));
  EXPECT_TRUE(names.contains("features/tests/text/features/f13_traps.vyre:14") ||
              std::any_of(names.begin(), names.end(),
                          [](const auto& n) { return n.starts_with("features/"); }));
}

TEST(certify, a_time_limit_that_is_too_late_is_found) {
  EXPECT_EQ(failed(certify_toy(Flaw::NoTimeLimit, "faults/time_limit_stops_a_lane")),
            std::set<std::string>{"faults/time_limit_stops_a_lane_that_waits"});
}

TEST(certify, only_documented_codes_are_refusals) {
  const CertifyReport r = certify_toy(Flaw::RefusesShuffles, "conformance/");
  EXPECT_FALSE(failed(r).empty());
  EXPECT_EQ(r.count(&GroupReport::refused), 0u);
}

TEST(certify, what_is_too_large_for_the_device_is_refused_and_no_failure) {
  const CertifyReport r = certify_toy(Flaw::SmallWorkgroups, "conformance/");
  EXPECT_TRUE(failed(r).empty());
  EXPECT_GT(r.count(&GroupReport::refused), 5u);
  for (const CaseReport& c : r.cases) EXPECT_TRUE(c.what.starts_with("V0721: ")) << c.what;
  EXPECT_TRUE(failed(certify_toy(Flaw::SmallWorkgroups, "faults/")).empty());
}

TEST(certify, a_pattern_without_a_case_is_a_mistake) {
  ToyBackend backend(Flaw::None);
  const driver::RegisterForTest here(&backend);
  CertifyOptions options;
  options.only = "no such case";
  const auto r = certify(*driver::Device::open("toy"), options);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.errors()[0].code, Code::BadOptionValue);
}

TEST(certify, a_part_without_a_case_is_a_mistake) {
  ToyBackend backend(Flaw::None);
  const driver::RegisterForTest here(&backend);
  CertifyOptions options;
  options.only = "operations/min";
  options.part = 999'999;
  options.parts = 1'000'000;
  const auto r = certify(*driver::Device::open("toy"), options);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.errors()[0].code, Code::BadOptionValue);
  EXPECT_TRUE(r.errors()[0].message.starts_with("part 1000000 of 1000000 has no case: there are "))
      << r.errors()[0].message;
}

TEST(certify, a_device_that_passes_no_case_does_not_conform) {
  EXPECT_TRUE(certify_toy(Flaw::None, "operations/min").conforms());
  EXPECT_FALSE(certify_toy(Flaw::MinIsMax, "operations/min").conforms());
  const CertifyReport all = certify_toy(Flaw::SmallWorkgroups, "conformance/");
  ASSERT_FALSE(all.cases.empty());
  const CertifyReport one =
      certify_toy(Flaw::SmallWorkgroups, all.cases[0].group + "/" + all.cases[0].name);
  EXPECT_EQ(one.count(&GroupReport::passed), 0u);
  EXPECT_EQ(one.count(&GroupReport::failed), 0u);
  EXPECT_FALSE(one.conforms());
}

/// Section F of the features: a file each, in the binary.
TEST(certify, every_case_of_section_f_is_inside) {
  for (int i = 1; i <= 16; ++i) {
    const std::string start = fmt::format("tests/text/features/f{:02}_", i);
    const auto files = embedded_tests();
    EXPECT_TRUE(std::any_of(files.begin(), files.end(), [&](const EmbeddedFile& f) {
      return f.path.starts_with(start) && f.bytes.find("// run:") != f.bytes.npos;
    })) << start;
  }
}

TEST(certify, report_as_json_has_counts_and_failures) {
  const CertifyReport r = certify_toy(Flaw::MinIsMax, "operations/min");
  const std::string json = cli::certify_json({}, r);
  EXPECT_NE(json.find("\"ok\": false"), std::string::npos) << json;
  EXPECT_NE(json.find("\"name\": \"min.i32\""), std::string::npos) << json;
}

// ---- The same backend under `vyre fuzz`.

// labels: slow
TEST(fuzz_devices, a_wrong_backend_is_found) {
  ToyBackend backend(Flaw::MinIsMax);
  const driver::RegisterForTest here(&backend);
  FuzzOptions options;
  options.seed = 1;
  options.count = 300;
  options.subjects = {"toy"};
  const auto summary = fuzz(options);
  ASSERT_TRUE(summary);
  EXPECT_FALSE(summary->findings.empty());
  for (const Finding& f : summary->findings) EXPECT_EQ(f.subject, "toy");
}

TEST(fuzz_devices, a_right_backend_agrees_also_with_options) {
  ToyBackend backend(Flaw::None);
  const driver::RegisterForTest here(&backend);
  FuzzOptions options;
  options.count = 60;
  options.subjects = {"toy", "toy[subgroup=8]", "interp:driver", "interp[schedule=reverse]"};
  const auto summary = fuzz(options);
  ASSERT_TRUE(summary) << render(summary.errors(), {});
  EXPECT_TRUE(summary->findings.empty()) << summary->findings[0].what.message;
  EXPECT_EQ(summary->status.runs, 60u * 4);
}

TEST(fuzz_devices, programs_that_are_too_large_are_refused) {
  ToyBackend backend(Flaw::SmallWorkgroups);
  const driver::RegisterForTest here(&backend);
  FuzzOptions options;
  options.count = 200;
  options.subjects = {"toy"};
  const auto summary = fuzz(options);
  ASSERT_TRUE(summary);
  EXPECT_TRUE(summary->findings.empty());
  EXPECT_GT(summary->status.refused, 0u);
}

TEST(fuzz_devices, a_backend_that_is_not_here_is_an_error) {
  const auto absent = choose_subjects({"vulkan"});
  if (absent) GTEST_SKIP() << "there is one";
  EXPECT_EQ(absent.errors()[0].code, Code::DeviceNotHere);
  EXPECT_EQ(choose_subjects({"interp[split"}).errors()[0].code, Code::UnknownDevice);
}

TEST(fuzz_devices, an_unknown_option_is_an_error) {
  EXPECT_EQ(choose_subjects({"interp[shedule=reverse]"}).errors()[0].code,
            Code::UnknownDeviceOption);
}

TEST(device_spec, holds_the_options_of_the_name) {
  const auto spec = parse_device_spec("cpu[threads=1,isa=x86-64-v2,split,subgroup=8]");
  ASSERT_TRUE(spec);
  EXPECT_TRUE(spec->open.split_grid_barriers);
  EXPECT_FALSE(spec->open.native_grid_barriers);
  EXPECT_EQ(spec->compile.subgroup_size, 8u);
  EXPECT_EQ(spec->compile.extra, (std::vector<std::string>{"isa=x86-64-v2", "threads=1"}));
  EXPECT_TRUE(parse_device_spec("cuda:1")->open.native_grid_barriers);
}

}  // namespace
}  // namespace vyre::lab
