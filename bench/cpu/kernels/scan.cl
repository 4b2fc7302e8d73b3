#define BLOCK 256

kernel void scan(global const uint* restrict x, global uint* restrict y) {
  local uint sums[BLOCK];
  uint l = get_local_id(0);
  sums[l] = x[get_global_id(0)];
  for (uint d = 1; d < BLOCK; d <<= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    uint below = l >= d ? sums[l - d] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    sums[l] += below;
  }
  y[get_global_id(0)] = sums[l];
}
