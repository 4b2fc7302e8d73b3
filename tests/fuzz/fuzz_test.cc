// The loop over seeds, and the files that failing programs leave.

#include "fuzz/fuzz.h"

#include <filesystem>

#include "differential/repeat_command.h"
#include "support/file.h"
#include "tests/cli/cli_util.h"
#include "tools/vyre/diagnostic_output.h"

namespace vyre::lab {
namespace {

namespace fs = std::filesystem;

class Fuzz : public CommandLine {
 protected:
  ProcessResult text_tests(const std::string& file) const {
    return run_process({VYRE_BIN_DIR "/vyre_text_tests", file},
                       {.working_folder = folder_.string()});
  }
};

/// Wrong for every program whose first output is not empty.
Subject wrong_subject() {
  return {"wrong", [](const Generated& g) -> Result<Outputs> {
            auto out = reference(g);
            if (out)
              for (auto& bytes : out->buffers)
                if (!bytes.empty()) {
                  bytes[0] ^= std::byte{1};
                  break;
                }
            return out;
          }};
}

TEST_F(Fuzz, goes_from_seed_to_seed_and_counts) {
  std::vector<uint64_t> seeds;
  FuzzOptions options;
  options.seed = 40;
  options.count = 10;
  options.progress = [&](const FuzzStatus& s) { seeds.push_back(s.seed); };
  const auto summary = fuzz(options);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->status.programs, 10u);
  EXPECT_EQ(summary->status.seed, 50u);
  EXPECT_GT(summary->status.runs, 40u);
  EXPECT_EQ(summary->coverage.programs(), 10u);
  EXPECT_TRUE(summary->findings.empty());
  EXPECT_FALSE(summary->stopped);
  EXPECT_EQ(seeds.front(), 40u);
  EXPECT_EQ(seeds.back(), 50u);
}

TEST_F(Fuzz, stops_when_told_and_keeps_what_it_found) {
  std::atomic<bool> stop = false;
  FuzzOptions options;
  options.more = {wrong_subject()};
  options.subjects = {"wire"};
  options.stop = &stop;
  options.progress = [&](const FuzzStatus& s) { stop = s.programs == 5; };
  const auto summary = fuzz(options);
  ASSERT_TRUE(summary);
  EXPECT_TRUE(summary->stopped);
  EXPECT_EQ(summary->status.programs, 5u);
  EXPECT_GE(summary->findings.size(), 4u);
}

TEST_F(Fuzz, stops_when_the_time_is_up) {
  FuzzOptions options;
  options.seconds = 0.2;
  const auto summary = fuzz(options);
  ASSERT_TRUE(summary);
  EXPECT_GT(summary->status.programs, 0u);
  EXPECT_LT(summary->status.seconds, 10);
}

TEST_F(Fuzz, a_finding_names_seed_subject_and_file) {
  FuzzOptions options;
  options.seed = 3;
  options.count = 2;
  options.subjects = {"text"};
  options.more = {wrong_subject()};
  options.out = path("found");
  std::vector<Finding> found;
  options.found = [&](const Finding& f) { found.push_back(f); };
  const auto summary = fuzz(options);
  ASSERT_TRUE(summary);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(summary->status.failing, 2u);
  EXPECT_EQ(found[0].seed, 3u);
  EXPECT_EQ(found[0].subject, "wrong");
  EXPECT_NE(found[0].what.message.find("seed 3: wrong: "), std::string::npos)
      << found[0].what.message;
  EXPECT_EQ(found[1].file, path("found/seed-4.vyre"));
  EXPECT_TRUE(fs::exists(found[1].file));
  EXPECT_EQ(cli::exit_code({found[0].what}), cli::exit_program_failed);
}

TEST_F(Fuzz, a_folder_that_cannot_be_made_is_reported_and_the_finding_kept) {
  file("taken", "");
  FuzzOptions options;
  options.count = 1;
  options.more = {wrong_subject()};
  options.out = path("taken/inside");
  const auto summary = fuzz(options);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->findings.size(), 1u);
  ASSERT_FALSE(summary->file_errors.empty());
  EXPECT_EQ(summary->file_errors[0].code, Code::CannotWrite);
}

TEST_F(Fuzz, unknown_subject) {
  FuzzOptions options;
  options.subjects = {"interp", "wier"};
  const auto summary = fuzz(options);
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.errors()[0].code, Code::UnknownSubject);
  EXPECT_EQ(summary.errors()[0].fix, "write `wire`");
}

TEST_F(Fuzz, subjects_are_chosen_by_group_or_by_name) {
  EXPECT_EQ(choose_subjects({})->size(), all_subjects().size());
  EXPECT_EQ(choose_subjects({"interp"})->size(), 12u);  // with the one through the driver
  EXPECT_EQ(choose_subjects({"interp:reverse:8", "text"})->size(), 2u);
}

// ---- Replay files.

TEST_F(Fuzz, replay_files_pass_the_text_test_runner) {
  // The runner compares schedules and round trips, too: kernels, graphs, traps, scalars, lengths.
  int traps = 0, graphs = 0;
  for (uint64_t seed = 0; seed < 400 && (seed < 25 || traps < 2 || graphs < 3); ++seed) {
    const Generated g = generate(seed);
    const Verdict verdict = compare(g, {});
    ASSERT_TRUE(verdict.expected);
    const bool trapped = !verdict.expected->trap.empty();
    if (seed >= 25 && !trapped && !g.is_graph()) continue;
    traps += trapped;
    graphs += g.is_graph();
    std::string file;
    const auto error = write_replay(path("replay"), g, verdict, &file);
    ASSERT_FALSE(error) << error->what;
  }
  EXPECT_GE(traps, 2);
  EXPECT_GE(graphs, 3);
  const ProcessResult r = text_tests(path("replay"));
  EXPECT_EQ(r.exit_code, 0) << r.out << r.err;
}

TEST_F(Fuzz, a_replay_file_with_wrong_expectations_fails) {
  const Generated g = generate(3);
  Verdict verdict = compare(g, {});
  for (auto& bytes : verdict.expected->buffers)
    if (!bytes.empty()) bytes[0] ^= std::byte{1};
  std::string file;
  ASSERT_FALSE(write_replay(path("replay"), g, verdict, &file));
  EXPECT_EQ(text_tests(file).exit_code, 1);
}

TEST_F(Fuzz, the_run_line_of_a_replay_file_is_what_vyre_run_takes) {
  expect_exit(vyre({"fuzz", "--seed", "3", "--count", "1", "--out", path("kept")}), 0);
  const std::string text = contents("kept/seed-3.vyre");
  const size_t at = text.find("// run: ");
  ASSERT_NE(at, text.npos);
  std::vector<std::string> words = {"run", path("kept/seed-3.vyre")};
  std::string word;
  for (const char c : text.substr(at + 8, text.find('\n', at) - at - 8) + " ") {
    if (c != ' ' && c != '\'') word += c;
    if (c == ' ' && !word.empty()) words.push_back(std::exchange(word, ""));
  }
  expect_exit(vyre(words), 0);
}

// ---- The command.

TEST_F(Fuzz, the_command_prints_its_seed_and_a_summary) {
  const ProcessResult r = vyre({"fuzz", "--seed", "17", "--count", "5"});
  expect_exit(r, 0);
  EXPECT_TRUE(r.out.starts_with("seed 17\nseeds 17 to 21: 5 programs, ")) << r.out;
  EXPECT_NE(r.out.find("0 mismatches\n"), std::string::npos) << r.out;
  EXPECT_EQ(r.err, "");
}

TEST_F(Fuzz, the_command_takes_minutes_and_backends) {
  const ProcessResult r =
      vyre({"fuzz", "--minutes", "0.002", "--backends", "wire,interp:reverse:8"});
  expect_exit(r, 0);
}

TEST_F(Fuzz, the_summary_as_json) {
  const ProcessResult r = vyre({"fuzz", "--seed", "1", "--count", "3", "--json"});
  expect_exit(r, 0);
  EXPECT_NE(r.out.find("\"programs\": 3"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("\"ok\": true"), std::string::npos) << r.out;
  EXPECT_TRUE(r.out.starts_with("{")) << r.out;
}

TEST_F(Fuzz, bad_flags) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes = {
      {{"--seed", "x"}, "V0607"},        {{"--seed", "-1"}, "V0607"},
      {{"--count", "0"}, "V0607"},       {{"--count", "many"}, "V0607"},
      {{"--minutes", "0"}, "V0607"},     {{"--minutes", "inf"}, "V0607"},
      {{"--backends", "cpu9"}, "V0651"}, {{"--backends", ",wire"}, "V0651"},
      {{"--sead", "1"}, "V0603"},        {{"extra"}, "V0605"}};
  for (const auto& [words, code] : mistakes) {
    std::vector<std::string> all = {"fuzz"};
    all.insert(all.end(), words.begin(), words.end());
    const ProcessResult r = vyre(all);
    expect_exit(r, 2);
    expect_code(r, code);
  }
}

TEST_F(Fuzz, an_interrupt_ends_the_run_with_its_summary) {
  const ProcessResult r =
      run_process({"sh", "-c",
                   std::string("'") + VYRE_BIN_DIR +
                       "/vyre' fuzz --seed 5 --minutes 5 & p=$!; sleep 1; kill -INT $p; wait $p"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_NE(r.out.find("; stopped, go on with `--seed "), std::string::npos) << r.out;
}

}  // namespace
}  // namespace vyre::lab
