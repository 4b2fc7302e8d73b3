#pragma once

// The results of a run, and their comparison with the expected results.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "differential/text_test.h"
#include "ir/types.h"

namespace vyre::lab {

struct Observation {
  struct Output {
    std::string name;
    Type element = Type::U32;
    std::vector<std::byte> bytes;
    bool operator==(const Output&) const = default;

    uint64_t elements() const { return bytes.size() / size_of(element); }
    std::string text_of(uint64_t i) const;  // an element
  };
  /// Null if there is none.
  const Output* find(std::string_view name) const;

  std::vector<Output> outputs;  // of a run that succeeded
  Diagnostics errors;           // of a failed run
};

/// "y = 1 2 3", or "y:2 = 1 2" for the first two elements.
struct OutText {
  std::string name;
  std::optional<uint64_t> first;
  std::vector<std::string> values;
};
std::optional<OutText> parse_out(const std::string& text);

/// The trap's code and invocation, "7 at 1,0,0"; nothing if the run did not trap.
std::optional<std::string> trap_of(const Observation& observation);

/// The difference between two runs that should be equal; "" if there is none.
std::string difference(const Observation& a, const Observation& b);

/// The difference from the expectation; "" if there is none.
std::string mismatch(const Expectation& expectation, const Observation& observation);

}  // namespace vyre::lab
