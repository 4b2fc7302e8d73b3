// vyre check --sanitize from outside: exit codes, streams, data.

#include "support/json.h"
#include "tests/cli/cli_util.h"

namespace vyre {
namespace {

const char* const racy =
    "kernel racy(y: out u32[1]) workgroup(8) grid(8) {\n"
    "  y[0] = global_id.x\n"
    "}\n";
const char* const beyond =
    "kernel beyond(x: in u32[], y: out u32[len(x)]) workgroup(4) grid(len(x)) {\n"
    "  y[global_id.x] = x[global_id.x + 1]\n"
    "}\n";

TEST_F(CommandLine, sanitize_exits_1_with_a_race) {
  const auto r = vyre({"check", file("racy.vyre", racy), "--sanitize"});
  expect_exit(r, 1);
  expect_code(r, "V0551");
  EXPECT_NE(r.err.find("racy.vyre:2:"), std::string::npos) << r.err;
  EXPECT_EQ(r.out, "");
}

TEST_F(CommandLine, sanitize_says_what_it_looked_at) {
  const auto r = vyre({"check", file("s.vyre", saxpy), "--sanitize", "--set", "a=2", "--in",
                       "x=random:256", "--in", "y=random:256"});
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "ok: 1 kernel; saxpy has no races in this run\n");
  EXPECT_EQ(r.err, "");
}

TEST_F(CommandLine, sanitize_warnings_exit_0_and_1_if_strict) {
  const std::string path = file("beyond.vyre", beyond);
  const auto r = vyre({"check", path, "--sanitize", "--in", "x=1,2,3,4"});
  expect_exit(r, 0);
  expect_code(r, "V0553");
  expect_exit(vyre({"check", path, "--sanitize", "--in", "x=1,2,3,4", "--strict"}), 1);
}

TEST_F(CommandLine, sanitize_names_the_atomic_for_a_plain_access) {
  file("lock.vyre",
       "kernel k(lock: inout u32[1]) workgroup(32) grid(64) {\n"
       "  if lock[0] == 0 {\n    atomic_cas(lock[0], 0, 1)\n  }\n}\n");
  const auto r = vyre({"check", "lock.vyre", "--sanitize", "--in", "lock=0"});
  expect_exit(r, 1);
  expect_code(r, "V0551");
  EXPECT_NE(r.err.find("fix: read it with `atomic_load(lock[i])`"), std::string::npos) << r.err;
}

TEST_F(CommandLine, sanitize_gives_its_findings_as_data) {
  const auto r = vyre({"check", file("racy.vyre", racy) + ":racy", "--sanitize", "--json"});
  expect_exit(r, 1);
  const auto json = parse_json<nlohmann::json>(r.out);
  EXPECT_EQ(json["ok"], false);
  ASSERT_EQ(json["diagnostics"].size(), 1u) << r.out;
  const auto& d = json["diagnostics"][0];
  EXPECT_EQ(d["code"], "V0551");
  EXPECT_EQ(d["name"], "DataRace");
  EXPECT_EQ(d["line"], 2);
  EXPECT_EQ(d["op"], "store");
}

TEST_F(CommandLine, sanitize_reports_what_it_found_before_a_limit) {
  const std::string path = file("loop.vyre",
                                "kernel k(x: in u32[1], y: out u32[1]) workgroup(8) grid(8) {\n"
                                "  y[0] = global_id.x\n"
                                "  while x[0] == 0 { }\n"
                                "}\n");
  const auto r = vyre({"check", path, "--sanitize", "--in", "x=0", "--time-limit", "0.1"});
  expect_exit(r, 1);
  expect_code(r, "V0551");
  expect_code(r, "V0502");
}

TEST_F(CommandLine, sanitize_needs_inputs) {
  const auto r = vyre({"check", file("beyond.vyre", beyond), "--sanitize"});
  expect_exit(r, 2);
  expect_code(r, "V0451");
}

TEST_F(CommandLine, launch_flags_without_sanitize_are_a_mistake) {
  const auto r = vyre({"check", file("beyond.vyre", beyond), "--in", "x=1"});
  expect_exit(r, 2);
  expect_code(r, "V0606");
}

TEST_F(CommandLine, examples_have_no_races) {
  size_t runs = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(VYRE_SOURCE_DIR) + "/examples")) {
    if (entry.path().extension() != ".vyre") continue;
    std::string text, line;
    for (const char c : contents(entry.path().string())) {
      line += c;
      if (c != '\n') continue;
      const size_t at = line.find("// run: ");
      if (at == 0) {
        // Lines that go on in the next one have inputs that this test leaves out.
        std::vector<std::string> words = {"check", entry.path().string(), "--sanitize"};
        std::string word;
        bool first = true;
        for (const char w : line.substr(8)) {
          if (w != ' ' && w != '\n') {
            word += w;
            continue;
          }
          if (!word.empty() && first)
            words[1] += ":" + word;
          else if (!word.empty())
            words.push_back(word);
          first = first && word.empty();
          word.clear();
        }
        const auto r = vyre(words);
        if (r.err.find("V0451") == std::string::npos && r.err.find("V0501") == std::string::npos) {
          expect_exit(r, 0);
          ++runs;
        }
      }
      line.clear();
    }
  }
  EXPECT_GT(runs, 20u);
}

}  // namespace
}  // namespace vyre
