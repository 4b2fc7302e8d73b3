// libFuzzer target: fuzz/checker.h says what must hold. Bytes are given a fresh checksum, so that
// mutations reach the checker.

#include "checker.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "wire_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const std::string problem = vyre::check_checker(vyre::resealed(bytes));
  if (problem.empty()) return 0;
  std::fprintf(stderr, "%s\n", problem.c_str());
  std::abort();
}
