#include "runtime/vulkan/helper_kernels.h"

#include "text/parse.h"

namespace vyre::driver::vulkan {
namespace {

// gate: runs before each iteration. `w` is the memory with the word that the loop tests, `low` and
// `high` select its bytes. `control` holds the control blocks of the body's launches, 16 words
// each: after a trap or a stop no iteration begins. `sizes` receives the sizes of the body's
// dispatches, or zeros.
//
// fill, copy: a range of bytes, one word per invocation. Bytes of the first and last word outside
// the range are preserved.
constexpr const char* sources[] = {
    R"(
kernel gate(index: u64, low: u32, high: u32, blocks: u32, w: in u32[], sizes: in u32[], control: in u32[],
            args: inout u32[], state: inout u32[]) workgroup(64) grid(64) {
  shared ended: u32[1]
  let l = local_id.x
  for k in l..blocks step 64 {
    if (control[k * 16 + 2] & control[k * 16 + 3]) != 0xffffffff || control[k * 16 + 10] != 0 {
      atomic_or(ended[0], 1)
    }
  }
  barrier workgroup
  let word = (w[index] & low) | (w[index + 1] & high)
  let go = word != 0 && ended[0] == 0
  for j in l..len(sizes) step 64 { args[j] = select(go, sizes[j], 0) }
  if l == 0 {
    if go { state[0] = state[0] + 1 }
    state[1] = u32(go)
  }
})",
    R"(
kernel fill(begin: u64, end: u64, value: u32, w: inout u32[]) workgroup(64) grid(1) {
  let i = begin / 4 + u64(global_id.x)
  if i * 4 < end {
    var mask: u32 = 0xffffffff
    if i * 4 < begin { mask = mask << u32((begin - i * 4) * 8) }
    if i * 4 + 4 > end { mask = mask & (0xffffffff >> u32((i * 4 + 4 - end) * 8)) }
    w[i] = (w[i] & ~mask) | (value & mask)
  }
})",
    R"(
kernel copy(begin: u64, end: u64, from: u64, s: in u32[], w: inout u32[]) workgroup(64) grid(1) {
  let i = begin / 4 + u64(global_id.x)
  if i * 4 < end {
    var mask: u32 = 0xffffffff
    if i * 4 < begin { mask = mask << u32((begin - i * 4) * 8) }
    if i * 4 + 4 > end { mask = mask & (0xffffffff >> u32((i * 4 + 4 - end) * 8)) }
    let at = i * 4 + from - begin
    let word = at >> 2
    let shift = u32(at & 3) * 8
    var value = s[word]
    if shift != 0 { value = (value >> shift) | (s[word + 1] << (32 - shift)) }
    w[i] = (w[i] & ~mask) | (value & mask)
  }
})"};

}  // namespace

Result<const HelperKernels::One*> HelperKernels::get(Helper which,
                                                     const std::shared_ptr<Context>& context,
                                                     const emit_exact::Profile& profile) {
  const std::lock_guard lock(mutex_);
  One& one = all_[size_t(which)];
  if (one.kernel) return &one;
  ParseOutcome parsed = parse(sources[size_t(which)]);
  if (!parsed.module) return parsed.diagnostics;
  auto program = std::make_shared<const Program>(std::move(parsed.module->kernels[0]));
  emit_spirv::EmitOptions options;
  options.profile = profile;
  options.stoppable = false;
  Result<std::shared_ptr<VulkanKernel>> kernel = compile_kernel(context, *program, options);
  if (!kernel) return kernel.errors();
  one = {std::move(program), std::move(*kernel)};
  return &one;
}

}  // namespace vyre::driver::vulkan
