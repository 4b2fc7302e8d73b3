// vyre fmt: formats source files in the standard layout.

#include <fmt/format.h>

#include <span>

#include "support/file.h"
#include "text/format.h"
#include "tools/vyre/commands.h"
#include "tools/vyre/diagnostic_output.h"
#include "tools/vyre/program_file.h"
#include "wire/wire.h"

namespace vyre::cli {
namespace {

class Formatter {
 public:
  explicit Formatter(bool check_only) : check_only_(check_only) {}

  void file(const std::string& path) {
    ProgramText source = read_program_text(path);
    if (source.error) return errors_.push_back(std::move(*source.error));
    const std::string name = shown_name(path);
    if (is_wire(std::as_bytes(std::span(source.bytes))))
      return errors_.push_back(
          diagnose(Code::NotText, {.file = name},
                   fmt::format("`{}` is a wire file, which has no layout", name))
              .with_fix(
                  "format the text it was made from; `vyre check --print-ir` shows it as text"));
    auto formatted = format_source(source.bytes, name);
    if (!formatted) {
      errors_.insert(errors_.end(), formatted.errors().begin(), formatted.errors().end());
      sources_[name] = std::move(source.bytes);
      return;
    }
    finish(path, source.bytes, *formatted);
  }

  int exit() const {
    if (!errors_.empty()) return report(errors_, sources_, false);
    if (!check_only_ || changed_ == 0) return exit_done;
    fmt::print(stderr, "{} file{} would change\n", changed_, changed_ == 1 ? "" : "s");
    return exit_program_failed;
  }

 private:
  void finish(const std::string& path, const std::string& before, const std::string& after) {
    const bool changed = before != after;
    changed_ += changed;
    if (check_only_) {
      if (changed) write_out(shown_name(path) + "\n");
    } else if (path == "-") {
      write_out(after);
    } else if (changed) {  // an unchanged file keeps its time, so that nothing is built again
      if (const auto error = write_file(path, after))
        errors_.push_back(diagnose(Code::CannotWrite, {.file = path},
                                   fmt::format("cannot write `{}`: {}", path, error->what))
                              .with_fix("make the file and its folder writable"));
    }
  }

  bool check_only_;
  size_t changed_ = 0;
  Diagnostics errors_;
  Sources sources_;
};

}  // namespace

int format(const FormatCommand& command) {
  Formatter formatter(command.check);
  for (const std::string& path : command.files) formatter.file(path);
  return formatter.exit();
}

}  // namespace vyre::cli
