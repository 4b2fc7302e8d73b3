// Completion scripts. Each is a plain table for its shell: commands, their options, and the
// possible values of an option.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>

#include "tools/vyre/command_description.h"

namespace vyre::cli {
namespace {

/// Replaces each character of `special` by `by`.
std::string replaced(std::string_view text, std::string_view special, std::string_view by) {
  std::string result;
  for (const char c : text)
    if (special.find(c) == special.npos)
      result += c;
    else
      result += by;
  return result;
}

void for_each_command(const CommandDescription& command,
                      const std::function<void(const CommandDescription&)>& fn) {
  fn(command);
  for (const CommandDescription& c : command.commands) for_each_command(c, fn);
}

// ---- bash ---------------------------------------------------------------------------------------

/// The cases `'path name'` of a command's options that take a value, by what completes it.
std::string bash_values(const CommandDescription& command) {
  std::string text, unknown;
  for (const OptionDescription& o : command.options) {
    if (o.positional || o.value.empty()) continue;
    std::string cases;
    for (const std::string& name : o.names)
      cases += fmt::format("{}'{} {}'", cases.empty() ? "" : " | ", command.path, name);
    const auto choices = completion_of(o).choices;
    if (choices.empty())
      unknown += (unknown.empty() ? "" : " | ") + cases;
    else
      text += fmt::format("    {})\n      words='{}' ;;\n", cases, fmt::join(choices, " "));
  }
  // bash completes file names when the case sets no words.
  if (!unknown.empty()) text += fmt::format("    {})\n      return ;;\n", unknown);
  return text;
}

std::string bash_words(const CommandDescription& command) {
  std::vector<std::string> options, words;
  for (const OptionDescription& o : command.options)
    if (!o.positional) options.insert(options.end(), o.names.begin(), o.names.end());
  for (const CommandDescription& c : command.commands) words.emplace_back(c.name());
  for (const OptionDescription& o : command.options)
    for (std::string& choice : o.positional ? completion_of(o).choices : std::vector<std::string>{})
      words.push_back(std::move(choice));
  return fmt::format("      '{}')\n        options='{}'\n        words='{}' ;;\n", command.path,
                     fmt::join(options, " "), fmt::join(words, " "));
}

// ---- zsh ----------------------------------------------------------------------------------------

/// Inside the single quotes of an _arguments specification.
std::string zsh_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return replaced(result, "'", "'\\''");
}

std::string zsh_action(const ValueCompletion& completion) {
  if (!completion.choices.empty()) return fmt::format("({})", fmt::join(completion.choices, " "));
  return completion.files ? "_files" : " ";
}

std::string zsh_function(std::string_view path) { return "_" + replaced(path, " -", "_"); }

/// '--in[what]:NAME=DATA:action'. An option that may come once excludes itself.
std::string zsh_option(const OptionDescription& o, const std::string& name) {
  std::string spec =
      fmt::format("'{}{}[{}]", o.repeated ? "*" : fmt::format("({})", fmt::join(o.names, " ")),
                  name, zsh_escaped(first_line(o.what)));
  if (!o.value.empty())
    spec += fmt::format(":{}:{}", zsh_escaped(o.value), zsh_action(completion_of(o)));
  return spec + "'";
}

std::string zsh_arguments(const CommandDescription& command) {
  std::string text;
  const auto add = [&](const std::string& spec) { text += " \\\n    " + spec; };
  for (const OptionDescription& o : command.options) {
    if (o.positional)
      add(fmt::format("'{}:{}:{}'",
                      o.repeated   ? "*"
                      : o.required ? "1"
                                   : ":",
                      zsh_escaped(o.names[0]), zsh_action(completion_of(o))));
    else
      for (const std::string& name : o.names) add(zsh_option(o, name));
  }
  return text;
}

std::string zsh_command(const CommandDescription& command) {
  const std::string function = zsh_function(command.path);
  if (command.commands.empty())
    return fmt::format("{}() {{\n  _arguments -s -S{}\n}}\n\n", function, zsh_arguments(command));
  std::string list, dispatch;
  for (const CommandDescription& c : command.commands) {
    list += fmt::format("        '{}:{}'\n", c.name(), replaced(c.summary, "'", "'\\''"));
    dispatch += fmt::format("        {}) {} ;;\n", c.name(), zsh_function(c.path));
  }
  return fmt::format(
      R"({}() {{
  local curcontext="$curcontext" state line
  typeset -A opt_args
  _arguments -C{} \
    '1:command:->command' \
    '*::argument:->argument'
  case $state in
    command)
      local -a commands
      commands=(
{}      )
      _describe -t commands command commands ;;
    argument)
      case $line[1] in
{}      esac ;;
  esac
}}

)",
      function, zsh_arguments(command), list, dispatch);
}

// ---- fish ---------------------------------------------------------------------------------------

std::string fish_quoted(std::string_view text) {
  return fmt::format("'{}'", replaced(replaced(text, "\\", "\\\\"), "'", "\\'"));
}

/// When the words before the cursor name this command.
std::string fish_condition(const CommandDescription& command) {
  std::string condition;
  const std::string_view path = command.path;
  for (size_t at = path.find(' '); at < path.size();) {
    const size_t end = std::min(path.find(' ', at + 1), path.size());
    condition += fmt::format("{}__fish_seen_subcommand_from {}", condition.empty() ? "" : "; and ",
                             path.substr(at + 1, end - at - 1));
    at = end;
  }
  if (command.commands.empty()) return condition;
  if (condition.empty()) return "__fish_use_subcommand";
  std::vector<std::string_view> names;
  for (const CommandDescription& c : command.commands) names.push_back(c.name());
  return fmt::format("{}; and not __fish_seen_subcommand_from {}", condition,
                     fmt::join(names, " "));
}

std::string fish_option(const OptionDescription& o, const std::string& begin) {
  std::string line = begin;
  for (const std::string& name : o.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!o.value.empty()) {
    const ValueCompletion value = completion_of(o);
    line += value.files ? " -r -F" : " -x";
    if (!value.choices.empty()) line += fmt::format(" -a '{}'", fmt::join(value.choices, " "));
  }
  return line + fmt::format(" -d {}\n", fish_quoted(first_line(o.what)));
}

std::string fish_command(const CommandDescription& command) {
  const std::string begin = fmt::format("complete -c vyre -n '{}'", fish_condition(command));
  std::string text;
  bool files = false;
  for (const OptionDescription& o : command.options) {
    if (!o.positional) continue;
    const ValueCompletion value = completion_of(o);
    files |= value.files;
    if (!value.choices.empty())
      text += fmt::format("{} -a '{}'\n", begin, fmt::join(value.choices, " "));
  }
  if (!files) text += begin + " -f\n";
  for (const CommandDescription& c : command.commands)
    text += fmt::format("{} -a {} -d {}\n", begin, c.name(), fish_quoted(c.summary));
  for (const OptionDescription& o : command.options)
    if (!o.positional) text += fish_option(o, begin);
  return text;
}

}  // namespace

std::string bash_completion(const CommandDescription& app) {
  std::vector<std::string> paths;
  std::string values, words;
  for_each_command(app, [&](const CommandDescription& c) {
    if (c.path != app.path) paths.push_back(fmt::format("'{}'", c.path));
    values += bash_values(c);
    words += bash_words(c);
  });
  return fmt::format(R"(# bash completion of vyre, made by `vyre help --completion bash`.
_vyre() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
  local command=vyre options= words= word
  COMPREPLY=()
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$command $word" in
      {})
        command="$command $word" ;;
    esac
  done
  # Behind an option stands its value.
  case "$command $prev" in
{}  esac
  if [[ -z $words ]]; then
    case "$command" in
{}    esac
    if [[ $cur == -* ]]; then words=$options; fi
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -o bashdefault -o default -F _vyre vyre
)",
                     fmt::join(paths, " | "), values, words);
}

std::string zsh_completion(const CommandDescription& app) {
  std::string text =
      "#compdef vyre\n# zsh completion of vyre, made by `vyre help --completion zsh`.\n\n";
  for_each_command(app, [&](const CommandDescription& c) { text += zsh_command(c); });
  return text +
         "if [ \"$funcstack[1]\" = \"_vyre\" ]; then\n  _vyre \"$@\"\nelse\n  compdef _vyre "
         "vyre\nfi\n";
}

std::string fish_completion(const CommandDescription& app) {
  std::string text = "# fish completion of vyre, made by `vyre help --completion fish`.\n";
  for_each_command(app, [&](const CommandDescription& c) { text += fish_command(c); });
  return text;
}

}  // namespace vyre::cli
