#pragma once

// The flags of a launch: from words of a command line to inputs and options of a run. The test
// runner reads the same flags from its `// run:` lines.

#include <map>
#include <string>
#include <vector>

#include "diagnostics/result.h"
#include "interp/interp.h"
#include "ir/launch.h"
#include "tools/vyre/emit_target.h"

namespace vyre::cli {

/// Words as they were given; "" is not given.
struct LaunchFlags {
  std::vector<std::string> in;         // name=@file, name=v,v,…, name=random:N[:seed]
  std::vector<std::string> set;        // name=value
  std::vector<std::string> len;        // name=N
  std::vector<std::string> constants;  // NAME=value
  std::string grid;
  std::string subgroup_size;
  std::string schedule;
  std::string time_limit;
  std::string memory_limit;
  std::string output_limit;
  bool exact = false;
  bool no_imports = false;
  std::string import_root;
  bool stdin_is_program = false;  // so that no input can be read from it
};

struct Assignment {
  std::string name;
  std::string value;
};

/// Splits `name=value` at the first '='; `flag` is for the message.
Result<Assignment> split_assignment(const std::string& flag, const std::string& word);

/// The constants by name, for the parser, which knows their types.
Result<std::map<std::string, std::string>> parse_constants(const std::vector<std::string>& words);

/// The limits of a launch, 0 where there is none.
struct Limits {
  double seconds = 0;
  uint64_t memory_bytes = 0;
  uint64_t output_bytes = 0;
};
Result<Limits> parse_limits(const LaunchFlags& flags);

/// Returns the options for reading and checking the program. bind_launch reports malformed limits.
Result<LoadOptions> load_options(const LaunchFlags& flags);

/// Returns the parameter called `name`, or a diagnostic that lists the existing ones.
Result<Parameter> find_parameter(const Target& target, const std::string& name,
                                 const std::string& flag);

struct Launch {
  LaunchInputs inputs;
  interp::Options options;
};

/// Bytes of all buffers of the launch; 0 if its sizes cannot be resolved.
uint64_t buffer_bytes(const Target& target, const Launch& launch);

/// Binds the flags. Reports all errors in the flags at once, and all missing inputs.
Result<Launch> bind_launch(const LaunchFlags& flags, const Target& target);

}  // namespace vyre::cli
