#pragma once

// The messages between a process that wants code and the compiler process. Both are of one build: a
// request from another build is refused.

#include <array>

#include "runtime/cpu/cpu_kernel.h"
#include "runtime/cpu/emit_code.h"

namespace vyre::driver {

/// A program to compile, and the limits of the process that compiles it.
struct CompileRequest {
  Program program;
  CompileOptions options;  // those that code depends on
  CpuOptions cpu;
  std::optional<EmitRequest> emit;  // instead of a kernel to run: code as text or as an object file
  int64_t deadline_ns = 0;          // of CLOCK_MONOTONIC; 0: none
  uint64_t bytes = 0;               // 0: no limit
};

std::vector<std::byte> encode_request(const Program& program, const CompileOptions& options,
                                      const CpuOptions& cpu);
std::vector<std::byte> encode_request(const Program& program, const EmitRequest& request,
                                      const CompileLimits& limits);
Result<CompileRequest> decode_request(std::span<const std::byte> bytes);

/// The first byte of an answer. No answer: the process was killed.
enum class CompileEnd : uint8_t {
  Done,         // the time of emitting, then the bytes of CpuKernel::serialize(), or the code
  Failed,       // a diagnostic
  OverLimit,    // the limit of the request does not suffice
  OutOfMemory,  // the system has no more memory
};

std::vector<std::byte> encode_kernel(const CpuKernel& kernel);
std::vector<std::byte> encode_code(std::string_view code);
std::vector<std::byte> encode_listing(const Listing& listing);
std::vector<std::byte> encode_error(const Diagnostic& error);

struct CompileAnswer {
  CompileEnd end = CompileEnd::Failed;
  uint64_t emit_ns = 0;
  std::span<const std::byte> result;  // in the bytes that were decoded
  Diagnostic error;
};

/// Decodes an answer; returns nothing if the bytes are not a whole one.
std::optional<CompileAnswer> decode_answer(std::span<const std::byte> bytes);
/// Decodes a listing from CompileAnswer::result; returns nothing if the bytes are not a whole one.
std::optional<Listing> decode_listing(std::span<const std::byte> bytes);

}  // namespace vyre::driver
