// Runs kernels that were compiled for AArch64, under an emulator. It reads launches from standard
// input and writes results to standard output, all as little-endian words of 64 bits, so that one
// start of the emulator suffices for many kernels. tests/codegen/llvm/aarch64_test.cc writes the
// input, reads the output, and writes the table of kernels.
//
//   in:  kernel, arena bytes, workgroups (3), buffers; for each buffer: elements, scalar bits, bytes and
//        the bytes themselves, padded to 8
//   out: kernel, result of the call, traps, the lowest one's code, x, y, z and op;
//        then the bytes of all buffers, padded

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct launch_args {  // src/codegen/llvm/llvm_abi.h
  void* const* buffers;
  const uint64_t* counts;
  const uint64_t* scalars;
  uint64_t num_workgroups[3];
  const uint32_t* stop;
  void (*trap)(const struct launch_args*, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t);
  void* context;
};
typedef uint32_t (*kernel_function)(const struct launch_args*, uint64_t, uint64_t, void*);

extern const kernel_function kernels[];

struct traps {
  uint64_t count, code, x, y, z, op;
};

static void trap(const struct launch_args* args, uint32_t x, uint32_t y, uint32_t z, uint32_t code,
                 uint32_t op) {
  struct traps* t = args->context;
  const int is_lower = z != t->z ? z < t->z : y != t->y ? y < t->y : x < t->x;
  if (t->count++ == 0 || is_lower) {
    t->code = code;
    t->x = x;
    t->y = y;
    t->z = z;
    t->op = op;
  }
}

static int read_words(uint64_t* to, size_t n) { return fread(to, 8, n, stdin) == n; }

static void* zeroed(uint64_t bytes) {
  const uint64_t rounded = (bytes + 127) / 64 * 64;
  void* at = aligned_alloc(64, rounded);
  if (!at) exit(3);
  memset(at, 0, rounded);
  return at;
}

enum { most_buffers = 256 };

static int run_one(void) {
  uint64_t head[6];
  if (!read_words(head, 6)) return 0;
  const uint64_t n = head[5];
  if (n > most_buffers) exit(4);
  uint64_t counts[most_buffers], scalars[most_buffers], bytes[most_buffers];
  void* buffers[most_buffers];
  for (uint64_t i = 0; i < n; ++i) {
    uint64_t of_buffer[3];
    if (!read_words(of_buffer, 3)) exit(5);
    counts[i] = of_buffer[0];
    scalars[i] = of_buffer[1];
    bytes[i] = (of_buffer[2] + 7) / 8 * 8;
    buffers[i] = zeroed(bytes[i]);
    if (fread(buffers[i], 1, bytes[i], stdin) != bytes[i]) exit(6);
  }
  void* arena = zeroed(head[1]);
  uint32_t stop = 0;
  struct traps traps = {0, 0, 0, 0, 0, 0};
  const struct launch_args args = {buffers, counts, scalars, {head[2], head[3], head[4]}, &stop, trap, &traps};
  const uint64_t groups = head[2] * head[3] * head[4];
  // In two calls, as a thread would that takes a part: the first half begins where the other ends.
  uint64_t result = kernels[head[0]](&args, groups / 2, groups, arena);
  if (result == 0) result = kernels[head[0]](&args, 0, groups / 2, arena);
  const uint64_t out[8] = {head[0], result, traps.count, traps.code, traps.x, traps.y, traps.z, traps.op};
  fwrite(out, 8, 8, stdout);
  for (uint64_t i = 0; i < n; ++i) {
    fwrite(buffers[i], 1, bytes[i], stdout);
    free(buffers[i]);
  }
  free(arena);
  return 1;
}

int main(void) {
  while (run_one()) {
  }
  return 0;
}
