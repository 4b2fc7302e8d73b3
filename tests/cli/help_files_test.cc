// The man page and the completion scripts, which the command line generates. The names that they
// must mention are read from the help, so new commands and options are tested automatically.

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "tests/cli/cli_util.h"
#include "tools/vyre/command_description.h"

namespace vyre {
namespace {

class HelpFiles : public CommandLine {
 protected:
  std::string text(std::vector<std::string> words) const {
    const auto r = vyre(std::move(words));
    expect_exit(r, 0);
    EXPECT_EQ(r.err, "");
    return r.out;
  }

  std::vector<std::string> commands() const {
    std::vector<std::string> names;
    const std::string help = text({"--help"});
    const std::string list = help.substr(help.find("Subcommands:\n"));
    const std::regex row("\n  ([a-z]+) ");
    for (std::sregex_iterator i(list.begin(), list.begin() + list.find("\n\n"), row), end; i != end;
         ++i)
      names.push_back((*i)[1]);
    EXPECT_GE(names.size(), 6u) << help;
    return names;
  }

  /// The long options that a command's help has a row for.
  std::set<std::string> options(const std::string& command) const {
    std::set<std::string> found;
    const std::string help = text({command, "--help"});
    const std::regex row("\n  (?:-[a-zA-Z],)?--([a-z0-9-]+)");
    for (std::sregex_iterator i(help.begin(), help.end(), row), end; i != end; ++i)
      found.insert((*i)[1]);
    EXPECT_TRUE(found.contains("help")) << help;
    return found;
  }

  /// Every command and long option stands in `file`, an option as `begin` + name and no letter
  /// more.
  void expect_complete(const std::string& file, const std::string& begin,
                       bool groff = false) const {
    for (const std::string& command : commands()) {
      EXPECT_TRUE(std::regex_search(file, std::regex("\\b" + command + "\\b"))) << command;
      for (const std::string& option : options(command)) {
        // In the man page a hyphen is written `\-`.
        const std::string name =
            groff ? std::regex_replace(option, std::regex("-"), R"(\\-)") : option;
        EXPECT_TRUE(std::regex_search(file, std::regex(begin + name + R"((?![a-z0-9-]|\\-))")))
            << command << " --" << option;
      }
    }
  }

  /// Gives the file to a program that reads it without a word, if there is such a program.
  void expect_silence(std::vector<std::string> command, const std::string& name,
                      const std::string& contents) const {
    command.push_back(file(name, contents));
    const auto r = run_process(command);
    if (r.start_error != 0) GTEST_SKIP() << command[0] << " is not on this machine";
    expect_exit(r, 0);
    EXPECT_EQ(r.err, "");
  }

  /// Returns the completions of bash for the last of the words.
  std::string bash_offers(const std::string& words, int count) const {
    file("vyre.bash", text({"help", "--completion", "bash"}));
    const auto r = run_process({"bash", "-c",
                                "source '" + path("vyre.bash") + "'; COMP_WORDS=(" + words +
                                    "); COMP_CWORD=" + std::to_string(count) +
                                    "; _vyre; echo \"${COMPREPLY[*]}\""});
    expect_exit(r, 0);
    EXPECT_EQ(r.err, "");
    return r.out;
  }
};

TEST_F(HelpFiles, help_of_a_command_is_its_help) {
  EXPECT_EQ(text({"help"}), text({"--help"}));
  for (const std::string& command : commands())
    EXPECT_EQ(text({"help", command}), text({command, "--help"}));
}

TEST_F(HelpFiles, help_of_an_unknown_command_or_shell) {
  auto r = vyre({"help", "chekc"});
  expect_exit(r, 2);
  expect_code(r, "V0602");
  r = vyre({"help", "--completion", "csh"});
  expect_exit(r, 2);
  expect_code(r, "V0606");
}

TEST_F(HelpFiles, man_page_has_every_command_and_option) {
  const std::string page = text({"help", "--man"});
  for (const char* heading :
       {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "EXIT STATUS", "EXAMPLES"})
    EXPECT_NE(page.find(std::string("\n.SH ") + heading + "\n"), std::string::npos) << heading;
  for (const std::string& command : commands())
    EXPECT_NE(page.find("\n.SS vyre " + command + "\n"), std::string::npos) << command;
  expect_complete(page, R"(\\fB\\-\\-)", true);
}

TEST_F(HelpFiles, man_page_formats_without_a_warning) {
  expect_silence({"groff", "-man", "-ww", "-Tutf8", "-z"}, "vyre.1", text({"help", "--man"}));
}

TEST_F(HelpFiles, bash_script_is_complete_and_well_formed) {
  const std::string script = text({"help", "--completion", "bash"});
  expect_complete(script, "--");
  expect_silence({"bash", "-n"}, "vyre.bash", script);
}

TEST_F(HelpFiles, zsh_script_is_complete_and_well_formed) {
  const std::string script = text({"help", "--completion", "zsh"});
  expect_complete(script, "--");
  expect_silence({"zsh", "-n"}, "_vyre", script);
}

TEST_F(HelpFiles, fish_script_is_complete_and_well_formed) {
  const std::string script = text({"help", "--completion", "fish"});
  expect_complete(script, " -l ");
  expect_silence({"fish", "-n"}, "vyre.fish", script);
}

TEST_F(HelpFiles, bash_offers_commands_options_and_choices) {
  EXPECT_EQ(bash_offers("vyre dev", 1), "devices\n");
  EXPECT_EQ(bash_offers("vyre --ver", 1), "--version\n");
  EXPECT_EQ(bash_offers("vyre run --sub", 2), "--subgroup-size\n");
  EXPECT_EQ(bash_offers("vyre run a.vyre --exact --pri", 4), "--print\n");
  EXPECT_EQ(bash_offers("vyre run --backend cu", 3), "cuda\n");
  EXPECT_EQ(bash_offers("vyre help expl", 2), "explain\n");
  EXPECT_EQ(bash_offers("vyre check --str", 2), "--strict\n");
  EXPECT_EQ(bash_offers("vyre run a", 2), "\n") << "files are bash's own business";
  EXPECT_EQ(bash_offers("vyre run --grid --ex", 3), "\n") << "what follows --grid is its value";
}

// ---- the generators, on commands that vyre does not have
// ------------------------------------------

cli::CommandDescription nested() {
  cli::CommandDescription list{"vyre cache ls", "List what's there", "", {}, {}};
  list.options.push_back({{"--sort", "-s"}, "age|size", "By what: [a] or 'b'\nmore", "Options"});
  cli::CommandDescription cache{"vyre cache", "The cache", "", {}, {list}};
  return {"vyre", "Nested.", "", {}, {cache}};
}

TEST_F(HelpFiles, commands_may_be_nested_and_texts_hold_anything) {
  const std::string bash = cli::bash_completion(nested());
  EXPECT_NE(bash.find("'vyre cache ls --sort' | 'vyre cache ls -s')\n      words='age size'"),
            std::string::npos)
      << bash;
  const std::string zsh = cli::zsh_completion(nested());
  EXPECT_NE(zsh.find(R"('(--sort -s)--sort[By what\: \[a\] or '\''b'\'']:age|size:(age size)')"),
            std::string::npos)
      << zsh;
  EXPECT_NE(zsh.find(R"('ls:List what'\''s there')"), std::string::npos) << zsh;
  const std::string fish = cli::fish_completion(nested());
  EXPECT_NE(
      fish.find(
          R"(-n '__fish_seen_subcommand_from cache; and __fish_seen_subcommand_from ls' -l sort -s s -x -a 'age size' -d 'By what: [a] or \'b\'')"),
      std::string::npos)
      << fish;
  expect_silence({"bash", "-n"}, "nested.bash", bash);
}

TEST(ManPage, escapes_what_groff_would_take_for_orders) {
  cli::CommandDescription app{
      "vyre", "Dots.", ".SH NOT A HEADING\n  'quoted' \\fB a-b … ×\n", {}, {}};
  const std::string page = cli::man_page(app, "1");
  EXPECT_NE(page.find("\\&.SH NOT A HEADING"), std::string::npos) << page;
  EXPECT_NE(page.find("\\(aqquoted\\(aq \\efB a\\-b \\[u2026] \\[u00D7]\n"), std::string::npos)
      << page;
}

}  // namespace
}  // namespace vyre
