#pragma once

// What a run did, and whether that is what was expected.

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
  };
  std::vector<Output> outputs;  // of a run that succeeded
  Diagnostics errors;           // of one that did not
};

/// The trap's code and invocation, "7 at 1,0,0"; nothing if the run did not trap.
std::optional<std::string> trap_of(const Observation& observation);

/// What differs between two runs that should be alike; "" if nothing does.
std::string difference(const Observation& a, const Observation& b);

/// What differs from the expectation; "" if nothing does.
std::string mismatch(const Expectation& expectation, const Observation& observation);

/// The lines that would make a block with these expectations pass.
std::vector<std::string> expected_lines(const std::vector<Expectation>& before,
                                        const Observation& observation);

}  // namespace vyre::lab
