// The man page. Prose and literal text are told apart as in the help: a line with more than one
// space in a row, at its beginning or between columns, is literal.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "tools/vyre/command_description.h"
#include "tools/vyre/diagnostic_output.h"

namespace vyre::cli {
namespace {

/// Returns a code point of UTF-8 text, and advances past it. The texts are ours and valid.
uint32_t take_code_point(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t more = lead < 0xc0 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  uint32_t point = more == 0 ? lead : lead & (0x3fu >> more);
  for (size_t i = 1; i <= more && i < text.size(); ++i)
    point = point << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  text.remove_prefix(std::min(more + 1, text.size()));
  return point;
}

/// Escapes text so that groff finds no instructions in it. Characters that groff would replace by
/// typographic ones (a hyphen, a slanted quote) can still be copied into a shell.
std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const uint32_t c = take_code_point(text);
    switch (c) {
      case '\\': result += "\\e"; break;
      case '-': result += "\\-"; break;
      case '\'': result += "\\(aq"; break;
      case '`': result += "\\(ga"; break;
      case '^': result += "\\(ha"; break;
      case '~': result += "\\(ti"; break;
      default:
        if (c < 0x80)
          result += static_cast<char>(c);
        else
          result += fmt::format("\\[u{:04X}]", c);
    }
  }
  // Otherwise groff reads it as a control line.
  return result.starts_with('.') ? "\\&" + result : result;
}

bool is_heading(std::string_view line) {
  bool letters = false;
  for (const char c : line) {
    if (std::islower(static_cast<unsigned char>(c))) return false;
    letters |= std::isupper(static_cast<unsigned char>(c)) != 0;
  }
  return letters;
}

class Page {
 public:
  void macro(std::string_view line) { text_ += fmt::format("{}\n", line); }

  /// Writes paragraphs of filled text, and literal blocks, indented by `indent` columns.
  void prose(std::string_view text, int indent = 2) {
    bool literal = false;
    const auto switch_to = [&](bool wanted) {
      if (literal != wanted) macro(wanted ? fmt::format(".RS {}\n.nf", indent) : ".fi\n.RE");
      literal = wanted;
    };
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view line = text.substr(at, end - at);
      at = end + 1;
      if (line.empty()) {
        switch_to(false);
        macro(".PP");
      } else if (line.find("  ") != line.npos) {
        switch_to(true);
        macro(escaped(line.substr(std::min<size_t>(line.find_first_not_of(' '), 2))));
      } else {
        switch_to(false);
        macro(is_heading(line) ? fmt::format("\\fB{}\\fR", escaped(line)) : escaped(line));
      }
    }
    switch_to(false);
  }

  void item(const std::string& label, std::string_view text) {
    macro(".TP");
    macro(label);
    prose(text, 9);  // .RS counts from the section, whose items are 7 columns in
  }

  void option(const OptionDescription& o) {
    std::string label;
    for (const std::string& name : o.names) {
      if (!label.empty()) label += ", ";
      label += fmt::format("\\f{}{}\\fR", o.positional ? 'I' : 'B', escaped(name));
    }
    if (!o.value.empty()) label += fmt::format(" \\fI{}\\fR", escaped(o.value));
    item(label, o.what);
  }

  /// Writes options by group, in the order of the groups' first occurrences; positional arguments
  /// come first.
  void options(const CommandDescription& command) {
    std::vector<std::string_view> groups;
    for (const OptionDescription& o : command.options) {
      if (o.positional) option(o);
      if (!o.positional && std::find(groups.begin(), groups.end(), o.group) == groups.end())
        groups.push_back(o.group);
    }
    for (const std::string_view group : groups)
      for (const OptionDescription& o : command.options)
        if (!o.positional && o.group == group) option(o);
  }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string synopsis(const CommandDescription& command) {
  std::string line = fmt::format("\\fB{}\\fR", escaped(command.path));
  if (!command.options.empty()) line += " [\\fIOPTIONS\\fR]";
  if (!command.commands.empty()) line += " \\fICOMMAND\\fR";
  for (const OptionDescription& o : command.options) {
    if (!o.positional) continue;
    const std::string name =
        fmt::format("\\fI{}\\fR{}", escaped(o.names[0]), o.repeated ? "\\&..." : "");
    line += o.required ? " " + name : " [" + name + "]";
  }
  return line;
}

void add_synopses(Page& page, const CommandDescription& command) {
  for (const CommandDescription& c : command.commands) {
    page.macro(".br");
    page.macro(synopsis(c));
    add_synopses(page, c);
  }
}

void add_commands(Page& page, const CommandDescription& command) {
  for (const CommandDescription& c : command.commands) {
    page.macro(fmt::format(".SS {}", escaped(c.path)));
    page.prose(c.summary + ".");
    page.options(c);
    page.macro(".PP");
    page.prose(c.footer);
    add_commands(page, c);
  }
}

}  // namespace

std::string man_page(const CommandDescription& app, std::string_view version) {
  Page page;
  page.macro(".\\\" Made by `vyre help --man`.");
  // No date: the page is a function of the program.
  page.macro(fmt::format(".TH VYRE 1 \"\" \"vyre {}\" \"User Commands\"", version));
  page.macro(".ad l");
  page.macro(".SH NAME");
  std::string summary = app.summary.substr(0, app.summary.find_last_not_of('.') + 1);
  if (!summary.empty()) summary[0] = static_cast<char>(std::tolower(summary[0]));
  page.macro(fmt::format("vyre \\- {}", escaped(summary)));
  page.macro(".SH SYNOPSIS");
  page.macro(synopsis(app));
  add_synopses(page, app);
  page.macro(".SH DESCRIPTION");
  page.prose(
      "vyre runs compute kernels written in the vyre language and gives the same bytes wherever "
      "they run.\n"
      "Every operation has exactly one meaning: integers wrap, division by zero is defined, an "
      "out-of-bounds store does nothing, floats are never reordered.\n"
      "\n"
      "Results go to standard output, diagnostics to standard error: a stable code, the place, "
      "what is wrong and how to fix it.");
  page.macro(".SH OPTIONS");
  page.options(app);
  page.macro(".SH COMMANDS");
  add_commands(page, app);
  page.macro(".SH EXIT STATUS");
  page.item(fmt::format("{}", exit_done), "Done.");
  page.item(fmt::format("{}", exit_program_failed),
            "The program failed: a trap, a limit reached, results that differ.");
  page.item(fmt::format("{}", exit_bad_input),
            "The input was bad: the program, the launch or the command.");
  page.item(fmt::format("{}", exit_system_failed), "The device or the system failed.");
  page.macro(".SH ENVIRONMENT");
  page.item("\\fBNO_COLOR\\fR", "If set and not empty, nothing is coloured.");
  page.macro(".SH EXAMPLES");
  page.prose(app.footer);
  page.macro(".SH SEE ALSO");
  page.prose(
      "The language, the library and every error code are described in the documentation that is "
      "installed with vyre, in share/doc/vyre.");
  return page.take();
}

}  // namespace vyre::cli
