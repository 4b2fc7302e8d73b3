#include "plan_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include "ready_program.h"

namespace bench {
namespace {

struct Row {
  std::string name;
  uint64_t planned_launches = 0, unplanned_launches = 0;
  double planned_us = 0, unplanned_us = 0;

  double ratio() const { return planned_us / unplanned_us; }
};

/// Microseconds of one run, from submitting it to its end.
double time_run(ReadyProgram& program) {
  program.restore();
  const auto begin = std::chrono::steady_clock::now();
  program.run();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// The least of several runs that take two milliseconds together.
double least_of_runs(ReadyProgram& program, int runs) {
  double least = time_run(program);
  for (int i = 1; i < runs; ++i) least = std::min(least, time_run(program));
  return least;
}

Row measure(const vyre::driver::Device& device, const ProgramEntry& entry,
            const PlanTableOptions& options) {
  const BenchProgram program = load_program(entry, options.size);
  ReadyProgram planned(device, program, true), unplanned(device, program, false);
  Row row{.name = entry.name};
  row.planned_launches = planned.run().launches;
  row.unplanned_launches = unplanned.run().launches;
  if (planned.outputs() != unplanned.outputs())
    throw std::runtime_error(entry.name + ": results with and without a plan differ");
  const double first = std::max(time_run(planned), time_run(unplanned));
  const int runs = int(std::clamp(2000 / first, 1.0, 20.0));
  row.planned_us = row.unplanned_us = INFINITY;
  for (int i = 0; i < options.pairs; ++i) {
    row.planned_us = std::min(row.planned_us, least_of_runs(planned, runs));
    row.unplanned_us = std::min(row.unplanned_us, least_of_runs(unplanned, runs));
  }
  return row;
}

void print_rows(std::vector<Row> rows, const PlanTableOptions& options) {
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return a.ratio() > b.ratio(); });
  fmt::print(
      "\nMicroseconds from submitting a graph to its end, least of {} interleaved pairs.\n\n"
      "| graph | launches | without a plan | planned µs | unplanned µs | planned / unplanned | |\n"
      "|---|---|---|---|---|---|---|\n",
      options.pairs);
  double logs = 0;
  for (const Row& r : rows) {
    logs += std::log(r.ratio());
    fmt::print("| {} | {} | {} | {:.1f} | {:.1f} | {:.2f} | {} |\n", r.name, r.planned_launches,
               r.unplanned_launches, r.planned_us, r.unplanned_us, r.ratio(),
               r.ratio() > options.limit ? "SLOWER" : "");
  }
  fmt::print("| geometric mean of {} | | | | | {:.2f} | |\n", rows.size(),
             std::exp(logs / double(rows.size())));
}

}  // namespace

bool print_plan_table(const vyre::driver::Device& device, const PlanTableOptions& options) {
  std::vector<Row> rows;
  bool good = true;
  for (const ProgramEntry& entry : program_entries(true)) {
    if (entry.name.find(options.filter) == std::string::npos) continue;
    try {
      rows.push_back(measure(device, entry, options));
      good &= rows.back().ratio() <= options.limit;
    } catch (const std::runtime_error& e) {
      fmt::print("FAILED {}\n", e.what());
      good = false;
    }
  }
  if (!rows.empty()) print_rows(std::move(rows), options);
  return good;
}

}  // namespace bench
