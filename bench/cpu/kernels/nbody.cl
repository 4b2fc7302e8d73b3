#ifdef EXACT
#pragma OPENCL FP_CONTRACT OFF
#endif

#define SOFTENING 0.01f

kernel void nbody(global const float* restrict x, global const float* restrict y, global const float* restrict z,
                  global const float* restrict mass, global float* restrict ax, global float* restrict ay,
                  global float* restrict az, uint n) {
  size_t i = get_global_id(0);
  float xi = x[i], yi = y[i], zi = z[i];
  float sx = 0, sy = 0, sz = 0;
  for (uint j = 0; j < n; j++) {
    float dx = x[j] - xi, dy = y[j] - yi, dz = z[j] - zi;
    float inverse = 1.0f / sqrt(dx * dx + dy * dy + dz * dz + SOFTENING);
    float pull = mass[j] * inverse * inverse * inverse;
    sx += dx * pull;
    sy += dy * pull;
    sz += dz * pull;
  }
  ax[i] = sx;
  ay[i] = sy;
  az[i] = sz;
}
