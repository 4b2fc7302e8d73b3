// vyre emit: writes the code that a backend would run, as text or as a file.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <optional>

#include "codegen/ptx/ptx_emit.h"
#include "codegen/spirv/spirv_emit.h"
#include "diagnostics/source_line.h"
#include "ir/graph_walk.h"
#include "opt/pipeline.h"
#include "plan/split/split_grid.h"
#include "runtime/cpu_component.h"
#include "tools/vyre/commands.h"
#include "tools/vyre/diagnostic_output.h"
#include "tools/vyre/emit_target.h"
#include "tools/vyre/launch_flags.h"
#include "tools/vyre/numbers.h"
#include "tools/vyre/optimizer_launch.h"
#include "tools/vyre/output_files.h"
#include "tools/vyre/program_file.h"

namespace vyre::cli {
namespace {

using Form = driver::CpuEmitRequest::Form;

constexpr std::array<std::string_view, 4> architectures = {"x86-64-v2", "x86-64-v3", "x86-64-v4",
                                                           "aarch64"};

Diagnostic bad(std::string_view flag, std::string_view value, std::string fix) {
  return diagnose(Code::BadOptionValue, {}, fmt::format("`{} {}` has no meaning", flag, value))
      .with_fix(std::move(fix));
}

Diagnostic bad_arch(const std::string& arch, const std::vector<std::string>& known) {
  const std::string all = fmt::format("{}", fmt::join(known, ", "));
  const std::string_view near = nearest(arch, known);
  if (near.empty()) return bad("--arch", arch, "write " + all);
  return bad("--arch", arch, fmt::format("write `{}`", near)).note("the architectures are " + all);
}

/// Returns 0 if no size is given.
Result<uint32_t> parse_subgroup_size(const std::string& text) {
  if (text.empty()) return 0u;
  const auto size = parse_count(text);
  if (!size || *size > 64 || !std::has_single_bit(*size))
    return bad("--subgroup-size", text, "write 1, 2, 4, 8, 16, 32 or 64");
  return static_cast<uint32_t>(*size);
}

Diagnostic misuse(std::string what, std::string fix) {
  return diagnose(Code::OptionMisuse, {}, std::move(what)).with_fix(std::move(fix));
}

/// Reports options that only LLVM's targets accept.
std::optional<Diagnostic> find_misuse(const EmitCommand& c) {
  if (c.unoptimized) return misuse("`emit`: `--unoptimized` is for `--target llvm`", "drop it");
  return std::nullopt;
}

/// True for a name that C and C++ can declare.
bool is_symbol(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && is_letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9');
  });
}

Result<emit_ptx::EmitOptions> parse_ptx_options(const EmitCommand& c) {
  emit_ptx::EmitOptions options;
  if (!c.arch.empty()) {
    const auto arch = emit_ptx::parse_arch(c.arch);
    if (!arch) {
      std::vector<std::string> names;
      for (const emit_ptx::Arch a : emit_ptx::all_archs) names.emplace_back(emit_ptx::name(a));
      return bad_arch(c.arch, names);
    }
    options.arch = *arch;
  }
  const auto size = parse_subgroup_size(c.subgroup_size);
  if (!size) return size.errors();
  if (*size) options.subgroup_size = *size;
  if (const auto problem = find_misuse(c)) return *problem;
  options.lines = c.lines;
  return options;
}

Result<emit_spirv::EmitOptions> parse_spirv_options(const EmitCommand& c) {
  emit_spirv::EmitOptions options;
  if (!c.arch.empty())
    return misuse("`emit`: `--arch` is not for `--target spirv`",
                  "say with `--profile` what the device has");
  const auto profile = emit_exact::parse_profile(c.profile);
  if (!profile) return profile.errors();
  options.profile = *profile;
  const auto size = parse_subgroup_size(c.subgroup_size);
  if (!size) return size.errors();
  options.subgroup_size = *size;
  if (const auto problem = find_misuse(c)) return *problem;
  options.debug = c.lines;
  return options;
}

Result<driver::CpuEmitRequest> parse_request(const EmitCommand& c) {
  driver::CpuEmitRequest request;
  if (c.target == "llvm") {
    request.form = Form::LlvmIr;
  } else if (c.target == "asm") {
    request.form = Form::Assembly;
  } else if (c.target == "obj") {
    request.form = Form::Object;
  } else {
    return bad("--target", c.target, "write `llvm`, `asm`, `obj`, `ptx` or `spirv`");
  }
  if (!c.arch.empty() &&
      std::find(architectures.begin(), architectures.end(), c.arch) == architectures.end())
    return bad_arch(c.arch, {architectures.begin(), architectures.end()});
  request.arch = c.arch;
  const auto size = parse_subgroup_size(c.subgroup_size);
  if (!size) return size.errors();
  request.subgroup_size = *size;
  request.optimize = !c.unoptimized;
  if (!c.symbol.empty() && !is_symbol(c.symbol))
    return bad("--symbol", c.symbol, "write letters, digits and `_`, not a digit first");
  request.symbol = c.symbol;
  if (request.form == Form::Object && c.out.empty())
    return misuse("`emit`: an object file is not for the terminal", "name a file with `-o`");
  if (c.lines && request.form != Form::Assembly)
    return misuse("`emit`: `--lines` is for `--target asm`, `ptx` and `spirv`",
                  "write `--target asm`, or drop it");
  if (request.form != Form::LlvmIr)
    if (const auto problem = find_misuse(c)) return *problem;
  return request;
}

Diagnostic graph_instead_of_kernel(const cli::Target& target, const std::string& file) {
  std::vector<std::string> kernels;  // the kernels that the graph calls, each once
  for (const GraphStep& step : flatten(*target.graph)) {
    if (!step.is_call()) continue;
    const std::string& name = target.module->kernels[step.node->kernel].name;
    if (std::find(kernels.begin(), kernels.end(), name) == kernels.end()) kernels.push_back(name);
  }
  Diagnostic d = misuse(
      fmt::format("`emit` takes a kernel, and `{}` is a graph", target.name()),
      fmt::format("name one of its kernels: `{}:{}`", file, kernels.empty() ? "NAME" : kernels[0]));
  if (!kernels.empty()) d.note(fmt::format("it calls: {}", fmt::join(kernels, ", ")));
  return d;
}

/// Returns the prefix of comment lines in the output.
std::string_view comment_of(const driver::CpuEmitRequest& request) {
  if (request.form == Form::LlvmIr) return "; ";
  return request.arch == "aarch64" ? "// " : "# ";
}

/// Returns a line of a file without surrounding blanks; "" if it does not exist.
std::string_view source_line(const Sources& sources, const std::string& file, uint32_t line) {
  const auto it = sources.find(file);
  if (it == sources.end()) return {};
  std::string_view text = it->second;
  for (; line > 1 && text.find('\n') != text.npos; --line) text.remove_prefix(text.find('\n') + 1);
  if (line > 1) return {};
  text = text.substr(0, text.find_first_of("\r\n"));
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

/// Adds a comment to a listing wherever the source line changes.
std::string with_lines(const Listing& listing, std::string_view comment, const Sources& sources) {
  std::string text;
  uint32_t file = 0, line = 0;
  for (const ListingLine& l : listing.lines) {
    if (l.line != 0 && (l.line != line || l.file != file)) {
      file = l.file;
      line = l.line;
      text += printable(fmt::format("{}{}:{}: {}", comment, listing.files[file], line,
                                    source_line(sources, listing.files[file], line)));
      text += '\n';
    }
    text += l.text + '\n';
  }
  return text;
}

/// How to generate code for a target.
struct Target {
  /// Emits one program without grid barriers; its includes are in the sources.
  std::function<Result<std::string>(const Program&, const Sources&, const driver::CompileLimits&)>
      emit;
  std::string_view comment;  // the prefix of comment lines
  /// The kind of file, if a file holds one program only; and what to do instead.
  std::string_view single, instead;
};

Result<Target> cpu_target(const EmitCommand& command) {
  const auto request = parse_request(command);
  if (!request) return request.errors();
  std::string why;
  const driver::CpuComponent* component = driver::cpu_component(&why);
  if (!component)
    return diagnose(Code::DeviceNotHere, {},
                    fmt::format("the emitter of backend `cpu` is not here, because {}", why))
        .with_fix("build vyre with LLVM 19 and oneTBB, see `scripts/setup`");
  Target target;
  target.comment = comment_of(*request);
  if (request->form == Form::Object)
    target.single = "object file", target.instead = "use `--target asm`";
  target.emit = [=, request = *request, lines = command.lines](
                    const Program& program, const Sources& sources,
                    const driver::CompileLimits& limits) mutable -> Result<std::string> {
    request.limits = limits;
    if (!lines) return component->emit(program, request);
    const Result<Listing> listing = component->list(program, request);
    if (!listing) return listing.errors();
    return with_lines(*listing, comment_of(request), sources);
  };
  return target;
}

Result<Target> ptx_target(const EmitCommand& command) {
  const auto options = parse_ptx_options(command);
  if (!options) return options.errors();
  Target target;
  target.comment = "// ";
  target.emit = [options = *options](const Program& program, const Sources&,
                                     const driver::CompileLimits&) -> Result<std::string> {
    Result<emit_ptx::Kernel> made = emit_ptx::emit(program, options);
    if (!made) return made.errors();
    return std::move(made->text);
  };
  return target;
}

/// Emits binary words for a file, text for people.
Result<Target> spirv_target(const EmitCommand& command) {
  const auto options = parse_spirv_options(command);
  if (!options) return options.errors();
  const bool to_file = !command.out.empty();
  Target target;
  target.comment = "; ";
  if (to_file) target.single = "module", target.instead = "leave `-o` out to read them";
  target.emit = [options = *options, to_file](const Program& program, const Sources&,
                                              const driver::CompileLimits&) -> Result<std::string> {
    const Result<emit_spirv::Kernel> made = emit_spirv::emit(program, options);
    if (!made) return made.errors();
    if (!to_file) return emit_spirv::disassemble(made->words);
    std::string bytes(made->words.size() * 4, '\0');
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<char>(made->words[i / 4] >> (8 * (i % 4)));
    return bytes;
  };
  return target;
}

Result<Target> target_of(const EmitCommand& command) {
  if (!command.symbol.empty() && command.target != "obj")
    return misuse("`emit`: `--symbol` is for `--target obj`", "write `--target obj`, or drop it");
  if (!command.profile.empty() && command.target != "spirv")
    return misuse("`emit`: `--profile` is for `--target spirv`", "drop it");
  if (command.target == "ptx") return ptx_target(command);
  if (command.target == "spirv") return spirv_target(command);
  return cpu_target(command);
}

/// Emits one program after the other, each after a line that describes it.
Result<std::string> emit_all(const Target& target, const Program& kernel, const Sources& sources,
                             const driver::CompileLimits& limits) {
  if (!plan::has_grid_barrier(kernel)) return target.emit(kernel, sources, limits);
  const Result<plan::SplitPlan> plan = plan::split_at_grid_barriers(kernel);
  if (!plan) return plan.errors();
  const size_t n = plan->segments.size();
  if (!target.single.empty() && n != 1)
    return diagnose(Code::OptionMisuse, kernel.place(kernel.loc),
                    fmt::format("kernel `{}` is split at its grid barriers into {} programs, which "
                                "do not fit one {}",
                                kernel.name, n, target.single))
        .with_fix(std::string(target.instead));
  std::string text;
  for (size_t i = 0; i < n; ++i) {
    Result<std::string> one = target.emit(plan->segments[i], sources, limits);
    if (!one) return one;
    if (target.single.empty())
      text += fmt::format("{}{}segment {} of {} of kernel `{}`, split at its grid barriers\n",
                          i == 0 ? "" : "\n", target.comment, i + 1, n, kernel.name);
    text += *one;
  }
  return text;
}

/// Returns the device for which to optimize: the one named, or one that runs code for the target;
/// nothing if there is none.
Result<std::optional<driver::DeviceInfo>> device_of(const EmitCommand& c) {
  const std::string_view suits = c.target == "ptx"     ? "cuda"
                                 : c.target == "spirv" ? "vulkan"
                                                       : "cpu";
  auto device = find_device(c.backend.empty() ? std::string(suits) : c.backend);
  if (device) return std::optional(std::move(*device));
  if (c.backend.empty()) return std::optional<driver::DeviceInfo>();
  return device.errors();
}

/// Returns the passes that `vyre run` selects for the device and the launch. `wanted` must outlive
/// them.
Result<opt::OptimizeOptions> passes_for(const EmitCommand& c, const cli::Target& target,
                                        const driver::Optimization& wanted) {
  auto options = optimize_options(wanted);
  if (!options) return options;
  const auto device = device_of(c);
  if (!device) return device.errors();
  std::optional<Launch> launch;
  if (describes_launch(c.launch)) {
    LaunchFlags flags = c.launch;
    flags.stdin_is_program = split_file_and_name(c.file).file == "-";
    auto bound = bind_launch(flags, target);
    if (!bound) return bound.errors();
    launch = std::move(*bound);
  }
  auto told = optimizer_target(*device ? &**device : nullptr, *target.kernel,
                               launch ? &launch->inputs : nullptr);
  if (!told) return told.errors();
  options->target = std::move(*told);
  return options;
}

}  // namespace

int emit(const EmitCommand& command) {
  OutputFiles outputs;
  Diagnostics mistakes;
  if (!command.out.empty() && !outputs.open("the code", command.out, mistakes))
    return report(mistakes, {}, false);
  const auto code = target_of(command);
  if (!code) return report(code.errors(), {}, false);
  const auto load = load_options(command.launch);
  if (!load) return report(load.errors(), {}, false);
  if (const auto limits = parse_limits(command.launch); !limits)
    return report(limits.errors(), {}, false);
  const FileAndName file = split_file_and_name(command.file);
  LoadedModule loaded = load_module(file.file, *load);
  if (!loaded.module) return report(loaded.diagnostics, loaded.sources, false);
  const auto target = choose_target(loaded, file.name, shown_name(file.file));
  if (!target) return report(target.errors(), loaded.sources, false);
  if (!target->kernel)
    return report({graph_instead_of_kernel(*target, file.file)}, loaded.sources, false);
  const auto wanted = bind_optimizer(command.optimizer);
  if (!wanted) return report(wanted.errors(), {}, false);
  auto options = passes_for(command, *target, *wanted);
  if (!options) return report(options.errors(), loaded.sources, false);
  const auto limits = limits_after(loaded, command.launch);
  if (!limits) return report(limits.errors(), loaded.sources, false);
  if (limits->deadline()) options->schedule.is_over = [&] { return limits->is_over(); };
  const auto text = make_within(*limits, *target->kernel, [&]() -> Result<std::string> {
    Program kernel = *target->kernel;
    if (const auto done = opt::optimize(kernel, *options); !done) return done.errors();
    return emit_all(*code, kernel, loaded.sources, *limits);
  });
  if (!text) return report(text.errors(), loaded.sources, false);
  show(loaded.diagnostics, loaded.sources);
  if (command.out.empty()) {
    write_out(*text);
    return exit_done;
  }
  Diagnostics failed = outputs.write(command.out, *text);
  if (failed.empty()) failed = outputs.commit();
  return failed.empty() ? exit_done : report(failed, {}, false);
}

}  // namespace vyre::cli
