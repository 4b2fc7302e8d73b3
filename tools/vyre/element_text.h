#pragma once

// The bytes of buffers as the command line writes and reads them: lists of values, raw files, and
// random numbers that are the same everywhere.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostics/result.h"
#include "ir/types.h"

namespace vyre::cli {

using Bytes = std::vector<std::byte>;

/// Bits of element `index` of a buffer (little-endian).
uint64_t element_bits(Type element, std::span<const std::byte> bytes, uint64_t index);

/// Appends an element.
void append_element(Bytes& bytes, Type element, uint64_t bits);

/// The memory that inputs may take, and the code of the error when it is not enough.
struct SizeLimit {
  uint64_t bytes = ~uint64_t{0};
  Code exceeded = Code::OutOfMemory;
};

/// Reads the text after `name=` of `--in`: "@file", "raw:@file", "random:N[:seed]", or values with
/// commas between them ("" means no elements). `name` is for the messages. Neither creates nor
/// reads more than the limit.
Result<Bytes> parse_elements(std::string_view spec, const std::string& name, Type element,
                             SizeLimit limit = {});

/// Returns `count` elements from splitmix64 (one step per element, from state `seed`): every bit
/// pattern for integers (the low bits), [-1, 1) for floats (the high bits, scaled, exact), 0 or 1
/// for bool.
Bytes random_elements(Type element, uint64_t count, uint64_t seed);

/// The first `count` elements with spaces between them, in the form that reads back to the same
/// bits.
std::string print_elements(Type element, std::span<const std::byte> bytes, uint64_t count);

}  // namespace vyre::cli
