// libFuzzer target: fuzz/device_name_reader.h says what must hold.

#include "device_name_reader.h"

#include <cstdint>

#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return vyre::report(vyre::check_device_name({reinterpret_cast<const char*>(data), size}));
}
