#include "plain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "baselines.h"

namespace bench {
namespace {

constexpr double slow_ratio = 0.9;

Parameter::Kind kind_of(vyre::Role role) {
  switch (role) {
    case vyre::Role::Scalar: return Parameter::Kind::Scalar;
    case vyre::Role::InOut: return Parameter::Kind::InOut;
    case vyre::Role::Out: return Parameter::Kind::Out;
    default: return Parameter::Kind::In;
  }
}

std::vector<std::vector<std::byte>> results(const Case& c, Peer& peer) {
  peer.reset();
  peer.launch();
  std::vector<std::vector<std::byte>> all(c.parameters.size());
  for (size_t i = 0; i < c.parameters.size(); ++i)
    if (c.parameters[i].kind == Parameter::Kind::InOut ||
        c.parameters[i].kind == Parameter::Kind::Out)
      all[i] = peer.read(c.parameters[i].buffer);
  return all;
}

}  // namespace

Case plain_case(const BenchProgram& program) {
  Case c;
  c.name = program.name;
  c.program = &program.kernel();
  c.clear_outputs = true;
  c.tolerance = program.tolerance;
  c.twins.openmp = find_baseline(program.name);
  if (!c.twins.openmp) fail(fmt::format("`{}` has no OpenMP baseline", program.name));
  for (const ProgramArgument& a : program.arguments) {
    c.parameters.push_back({.kind = kind_of(a.role),
                            .buffer = c.buffers.size(),
                            .scalar = uint32_t(a.bits),
                            .is_float = is_float(a.element),
                            .element_size = size_of(a.element)});
    if (a.is_scalar()) continue;
    c.buffers.push_back(a.data);
    c.buffers.back().resize(a.bytes());
    c.bytes += a.bytes();
  }
  return c;
}

PlainPeers plain_peers(const Case& c, const vyre::driver::Device& device, uint32_t subgroup_size) {
  PlainPeers peers{vyre_peer(c, device, 0, subgroup_size),
                   twin_peer(c, twin_memory(c), c.twins.openmp),
                   vyre_peer(c, device, 0, subgroup_size, {}, false)};
  const auto expected = results(c, *peers.openmp);
  for (Peer* peer : {peers.vyre.get(), peers.without_polls.get()}) {
    const auto got = results(c, *peer);
    for (size_t i = 0; i < got.size(); ++i)
      if (const Difference d = compare(c, i, expected[i], got[i], c.tolerance); d.count > 0)
        fail(fmt::format("{}: vyre differs from OpenMP in {} of {} elements, first {}", c.name,
                         d.count, d.elements, d.first));
  }
  return peers;
}

void print_plain_table(std::vector<Row> rows) {
  const auto ratio = [](const Row& row) { return row.ratio(gcc_openmp, vyre_all); };
  std::sort(rows.begin(), rows.end(),
            [&](const Row& a, const Row& b) { return ratio(a) < ratio(b); });
  fmt::print(
      "Plain kernels with run-time sizes: microseconds per launch, {}, median. Ratio: time of\n"
      "OpenMP / time of vyre; above 1 vyre is faster. Polls: time with stop polls / without.\n\n"
      "| kernel | vyre µs | OpenMP µs | OpenMP / vyre | polls | |\n|---|---|---|---|---|---|\n",
      rows.front().by_cpu_time ? "CPU time of all threads" : "submit to wait");
  double logs = 0;
  for (const Row& row : rows) {
    logs += std::log(ratio(row));
    fmt::print("| {} | {:.0f} | {:.0f} | {:.2f} | {:.2f} | {} |\n", row.kernel, row.time(vyre_all),
               row.time(gcc_openmp), ratio(row), row.ratio(vyre_all, vyre_without_polls),
               ratio(row) < slow_ratio ? "SLOWER" : "");
  }
  fmt::print("| geometric mean of {} | | | {:.2f} | | |\n\n", rows.size(),
             std::exp(logs / double(rows.size())));
}

}  // namespace bench
