#define PER 64

kernel void classify(global const uchar* restrict text, global uchar* restrict class, global uint* restrict letters) {
  local uint found;
  size_t first = get_group_id(0) * 256 * PER + get_local_id(0);
  uint mine = 0;
  if (get_local_id(0) == 0) found = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = 0; k < PER; k++) {
    size_t i = first + k * 256;
    uchar c = text[i];
    bool letter = (uchar)((c | 0x20) - 97) < 26;
    bool digit = (uchar)(c - 48) < 10;
    bool space = (c == 32) | ((uchar)(c - 9) < 5);
    class[i] = letter ? 1 : digit ? 2 : space ? 3 : 0;
    mine += letter;
  }
  atomic_add(&found, mine);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) atomic_add(letters, found);
}
