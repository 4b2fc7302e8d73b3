#pragma once

// The binary form of programs and modules. README.md has the layout and the version policy.
//
// One program has one encoding: encode() returns the same bytes for a program and for its
// compact()ed copy, and decode_*() accepts exactly the bytes that encode() writes. A decoded
// program is safe to walk, compact and check (ids in range, values defined before they are used,
// blocks and ops a tree), but not yet legal: src/check decides that.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "diagnostics/result.h"
#include "ir/module.h"

namespace vyre {

struct EncodeOptions {
  bool locations = true;  // source locations; the only optional part
};

struct DecodeOptions {
  /// Keep in_bounds, alignment and read_only. They are proofs by the optimizer: trust them only in
  /// bytes that vyre wrote and no other program could change (the cache, pass tests).
  bool trusted = false;
  double time_limit = 0;      // seconds; 0: none; less, or not a number: an error
  uint64_t memory_limit = 0;  // bytes, those of the file included; 0: none
};

enum class WireKind : uint8_t { Program = 1, Module = 2 };

std::vector<std::byte> encode(const Program& program, EncodeOptions options = {});
std::vector<std::byte> encode(const Module& module, EncodeOptions options = {});

/// Runs in linear time, without recursion, in memory at most a constant times the bytes. Errors
/// name the byte offset.
Result<Program> decode_program(std::span<const std::byte> bytes, DecodeOptions options = {});
Result<Module> decode_module(std::span<const std::byte> bytes, DecodeOptions options = {});

/// Returns whether the bytes begin like a wire file. (Text never does: `VYRE` is not a word of the
/// language.)
bool is_wire(std::span<const std::byte> bytes);
/// The kind that a wire file's header states; nothing if the header is invalid. Checks nothing
/// else.
std::optional<WireKind> wire_kind(std::span<const std::byte> bytes);

}  // namespace vyre
