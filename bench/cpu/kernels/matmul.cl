#ifdef EXACT
#pragma OPENCL FP_CONTRACT OFF
#endif

#define TILE 16

kernel void matmul(uint n, global const float* restrict a, global const float* restrict b, global float* restrict c) {
  local float ta[TILE * TILE];
  local float tb[TILE * TILE];
  uint row = get_global_id(1), column = get_global_id(0);
  uint x = get_local_id(0), y = get_local_id(1);
  float sum = 0;
  for (uint first = 0; first < n; first += TILE) {
    ta[y * TILE + x] = a[row * n + first + x];
    tb[y * TILE + x] = b[(first + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < TILE; i++) sum = fma(ta[y * TILE + i], tb[i * TILE + x], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
