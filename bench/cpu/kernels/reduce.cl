#define PER 64

kernel void reduce(global const uint* restrict x, global uint* restrict sums) {
  local uint t[256];
  uint l = get_local_id(0);
  size_t first = get_group_id(0) * 256 * PER + l;
  uint sum = 0;
  for (uint k = 0; k < PER; k++) sum += x[first + k * 256];
  t[l] = sum;
  for (uint d = 128; d > 0; d >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < d) t[l] += t[l + d];
  }
  if (l == 0) sums[get_group_id(0)] = t[0];
}
