#include "tools/vyre/report_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "report/html_page.h"
#include "support/file.h"

namespace vyre::cli {
namespace {

namespace fs = std::filesystem;

/// Two names of one file are the same here, also of one that is not there yet.
std::string resolved(const std::string& path) {
  std::error_code error;
  const fs::path p = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? path : p.string();
}

Diagnostic cannot_write(const std::string& what, const FileError& error) {
  return diagnose(Code::CannotWrite, {}, fmt::format("cannot write the {}: {}", what, error.what))
      .with_fix("name a file in a folder that can be written to");
}

Diagnostic no_such_form(const std::string& path) {
  const std::string extension = fs::path(path).extension().string();
  std::string stem = path.substr(0, path.size() - extension.size());
  if (stem.empty()) stem = "run";
  return diagnose(Code::ReportFormat, {},
                  fmt::format("`--report {}` asks for a form that is not there", path))
      .with_fix(fmt::format("write `--report {0}.html` for a page, or `--report {0}.json` for data",
                            stem));
}

}  // namespace

bool is_page(const std::string& path) { return fs::path(path).extension() == ".html"; }

ReportFiles try_report_files(const ReportFiles& wanted, const std::vector<std::string>& outputs,
                             Diagnostics& mistakes) {
  ReportFiles files;
  std::vector<std::string> taken;
  for (const std::string& path : outputs) taken.push_back(resolved(path));
  const auto accept = [&](const char* what, const std::string& path, std::string& into) {
    if (path.empty()) return;
    if (std::find(taken.begin(), taken.end(), resolved(path)) != taken.end()) {
      mistakes.push_back(
          diagnose(Code::GivenTwice, {}, fmt::format("two options write to `{}`", path))
              .with_fix("name a file for each"));
      return;
    }
    if (const auto error = try_write(path)) {
      mistakes.push_back(cannot_write(what, *error));
      return;
    }
    taken.push_back(resolved(path));
    into = path;
  };
  if (!wanted.report.empty() && !is_page(wanted.report) &&
      fs::path(wanted.report).extension() != ".json")
    mistakes.push_back(no_such_form(wanted.report));
  else
    accept("report", wanted.report, files.report);
  accept("trace", wanted.trace, files.trace);
  accept("profile", wanted.profile, files.profile);
  return files;
}

Diagnostics write_report_files(const ReportFiles& files, const report::RunReport& report) {
  Diagnostics errors;
  const auto write = [&](const char* what, const std::string& path, const std::string& text) {
    if (const auto error = write_file(path, text)) errors.push_back(cannot_write(what, *error));
  };
  if (!files.report.empty())
    write("report", files.report,
          is_page(files.report) ? report::to_html(report) : report::to_json(report));
  if (!files.trace.empty()) write("trace", files.trace, report::to_trace(report));
  return errors;
}

Diagnostics write_profile_file(const ReportFiles& files, const opt::ProfileData& data) {
  if (files.profile.empty()) return {};
  if (const auto error = write_file(files.profile, opt::write_profile(data)))
    return {cannot_write("profile", *error)};
  return {};
}

}  // namespace vyre::cli
