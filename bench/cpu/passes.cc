#include "passes.h"

#include <fmt/format.h>

#include <cmath>

#include "opt/pipeline.h"

namespace bench {
namespace {

using namespace vyre;

/// Says of every access to device memory that it is inside its buffer, which is true for the data
/// of these cases and for nothing else. Shared arrays stay as they are: scan counts on zeros
/// outside.
Result<bool> assume_in_bounds(Program& program, opt::PassContext&) {
  bool changed = false;
  walk(program, [&](OpId op) {
    Op& o = program.op(op);
    if (o.code != Opcode::Load && o.code != Opcode::Store && o.code != Opcode::LoadN &&
        o.code != Opcode::StoreN)
      return;
    MemoryRef m = MemoryRef::unpack(o.attr);
    if (!is_parameter(program.buffers[m.buffer].role)) return;
    changed |= !m.in_bounds;
    m.in_bounds = true;
    o.attr = m.pack();
  });
  return changed;
}

constexpr opt::PassDescriptor assume_in_bounds_pass = {
    .name = "assume_in_bounds",
    .summary = "for measuring: no access is checked",
    .run = assume_in_bounds,
    .phase = opt::Phase::Cleanup,
};

driver::Optimization with(std::vector<const opt::PassDescriptor*> passes) {
  driver::Optimization o;
  o.passes = std::move(passes);
  return o;
}

}  // namespace

PassStudy study_passes(const Case& c, driver::Device device, const MeasureOptions& how) {
  const std::vector<const opt::PassDescriptor*> all(opt::all_passes().begin(),
                                                    opt::all_passes().end());
  std::map<std::string, std::unique_ptr<Peer>> peers;
  const auto add = [&](const std::string& name, const driver::Optimization& passes) {
    peers[name] = vyre_peer(c, device, 1, 0, passes);
  };
  add("all", with(all));
  add("none", with({}));
  for (const opt::PassDescriptor* pass : all) {
    std::vector<const opt::PassDescriptor*> rest = all;
    std::erase(rest, pass);
    add(std::string(pass->name), with(std::move(rest)));
  }
  std::vector<const opt::PassDescriptor*> unchecked = all;
  unchecked.push_back(&assume_in_bounds_pass);
  add("unchecked", with(std::move(unchecked)));
  std::map<std::string, Peer*> list;
  for (const auto& [name, peer] : peers) {
    peer->reset();
    list[name] = peer.get();
  }
  return {c.name, measure(c.name, list, how)};
}

void print_passes(const std::vector<PassStudy>& rows, bool cpu_time) {
  const auto time = [&](const PassStudy& row, const std::string& which) {
    const Timing& t = row.times.at(which);
    return cpu_time ? t.cpu_us : t.best_us;
  };
  fmt::print(
      "One core, {} of a launch: without the pass / with all passes; above 1 the pass gains.\n\n",
      cpu_time ? "median CPU time" : "best time");
  fmt::print("| left out |");
  for (const PassStudy& row : rows) fmt::print(" {} |", row.kernel);
  fmt::print(" mean |\n|---|");
  for (size_t i = 0; i <= rows.size(); ++i) fmt::print("---|");
  fmt::print("\n");
  const auto line = [&](const std::string& label, const std::string& which, bool inverse) {
    fmt::print("| {} |", label);
    double sum = 0;
    for (const PassStudy& row : rows) {
      const double ratio =
          inverse ? time(row, "all") / time(row, which) : time(row, which) / time(row, "all");
      sum += std::log(ratio);
      fmt::print(" {:.2f} |", ratio);
    }
    const double mean = std::exp(sum / double(rows.size()));
    fmt::print(" {:.3f} |\n", mean);
    return mean;
  };
  for (const opt::PassDescriptor* pass : opt::all_passes())
    line(std::string(pass->name), std::string(pass->name), false);
  line("all passes", "none", false);
  const double price = line("checks of bounds: on / forced off", "unchecked", true);
  fmt::print("\nprice of defined out-of-bounds: {:.1f} % by geometric mean (goal 3 %): {}\n",
             (price - 1) * 100, price <= 1.03 ? "met" : "MISSED");
  for (const PassStudy& row : rows)
    if (time(row, "all") > 1.03 * time(row, "none"))
      fmt::print("{} is slower with the passes: {:.2f} of without (goal 0.97): MISSED\n",
                 row.kernel, time(row, "none") / time(row, "all"));
}

}  // namespace bench
