kernel void xor_u32(global const uint* restrict a, global const uint* restrict b, global uint* restrict c) {
  size_t i = get_global_id(0);
  c[i] = a[i] ^ b[i];
}
