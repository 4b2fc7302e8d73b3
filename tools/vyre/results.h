#pragma once

// The results that a run returns to the user: printed values and raw files. Requests are checked
// before the run, so that a misspelt name does not cost an hour of computation.

#include <optional>
#include <string>
#include <vector>

#include "diagnostics/result.h"
#include "tools/vyre/emit_target.h"
#include "tools/vyre/execute.h"
#include "tools/vyre/output_files.h"

namespace vyre::cli {

/// `--print name[:n]`.
struct PrintRequest {
  Parameter parameter;
  std::optional<uint64_t> first;  // elements; none: all
};

/// `--out name=@file`.
struct FileRequest {
  Parameter parameter;
  std::string path;
};

struct ResultRequests {
  std::vector<PrintRequest> print;
  std::vector<FileRequest> files;
};

/// Parses the requests, or returns all errors at once.
Result<ResultRequests> parse_requests(const std::vector<std::string>& print,
                                      const std::vector<std::string>& out, const Target& target);

/// The number of elements shown of each output if the user requests none.
inline constexpr uint64_t preview_elements = 8;

/// The outputs whose bytes the requests need, by buffer; empty: all of them. `previews`: without
/// `--print` every output is shown, whatever `--out` names, as in JSON.
std::vector<bool> requested_outputs(const Target& target, const ResultRequests& requests,
                                    bool previews);

/// Returns the bytes of a parameter after the run: for an output, the bytes read back; for an
/// input, the host's.
const Bytes& bytes_of(const Parameter& parameter, const Launch& launch, const RunResult& result);

/// Returns the lines for standard output: the requested values in that order; without requests, the
/// beginning of every output.
std::string printed_results(const Target& target, const ResultRequests& requests,
                            const Launch& launch, const RunResult& result);

/// Opens every file that `--out` words name; parse_requests reports malformed words.
void open_files(const std::vector<std::string>& out, OutputFiles& outputs, Diagnostics& mistakes);

/// Writes every requested file. Files that are written directly come last.
Diagnostics write_files(const ResultRequests& requests, const Launch& launch,
                        const RunResult& result, OutputFiles& outputs);

}  // namespace vyre::cli
