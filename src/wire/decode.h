#pragma once

// The decoder's parts that programs and modules share. Each reads its sections from `in` and
// reports through it; its result after an error is not used.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"
#include "wire/wire_reader.h"

namespace vyre::wire {

void read_strings(Reader& in, std::vector<std::string>& strings);
/// Checks that no string repeats, and that `used` (the number of strings met, in order of first
/// use) is all of them.
void check_strings(const std::vector<std::string>& strings, size_t used, FirstError& failure);

/// Follows references that must be in order of first use: 0, then 0 or 1, …
struct FirstUse {
  uint32_t next = 0;
  bool operator()(uint32_t id) {
    if (id == next) ++next;
    return id < next;
  }
};

/// OPCS, BLKS, VALS, USES, OPS, ATTR: fills ops, values, blocks and ids.
void read_body(Reader& in, Program& p, DecodeOptions options);
/// The optional LOCS, and that strings and locations are in order of first use.
void read_locations(Reader& in, Program& p);
/// Opens a file and reads it within the limits of the options. Returns the first error.
std::optional<Diagnostic> decode_within(std::span<const std::byte> bytes, WireKind kind,
                                        const DecodeOptions& options,
                                        const std::function<void(Reader&)>& read);
/// The sections of one program, all of `in`.
void read_program(Reader& in, Program& p, DecodeOptions options);

}  // namespace vyre::wire
