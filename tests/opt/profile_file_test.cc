// V0804
#include "opt/profile_file.h"

#include <gtest/gtest.h>

namespace vyre::opt {
namespace {

void fill(ProfileData& data) {
  data.hints.record("scan", 250'000, 4096);
  data.hints.record("decode", 10, 8);
  data.hints.record("scan", 20, 4096, "cpu: a");
  RunReport report;
  report.program = "k";
  report.profile = "release";
  report.before.instructions = 20;
  report.after.instructions = 15;
  PassRun run;
  run.pass = "fold_constants";
  run.decision = PassDecision::Changed;
  run.before = report.before;
  run.after = report.after;
  report.runs.push_back(run);
  report.choices.push_back({"fold_constants", true, "always_on", 200, "why"});
  data.reports["0123"] = report;
}

std::string sample_text() {
  ProfileData data;
  fill(data);
  return write_profile(data);
}

TEST(ProfileFile, what_is_written_is_read_again) {
  ProfileData written;
  fill(written);
  ProfileData read;
  ASSERT_TRUE(read_profile(write_profile(written), "p.json", read));
  EXPECT_EQ(read.hints.entries(), written.hints.entries());
  EXPECT_TRUE(read.hints.is_hot("scan"));
  EXPECT_FALSE(read.hints.is_hot("decode"));
  EXPECT_FALSE(read.hints.is_hot("scan", "cpu: a"));
  ASSERT_EQ(read.reports.count("0123"), 1u);
  EXPECT_EQ(read.reports["0123"].reduction_by("fold_constants"), 5u);
  EXPECT_EQ(write_profile(read).find("\"choices\"") != std::string::npos, true);
}

TEST(ProfileFile, files_that_name_no_device_are_of_an_unknown_one) {
  ProfileData data;
  ASSERT_TRUE(read_profile(R"({"schema": "vyre-profile", "version": 1, "reports": {},
      "hints": [{"op_id": "scan", "launches": 2, "total_ns": 500000, "bytes": 8}]})",
                           "old.json", data));
  ASSERT_EQ(data.hints.entries().size(), 1u);
  EXPECT_EQ(data.hints.entries()[0].device, "");
  EXPECT_TRUE(data.hints.is_hot("scan"));
  // Written again, it is as it was.
  EXPECT_EQ(write_profile(data).find("device"), std::string::npos);
}

void expect_refused(std::string_view text, std::string_view word) {
  ProfileData data;
  data.hints.record("before", 7, 7);
  const Result<> r = read_profile(text, "p.json", data);
  ASSERT_FALSE(r) << text;
  EXPECT_EQ(to_string(r.errors()[0].code), "V0804");
  EXPECT_NE(r.errors()[0].message.find(word), std::string::npos) << r.errors()[0].message;
  EXPECT_FALSE(r.errors()[0].fix.empty());
  EXPECT_EQ(data.hints.entries().size(), 1u);
  EXPECT_TRUE(data.reports.empty());
}

TEST(ProfileFile, damaged_files_are_refused_and_nothing_is_taken) {
  const std::string good = sample_text();
  for (size_t length = 0; length + 2 < good.size(); length += 7)
    expect_refused(good.substr(0, length), "");
  expect_refused("[]", "not a profile");
  expect_refused("{\"schema\": \"other\"}", "not a profile");
  expect_refused("{\"schema\": 3}", "");
  std::string of_tomorrow = good;
  of_tomorrow.replace(of_tomorrow.find("\"version\": 1"), 12, "\"version\": 9");
  expect_refused(of_tomorrow, "version 9");
  std::string negative = good;
  negative.replace(negative.find("\"launches\": 1"), 13, "\"launches\": {}");
  expect_refused(negative, "damaged");
  // Numbers that are converted in silence, or whose conversion is undefined.
  for (const std::string_view number : {"-1", "0.5", "1e93", "18446744073709551616", "true"}) {
    std::string other = good;
    const size_t at = other.find("\"total_ns\": ") + 12;
    other.replace(at, other.find_first_of(",\n", at) - at, number);
    expect_refused(other, "damaged");
  }
  std::string of_number = good;
  of_number.replace(of_number.find("\"device\": \"cpu: a\""), 18, "\"device\": 3");
  expect_refused(of_number, "damaged");
}

}  // namespace
}  // namespace vyre::opt
