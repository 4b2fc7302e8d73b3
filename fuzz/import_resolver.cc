// libFuzzer target: fuzz/import_resolver.h says what must hold.

#include "import_resolver.h"

#include <cstdint>

#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return vyre::report(vyre::check_import_resolver({reinterpret_cast<const char*>(data), size}));
}
