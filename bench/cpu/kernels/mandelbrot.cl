#ifdef EXACT
#pragma OPENCL FP_CONTRACT OFF
#endif

#define LIMIT 256

kernel void mandelbrot(uint width, uint height, global uint* restrict steps) {
  uint column = get_global_id(0);
  uint row = get_global_id(1);
  float re = ((float)column + 0.5f) / (float)width * 3.0f - 2.25f;
  float im = ((float)row + 0.5f) / (float)height * 2.25f - 1.125f;
  float x = 0, y = 0;
  uint n = 0;
  while (n < LIMIT && x * x + y * y <= 4.0f) {
    float next = x * x - y * y + re;
    y = 2.0f * x * y + im;
    x = next;
    n++;
  }
  if (column < width && row < height) steps[row * width + column] = n;
}
