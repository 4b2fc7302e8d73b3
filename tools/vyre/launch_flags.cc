#include "tools/vyre/launch_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "ir/graph_launch.h"
#include "runtime/compile/optimizer_target.h"
#include "support/bytes_text.h"
#include "tools/vyre/element_text.h"
#include "tools/vyre/numbers.h"

namespace vyre::cli {
namespace {

/// Returns the memory of the machine. An allocation above it fails, or the kernel may kill the
/// process.
uint64_t machine_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long size = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || size <= 0) return std::numeric_limits<uint64_t>::max();
  return static_cast<uint64_t>(pages) * static_cast<uint64_t>(size);
}

struct LaunchBytes {
  uint64_t all = 0;
  uint64_t output = 0;  // of `out` and `inout` parameters
};

/// Returns 0 if the sizes cannot be resolved.
LaunchBytes launch_bytes(const Target& target, const Launch& launch) {
  LaunchBytes bytes;
  if (target.kernel) {
    const Program& p = *target.kernel;
    const auto shape = resolve_launch(p, launch.inputs);
    if (!shape) return bytes;
    bytes.all = driver::parameter_bytes(p, *shape);
    for (const BufferId i : p.buffers.ids())
      if (is_host_output(p.buffers[i].role))
        bytes.output += shape->counts[i] * size_of(p.buffers[i].element);
    return bytes;
  }
  const Graph& g = *target.graph;
  const auto shape = resolve_graph(g, launch.inputs.data, launch.inputs.lengths, 0);
  if (!shape) return bytes;
  for (const GraphBufferId i : g.buffers.ids()) {
    bytes.all += shape->bytes(g, i);
    if (is_host_output(g.buffers[i].role)) bytes.output += shape->bytes(g, i);
  }
  return bytes;
}

Diagnostic bad_value(const std::string& flag, const std::string& value, std::string fix) {
  return diagnose(Code::BadOptionValue, {}, fmt::format("`{} {}` has no meaning", flag, value))
      .with_fix(std::move(fix));
}

/// Reads an optional flag with one of the functions of numbers.h.
template <class Parse, class Target>
void read_flag(Diagnostics& errors, const std::string& flag, const std::string& value, Parse parse,
               Target& into, const char* fix) {
  if (value.empty()) return;
  if (const auto parsed = parse(value))
    into = *parsed;
  else
    errors.push_back(bad_value(flag, value, fix));
}

class Binder {
 public:
  Binder(const LaunchFlags& flags, const Target& target)
      : flags_(flags), target_(target), stdin_used_(flags.stdin_is_program) {
    launch_.inputs.data.resize(target.buffer_count());
    launch_.inputs.lengths.resize(target.buffer_count());
    failed_.resize(target.buffer_count());
  }

  Result<Launch> run() {
    bind_options();
    bind_grid();
    for (const std::string& word : flags_.in) bind_in(word);
    for (const std::string& word : flags_.set) bind_set(word);
    for (const std::string& word : flags_.len) bind_len(word);
    if (errors_.empty()) check_limits_of_0();
    if (errors_.empty()) return std::move(launch_);
    add_launch_errors();
    return std::move(errors_);
  }

 private:
  template <class Parse, class Target>
  void read(const std::string& flag, const std::string& value, Parse parse, Target& into,
            const char* fix) {
    read_flag(errors_, flag, value, parse, into, fix);
  }

  void bind_options() {
    interp::Options& o = launch_.options;
    ScheduleFlag schedule;
    uint64_t subgroup = o.subgroup_size;
    read("--schedule", flags_.schedule, parse_schedule, schedule,
         "write `order`, `reverse` or `random:SEED`");
    read("--subgroup-size", flags_.subgroup_size, parse_count, subgroup, "give a number of lanes");
    const auto limits = parse_limits(flags_);
    if (limits) {
      o.time_limit = limits->seconds;
      o.memory_limit = limits->memory_bytes;
      o.output_limit = limits->output_bytes;
    } else {
      errors_.insert(errors_.end(), limits.errors().begin(), limits.errors().end());
    }
    o.schedule = schedule.schedule;
    o.seed = schedule.seed;
    if (!std::has_single_bit(subgroup) || subgroup > 64)
      errors_.push_back(diagnose(Code::BadSubgroupSize, {},
                                 fmt::format("{} is no possible subgroup size", subgroup))
                            .with_fix("use 1, 2, 4, 8, 16, 32 or 64"));
    else
      o.subgroup_size = static_cast<uint32_t>(subgroup);
    limit_.bytes = machine_memory();
    if (!flags_.memory_limit.empty() && o.memory_limit < limit_.bytes)
      limit_ = {o.memory_limit, Code::MemoryLimitExceeded};
  }

  /// Checks limits of 0 bytes, which the options cannot hold: there 0 means no limit. One byte
  /// stands for 0 in a launch without buffers.
  void check_limits_of_0() {
    interp::Options& o = launch_.options;
    const bool no_memory = !flags_.memory_limit.empty() && o.memory_limit == 0;
    const bool no_output = !flags_.output_limit.empty() && o.output_limit == 0;
    if (!no_memory && !no_output) return;
    const LaunchBytes bytes = launch_bytes(target_, launch_);
    if (no_memory) {
      o.memory_limit = 1;
      if (bytes.all > 0)
        errors_.push_back(
            diagnose(Code::MemoryLimitExceeded, {},
                     fmt::format("memory limit: the buffers of {} `{}` need {}; the limit is 0",
                                 target_.kind(), target_.name(), exact_bytes(bytes.all)))
                .with_fix("raise the memory limit"));
    }
    if (no_output) {
      o.output_limit = 1;
      if (bytes.output > 0)
        errors_.push_back(
            diagnose(Code::OutputLimitExceeded, {},
                     fmt::format("output limit: {} `{}` gives {} back; the limit is 0",
                                 target_.kind(), target_.name(), exact_bytes(bytes.output)))
                .with_fix("raise the output limit"));
    }
  }

  void bind_grid() {
    if (flags_.grid.empty()) return;
    std::array<uint64_t, 3> grid{};
    const size_t before = errors_.size();
    read("--grid", flags_.grid, parse_grid, grid,
         "give one to three numbers of invocations: `--grid 1024,768`");
    if (errors_.size() != before) return;
    if (target_.graph)
      errors_.push_back(diagnose(Code::GridOfGraph, {},
                                 fmt::format("`{}` is a graph, whose calls have grids of their own",
                                             target_.name()))
                            .with_fix("drop `--grid`, or run one of the kernels"));
    else
      launch_.inputs.grid = grid;
  }

  /// Returns the parameter that a flag names, unless that is wrong or this flag named it before.
  const Parameter* parameter_of(const std::string& flag, const std::string& name) {
    auto found = find_parameter(target_, name, flag);
    if (!found) {
      add(found.errors());
      return nullptr;
    }
    if (!given_.insert({flag, name}).second) {
      errors_.push_back(
          diagnose(Code::GivenTwice, {}, fmt::format("`{}` gives `{}` twice", flag, name))
              .with_fix("keep one of them"));
      return nullptr;
    }
    return target_.find(name);
  }

  void wrong_flag(const Parameter& p, const std::string& flag, std::string fix) {
    failed_[p.buffer] = true;
    errors_.push_back(
        diagnose(Code::WrongFlag, {},
                 fmt::format("`{}` cannot give `{}`, which is `{}`", flag, p.name, describe(p)))
            .with_fix(std::move(fix)));
  }

  void bind_in(const std::string& word) {
    const auto assignment = split("--in", word);
    if (!assignment) return;
    const Parameter* p = parameter_of("--in", assignment->name);
    if (!p) return;
    if (p->role == Role::Scalar)
      return wrong_flag(*p, "--in", fmt::format("write `--set {}={}`", p->name, assignment->value));
    store(*p, assignment->value);
  }

  void bind_set(const std::string& word) {
    const auto assignment = split("--set", word);
    if (!assignment) return;
    const Parameter* p = parameter_of("--set", assignment->name);
    if (!p) return;
    if (p->role != Role::Scalar)
      return wrong_flag(*p, "--set",
                        is_host_input(p->role)
                            ? fmt::format("write `--in {}={}`", p->name, assignment->value)
                            : "give nothing: it starts as zeros");
    if (assignment->value.empty()) return store_failure(*p, "");
    // Neither a list nor a file: exactly one value.
    if (assignment->value.find_first_of(",@:") != std::string::npos)
      return store_failure(*p, assignment->value);
    store(*p, assignment->value);
  }

  void store_failure(const Parameter& p, const std::string& value) {
    failed_[p.buffer] = true;
    errors_.push_back(
        diagnose(Code::BadElement, {},
                 fmt::format("`{}` is one {}, and `{}` is none", p.name, name(p.element), value))
            .with_fix(fmt::format("give one value: `--set {}=1`", p.name)));
  }

  void store(const Parameter& p, const std::string& value) {
    const std::string_view file = std::string_view(value).substr(value.starts_with("raw:") ? 4 : 0);
    if (file == "@-" || file == "@/dev/stdin") {
      if (std::exchange(stdin_used_, true)) {
        failed_[p.buffer] = true;
        errors_.push_back(
            diagnose(Code::StandardInputTwice, {}, "standard input is asked for twice")
                .with_fix("put one of them into a file"));
        return;
      }
    }
    auto bytes = parse_elements(value, p.name, p.element, limit_);
    if (bytes) {
      launch_.inputs.data[p.buffer] = std::move(*bytes);
    } else {
      failed_[p.buffer] = true;
      add(bytes.errors());
    }
  }

  void bind_len(const std::string& word) {
    const auto assignment = split("--len", word);
    if (!assignment) return;
    const Parameter* p = parameter_of("--len", assignment->name);
    if (!p) return;
    const auto count = parse_count(assignment->value);
    if (count) {
      launch_.inputs.lengths[p->buffer] = *count;
    } else {
      failed_[p->buffer] = true;
      errors_.push_back(bad_value(
          "--len", word, fmt::format("give a number of elements: `--len {}=1000`", p->name)));
    }
  }

  std::optional<Assignment> split(const std::string& flag, const std::string& word) {
    auto assignment = split_assignment(flag, word);
    if (assignment) return std::move(*assignment);
    add(assignment.errors());
    return std::nullopt;
  }

  void add(const Diagnostics& more) { errors_.insert(errors_.end(), more.begin(), more.end()); }

  /// After errors in the flags the launch is never checked by the driver. Reports the errors that
  /// it would find in the other parameters; a parameter with a wrong flag does not also count as
  /// missing.
  void add_launch_errors() {
    if (!target_.kernel) return;
    auto shape = resolve_launch(*target_.kernel, launch_.inputs);
    if (shape) return;
    for (const Diagnostic& d : shape.errors()) {
      const bool follows = std::any_of(
          target_.parameters.begin(), target_.parameters.end(), [&](const Parameter& p) {
            return failed_[p.buffer] &&
                   d.message.find(fmt::format("`{}`", p.name)) != std::string::npos;
          });
      const bool no_grid = d.code == Code::MissingGrid && !flags_.grid.empty();
      if (!follows && !no_grid) errors_.push_back(d);
    }
  }

  const LaunchFlags& flags_;
  const Target& target_;
  Launch launch_;
  Diagnostics errors_;
  std::set<std::pair<std::string, std::string>> given_;  // flag and name
  std::vector<bool> failed_;                             // by buffer: a flag for it was wrong
  bool stdin_used_;
  SizeLimit limit_;
};

}  // namespace

Result<Assignment> split_assignment(const std::string& flag, const std::string& word) {
  const size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0)
    return diagnose(Code::NotAnAssignment, {},
                    fmt::format("`{} {}` does not say what is given to what", flag, word))
        .with_fix(fmt::format("write `{} NAME=VALUE`", flag));
  return Assignment{word.substr(0, equals), word.substr(equals + 1)};
}

Result<std::map<std::string, std::string>> parse_constants(const std::vector<std::string>& words) {
  std::map<std::string, std::string> constants;
  Diagnostics errors;
  for (const std::string& word : words) {
    auto assignment = split_assignment("--const", word);
    if (!assignment) {
      errors.insert(errors.end(), assignment.errors().begin(), assignment.errors().end());
    } else if (!constants.emplace(assignment->name, assignment->value).second) {
      errors.push_back(diagnose(Code::GivenTwice, {},
                                fmt::format("`--const` gives `{}` twice", assignment->name))
                           .with_fix("keep one of them"));
    }
  }
  if (!errors.empty()) return errors;
  return constants;
}

Result<Limits> parse_limits(const LaunchFlags& flags) {
  constexpr auto bytes_fix = "give a number of bytes, such as 1000000, 64K, 512MB or 2GiB";
  Limits limits;
  Diagnostics errors;
  read_flag(errors, "--time-limit", flags.time_limit, parse_seconds, limits.seconds,
            "give seconds above 0, such as 2 or 0.5");
  read_flag(errors, "--memory-limit", flags.memory_limit, parse_bytes, limits.memory_bytes,
            bytes_fix);
  read_flag(errors, "--output-limit", flags.output_limit, parse_bytes, limits.output_bytes,
            bytes_fix);
  if (!errors.empty()) return errors;
  return limits;
}

Result<LoadOptions> load_options(const LaunchFlags& flags) {
  auto constants = parse_constants(flags.constants);
  Diagnostics errors;
  if (!constants) errors = constants.errors();
  if (flags.no_imports && !flags.import_root.empty())
    errors.push_back(diagnose(Code::OptionMisuse, {},
                              "`--no-imports` refuses every file that `--import-root` allows")
                         .with_fix("pass `--no-imports` or `--import-root`, not both"));
  std::error_code failed;
  if (!flags.import_root.empty() && !std::filesystem::is_directory(flags.import_root, failed))
    errors.push_back(
        diagnose(Code::BadOptionValue, {},
                 fmt::format("`--import-root {}` does not name a folder", flags.import_root))
            .with_fix("name the folder that holds the files of the program"));
  if (!errors.empty()) return errors;
  LoadOptions options;
  options.constants = std::move(*constants);
  options.check.exact = flags.exact;
  options.imports = !flags.no_imports;
  options.import_root = flags.import_root;
  const auto limits = parse_limits(flags);
  if (!limits) return options;
  options.time_limit = limits->seconds;
  const uint64_t bytes = limits->memory_bytes;
  if (!flags.memory_limit.empty() && bytes < UINT64_MAX - program_allowance)
    options.memory_limit = bytes + program_allowance;
  return options;
}

namespace {

/// Returns true if a parameter of the role may follow the flag.
bool takes(const std::string& flag, Role role) {
  if (flag == "--set") return role == Role::Scalar;
  if (flag == "--in") return role != Role::Scalar && is_host_input(role);
  if (flag == "--out") return is_host_output(role);
  if (flag == "--print") return is_host_input(role) || is_host_output(role);
  return role != Role::Scalar;
}

}  // namespace

Result<Parameter> find_parameter(const Target& target, const std::string& name,
                                 const std::string& flag) {
  if (const Parameter* p = target.find(name)) return *p;
  std::vector<std::string> names, described;
  for (const Parameter& p : target.parameters) {
    if (takes(flag, p.role)) names.push_back(p.name);
    described.push_back(p.role == Role::Scalar
                            ? fmt::format("{}: {}", p.name, vyre::name(p.element))
                            : fmt::format("{}: {}", p.name, describe(p)));
  }
  Diagnostic d = diagnose(Code::UnknownParameter, {},
                          fmt::format("`{}` names `{}`, but {} `{}` has no such parameter", flag,
                                      name, target.kind(), target.name()));
  d.note(described.empty() ? "it has no parameters"
                           : fmt::format("it has: {}", fmt::join(described, ", ")));
  const std::string_view near = nearest(name, names);
  if (!near.empty()) return d.with_fix(fmt::format("write `{}`", near));
  return d.with_fix(
      names.empty() ? fmt::format("remove `{}`: {} `{}` has no parameter for it", flag,
                                  target.kind(), target.name())
                    : fmt::format("name one of its parameters: `{}`", fmt::join(names, "`, `")));
}

uint64_t buffer_bytes(const Target& target, const Launch& launch) {
  return launch_bytes(target, launch).all;
}

Result<Launch> bind_launch(const LaunchFlags& flags, const Target& target) {
  return Binder(flags, target).run();
}

}  // namespace vyre::cli
