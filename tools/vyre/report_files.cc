#include "tools/vyre/report_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "report/html_page.h"

namespace vyre::cli {
namespace {

namespace fs = std::filesystem;

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

ReportFiles open_report_files(const ReportFiles& wanted, OutputFiles& outputs,
                              Diagnostics& mistakes) {
  ReportFiles files;
  const auto open = [&](const char* what, const std::string& path, std::string& into) {
    if (!path.empty() && outputs.open(what, path, mistakes)) into = path;
  };
  if (!wanted.report.empty() && !is_page(wanted.report) &&
      fs::path(wanted.report).extension() != ".json")
    mistakes.push_back(no_such_form(wanted.report));
  else
    open("the report", wanted.report, files.report);
  open("the trace", wanted.trace, files.trace);
  open("the profile", wanted.profile, files.profile);
  return files;
}

Diagnostics write_report_files(const ReportFiles& files, const report::RunReport& report,
                               OutputFiles& outputs) {
  Diagnostics errors;
  const auto write = [&](const std::string& path, const std::string& text) {
    const Diagnostics failed = outputs.write(path, text);
    errors.insert(errors.end(), failed.begin(), failed.end());
  };
  if (!files.report.empty())
    write(files.report, is_page(files.report) ? report::to_html(report) : report::to_json(report));
  if (!files.trace.empty()) write(files.trace, report::to_trace(report));
  return errors;
}

Diagnostics write_profile_file(const ReportFiles& files, const opt::ProfileData& data,
                               OutputFiles& outputs) {
  if (files.profile.empty()) return {};
  return outputs.write(files.profile, opt::write_profile(data));
}

}  // namespace vyre::cli
