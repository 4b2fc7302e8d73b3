#pragma once

// Parses words into a command. Their meaning is not checked here: files are not opened, names not
// resolved, numbers not read.

#include <string>
#include <variant>
#include <vector>

#include "diagnostics/result.h"
#include "tools/vyre/launch_flags.h"
#include "tools/vyre/optimizer_flags.h"

namespace vyre::cli {

/// --help, --version: the command only prints a text.
struct TextCommand {
  std::string text;
};

struct RunCommand {
  std::string file;
  std::string backend = "auto";
  LaunchFlags launch;
  OptimizerFlags optimizer;
  std::string profile_out;
  std::vector<std::string> print;
  std::vector<std::string> out;
  std::string repeat;
  std::string plan;  // a file, or "none"
  std::string report;
  std::string trace;
  bool verify = false;
  bool verbose = false;
  bool json = false;
  std::string json_values;         // of `--json=N`; "": as many as without --json
  std::vector<std::string> words;  // all of them, for the report
};

struct CheckCommand {
  std::string file;    // with :name for what is sanitized
  LaunchFlags launch;  // without --sanitize only its constants and `exact`
  std::string emit_wire;
  bool sanitize = false;
  bool strict = false;
  bool print_ir = false;
  bool json = false;
};

struct EmitCommand {
  std::string file;  // with :name
  std::string target;
  std::string arch;
  std::string symbol;   // obj: of the function
  std::string profile;  // legalize/profile.h
  std::string backend;  // "": the one that runs code for the target
  std::string subgroup_size;
  LaunchFlags launch;  // inputs only
  std::string out;
  OptimizerFlags optimizer;
  bool unoptimized = false;
  bool lines = false;
};

struct OptCommand {
  std::string file;  // with :name; "" for --list
  std::string backend = "auto";
  LaunchFlags launch;  // inputs only
  OptimizerFlags optimizer;
  std::string stop_after;
  bool print_after_all = false;
  bool print_changed = false;
  bool time_passes = false;
  bool list = false;
  bool markdown = false;
  bool json = false;
};

struct BisectCommand {
  std::string file;  // with :name
  std::string backend = "auto";
  LaunchFlags launch;
  OptimizerFlags optimizer;
  std::string out;
  bool json = false;
};

struct ReduceCommand {
  std::string file;      // with :name for --mismatch
  std::string mismatch;  // configurations, as `vyre fuzz --backends` takes them
  std::string test;      // a command of the shell
  LaunchFlags launch;    // inputs only
  std::string time_limit;
  std::string out;
  bool json = false;
};

struct PlanCommand {
  std::string file;  // with :name
  std::string backend = "auto";
  LaunchFlags launch;
  bool no_fusion = false;
  bool no_reuse = false;
  bool print_ir = false;
  bool json = false;
};

struct FormatCommand {
  std::vector<std::string> files;
  bool check = false;
};

struct ExplainCommand {
  std::string code;  // or an operation; "": list all codes
  bool markdown = false;
  bool ops_markdown = false;
  bool json = false;
};

struct DevicesCommand {
  bool verbose = false;
  bool json = false;
};

struct FuzzCommand {
  std::string seed;  // "": another one each time
  std::string count;
  std::string inputs;
  std::string minutes;
  std::string backends;  // names with commas between them
  std::string out;
  std::string reduced;  // folder of reduced programs
  bool no_reduce = false;
  bool graphs = false;
  bool json = false;
};

struct CertifyCommand {
  std::string backend = "auto";  // differential/device_spec.h
  std::string only, except;
  std::string part;   // "2/16"
  std::string tests;  // "": the programs in this binary
  std::string fuzz;
  std::string seed;
  bool quick = false;
  bool large = false;
  bool verbose = false;
  bool json = false;
};

struct CacheCommand {
  std::string action;  // "ls", "verify" or "clear"
  bool json = false;
};

using Command = std::variant<TextCommand, RunCommand, CheckCommand, FormatCommand, ExplainCommand,
                             DevicesCommand, CacheCommand, FuzzCommand, CertifyCommand, EmitCommand,
                             OptCommand, BisectCommand, ReduceCommand, PlanCommand>;

/// `words` without the program's own name.
Result<Command> parse_command_line(const std::vector<std::string>& words);

/// Returns the text of `vyre --help`.
std::string help_text();

/// The flags of a launch alone, with an optional name before them: the part of a test's `// run:`
/// line after `run:`.
struct NamedLaunch {
  std::string name;
  LaunchFlags flags;
};
Result<NamedLaunch> parse_launch_line(const std::vector<std::string>& words);

}  // namespace vyre::cli
