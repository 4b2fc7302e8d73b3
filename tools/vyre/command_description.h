#pragma once

// The commands and their options as data: what `--help` shows, for the man page and the completion
// scripts. `command_line` makes it from the very objects that parse the words, so that a new option
// is documented and completed without another line.

#include <string>
#include <string_view>
#include <vector>

namespace vyre::cli {

struct OptionDescription {
  std::vector<std::string> names;  // "--verbose", "-v"; of a positional argument "FILE"
  std::string value;               // "NAME=DATA"; "" for a flag
  std::string what;                // may have several lines
  std::string group;               // the heading it stands under
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

/// Everything that is not hidden.
CommandDescription describe_command_line();

/// What completes the value of an option or a positional argument. Read off its text: words with
/// `|` between them are all there is to choose from, and FILE, F and DIR are files.
struct ValueCompletion {
  std::vector<std::string> choices;
  bool files = false;
};
ValueCompletion completion_of(const OptionDescription& option);

/// The first line of what an option does.
std::string_view first_line(std::string_view text);

/// vyre.1, for groff's man macros.
std::string man_page(const CommandDescription& app, std::string_view version);

/// Scripts for the shells; they need nothing but the shell itself.
std::string bash_completion(const CommandDescription& app);
std::string zsh_completion(const CommandDescription& app);
std::string fish_completion(const CommandDescription& app);

}  // namespace vyre::cli
