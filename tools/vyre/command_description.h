#pragma once

// The commands and their options as data: the contents of `--help`, for the man page and the
// completion scripts. `command_line` derives it from the objects that parse the words, so that a
// new option is documented and completed automatically.

#include <string>
#include <string_view>
#include <vector>

namespace vyre::cli {

struct OptionDescription {
  std::vector<std::string> names;  // "--verbose", "-v"; of a positional argument "FILE"
  std::string value;               // "NAME=DATA"; "" for a flag
  std::string what;                // may have several lines
  std::string group;               // its heading
  bool positional = false;
  bool required = false;
  bool repeated = false;
};

struct CommandDescription {
  std::string path;  // "vyre", "vyre run"
  std::string summary;
  std::string footer;
  std::vector<OptionDescription> options;
  std::vector<CommandDescription> commands;

  std::string_view name() const;  // the last word of the path
};

/// Returns all commands and options that are not hidden.
CommandDescription describe_command_line();

/// The completion of the value of an option or a positional argument, derived from its text: words
/// with `|` between them are all possible values, and FILE, F and DIR are files.
struct ValueCompletion {
  std::vector<std::string> choices;
  bool files = false;
};
ValueCompletion completion_of(const OptionDescription& option);

/// Returns the first line of an option's description.
std::string_view first_line(std::string_view text);

/// Returns vyre.1, for groff's man macros.
std::string man_page(const CommandDescription& app, std::string_view version);

/// Returns scripts for the shells; they need only the shell itself.
std::string bash_completion(const CommandDescription& app);
std::string zsh_completion(const CommandDescription& app);
std::string fish_completion(const CommandDescription& app);

}  // namespace vyre::cli
