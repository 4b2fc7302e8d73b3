// libFuzzer target: fuzz/wire_decoder.h says what must hold.

#include "wire_decoder.h"

#include <cstdint>

#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  vyre::report(vyre::check_wire_decoder(bytes));
  return vyre::report(vyre::check_wire_decoder(vyre::resealed(bytes)));
}
