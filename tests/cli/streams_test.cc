// Closed standard streams: the next file that a command opens would take the number of the stream,
// and messages would be written to it. No command may write a byte of its messages to a file.

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "support/file.h"
#include "tests/cli/cli_util.h"

namespace vyre {
namespace {

namespace fs = std::filesystem;

struct Command {
  const char* line;  // after `vyre`
  int exit_code = 0;
};

// At least one of each command, with all that it writes; some with errors, which are printed too.
const Command commands[] = {
    {"run k.vyre --in x=@x.bin --out y=@y.bin --out z=@z.bin --print y -v --backend interp"},
    {"run k.vyre --in x=@x.bin --out y=@y.bin --json --verify --backend interp"},
    {"run k.vyre --in x=@x.bin --out y=@y.bin --set n=9 --backend interp", 2},
    {"run k.vyre --in x=@missing --out y=@y.bin --report r.html --trace t.json", 2},
    {"check k.vyre --emit-wire k.wire"},
    {"check k.vyre --emit-wire k.wire --json"},
    {"check broken.vyre", 2},
    {"emit k.vyre --target ptx -o k.ptx"},
    {"emit k.vyre --target spirv -o k.spv"},
    {"opt k.vyre"},
    {"bisect k.vyre --in x=@x.bin -o before.vyre --backend interp"},
    {"reduce k.vyre --test 'grep -q load' -o small.vyre"},
    {"reduce k.vyre --mismatch interp,text --in x=@x.bin -o small.vyre", 2},
    {"plan g.vyre --in x=@x.bin --backend interp"},
    {"fmt k.vyre g.vyre"},
    {"explain V0601"},
    {"devices"},
    {"cache ls"},
    {"fuzz --seed 3 --count 1 --backends interp,text,wire --out found"},
    {"certify --backend interp --quick --only memory/fresh"},
    {"help run"},
};

class ClosedStreams : public CommandLine {
 protected:
  /// Makes a folder with the inputs of all commands. Always the same: paths are in some outputs.
  std::string inputs() const {
    const std::string name = "work", folder = path(name);
    fs::remove_all(folder);
    fs::create_directory(folder);
    file(name + "/k.vyre",
         "kernel k(x: in u8[],y: out u8[2], z: out u8[2]) workgroup(1) grid(1) {\n"
         "y[0]=x[0]+x[1]\n  z[1] = x[0]\n}\n");
    file(name + "/g.vyre",
         "kernel k(x: in u8[], y: out u8[2]) workgroup(1) grid(1) { y[0] = x[0] }\n"
         "graph g(x: in u8[], y: out u8[2]) {call k(x,y)}\n");
    file(name + "/broken.vyre", "kernel k(y: out u8[2]) { y[0] = nothing }\n");
    file(name + "/x.bin", "AB");
    return folder;
  }
  static ProcessResult run(const std::string& folder, const std::string& line) {
    ProcessOptions options;
    options.working_folder = folder;
    options.timeout = std::chrono::minutes(2);
    return run_process(
        {"bash", "-c", "export VYRE_CACHE_DIR=$PWD/cache; exec " VYRE_BIN_DIR "/vyre " + line},
        options);
  }
  static std::map<std::string, std::string> files(const std::string& folder) {
    std::map<std::string, std::string> all;
    for (const auto& e : fs::recursive_directory_iterator(folder)) {
      const std::string name = fs::relative(e.path(), folder).string();
      if (!e.is_regular_file() || name.starts_with("cache/")) continue;
      std::string& bytes = all[name] = read_file(e.path().string()).bytes;
      if (name == "t.json" || name == "r.html") bytes.resize(15);  // the rest holds times
    }
    return all;
  }
};

TEST_F(ClosedStreams, change_no_byte_of_any_file) {
  for (const Command& c : commands) {
    const std::string folder = inputs();
    expect_exit(run(folder, c.line), c.exit_code);
    const auto wanted = files(folder);
    for (const char* closed : {">&-", "2>&-", "<&- >&- 2>&-"}) {
      inputs();
      expect_exit(run(folder, std::string(c.line) + " " + closed), c.exit_code);
      const auto got = files(folder);
      EXPECT_TRUE(got.size() == wanted.size()) << c.line << " " << closed;
      for (const auto& [name, bytes] : wanted)
        EXPECT_TRUE(got.contains(name) && got.at(name) == bytes)
            << name << " of " << c.line << " " << closed;
    }
  }
}

TEST_F(ClosedStreams, are_tested_with_every_command) {
  std::set<std::string> tested;
  for (const Command& c : commands) {
    const std::string_view words = c.line;
    tested.emplace(words.substr(0, words.find(' ')));
  }
  std::istringstream help(vyre({"--help"}).out);
  std::set<std::string> known;
  std::string line;
  while (std::getline(help, line) && line != "Subcommands:") {
  }
  while (std::getline(help, line) && line.starts_with("  "))
    known.insert(line.substr(2, line.find(' ', 2) - 2));
  EXPECT_GT(known.size(), 10u);
  EXPECT_EQ(tested, known);
}

}  // namespace
}  // namespace vyre
