#include "gpu_measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace bench {
namespace {

using Peers = std::map<std::string, std::unique_ptr<Peer>>;

/// Adds a peer, or says why it is missing.
template <class Make>
void add(Row& row, Peers& peers, const std::string& name, Make&& make) {
  try {
    peers[name] = make();
  } catch (const Failure& f) {
    peers.erase(name);
    row.failures[name] = f.what;
  }
}

Peers make_peers(Row& row, const Case& c,
                 const std::map<std::string, vyre::driver::Device>& devices,
                 const std::shared_ptr<Cuda>& cuda) {
  Peers peers;
  for (const auto& [name, device] : devices)
    add(row, peers, name, [&, d = device] { return vyre_peer(c, d); });
  if (c.plain)
    for (const auto& [name, device] : devices)
      add(row, peers, without_polls(name), [&, d = device] { return vyre_peer(c, d, false); });
  if (!cuda || !(c.plain ? cuda->plain : cuda->same)) return peers;
  std::shared_ptr<CudaMemory> memory;
  try {
    memory = std::make_shared<CudaMemory>(cuda, c);
  } catch (const Failure& f) {
    row.failures[twin_same] = f.what;
    return peers;
  }
  const auto twin = [&](const char* name, const TwinLaunch& t, cuda::ModuleHandle module) {
    if (!t.name.empty()) add(row, peers, name, [&] { return cuda_peer(c, memory, t, module); });
  };
  if (c.plain) {
    twin(twin_same, c.twin, cuda->plain);
    return peers;
  }
  twin(twin_same, c.twin, cuda->same);
  twin(twin_wide, c.wide, cuda->same);
  twin(twin_own, c.twin, cuda->own);
  twin(twin_wide_own, c.wide, cuda->own);
  return peers;
}

std::vector<std::vector<std::byte>> results(const Case& c, Peer& peer) {
  peer.reset();
  peer.launch(1);
  std::vector<std::vector<std::byte>> all(c.buffers.size());
  for (const Parameter& p : c.parameters)
    if (p.kind == Parameter::Kind::InOut || p.kind == Parameter::Kind::Out)
      all[p.buffer] = peer.read(p.buffer);
  return all;
}

/// True if the results are equal, or if the case allows a difference and all f32 are close enough.
bool agree(const Case& c, const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  if (a == b) return true;
  if (c.tolerance == 0) return false;
  for (size_t i = 0; i + 4 <= a.size(); i += 4) {
    float x, y;
    std::memcpy(&x, a.data() + i, 4);
    std::memcpy(&y, b.data() + i, 4);
    if (!(std::abs(x - y) <= c.tolerance * (1 + std::abs(x)))) return false;
  }
  return true;
}

/// All results to the byte; those of nvcc's defaults only where these do not contract.
void compare(Row& row, const Case& c, Peers& peers) {
  std::string first;
  std::vector<std::vector<std::byte>> wanted;
  // The twin that is written the same way is what the others must be like; without one, ours.
  std::vector<std::string> order;
  if (peers.count(twin_same)) order.emplace_back(twin_same);
  for (const auto& [name, peer] : peers)
    if (name != twin_same) order.push_back(name);
  for (const std::string& name : order) {
    try {
      std::vector<std::vector<std::byte>> got = results(c, *peers[name]);
      if (first.empty()) {
        first = name;
        wanted = std::move(got);
        continue;
      }
      if (c.contracts && name.ends_with("_default")) continue;
      for (size_t i = 0; i < got.size(); ++i) {
        if (agree(c, got[i], wanted[i])) continue;
        const auto at = std::mismatch(got[i].begin(), got[i].end(), wanted[i].begin()).first;
        row.differences.push_back(
            fmt::format("{}: {} and {} differ in buffer {}, first in byte {} of {}", c.name, first,
                        name, i, at - got[i].begin(), got[i].size()));
      }
    } catch (const Failure& f) {
      row.failures[name] = f.what;
      peers.erase(name);
    }
  }
}

}  // namespace

double median(std::vector<double> v) {
  if (v.empty()) return 0;
  std::sort(v.begin(), v.end());
  return v.size() % 2 ? v[v.size() / 2] : (v[v.size() / 2 - 1] + v[v.size() / 2]) / 2;
}

double Row::ns(const std::string& peer) const {
  const auto it = samples.find(peer);
  return it == samples.end() ? 0 : median(it->second);
}

double Row::ratio(const std::string& twin, const std::string& ours) const {
  const double a = ns(twin), b = ns(ours);
  return a > 0 && b > 0 ? a / b : 0;
}

Row measure(const Case& c, const std::map<std::string, vyre::driver::Device>& devices,
            const std::shared_ptr<Cuda>& cuda, const Options& options) {
  Row row;
  row.kernel = c.name;
  row.bytes = c.bytes;
  row.operations = c.operations;
  row.operation = c.operation;
  row.goal = c.goal;
  Peers peers = make_peers(row, c, devices, cuda);
  compare(row, c, peers);
  // The same number of launches per sample for all, so that the overhead of a sample is equal.
  double longest = 1;
  for (const auto& [name, peer] : peers) {
    try {
      longest = std::max(longest, peer->launch(2));
    } catch (const Failure& f) {
      row.failures[name] = f.what;
    }
  }
  const uint32_t count =
      options.small ? 1
                    : uint32_t(std::clamp(std::ceil(options.sample_ms * 1e6 / longest), 1.0, 32.0));
  const int warm_up = options.small ? 0 : 2;
  for (int i = -warm_up; i < options.samples; ++i)
    for (const auto& [name, peer] : peers) {
      if (row.failures.count(name)) continue;
      try {
        const double ns = peer->launch(count);
        if (i >= 0) row.samples[name].push_back(ns);
      } catch (const Failure& f) {
        row.failures[name] = f.what;
      }
    }
  return row;
}

}  // namespace bench
