#define PER 64

kernel void histogram(global const uchar* restrict data, global uint* restrict counts, uint n) {
  local uint mine[256];
  uint first = get_group_id(0) * 256 * PER + get_local_id(0);
  mine[get_local_id(0)] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = 0; k < PER; k++) {
    uint i = first + k * 256;
    if (i < n) atomic_inc(&mine[data[i]]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&counts[get_local_id(0)], mine[get_local_id(0)]);
}
