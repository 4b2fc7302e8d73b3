#include "runtime/cuda/cuda_kernel.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstring>

#include "plan/split/split_grid.h"
#include "support/hash.h"

namespace vyre::driver::cuda {

std::atomic<TextObserver> text_observer_for_test{nullptr};

namespace {

/// Precedes the code.
struct Header {
  std::array<char, 8> magic = {'V', 'Y', 'R', 'E', 'S', 'M', '0', '1'};
  uint32_t abi = 0;
  uint32_t capability = 0;
  uint32_t arch = 0;
  uint32_t parameter_bytes = 0;
  uint32_t subgroup_size = 0;
  uint32_t flags = 0;
  uint64_t static_shared_bytes = 0;
  uint64_t dynamic_shared_bytes = 0;
  uint64_t private_bytes = 0;
  uint64_t code_bytes = 0;
  uint64_t hash = 0;  // of everything else: corrupted code must not run
};
static_assert(std::has_unique_object_representations_v<Header>);

/// The smallest workgroup size for which hold_more() recompiles: smaller ones leave fewer resources
/// unused.
constexpr int least_crowding_invocations = 512;
/// Below this share, registers would be spilled and compiling again would be useless.
constexpr int least_percent_of_registers = 70;

constexpr uint32_t flag_control = 1, flag_stop = 2, flag_grid_barrier = 4;

uint64_t hash_of(Header h, std::span<const std::byte> code) {
  h.hash = hash64(code);
  return hash64(std::as_bytes(std::span(&h, 1)));
}

uint64_t since(std::chrono::steady_clock::time_point begin) {
  return uint64_t(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
}

}  // namespace

emit_ptx::EmitOptions emit_options(const Program& program, const CompileOptions& options,
                                   emit_ptx::Arch arch) {
  emit_ptx::EmitOptions emit;
  emit.arch = arch;
  if (options.subgroup_size) emit.subgroup_size = options.subgroup_size;
  emit.stoppable = options.stoppable;
  emit.native_grid_barrier = plan::has_grid_barrier(program);
  const auto number = [&](std::string_view name) {
    return uint32_t(option_number(options.extra, name).value_or(0));
  };
  emit.exact_float_add = number("exact-float-add");
  emit.lines = number("lines");
  emit.min_blocks_per_sm = number("min-blocks");
  return emit;
}

Kernel::Kernel(std::shared_ptr<Context> context, std::shared_ptr<const Program> program,
               const emit_ptx::EmitOptions& options)
    : name(program->name),
      context_(std::move(context)),
      program_(std::move(program)),
      options_(options) {
  for (const BufferId i : program_->buffers.ids())
    if (is_parameter(program_->buffers[i].role))
      parameters.push_back({i, program_->buffers[i].role == Role::Scalar});
  for (size_t d = 0; d < 3; ++d) workgroup[d] = program_->workgroup[d];
}

/// Emits text and compiles it. Sets `info` and `emit_ns` if it is the text for grids as they are.
Result<std::vector<std::byte>> Kernel::build(const emit_ptx::EmitOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  Result<emit_ptx::Kernel> made = emit_ptx::emit(*program_, options);
  if (!made) return made.errors();
  if (options.grid == emit_ptx::Grid::Direct) {
    info = made->info;
    emit_ns = since(begin);
  }
  if (const TextObserver observe = text_observer_for_test) observe(*program_, options, made->text);
  return compile_ptx(*context_, made->text, options.arch, options.lines, name,
                     program_->place(program_->loc));
}

Result<std::shared_ptr<Module>> Kernel::load_code(std::span<const std::byte> code) {
  Result<std::shared_ptr<Module>> module = Module::load(context_, code, emit_ptx::kernel_symbol);
  if (!module || !info.dynamic_shared_bytes) return module;
  const Current current(*context_);
  const Status s = context_->api.function_set_attribute(
      (*module)->function, function_max_dynamic_shared_bytes, int(info.dynamic_shared_bytes));
  if (s == Status::Success) return module;
  if (is_sticky(s)) return context_->failed(s, "shared memory was asked for");
  return diagnose(Code::KernelTooLarge, program_->place(program_->loc),
                  fmt::format("kernel `{}` needs {} bytes of shared memory; {} refuses: {}", name,
                              info.dynamic_shared_bytes, context_->name, context_->api.describe(s)))
      .with_fix("use less shared memory, or another device");
}

Result<std::shared_ptr<Kernel>> Kernel::compile(std::shared_ptr<Context> context,
                                                std::shared_ptr<const Program> program,
                                                const emit_ptx::EmitOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const std::shared_ptr<Kernel> kernel(new Kernel(std::move(context), std::move(program), options));
  Result<std::vector<std::byte>> code = kernel->build(options);
  if (!code) return code.errors();
  Result<std::shared_ptr<Module>> module = kernel->load_code(*code);
  if (!module) return module.errors();
  kernel->code_ = std::move(*code);
  kernel->direct_ = std::move(*module);
  kernel->subgroup_size = kernel->info.subgroup_size;
  if (options.min_blocks_per_sm == 0) kernel->hold_more();
  int major = 0, minor = 0;
  kernel->context_->api.device_attribute(&major, Attribute::CapabilityMajor,
                                         kernel->context_->device);
  kernel->context_->api.device_attribute(&minor, Attribute::CapabilityMinor,
                                         kernel->context_->device);
  kernel->capability_ = major * 10 + minor;
  kernel->compile_ns = since(begin);
  return kernel;
}

/// Returns the kernel's registers, its local memory, and the workgroups that a multiprocessor
/// holds; nothing if the driver does not report them.
std::optional<Kernel::Usage> Kernel::usage(FunctionHandle function) const {
  const Api& api = context_->api;
  const auto invocations = int(workgroup[0] * workgroup[1] * workgroup[2]);
  Usage u;
  if (api.function_attribute(&u.registers, function_registers, function) != Status::Success ||
      api.function_attribute(&u.local_bytes, function_local_bytes, function) != Status::Success ||
      api.occupancy(&u.workgroups, function, invocations, size_t(info.dynamic_shared_bytes)) !=
          Status::Success)
    return std::nullopt;
  return u;
}

/// Only linked code can be kept, but it uses more registers than code that is loaded directly, and
/// with large workgroups a few registers too many halve the occupancy. So if slightly fewer
/// registers allow one more workgroup, the kernel is compiled again. The new code is used if
/// nothing had to be spilled. (Tiled matmul on an H200: 42 registers or 32, 2.36 or 1.91 ms.)
void Kernel::hold_more() {
  const Current current(*context_);
  const auto invocations = int(workgroup[0] * workgroup[1] * workgroup[2]);
  if (invocations < least_crowding_invocations) return;
  const std::optional<Usage> now = usage(direct());
  int registers = 0, threads = 0;
  const auto ask = [&](int& value, Attribute what) {
    return context_->api.device_attribute(&value, what, context_->device) == Status::Success;
  };
  if (!now || !ask(registers, Attribute::RegistersPerMultiprocessor) ||
      !ask(threads, Attribute::ThreadsPerMultiprocessor))
    return;
  const int wanted = now->workgroups + 1;
  const int room = registers / (wanted * invocations) / 8 * 8;  // allocated in units of eight
  if (wanted * invocations > threads || room >= now->registers ||
      room * 100 < now->registers * least_percent_of_registers)
    return;
  emit_ptx::EmitOptions options = options_;
  options.min_blocks_per_sm = static_cast<uint32_t>(wanted);
  Result<std::vector<std::byte>> code = build(options);
  if (!code) return;  // the present code stays
  Result<std::shared_ptr<Module>> module = load_code(*code);
  if (!module) return;
  const std::optional<Usage> then = usage((*module)->function);
  if (!then || then->workgroups < wanted || then->local_bytes > now->local_bytes) return;
  code_ = std::move(*code);
  direct_ = std::move(*module);
}

std::vector<std::byte> Kernel::serialize() const {
  Header h;
  h.abi = info.abi;
  h.capability = static_cast<uint32_t>(capability_);
  h.arch = static_cast<uint32_t>(options_.arch);
  h.parameter_bytes = info.parameter_bytes;
  h.subgroup_size = info.subgroup_size;
  h.flags = (info.uses_control ? flag_control : 0) | (info.uses_stop ? flag_stop : 0) |
            (info.grid_barrier ? flag_grid_barrier : 0);
  h.static_shared_bytes = info.static_shared_bytes;
  h.dynamic_shared_bytes = info.dynamic_shared_bytes;
  h.private_bytes = info.private_bytes;
  h.code_bytes = code_.size();
  h.hash = hash_of(h, code_);
  std::vector<std::byte> bytes(sizeof h + code_.size());
  std::memcpy(bytes.data(), &h, sizeof h);
  std::memcpy(bytes.data() + sizeof h, code_.data(), code_.size());
  return bytes;
}

std::shared_ptr<Kernel> Kernel::load(std::shared_ptr<Context> context,
                                     std::shared_ptr<const Program> program,
                                     const emit_ptx::EmitOptions& options, int capability,
                                     std::span<const std::byte> bytes) {
  Header h;
  if (bytes.size() < sizeof h) return nullptr;
  std::memcpy(&h, bytes.data(), sizeof h);
  const std::span<const std::byte> code = bytes.subspan(sizeof h);
  const uint32_t size = program->subgroup ? program->subgroup : options.subgroup_size;
  if (h.magic != Header().magic || h.abi != emit_ptx::abi_version ||
      h.capability != static_cast<uint32_t>(capability) ||
      h.arch != static_cast<uint32_t>(options.arch) || h.subgroup_size != size ||
      h.code_bytes != code.size() || h.hash != hash_of(h, code))
    return nullptr;
  const auto begin = std::chrono::steady_clock::now();
  const std::shared_ptr<Kernel> kernel(new Kernel(std::move(context), std::move(program), options));
  kernel->info = {.abi = h.abi,
                  .parameter_bytes = h.parameter_bytes,
                  .subgroup_size = h.subgroup_size,
                  .static_shared_bytes = h.static_shared_bytes,
                  .dynamic_shared_bytes = h.dynamic_shared_bytes,
                  .private_bytes = h.private_bytes,
                  .uses_control = (h.flags & flag_control) != 0,
                  .uses_stop = (h.flags & flag_stop) != 0,
                  .grid_barrier = (h.flags & flag_grid_barrier) != 0};
  uint32_t parameter_bytes = emit_ptx::first_parameter_offset;
  for (const Parameter& p : kernel->parameters) parameter_bytes += p.is_scalar ? 8 : 16;
  if (parameter_bytes != h.parameter_bytes) return nullptr;
  if (const TextObserver observe = text_observer_for_test)
    if (const auto text = emit_ptx::emit(*kernel->program_, options))
      observe(*kernel->program_, options, text->text);
  Result<std::shared_ptr<Module>> module = kernel->load_code(code);
  if (!module) return nullptr;
  kernel->direct_ = std::move(*module);
  kernel->code_.assign(code.begin(), code.end());
  kernel->capability_ = capability;
  kernel->subgroup_size = h.subgroup_size;
  kernel->compile_ns = since(begin);
  return kernel;
}

Result<FunctionHandle> Kernel::linear() {
  const std::lock_guard lock(mutex_);
  if (!linear_) {
    emit_ptx::EmitOptions options = options_;
    options.grid = emit_ptx::Grid::Linear;
    Result<std::vector<std::byte>> code = build(options);
    if (!code) return code.errors();
    Result<std::shared_ptr<Module>> module = load_code(*code);
    if (!module) return module.errors();
    linear_ = std::move(*module);
  }
  return linear_->function;
}

Result<uint32_t> Kernel::workgroups_per_multiprocessor() {
  const std::lock_guard lock(mutex_);
  if (occupancy_ < 0) {
    const Current current(*context_);
    const auto invocations = int(workgroup[0] * workgroup[1] * workgroup[2]);
    int blocks = 0;
    const Status s =
        context_->api.occupancy(&blocks, direct(), invocations, size_t(info.dynamic_shared_bytes));
    if (s != Status::Success) return context_->failed(s, "the occupancy was asked for");
    occupancy_ = blocks;
  }
  return static_cast<uint32_t>(occupancy_);
}

// ---- To read.

namespace {

/// The numbers of a line "\t.loc FILE LINE COLUMN".
struct Loc {
  uint32_t file = 0, line = 0, column = 0;
};
bool read_loc(std::string_view line, Loc& loc) {
  constexpr std::string_view word = "\t.loc ";
  if (!line.starts_with(word)) return false;
  const char *at = line.data() + word.size(), *const end = line.data() + line.size();
  for (uint32_t* field : {&loc.file, &loc.line, &loc.column}) {
    const auto read = std::from_chars(at, end, *field);
    if (read.ec != std::errc{}) return false;
    at = read.ptr + (read.ptr != end);
  }
  return true;
}

/// Returns the files by number, from the ".file 1 \"name\"" lines at the end.
std::vector<std::string> files_of(std::string_view text) {
  constexpr std::string_view word = "\n.file ";
  std::vector<std::string> files(1);
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const size_t open = text.find('"', at), close = text.find('"', open + 1);
    if (close == text.npos) break;
    size_t number = 0;
    std::from_chars(text.data() + at + word.size(), text.data() + open, number);
    if (number >= files.size()) files.resize(number + 1);
    files[number] = text.substr(open + 1, close - open - 1);
  }
  return files;
}

}  // namespace

Result<Listing> list_ptx(const Program& program, emit_ptx::EmitOptions options) {
  options.lines = true;
  const Result<emit_ptx::Kernel> made = emit_ptx::emit(program, options);
  if (!made) return made.errors();
  Listing listing;
  listing.language = fmt::format("PTX for {}", emit_ptx::name(options.arch));
  const std::string_view text = made->text;
  const std::vector<std::string> files = files_of(text);
  Loc here;  // of the instructions that follow
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.empty() || line.starts_with(".file") || read_loc(line, here)) continue;
    // Labels, directives and lines outside the entry have no source line.
    const bool is_instruction = line.starts_with('\t') && !line.starts_with("\t.");
    std::string shown;
    for (const char c : line) c == '\t' ? shown.append(8, ' ') : shown.append(1, c);
    listing.add(std::move(shown), is_instruction && here.file && here.file < files.size()
                                      ? Place{files[here.file], here.line, here.column}
                                      : Place{});
  }
  return listing;
}

}  // namespace vyre::driver::cuda
