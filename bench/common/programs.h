#pragma once

// The programs of bench/programs.txt with their arguments and data. bench_cpu, bench_gpu,
// bench_graph and tests/runtime/cpu/bench_programs_test.cc share them. Errors are
// std::runtime_error.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph_launch.h"
#include "ir/launch.h"
#include "ir/module.h"

namespace bench {

/// Which number of a list in programs.txt counts.
enum class ProgramSize { Tiny, Quick, Full, Large };

/// One entry of programs.txt, not yet interpreted.
struct ProgramEntry {
  struct Line {
    std::string parameter;
    std::string count;              // "": by the program's formula
    std::vector<std::string> data;  // a generator and its operands; empty: any bits
  };
  bool is_graph = false;
  std::string name;
  std::string file;   // relative to bench/
  std::string entry;  // "": the only graph or kernel of the file
  std::vector<Line> lines;
  std::vector<std::string> zeroed;  // outputs that the baseline needs zeroed
  double tolerance = 0;             // 0: results are equal to the bit
};

std::vector<ProgramEntry> parse_programs(std::string_view text);
/// Returns a file of bench/ that is embedded in the program: programs.txt or the text of an entry.
/// Empty if the file does not exist. bench/common/embed.cmake writes it.
std::string_view program_file(std::string_view name);
/// The entries of bench/programs.txt that are graphs, or those that are kernels.
std::vector<ProgramEntry> program_entries(bool graphs);

struct ProgramArgument {
  std::string name;
  vyre::Role role = vyre::Role::In;
  vyre::Type element = vyre::Type::U32;
  uint64_t bits = 0;            // Scalar
  uint64_t count = 0;           // buffers: elements
  std::vector<std::byte> data;  // In and InOut
  bool zeroed = false;          // the baseline needs zeros before each launch

  bool is_scalar() const { return role == vyre::Role::Scalar; }
  uint64_t bytes() const { return count * size_of(element); }
};

struct BenchProgram {
  std::string name;
  double tolerance = 0;
  vyre::Module module;
  uint32_t index = 0;  // in Module::kernels, or in Module::graphs
  bool is_graph = false;
  vyre::LaunchShape launch;                // of a kernel
  vyre::GraphShape shape;                  // of a graph
  std::vector<ProgramArgument> arguments;  // parameters in order; scratch ones left out

  const vyre::Program& kernel() const { return module.kernels[index]; }
  const vyre::Graph& graph() const { return module.graphs[index]; }
};

/// Parses and checks the text, resolves sizes and makes data. The same entry and size give the same
/// bytes.
BenchProgram make_program(const ProgramEntry& entry, const std::string& text, ProgramSize size);
/// The same with the text of the entry's file.
BenchProgram load_program(const ProgramEntry& entry, ProgramSize size);

/// The number of a list such as "1000/64K/4M" that `size` selects.
double select_number(const std::string& list, ProgramSize size);
/// Elements of an input. `generator` is a line's data (see programs.txt).
std::vector<std::byte> make_data(const std::vector<std::string>& generator, vyre::Type element,
                                 uint64_t count, uint64_t seed, ProgramSize size);

}  // namespace bench
