#ifdef EXACT
#pragma OPENCL FP_CONTRACT OFF
#endif

kernel void stencil(uint width, uint height, global const float* restrict x, global float* restrict y) {
  uint column = get_global_id(0) + 1;
  uint row = get_global_id(1) + 1;
  if (column < width - 1 && row < height - 1) {
    uint i = row * width + column;
    y[i] = 0.5f * x[i] + 0.125f * (x[i - 1] + x[i + 1] + x[i - width] + x[i + width]);
  }
}
