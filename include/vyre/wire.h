#pragma once

// Programs as bytes, to store or to send, and hashes of what they do.
//
//   encode(program), encode(module)         one program has one encoding, the same on every
//                                           machine. {.locations = false} omits source
//                                           locations.
//   decode_program(bytes), decode_module(bytes)   exactly what encode wrote, or why not. Check what
//                                           you decoded (vyre/check.h) before you run it.
//   is_wire(bytes), wire_kind(bytes)        what the bytes claim to be
//   fingerprint(program), (graph, module), (module)   Hash128 of what it does: names and places do
//                                           not change it, everything that changes behaviour does.
//                                           Not cryptographic. to_hex() has 32 digits.
//
// The decoder accepts any bytes: hostile ones give an error with a position, in memory at most a
// constant times their size. Leave DecodeOptions::trusted false for bytes that others could have
// written; its time_limit (seconds) and memory_limit (bytes) end long work with a diagnostic. Pure
// functions, safe from several threads.
//
//   std::vector<std::byte> bytes = vyre::encode(program);
//   vyre::Result<vyre::Program> again = vyre::decode_program(bytes);
//   assert(again && vyre::fingerprint(*again) == vyre::fingerprint(program));

#include "vyre/diagnostic.h"
#include "vyre/program.h"
#include "wire/fingerprint.h"
#include "wire/wire.h"
