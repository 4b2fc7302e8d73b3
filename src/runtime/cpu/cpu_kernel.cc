#include "runtime/cpu/cpu_kernel.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <new>

#include "runtime/cpu/cpu_launch.h"
#include "support/hash.h"

namespace vyre::driver {

namespace {

/// Precedes the object file.
struct Header {
  std::array<char, 8> magic = {'V', 'Y', 'R', 'E', 'C', 'P', 'U', '2'};
  uint32_t abi = 0;
  uint32_t isa = 0;
  uint32_t subgroup_size = 0;
  uint32_t reserved = 0;
  uint64_t arena_bytes = 0;
  uint64_t stack_bytes = 0;
  uint64_t object_bytes = 0;
  uint64_t hash = 0;  // of everything else: corrupted code must not run
};
static_assert(std::has_unique_object_representations_v<Header>);

uint64_t hash_of(Header h, std::span<const std::byte> object) {
  h.hash = hash64(object);
  return hash64(std::as_bytes(std::span(&h, 1)));
}

}  // namespace

std::vector<std::byte> CpuKernel::serialize() const {
  Header h;
  h.abi = info.abi;
  h.isa = static_cast<uint32_t>(isa);
  h.subgroup_size = info.subgroup_size;
  h.arena_bytes = info.arena_bytes;
  h.stack_bytes = info.stack_bytes;
  h.object_bytes = object.size();
  h.hash = hash_of(h, object);
  std::vector<std::byte> bytes(sizeof h + object.size());
  std::memcpy(bytes.data(), &h, sizeof h);
  std::memcpy(bytes.data() + sizeof h, object.data(), object.size());
  return bytes;
}

Diagnostic out_of_memory_in_llvm(const Program& program) {
  return diagnose(Code::OutOfMemory, program.place(program.loc),
                  fmt::format("out of memory: LLVM found none while it compiled kernel `{}`",
                              program.name))
      .with_fix("use a smaller kernel, or free memory");
}

Result<std::shared_ptr<CpuKernel>> compile_object(const Program& program,
                                                  const CompileOptions& options,
                                                  const CpuOptions& cpu) try {
  emit_llvm::EmitOptions emit_options;
  emit_options.isa = cpu.isa;
  emit_options.subgroup_size = options.subgroup_size;
  emit_options.stoppable = options.stoppable;
  const auto begin = std::chrono::steady_clock::now();
  Result<emit_llvm::Module> module = emit_llvm::emit(program, emit_options);
  if (!module) return module.errors();
  const auto emitted = std::chrono::steady_clock::now();
  emit_llvm::optimize(*module);
  Result<std::vector<std::byte>> object = emit_llvm::to_object(*module);
  if (!object) return object.errors();
  if (module->info.stack_bytes > max_stack_bytes)
    return diagnose(
               Code::KernelTooLarge, program.place(program.loc),
               fmt::format("kernel `{}` needs {} bytes of stack on each thread; {} are possible",
                           program.name, module->info.stack_bytes, max_stack_bytes))
        .with_fix("use fewer variables and less nesting");
  auto kernel = std::make_shared<CpuKernel>();
  kernel->info = module->info;
  kernel->subgroup_size = module->info.subgroup_size;
  kernel->emit_ns = uint64_t(std::chrono::nanoseconds(emitted - begin).count());
  kernel->isa = cpu.isa;
  kernel->threads = cpu.threads;
  kernel->object = std::move(*object);
  return kernel;
} catch (const std::bad_alloc&) {
  return out_of_memory_in_llvm(program);
}

Result<std::shared_ptr<CpuKernel>> compile_kernel(const Program& program,
                                                  const CompileOptions& options,
                                                  const CpuOptions& cpu) {
  Result<std::shared_ptr<CpuKernel>> kernel = compile_object(program, options, cpu);
  if (!kernel) return kernel;
  Result<std::unique_ptr<LinkedCode>> code = link_object((*kernel)->object);
  if (!code) return code.errors();
  (*kernel)->code = std::move(*code);
  return kernel;
}

std::shared_ptr<CpuKernel> load_cpu_kernel(const Program& program, const CompileOptions& options,
                                           const CpuOptions& cpu,
                                           std::span<const std::byte> bytes) {
  Header h;
  const Header expected;
  if (bytes.size() < sizeof h) return nullptr;
  std::memcpy(&h, bytes.data(), sizeof h);
  const std::span<const std::byte> object = bytes.subspan(sizeof h);
  const uint32_t asked_size = program.subgroup ? program.subgroup : options.subgroup_size;
  if (h.magic != expected.magic || h.abi != emit_llvm::abi_version ||
      h.isa != static_cast<uint32_t>(cpu.isa) || (asked_size && h.subgroup_size != asked_size) ||
      h.object_bytes != object.size() || h.hash != hash_of(h, object))
    return nullptr;
  Result<std::unique_ptr<LinkedCode>> code = link_object(object);
  if (!code) return nullptr;
  auto kernel = std::make_shared<CpuKernel>();
  kernel->info = {h.abi, h.subgroup_size, h.arena_bytes, h.stack_bytes};
  kernel->subgroup_size = h.subgroup_size;
  kernel->isa = cpu.isa;
  kernel->threads = cpu.threads;
  kernel->object.assign(object.begin(), object.end());
  kernel->code = std::move(*code);
  return kernel;
}

}  // namespace vyre::driver
