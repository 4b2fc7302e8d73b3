// The tables of the kernels of bench/programs.txt and of loop_cases().

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpu_measure.h"

namespace bench {
namespace {

constexpr double slow_ratio = 0.9;

/// The lowest ratio over the backends that were measured; infinity if there is none.
double worst(const Row& row, const std::vector<std::string>& backends) {
  double least = INFINITY;
  for (const std::string& b : backends)
    if (const double r = row.ratio(twin_same, b); r > 0) least = std::min(least, r);
  return least;
}

double geometric_mean(const std::vector<Row>& rows, const std::string& backend) {
  double logs = 0;
  int count = 0;
  for (const Row& row : rows) {
    const double r = row.ratio(twin_same, backend);
    if (r <= 0) continue;
    logs += std::log(r);
    ++count;
  }
  return count ? std::exp(logs / count) : 0;
}

std::string cell(double value, int digits) {
  return value > 0 ? fmt::format("{:.{}f}", value, digits) : "-";
}

}  // namespace

void print_plain_table(std::vector<Row> rows, const std::vector<std::string>& backends,
                       int samples) {
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return worst(a, backends) < worst(b, backends);
  });
  fmt::print(
      "\nPlain kernels with run-time sizes against plain CUDA C++: device time, median of {}; "
      "ratio = "
      "time of nvcc / ours, above 1 we are faster; polls = time with stop polls / without\n| "
      "kernel | nvcc us |",
      samples);
  for (const std::string& b : backends) fmt::print(" {} us | nvcc / {} | polls |", b, b);
  fmt::print(" |\n|---|---|");
  for (size_t i = 0; i < backends.size(); ++i) fmt::print("---|---|---|");
  fmt::print("---|\n");
  for (const Row& row : rows) {
    fmt::print("| {} | {} |", row.kernel, cell(row.ns(twin_same) * 1e-3, 1));
    for (const std::string& b : backends)
      fmt::print(" {} | {} | {} |", cell(row.ns(b) * 1e-3, 1), cell(row.ratio(twin_same, b), 3),
                 cell(row.ratio(b, without_polls(b)), 3));
    fmt::print(" {} |\n", worst(row, backends) < slow_ratio ? "SLOWER" : "");
  }
  fmt::print("| geometric mean of {} | |", rows.size());
  for (const std::string& b : backends) fmt::print(" | {} | |", cell(geometric_mean(rows, b), 3));
  fmt::print(" |\n");
}

void print_loop_table(const std::vector<Row>& rows, const std::vector<std::string>& backends,
                      int samples) {
  fmt::print(
      "\nLoops with run-time bounds, 2^20 invocations: device time, median of {}; polls = time "
      "with "
      "stop polls / without\n| loop |",
      samples);
  for (const std::string& b : backends) fmt::print(" {} us | polls |", b);
  fmt::print("\n|---|");
  for (size_t i = 0; i < backends.size(); ++i) fmt::print("---|---|");
  fmt::print("\n");
  for (const Row& row : rows) {
    fmt::print("| {} |", row.kernel);
    for (const std::string& b : backends)
      fmt::print(" {} | {} |", cell(row.ns(b) * 1e-3, 1), cell(row.ratio(b, without_polls(b)), 3));
    fmt::print("\n");
  }
}

}  // namespace bench
