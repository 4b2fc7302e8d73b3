// libFuzzer target: fuzz/checker.h says what must hold. Bytes are given a fresh checksum, so that
// mutations reach the checker.

#include "checker.h"

#include <cstdint>

#include "target.h"
#include "wire_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  return vyre::report(vyre::check_checker(vyre::resealed(bytes)));
}
