#pragma once

// The kernels of bench/programs.txt against their plain OpenMP baselines.

#include <memory>
#include <string>
#include <vector>

#include "common/programs.h"
#include "cpu_peers.h"
#include "cpu_report.h"

namespace bench {

/// A kernel of programs.txt with its data; `program` must outlive it.
Case plain_case(const BenchProgram& program);

struct PlainPeers {
  std::unique_ptr<Peer> vyre, openmp;
  std::unique_ptr<Peer> without_polls;  // vyre, but loops do not poll the stop flag
};
/// Both peers, their results compared: a difference ends the program.
PlainPeers plain_peers(const Case& c, const vyre::driver::Device& device, uint32_t subgroup_size);

/// Prints a Markdown table, the worst ratio first, and the geometric mean. Ratios below 0.9 are
/// marked.
void print_plain_table(std::vector<Row> rows);

}  // namespace bench
