// Two kernels from object files in one program, without the vyre library.

#include <vyre/object.h>

#include <cstdio>
#include <vector>

VYRE_DECLARE_KERNEL(add);
VYRE_DECLARE_KERNEL(triple);

namespace {

struct alignas(64) Line {
  uint32_t values[16] = {};
};

void run(vyre::object::KernelFunction kernel, const vyre::object::KernelInfo& info, Line* line) {
  std::vector<Line> arena(info.arena_bytes / sizeof(Line) + 1);
  std::byte* const buffers[] = {reinterpret_cast<std::byte*>(line)};
  const uint64_t counts[] = {16}, scalars[] = {0};
  const uint32_t stop = 0;
  vyre::object::LaunchArgs args{buffers, counts, scalars, {4, 1, 1}, &stop, nullptr, nullptr};
  kernel(&args, 0, 4, reinterpret_cast<std::byte*>(arena.data()));
}

}  // namespace

int main() {
  if (vyre_kernel_add_info.abi != vyre::object::abi_version) return 1;
  Line y;
  run(vyre_kernel_add, vyre_kernel_add_info, &y);
  run(vyre_kernel_triple, vyre_kernel_triple_info, &y);
  std::printf("objects: %u %u\n", y.values[0], y.values[15]);
}
