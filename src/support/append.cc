#include "support/append.h"

namespace vyre {

void append_formatted(std::string& out, fmt::string_view format, fmt::format_args args) {
  fmt::memory_buffer text;
  fmt::vformat_to(fmt::appender(text), format, args);
  out.append(text.data(), text.size());
}

}  // namespace vyre
