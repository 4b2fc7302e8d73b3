#pragma once

// Loops without the host: a small kernel of ours sets the condition of a conditional node; before
// each iteration it tests whether there is one more.
//
// Device code sets a condition by calling `cudaGraphSetConditional`, which is built into the
// driver's compiler, like `vprintf`: nothing of the toolkit is needed.

#include "runtime/cuda/cuda_control.h"
#include "runtime/cuda/cuda_jit.h"

namespace vyre::driver::cuda {

inline constexpr const char* loop_symbol = "vyre_loop_test";
inline constexpr unsigned loop_threads = 128;

/// The parameters of the kernel.
struct LoopTest {
  uint64_t condition = 0;
  uint64_t word = 0;      // address of bytes that must not all be 0; 0: iterations are counted
  uint64_t rounds = 0;    // at most
  uint64_t state = 0;     // address of a control block that is a LoopState
  uint64_t stop = 0;      // address of the stop flag
  uint64_t controls = 0;  // blocks of all launches in the list: the loop ends when one has trapped
  uint32_t control_count = 0;
  uint32_t word_bytes = 0;
  uint32_t is_first = 0;  // before the first iteration
  uint32_t reserved = 0;
};
static_assert(sizeof(LoopTest) == 64);

/// Reads a control block that is the loop's state. `lowest`, `trapped` and `stopped_at` stay as in
/// a clean one.
inline uint64_t rounds_begun(const emit_ptx::ControlBlock& b) { return b.x | uint64_t{b.y} << 32; }
inline bool was_stopped(const emit_ptx::ControlBlock& b) { return b.z != 0; }

/// Returns the kernel's PTX.
const std::string& loop_text();

/// Loads the kernel on a device.
Result<std::shared_ptr<Module>> load_loop_test(std::shared_ptr<Context> context);

}  // namespace vyre::driver::cuda
