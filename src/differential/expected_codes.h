#pragma once

// Lists of expected codes: `V0140 "expected u32" V0119`.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostics/diagnostic.h"

namespace vyre::lab {

struct ExpectedCode {
  Code code;
  std::string message;  // a piece of the message; "": any

  bool matches(const Diagnostic& d) const {
    return d.code == code && d.message.find(message) != std::string::npos;
  }
  std::string text() const;  // as it is written
};

/// Nothing if a word is not a code.
std::optional<std::vector<ExpectedCode>> parse_codes(std::string_view text);

std::string print_codes(const std::vector<ExpectedCode>& codes);

}  // namespace vyre::lab
