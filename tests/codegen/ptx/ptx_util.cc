#include "tests/codegen/ptx/ptx_util.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "check/check.h"
#include "opt/pipeline.h"
#include "plan/split/split_grid.h"
#include "support/embedded_files.h"
#include "support/file.h"
#include "support/process.h"
#include "text/parse.h"

namespace vyre::emit_ptx {
namespace {

void add(std::vector<Case>& list, const std::string& name, const Program& program) {
  if (!plan::has_grid_barrier(program)) return list.push_back({name, program}), void();
  const auto plan = plan::split_at_grid_barriers(program);
  if (plan)
    for (size_t i = 0; i < plan->segments.size(); ++i)
      list.push_back({fmt::format("{} segment {}", name, i), plan->segments[i]});
  if (can_wait_for_grid(program)) list.push_back({name + " native", program, true});
}

std::vector<Case> read_all() {
  std::vector<Case> list;
  for (const EmbeddedFile& file : embedded_tests()) {
    if (!file.path.ends_with(".vyre")) continue;
    ParseOptions options;
    options.file_name = fmt::format("{}/{}", VYRE_SOURCE_DIR, file.path);
    options.resolver = file_resolver();
    const ParseOutcome outcome = parse(std::string(file.bytes), options);
    if (!outcome.module || has_errors(check(*outcome.module))) continue;
    for (const Program& kernel : outcome.module->kernels) {
      const std::string name = fmt::format("{}:{}", file.path, kernel.name);
      add(list, name, kernel);
      Program optimized = kernel;
      if (opt::optimize(optimized, opt::OptimizeOptions{}))
        add(list, name + " optimized", optimized);
    }
  }
  return list;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace

const std::vector<Case>& all_cases() {
  static const std::vector<Case> list = read_all();
  return list;
}

Program program_of(std::string_view text, bool trusted) {
  ParseOptions options;
  options.trusted = trusted;
  const ParseOutcome outcome = parse(std::string(text), options);
  EXPECT_TRUE(outcome.module) << render(outcome.diagnostics, outcome.sources);
  if (!outcome.module || outcome.module->kernels.empty()) return {};
  const Diagnostics problems = check(*outcome.module);
  EXPECT_FALSE(has_errors(problems)) << render(problems, outcome.sources);
  return outcome.module->kernels[0];
}

Kernel emit_or_fail(const Program& program, const EmitOptions& options, const std::string& name) {
  Result<Kernel> kernel = emit(program, options);
  EXPECT_TRUE(kernel) << name << ": " << (kernel ? "" : render(kernel.errors(), {}));
  return kernel ? std::move(*kernel) : Kernel{};
}

std::string find_ptxas() {
  for (const char* path : {"/usr/local/cuda/bin/ptxas", "/usr/bin/ptxas"})
    if (access(path, X_OK) == 0) return path;
  const char* folders = std::getenv("PATH");
  std::string_view rest = folders ? folders : "";
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    const std::string path = std::string(rest.substr(0, end)) + "/ptxas";
    if (access(path.c_str(), X_OK) == 0) return path;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return "";
}

std::string assemble(const std::string& ptxas, Arch arch, const std::vector<std::string>& texts) {
  std::string all;
  for (size_t i = 0; i < texts.size(); ++i) {
    std::string text = texts[i];
    if (i > 0) text.erase(0, text.find(".address_size 64\n") + 17);
    replace_all(text, "vyre_", fmt::format("k{}_", i));
    all += text;
  }
  namespace fs = std::filesystem;
  const fs::path base =
      fs::temp_directory_path() / fmt::format("vyre_ptx_{}_{}", getpid(), name(arch));
  const std::string in = base.string() + ".ptx", out = base.string() + ".cubin";
  if (const auto error = write_file(in, all)) return "cannot write " + in;
  const ProcessResult r =
      run_process({ptxas, fmt::format("-arch={}", name(arch)), "-O1", in, "-o", out});
  std::error_code ignored;
  fs::remove(in, ignored);
  fs::remove(out, ignored);
  if (r.start_error) return "cannot start " + ptxas;
  if (r.exit_code == 0) return "";
  // The lines that it complains about.
  std::string said = (r.err + r.out).substr(0, 4000);
  std::vector<std::string> lines;
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find('\n', at), all.size());
    lines.push_back(all.substr(at, end - at));
    at = end + 1;
  }
  for (size_t at = said.find("line "); at != said.npos; at = said.find("line ", at + 1)) {
    const size_t line = std::strtoull(said.c_str() + at + 5, nullptr, 10);
    if (line > 0 && line <= lines.size()) {
      said += "\n" + lines[line - 1];
      break;
    }
  }
  return said;
}

}  // namespace vyre::emit_ptx
