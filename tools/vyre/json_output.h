#pragma once

// The `--json` forms. One file, because the JSON header is costly to compile. Every text is one
// object or array that ends with a newline.

#include <string>
#include <vector>

#include "diagnostics/code_table.h"
#include "diagnostics/diagnostic.h"
#include "fuzz/fuzz.h"
#include "reduce/reduction.h"
#include "report/run_report.h"
#include "runtime/registry.h"
#include "tools/vyre/results.h"

namespace vyre::cli {

/// {"ok": no errors?, "diagnostics": […]}
std::string report_json(const Diagnostics& list);

/// {"ok": true, "backend", "device", "chosen_because", "subgroup_size", "name", "kind", "outputs":
/// [{"name", "type", "count", "values"}], "time": {"runs", "min_seconds", "median_seconds"} of the
/// device, "diagnostics"}. Floats that JSON cannot write are the strings "nan", "inf" and "-inf".
/// Without requests to print, "values" has the first `first` of each output.
std::string run_json(const Target& target, const report::RunReport& report,
                     const ResultRequests& requests, const Launch& launch, const RunResult& result,
                     uint64_t first);

/// {"ok", "kernels": [names], "graphs": [names], "diagnostics"}
std::string check_json(const Module& module, size_t kernels, size_t graphs, bool ok,
                       const Diagnostics& diagnostics);

/// An array of {"code", "name", "severity", "title", "page"}.
std::string codes_json(std::span<const CodeInfo> codes);

/// {"backends": [{"name", "summary", "available", "why", "devices": [{"index", "name", "target",
/// "driver_version", "limits": {…}, "options": [{"name", "type", "range", "sentence"}],
/// "properties": {…}}]}]}
std::string backends_json(std::span<const driver::Probed> backends);

/// {"ok": no mismatch?, "stopped": by Ctrl-C?, "first_seed", "next_seed", "programs", "runs",
/// "failing", "seconds", "per_second", "findings": [{"seed", "subject", "file", "reduced",
/// "reduced_ops", "diagnostic"}], "features": {name: programs}, "diagnostics"}
std::string fuzz_json(uint64_t first_seed, const lab::FuzzSummary& summary);

/// The result of `vyre opt` for a kernel.
struct OptimizedKernel {
  opt::RunReport report;
  std::string text;
};
/// {"ok": true, "kernels": [the report, "text": the program after it], "diagnostics": []}
std::string opt_json(std::span<const OptimizedKernel> kernels);

struct BisectOutcome {
  uint64_t runs = 0;  // of passes
  uint64_t run = 0;   // the one that makes the difference, from 1; 0: none does
  std::string pass = {};
  uint32_t iteration = 0;
  std::string kernel = {};
  std::string before = {};  // the program
  Diagnostics diagnostics;
};
/// {"ok": no difference?, "runs", "run", "pass", "iteration", "kernel", "before", "diagnostics"}
std::string bisect_json(const BisectOutcome& outcome);

struct ReduceSummary {
  std::string kind = {};  // of the mismatch; "" with --test
  bool stopped = false, out_of_time = false;
  double seconds = 0;
  std::string text = {};  // the program
};
/// {"ok": true, "kind", "stopped", "out_of_time", "ops_before", "ops", "candidates", "accepted",
/// "rounds", "seconds", "transforms": [{"name", "tried", "accepted"}], "text", "diagnostics"}
std::string reduce_json(const ReduceSummary& summary, const reduce::Outcome& outcome,
                        const Diagnostics& diagnostics);

}  // namespace vyre::cli
