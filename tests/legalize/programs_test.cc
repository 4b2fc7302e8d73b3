// Whole programs, expanded for devices that lack much: random ones, and every kernel of the text
// tests, the conformance suite and the examples.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "check/check.h"
#include "differential/text_test.h"
#include "generate/generate.h"
#include "ir/expand_functions.h"
#include "legalize/expand.h"
#include "support/file.h"
#include "tests/legalize/degrade_util.h"
#include "tests/legalize/forms_util.h"
#include "tests/legalize/judge_util.h"
#include "tools/vyre/certify_command.h"
#include "tools/vyre/program_file.h"

namespace vyre::emit_exact {
namespace {

uint64_t random_programs() {
  const char* given = std::getenv("VYRE_EXACT_PROGRAMS");
  return given ? std::strtoull(given, nullptr, 10) : 300;
}

TEST(exact_programs, random_programs_stay_what_they_are) {
  const lab::GenerateOptions options{.graphs = false, .grid_barriers = false};
  const std::vector<std::string> profiles = {"weak",
                                             "swiftshader",
                                             "lavapipe",
                                             "nvidia",
                                             "-int64 subgroup_size=64",
                                             "weak +int64 +float64 subgroup_size=16",
                                             "-subgroup_extended_types -bits subgroup_size=8"};
  uint64_t judged = 0, refused = 0;
  std::vector<uint64_t> by_profile(profiles.size(), 0);
  for (uint64_t seed = 1; seed <= random_programs(); ++seed) {
    lab::Generated g = lab::generate(seed, options);
    Program p = g.module.kernels[0];
    expand_functions(p);
    for (size_t k = 0; k < profiles.size(); ++k) {
      const std::string wrong = judge(p, g.inputs, profile_of(profiles[k]));
      if (wrong.starts_with("refused: ")) {
        ++refused;
        continue;
      }
      ++judged;
      ++by_profile[k];
      ASSERT_EQ(wrong, "") << "seed " << seed << " on \"" << profiles[k] << "\"";
    }
  }
  for (size_t k = 0; k < profiles.size(); ++k)
    EXPECT_GE(by_profile[k], random_programs() / 20)
        << profiles[k] << " refuses nearly all of them";
  RecordProperty("judged", std::to_string(judged));
  fmt::print("{} judged, {} refused; by profile {}\n", judged, refused, fmt::join(by_profile, " "));
}

// ---- Programs from files.

namespace fs = std::filesystem;

std::vector<std::string> program_files() {
  std::vector<std::string> files;
  for (const char* folder : {"tests/text", "tests/conformance", "examples"})
    for (const auto& at : fs::recursive_directory_iterator(fs::path(VYRE_SOURCE_DIR) / folder))
      if (at.path().extension() == ".vyre") files.push_back(at.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

/// Kernels with grid barriers are split before they are expanded.
bool has_grid_barrier(const Program& p) {
  bool found = false;
  walk(p, [&](OpId id) {
    const Op& o = p.op(id);
    found = found || (o.code == Opcode::Barrier && Scope(o.attr) == Scope::Grid) ||
            (o.code == Opcode::UniformLoad && p.memory(id).scope == Scope::Grid);
  });
  return found;
}

TEST(exact_programs, every_kernel_of_a_file_expands_to_a_legal_one) {
  uint64_t kernels = 0, refused = 0;
  for (const std::string& path : program_files()) {
    const auto loaded = cli::load_module(path);
    if (!loaded.module) continue;  // it is a test of errors, or imported with constants
    for (const Program& kernel : loaded.module->kernels) {
      Program p = kernel;
      if (p.ops.size() > 100'000) continue;  // at the limits of programs, where growth is beyond
      expand_functions(p);
      for (const char* words :
           {"weak", "weak +int64 +float64", "lavapipe", "nvidia", "swiftshader"}) {
        const Profile profile = profile_of(words);
        const auto expanded = expand(p, profile);
        if (!expanded) {
          EXPECT_EQ(expanded.errors()[0].code, Code::MissingFeature);
          ++refused;
          continue;
        }
        ++kernels;
        for (const Diagnostic& d : check(without_marks(*expanded)))
          EXPECT_NE(d.severity, Severity::Error) << path << " on " << words << ": " << d.message;
        EXPECT_EQ(forbidden(*expanded, profile), "") << path << " on " << words;
      }
    }
  }
  EXPECT_GT(kernels, 1000u);
  fmt::print("{} expansions, {} refused\n", kernels, refused);
}

TEST(exact_programs, text_tests_and_examples_give_the_same_bytes) {
  uint64_t runs = 0, refused = 0;
  for (const std::string& path : program_files()) {
    const auto contents = read_file(path);
    ASSERT_TRUE(contents) << path;
    const lab::TextTest test = lab::read_text_test(path, contents.bytes);
    if (test.mode != "run") continue;
    std::vector<std::string> failures;
    for (const lab::RunBlock& block : lab::read_run_blocks(test.lines, failures)) {
      const auto run = cli::prepare_run(test, block.words);
      if (!run || !run->kernel || block.schedule_dependent || !run->only_interp.empty()) continue;
      if (run->options.time_limit > 0 || has_grid_barrier(*run->kernel)) continue;
      if (run->kernel->ops.size() > 20'000) continue;
      Program p = *run->kernel;
      expand_functions(p);
      for (std::string words : {"weak", "swiftshader", "weak +int64 +float64", "nvidia"}) {
        Profile profile = profile_of(words);
        profile.subgroup_size = run->options.subgroup_size;
        const std::string wrong = judge(p, run->inputs, profile);
        if (wrong.starts_with("refused: ")) {
          ++refused;
          continue;
        }
        ++runs;
        EXPECT_EQ(wrong, "") << path << ":" << block.line + 1 << " on " << words;
      }
    }
  }
  EXPECT_GT(runs, 1000u);
  fmt::print("{} runs, {} refused\n", runs, refused);
}

}  // namespace
}  // namespace vyre::emit_exact
