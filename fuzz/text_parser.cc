// libFuzzer target: fuzz/text_parser.h says what must hold.

#include "text_parser.h"

#include <cstdint>

#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return vyre::report(vyre::check_parser({reinterpret_cast<const char*>(data), size}));
}
