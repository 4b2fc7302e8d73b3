#define CHUNK 1024
#define ACCEPT 31

kernel void dfa(global const uchar* restrict text, global const uint* restrict next, global uint* restrict hits) {
  size_t begin = get_global_id(0) * CHUNK;
  uint state = 0, found = 0;
  for (uint k = 0; k < CHUNK; k++) {
    state = next[state * 256 + text[begin + k]];
    found += state == ACCEPT;
  }
  hits[get_global_id(0)] = found;
}
