// libFuzzer target: fuzz/wire_decoder.h says what must hold.

#include "wire_decoder.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  for (const std::string& problem :
       {vyre::check_wire_decoder(bytes), vyre::check_wire_decoder(vyre::resealed(bytes))}) {
    if (problem.empty()) continue;
    std::fprintf(stderr, "%s\n", problem.c_str());
    std::abort();
  }
  return 0;
}
