#include "conformance/certify.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "check/check.h"
#include "conformance/certify_cases.h"
#include "support/embedded_files.h"
#include "support/file.h"
#include "text/parse.h"

namespace vyre::lab {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Diagnostic cannot_unpack(const std::string& why) {
  return diagnose(Code::CannotWrite, {}, "cannot unpack the programs of the suite: " + why)
      .with_fix("set TMPDIR to a folder that can be written, or give a source tree: `--tests DIR`");
}

/// The programs of this binary as files: imports, data and `vyre run` work as in a source tree.
class Unpacked {
 public:
  ~Unpacked() {
    std::error_code ignored;
    if (!keep && !folder_.empty()) fs::remove_all(folder_, ignored);
  }
  bool keep = false;
  const std::string& folder() const { return folder_; }

  Result<> unpack() {
    std::error_code error;
    const fs::path base = fs::temp_directory_path(error);
    if (error) return cannot_unpack(error.message());
    std::string name = (base / "vyre-certify-XXXXXX").string();
    if (!::mkdtemp(name.data())) return cannot_unpack("no folder in " + base.string());
    folder_ = name;
    for (const EmbeddedFile& file : embedded_tests()) {
      const fs::path path = fs::path(folder_) / file.path;
      fs::create_directories(path.parent_path(), error);
      if (error) return cannot_unpack(error.message());
      if (auto e = write_file(path.string(), file.bytes)) return cannot_unpack(e->what);
    }
    return Ok{};
  }

 private:
  std::string folder_;
};

}  // namespace

uint64_t CertifyReport::count(uint64_t GroupReport::* what) const {
  uint64_t sum = 0;
  for (const GroupReport& g : groups) sum += g.*what;
  return sum;
}

bool CertifyReport::conforms() const {
  return !stopped && count(&GroupReport::failed) == 0 && count(&GroupReport::passed) != 0;
}

// ---- The list of cases.

void Certification::begin_group(std::string name) {
  report_.groups.push_back({std::move(name)});
  group_begin_ = Clock::now();
}

void Certification::end_group() { report_.groups.back().seconds = since(group_begin_); }

bool Certification::begins(const std::string& name) {
  if (stopped()) return false;
  const std::string& group = report_.groups.back().name;
  const std::string full = fmt::format("{}/{}", group, name);
  if (full.find(options.only) == std::string::npos) return false;
  if (!options.except.empty() && full.find(options.except) != std::string::npos) return false;
  if (begun_++ % options.parts != options.part) return false;
  name_ = name;
  if (options.progress) options.progress(group, name);
  return true;
}

void Certification::add(CaseResult result, std::string what, std::string repeat) {
  GroupReport& g = report_.groups.back();
  ++(result == CaseResult::Failed    ? g.failed
     : result == CaseResult::Refused ? g.refused
                                     : g.skipped);
  report_.cases.push_back({g.name, name_, result, std::move(what), std::move(repeat)});
  if (options.report) options.report(report_.cases.back());
}

void Certification::passed() { ++report_.groups.back().passed; }
void Certification::failed(std::string what, std::string repeat) {
  if (repeat.empty())
    repeat = fmt::format("vyre certify --backend '{}' --only '{}/{}'", options.spec.text,
                         report_.groups.back().name, name_);
  add(CaseResult::Failed, std::move(what), std::move(repeat));
}
void Certification::refused(const Diagnostic& why, std::string repeat) {
  add(CaseResult::Refused, fmt::format("{}: {}", to_string(why.code), why.message),
      std::move(repeat));
}
void Certification::skipped(std::string why) { add(CaseResult::Skipped, std::move(why), ""); }

// ---- Common parts of cases.

std::string codes_and_messages(const Diagnostics& errors) {
  std::string text;
  for (const Diagnostic& d : errors)
    text += fmt::format("{}{} {}", text.empty() ? "" : "\n", to_string(d.code), d.message);
  return text;
}

namespace {

/// Out of memory: the interpreter is limited by the machine's memory, the device by its own.
bool lacks_memory(const Observation& o) {
  return !o.errors.empty() &&
         (o.errors[0].code == Code::OutOfMemory || o.errors[0].code == Code::DeviceMemoryExceeded);
}

}  // namespace

std::string disagreement(const Observation& wanted, const Observation& got) {
  if (lacks_memory(wanted) && lacks_memory(got)) return "";
  const auto say = [](const Observation& o) {
    return o.errors.empty() ? std::string("success") : codes_and_messages(o.errors);
  };
  if (wanted.errors.empty() != got.errors.empty())
    return fmt::format("expected {}\ngot {}", say(wanted), say(got));
  if (wanted.errors.empty()) return difference(wanted, got);
  if (trap_of(wanted) != trap_of(got) || wanted.errors[0].code != got.errors[0].code)
    return fmt::format("expected {}\ngot {}", say(wanted), say(got));
  return "";
}

std::shared_ptr<const Module> parse_case(Certification& c, const std::string& source) {
  ParseOutcome outcome = parse(source, {.file_name = "<case>"});
  Diagnostics errors;
  if (outcome.module) {
    for (Diagnostic& d : check(*outcome.module))
      if (d.severity == Severity::Error) errors.push_back(std::move(d));
  } else {
    errors = outcome.diagnostics;
  }
  if (errors.empty()) return std::make_shared<const Module>(std::move(*outcome.module));
  c.failed("the case itself is wrong:\n" + codes_and_messages(errors));
  return nullptr;
}

namespace {

Observation observe(const PreparedRun& run, Result<std::vector<std::vector<std::byte>>> buffers) {
  Observation o;
  if (!buffers) {
    o.errors = std::move(buffers.errors());
    return o;
  }
  const auto add = [&](const std::string& name, Role role, Type element, size_t i) {
    if (is_host_output(role)) o.outputs.push_back({name, element, std::move((*buffers)[i])});
  };
  if (run.kernel)
    for (const BufferId i : run.kernel->buffers.ids()) {
      const Buffer& b = run.kernel->buffers[i];
      add(b.name, b.role, b.element, i.value());
    }
  else
    for (const GraphBufferId i : run.graph->buffers.ids()) {
      const GraphBuffer& b = run.graph->buffers[i];
      if (b.parameter) add(b.name, b.role, b.element, i.value());
    }
  return o;
}

Result<std::vector<std::vector<std::byte>>> run_reference(const PreparedRun& run,
                                                          const interp::Options& options) {
  if (run.kernel) {
    auto outcome = interp::run(*run.kernel, run.inputs, options);
    if (!outcome) return std::move(outcome.errors());
    return std::move(outcome->buffers);
  }
  auto outcome =
      interp::run(*run.module, *run.graph, {run.inputs.data, run.inputs.lengths}, options);
  if (!outcome) return std::move(outcome.errors());
  return std::move(outcome->buffers);
}

/// No case was tested, so the device is neither conforming nor failing.
Diagnostic nothing_selected(const CertifyOptions& options, uint64_t selected) {
  if (selected > 0)
    return diagnose(Code::BadOptionValue, {},
                    fmt::format("part {} of {} has no case: there are {} cases", options.part + 1,
                                options.parts, selected))
        .with_fix(fmt::format("pass at most {} parts", selected));
  std::string message = fmt::format("no case has `{}` in its name", options.only);
  if (!options.except.empty()) message += fmt::format(" without `{}`", options.except);
  return diagnose(Code::BadOptionValue, {}, message)
      .with_fix("run without `--only` and look at the names of groups and cases");
}

}  // namespace

void compare_case(Certification& c, const PreparedRun& run, const std::string& repeat,
                  const RunBlock* block) {
  interp::Options options = run.options;
  if (!run.fixes_subgroup) options.subgroup_size = c.subgroup_size();
  DeviceLaunch launch;
  launch.module = run.module.get();
  launch.kernel = run.kernel;
  launch.graph = run.graph;
  launch.inputs = &run.inputs;
  launch.compile = c.options.spec.compile;
  launch.compile.subgroup_size = options.subgroup_size;
  launch.time_limit = options.time_limit;
  launch.output_limit = options.output_limit;
  const Observation got = observe(run, run_on_device(c.device, launch));
  const Observation wanted = observe(run, run_reference(run, options));
  if (const Diagnostic* why = refusal_in(got.errors); why && !refusal_in(wanted.errors))
    return c.refused(*why, repeat);
  std::string what = disagreement(wanted, got);
  // The expectations of a test hold at the subgroup size that it was written for.
  const interp::Options as_written;
  if (block && !lacks_memory(got) &&
      options.subgroup_size == (run.fixes_subgroup ? run.options : as_written).subgroup_size)
    for (const Expectation& e : block->expectations)
      if (const std::string m = mismatch(e, got); !m.empty() && what.empty())
        what = fmt::format("line {}: {}", e.line + 1, m);
  if (what.empty())
    c.passed();
  else
    c.failed(std::move(what), repeat);
}

Result<CertifyReport> certify(driver::Device device, const CertifyOptions& options) {
  CertifyReport report;
  Unpacked unpacked;
  std::string root = options.folder;
  if (root.empty()) {
    if (auto done = unpacked.unpack(); !done) return done.errors();
    root = unpacked.folder();
  }
  const auto begin = Clock::now();
  Certification c(std::move(device), options, report);
  if (options.prepare) certify_text(c, root);
  certify_operations(c);
  certify_programs(c);
  certify_memory(c);
  certify_faults(c);
  certify_fuzz(c);
  report.stopped = c.stopped();
  report.seconds = since(begin);
  std::erase_if(report.groups, [](const GroupReport& g) {
    return g.passed + g.failed + g.refused + g.skipped == 0;
  });
  if (report.groups.empty() && !report.stopped) return nothing_selected(options, c.selected());
  if (report.count(&GroupReport::failed) != 0) {
    unpacked.keep = true;
    report.folder = root;
  }
  return report;
}

}  // namespace vyre::lab
