// libFuzzer target: fuzz/telemetry_reader.h says what must hold.

#include "telemetry_reader.h"

#include <cstdint>

#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return vyre::report(vyre::check_telemetry_reader({reinterpret_cast<const char*>(data), size}));
}
