// A driver that is too old: it has some of the functions, and says that it is of CUDA 9.2.

extern "C" __attribute__((visibility("default"))) int cuInit(unsigned) { return 0; }
extern "C" __attribute__((visibility("default"))) int cuDriverGetVersion(int* version) {
  *version = 9020;
  return 0;
}
