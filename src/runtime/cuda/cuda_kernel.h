#pragma once

// A compiled kernel of a device, and its form in the compile cache.

#include <atomic>
#include <mutex>

#include "codegen/ptx/ptx_emit.h"
#include "runtime/backend.h"
#include "runtime/cuda/cuda_jit.h"
#include "runtime/cuda/device_info.h"

namespace vyre::driver::cuda {

/// Returns the emitter options of CompileOptions::extra: `exact-float-add=1`, `lines=1`,
/// `min-blocks=2`, checked by the driver.
emit_ptx::EmitOptions emit_options(const Program& program, const CompileOptions& options,
                                   emit_ptx::Arch arch);

class Kernel : public CompiledKernel {
 public:
  static Result<std::shared_ptr<Kernel>> compile(std::shared_ptr<Context> context,
                                                 std::shared_ptr<const Program> program,
                                                 const emit_ptx::EmitOptions& options);
  /// Returns null if the bytes are not what serialize() gives for this device and these options.
  static std::shared_ptr<Kernel> load(std::shared_ptr<Context> context,
                                      std::shared_ptr<const Program> program,
                                      const emit_ptx::EmitOptions& options, int capability,
                                      std::span<const std::byte> bytes);

  std::vector<std::byte> serialize() const override;

  /// The source of each of the kernel's parameters, in the order of the block.
  struct Parameter {
    BufferId buffer;
    bool is_scalar;
  };

  emit_ptx::KernelInfo info;
  std::vector<Parameter> parameters;
  std::array<unsigned, 3> workgroup = {1, 1, 1};
  std::string name;

  /// Returns the function for a grid as it is.
  FunctionHandle direct() const { return direct_->function; }
  /// Returns the function for folded grids; created at its first use.
  Result<FunctionHandle> linear();

  /// Returns the number of workgroups that a multiprocessor holds at once.
  Result<uint32_t> workgroups_per_multiprocessor();

 private:
  Kernel(std::shared_ptr<Context> context, std::shared_ptr<const Program> program,
         const emit_ptx::EmitOptions& options);
  Result<std::shared_ptr<Module>> load_code(std::span<const std::byte> code);
  Result<std::vector<std::byte>> build(const emit_ptx::EmitOptions& options);
  struct Usage {
    int registers = 0, local_bytes = 0, workgroups = 0;
  };
  std::optional<Usage> usage(FunctionHandle function) const;
  void hold_more();

  const std::shared_ptr<Context> context_;
  const std::shared_ptr<const Program> program_;
  const emit_ptx::EmitOptions options_;
  int capability_ = 0;
  std::vector<std::byte> code_;
  std::shared_ptr<Module> direct_;
  std::mutex mutex_;  // guards the following members
  std::shared_ptr<Module> linear_;
  int occupancy_ = -1;
};

/// For tests without a GPU: receives each program and its text before the driver does. Null outside
/// of tests.
using TextObserver = void (*)(const Program&, const emit_ptx::EmitOptions&,
                              const std::string& text);
extern std::atomic<TextObserver> text_observer_for_test;

/// Returns the text with the source location of each instruction, for reports.
Result<Listing> list_ptx(const Program& program, emit_ptx::EmitOptions options);

}  // namespace vyre::driver::cuda
