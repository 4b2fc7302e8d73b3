#include "tools/vyre/optimizer_flags.h"

#include <fmt/format.h>

#include <cstdlib>

#include "opt/pipeline.h"
#include "support/file.h"

namespace vyre::cli {
namespace {

void append(Diagnostics& list, const Diagnostics& more) {
  list.insert(list.end(), more.begin(), more.end());
}

}  // namespace

Result<> read_profile_file(const std::string& path, opt::ProfileData& data) {
  if (path.empty()) return Ok{};
  const FileContents file = read_file(path);
  if (!file)
    return diagnose(Code::BadProfileFile, {.file = path},
                    fmt::format("cannot read `{}`: {}", path, file.error->what))
        .with_fix("give a file that `vyre run --profile-out` wrote");
  return opt::read_profile(file.bytes, path, data);
}

Result<driver::Optimization> bind_optimizer(const OptimizerFlags& flags) {
  driver::Optimization o;
  Diagnostics mistakes;
  if (!flags.passes.empty()) {
    auto passes = opt::parse_passes(flags.passes);
    if (passes)
      o.passes = std::move(*passes);
    else
      append(mistakes, passes.errors());
  }
  if (!flags.profile.empty()) {
    o.profile = opt::parse_profile(flags.profile);
    if (!o.profile)
      mistakes.push_back(diagnose(Code::BadOptionValue, {},
                                  fmt::format("`--opt {}` has no meaning", flags.profile))
                             .with_fix("write none, debug, release or size"));
    else if (!flags.passes.empty())
      mistakes.push_back(diagnose(Code::OptionMisuse, {},
                                  "`--passes` names the passes, and `--opt` lets them be selected")
                             .with_fix("give one of the two"));
  }
  auto learnt = std::make_shared<opt::ProfileData>();
  if (auto read = read_profile_file(flags.profile_in, *learnt); !read)
    append(mistakes, read.errors());
  if (!flags.profile_in.empty()) o.learnt = std::move(learnt);
  if (!mistakes.empty()) return mistakes;
  return o;
}

Result<opt::OptimizeOptions> optimize_options(const driver::Optimization& wanted) {
  opt::OptimizeOptions o;
  o.profile = wanted.profile.value_or(opt::Profile::Release);
  o.passes = wanted.passes;
  o.profile_data = wanted.learnt.get();
  const char* variable = std::getenv("VYRE_PASSES");
  if (wanted.passes || wanted.profile || !variable || !*variable) return o;
  auto passes = opt::parse_passes(variable);
  if (!passes) {
    for (Diagnostic& d : passes.errors()) d.note("the environment variable VYRE_PASSES names it");
    return std::move(passes.errors());
  }
  o.passes = std::move(*passes);
  return o;
}

}  // namespace vyre::cli
