#include "cpu_report.h"

#include <fmt/format.h>

#include <cmath>

namespace bench {
namespace {

std::string cell(double ratio) { return ratio > 0 ? fmt::format("{:.2f}", ratio) : "-"; }

std::string time_cell(const Row& row, const char* peer) {
  const double t = row.time(peer);
  return t <= 0 ? "-" : fmt::format("{:.0f}", t);
}

/// Geometric mean of one ratio over a class; 0 if a row lacks it.
double mean(const std::vector<Row>& rows, Bound bound, const char* peer, const char* ours) {
  double sum = 0;
  int count = 0;
  for (const Row& row : rows) {
    if (row.bound != bound) continue;
    const double r = row.ratio(peer, ours);
    if (r <= 0) return 0;
    sum += std::log(r);
    ++count;
  }
  return count ? std::exp(sum / count) : 0;
}

const char* name(Bound b) { return b == Bound::Memory ? "memory" : "compute"; }

nlohmann::ordered_json peers_json(const Row& row) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const auto& [peer, t] : row.times) {
    auto& p = all[peer] = {{"median_us", t.median_us},
                           {"best_us", t.best_us},
                           {"cpu_us", t.cpu_us},
                           {"repeats_us", t.repeats_us}};
    if (t.device_us > 0) p["device_us"] = t.device_us;
  }
  return all;
}

}  // namespace

double Row::time(const std::string& peer) const {
  const auto found = times.find(peer);
  if (found == times.end()) return 0;
  return by_cpu_time ? found->second.cpu_us : found->second.median_us;
}

double Row::ratio(const std::string& peer, const std::string& ours) const {
  const double o = time(ours);
  return o > 0 ? time(peer) / o : 0;
}

void print_head(const std::vector<std::pair<std::string, std::string>>& machine) {
  for (const auto& [what, value] : machine) fmt::print("{:<18}{}\n", what, value);
  fmt::print("\n");
}

void print_table(const std::vector<Row>& rows) {
  fmt::print(
      "Microseconds a launch, {}; ratio: time of the peer / time of vyre, above 1 vyre is faster.\n"
      "vyre 1 and g++ have one core, the others all. * peers with their own defaults.\n\n"
      "{:<14}{:<8}|{:>8}{:>8}{:>8}{:>8}{:>8} |{:>9}{:>9}{:>9} |{:>9}{:>9}{:>9}\n",
      rows.front().by_cpu_time ? "CPU time of all threads" : "submit to wait", "kernel", "class",
      "vyre 1", "vyre", "g++", "OpenMP", "PoCL", "/ g++", "/ OpenMP", "/ PoCL", "/ g++ *",
      "/ OMP *", "/ PoCL *");
  const auto line = [&](const std::string& kernel, const char* bound,
                        const std::array<std::string, 5>& times, const auto& ratio) {
    fmt::print("{:<14}{:<8}|{:>8}{:>8}{:>8}{:>8}{:>8} |{:>9}{:>9}{:>9} |{:>9}{:>9}{:>9}\n", kernel,
               bound, times[0], times[1], times[2], times[3], times[4],
               cell(ratio(gcc_one, vyre_one)), cell(ratio(gcc_openmp, vyre_all)),
               cell(ratio(pocl, vyre_all)), cell(ratio(gcc_own, vyre_one)),
               cell(ratio(openmp_own, vyre_all)), cell(ratio(pocl_own, vyre_all)));
  };
  for (const Row& row : rows)
    line(row.kernel, name(row.bound),
         {time_cell(row, vyre_one), time_cell(row, vyre_all), time_cell(row, gcc_one),
          time_cell(row, gcc_openmp), time_cell(row, pocl)},
         [&](const char* peer, const char* ours) { return row.ratio(peer, ours); });
  for (const Bound bound : {Bound::Memory, Bound::Compute})
    line("geo. mean", name(bound), {},
         [&](const char* peer, const char* ours) { return mean(rows, bound, peer, ours); });
  fmt::print("\n");
}

void print_latencies(const std::vector<Latency>& latencies) {
  for (const Latency& l : latencies) {
    if (l.problem.empty())
      fmt::print("{:<40}{:>11.1f} us median{:>11.1f} us best{:>11.1f} us CPU\n", l.what,
                 l.median_us, l.best_us, l.cpu_us);
    else
      fmt::print("{:<40}{}\n", l.what, l.problem);
  }
  fmt::print("\n");
}

std::vector<Goal> goals(const std::vector<Row>& rows, const std::vector<Latency>& latencies,
                        bool by_cpu_time) {
  std::vector<Goal> all;
  const auto ratio_goal = [&](std::string what, double wanted, double got) {
    all.push_back({.what = std::move(what), .wanted = wanted, .got = got, .measured = got > 0});
  };
  for (const Row& row : rows)
    if (row.bound == Bound::Memory)
      ratio_goal(row.kernel + " / OpenMP g++", 0.95, row.ratio(gcc_openmp, vyre_all));
  for (const Row& row : rows)
    if (row.bound == Bound::Compute)
      ratio_goal(row.kernel + " / PoCL", 1, row.ratio(pocl, vyre_all));
  bool compute = false;
  for (const Row& row : rows) compute = compute || row.bound == Bound::Compute;
  if (compute)
    ratio_goal("compute-bound / PoCL, geometric mean", 1.2,
               mean(rows, Bound::Compute, pocl, vyre_all));
  for (const Row& row : rows) {
    if (row.kernel == "mandelbrot")
      ratio_goal("mandelbrot / g++ on one core", 4, row.ratio(gcc_one, vyre_one));
    if (row.kernel == "nbody")
      ratio_goal("nbody / g++ on one core", 3, row.ratio(gcc_one, vyre_one));
  }
  for (const Latency& l : latencies) {
    const bool ms = l.goal_us >= 1000;
    all.push_back({l.what, l.goal_us / (ms ? 1000 : 1),
                   (by_cpu_time ? l.cpu_us : l.median_us) / (ms ? 1000 : 1), true,
                   ms ? " ms" : " us", l.problem.empty()});
  }
  return all;
}

void print_goals(const std::vector<Goal>& goals) {
  int held = 0;
  for (const Goal& g : goals) {
    held += g.measured && g.holds();
    fmt::print("{:<44} {} {:g}{}: ", g.what, g.at_most ? "<=" : ">=", g.wanted, g.unit);
    if (!g.measured)
      fmt::print("not measured\n");
    else if (g.holds())
      fmt::print("{:.2f}{} HOLDS\n", g.got, g.unit);
    else
      fmt::print("{:.2f}{} MISSED by {:.0f} %\n", g.got, g.unit,
                 100 * (g.at_most ? g.got / g.wanted - 1 : 1 - g.got / g.wanted));
  }
  fmt::print("{} of {} goals hold\n", held, goals.size());
}

nlohmann::ordered_json to_json(const std::vector<std::pair<std::string, std::string>>& machine,
                               const std::vector<Row>& rows, const std::vector<Row>& plain,
                               const std::vector<Latency>& latencies,
                               const std::vector<Goal>& goals) {
  nlohmann::ordered_json all;
  for (const auto& [what, value] : machine) all["machine"][what] = value;
  all["kernels"] = nlohmann::json::array();
  for (const Row& row : rows) {
    nlohmann::ordered_json r = {
        {"kernel", row.kernel}, {"class", name(row.bound)}, {"bytes", row.bytes}};
    r["peers"] = peers_json(row);
    all["kernels"].push_back(std::move(r));
  }
  all["plain_kernels"] = nlohmann::json::array();
  for (const Row& row : plain)
    all["plain_kernels"].push_back(
        {{"kernel", row.kernel}, {"bytes", row.bytes}, {"peers", peers_json(row)}});
  all["latencies"] = nlohmann::json::array();
  for (const Latency& l : latencies) {
    nlohmann::ordered_json r = {{"what", l.what}, {"goal_us", l.goal_us}};
    if (l.problem.empty())
      r.update({{"median_us", l.median_us}, {"best_us", l.best_us}, {"cpu_us", l.cpu_us}});
    else
      r["problem"] = l.problem;
    all["latencies"].push_back(std::move(r));
  }
  all["goals"] = nlohmann::json::array();
  for (const Goal& g : goals)
    all["goals"].push_back({{"goal", g.what},
                            {"wanted", g.wanted},
                            {"got", g.got},
                            {"holds", g.measured && g.holds()},
                            {"measured", g.measured}});
  return all;
}

}  // namespace bench
