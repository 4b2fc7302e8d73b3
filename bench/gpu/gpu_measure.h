#pragma once

// One case on all peers: results compared first, then times, the peers taking turns.

#include <map>
#include <string>
#include <vector>

#include "gpu_peers.h"

namespace bench {

inline constexpr const char* twin_same = "nvcc";
inline constexpr const char* twin_wide = "nvcc16";
inline constexpr const char* twin_own = "nvcc_default";
inline constexpr const char* twin_wide_own = "nvcc16_default";

/// The peer of a backend whose loops do not poll the stop flag: shows the cost of limits.
inline std::string without_polls(const std::string& backend) { return backend + " without polls"; }

struct Row {
  std::string kernel;
  uint64_t bytes = 0;
  double operations = 0;
  std::string operation;
  double goal = 0;
  std::map<std::string, std::vector<double>> samples;  // by peer: ns of a launch
  std::map<std::string, std::string> failures;         // by peer: the error
  std::vector<std::string> differences;                // results that are not the same

  double ns(const std::string& peer) const;  // the median; 0: not measured
  /// Time of the twin / time of vyre: above 1, vyre is faster; 0: one of them was not measured.
  double ratio(const std::string& twin, const std::string& ours) const;
};

struct Options {
  int samples = 25;
  bool small = false;
  double sample_ms = 2;  // launches of one sample take so long together, at least
};

double median(std::vector<double> v);

/// `devices` by the name of their backend.
Row measure(const Case& c, const std::map<std::string, vyre::driver::Device>& devices,
            const std::shared_ptr<Cuda>& cuda, const Options& options);

/// Prints kernels of bench/programs.txt as a Markdown table, the worst ratio first, and the
/// geometric means. Ratios below 0.9 are marked.
void print_plain_table(std::vector<Row> rows, const std::vector<std::string>& backends,
                       int samples);

/// Prints the kernels of loop_cases() as a Markdown table: times with stop polls and without.
void print_loop_table(const std::vector<Row>& rows, const std::vector<std::string>& backends,
                      int samples);

}  // namespace bench
