#pragma once

// The table, the goals of issue 5 and whether they hold, and the same as JSON.

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cpu_latency.h"
#include "cpu_measure.h"

namespace bench {

/// Names of peers. The last three are the peers with their own defaults.
inline constexpr const char* vyre_one = "vyre1";
inline constexpr const char* vyre_all = "vyre";
inline constexpr const char* vyre_without_polls = "vyre without polls";
inline constexpr const char* gcc_one = "g++";
inline constexpr const char* gcc_openmp = "openmp";
inline constexpr const char* pocl = "pocl";
inline constexpr const char* gcc_own = "g++_default";
inline constexpr const char* openmp_own = "openmp_default";
inline constexpr const char* pocl_own = "pocl_default";

struct Row {
  std::string kernel;
  Bound bound = Bound::Memory;
  uint64_t bytes = 0;
  std::map<std::string, Timing> times;
  bool by_cpu_time = false;  // which time ratios are made of

  double time(const std::string& peer) const;  // 0: not measured
  /// Time of the peer / time of vyre: above 1, vyre is faster; 0: one of them was not measured.
  double ratio(const std::string& peer, const std::string& ours) const;
};

struct Goal {
  std::string what;
  double wanted = 0, got = 0;
  bool at_most = false;  // a time; else a ratio that must be reached
  std::string unit;
  bool measured = true;
  bool holds() const { return at_most ? got <= wanted : got >= wanted; }
};

std::vector<Goal> goals(const std::vector<Row>& rows, const std::vector<Latency>& latencies,
                        bool by_cpu_time);

void print_head(const std::vector<std::pair<std::string, std::string>>& machine);
void print_table(const std::vector<Row>& rows);
void print_latencies(const std::vector<Latency>& latencies);
void print_goals(const std::vector<Goal>& goals);
nlohmann::ordered_json to_json(const std::vector<std::pair<std::string, std::string>>& machine,
                               const std::vector<Row>& rows, const std::vector<Row>& plain,
                               const std::vector<Latency>& latencies,
                               const std::vector<Goal>& goals);

}  // namespace bench
