// Every program of bench/programs.txt runs at its tiny size and gives the bytes of the interpreter,
// so that the texts of the benchmarks stay valid without building the benchmarks.

#include <gtest/gtest.h>

#include <filesystem>
#include <ostream>
#include <set>
#include <stdexcept>

#include "bench/common/programs.h"
#include "bench/common/ready_program.h"
#include "runtime/cpu/cpu_backend.h"
#include "runtime/registry.h"
#include "support/file.h"
#include "text/parse.h"

namespace bench {

void PrintTo(const ProgramEntry& entry, std::ostream* to) { *to << entry.name; }

namespace {

using vyre::driver::Device;

const std::string folder = std::string(VYRE_SOURCE_DIR) + "/bench";

Device open_on(vyre::driver::Backend& backend) {
  vyre::driver::OpenOptions options;
  options.use_cache = false;
  vyre::Result<Device> device = Device::open(backend, 0, options);
  if (!device) throw std::runtime_error(render(device.errors(), {}));
  return *device;
}

std::vector<std::vector<std::byte>> outputs(const Device& device, const BenchProgram& program,
                                            bool planned) {
  ReadyProgram ready(device, program, planned);
  ready.run();
  return ready.outputs();
}

class BenchPrograms : public testing::TestWithParam<ProgramEntry> {};

TEST_P(BenchPrograms, cpu_gives_the_bytes_of_the_interpreter) {
  const BenchProgram program = load_program(GetParam(), ProgramSize::Tiny);
  const auto expected = outputs(open_on(*vyre::driver::choose("interp")->backend), program, false);
  const Device cpu = open_on(*vyre::driver::cpu_backend());
  EXPECT_TRUE(outputs(cpu, program, true) == expected);
  if (program.is_graph) {
    EXPECT_TRUE(outputs(cpu, program, false) == expected) << "without a plan";
  }
}

std::string name_of(const testing::TestParamInfo<ProgramEntry>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Kernels, BenchPrograms, testing::ValuesIn(program_entries(false)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Graphs, BenchPrograms, testing::ValuesIn(program_entries(true)), name_of);

/// Names of graphs, or of kernels, in the files of a folder: "natural/blur.vyre:blur".
std::set<std::string> names_in(const std::string& relative, bool graphs) {
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(folder + "/" + relative)) {
    if (file.path().extension() != ".vyre") continue;
    const auto parsed = vyre::parse(vyre::read_file(file.path()).bytes);
    if (!parsed.module) {
      ADD_FAILURE() << file.path() << " is malformed";
      continue;
    }
    const std::string prefix = relative + "/" + file.path().filename().string() + ":";
    if (graphs)
      for (const vyre::Graph& g : parsed.module->graphs) names.insert(prefix + g.name);
    else
      for (const vyre::Program& k : parsed.module->kernels) names.insert(prefix + k.name);
  }
  return names;
}

std::set<std::string> listed(bool graphs) {
  std::set<std::string> names;
  for (const ProgramEntry& e : program_entries(graphs)) {
    const BenchProgram p = load_program(e, ProgramSize::Tiny);
    names.insert(e.file + ":" + (graphs ? p.graph().name : p.kernel().name));
  }
  return names;
}

TEST(BenchProgramList, holds_every_graph_of_its_folders) {
  const std::set<std::string> have = listed(true);
  for (const char* const relative : {"natural", "plans", "graphs"})
    for (const std::string& name : names_in(relative, true))
      EXPECT_TRUE(have.count(name)) << name << " is missing in bench/programs.txt";
}

TEST(BenchProgramList, holds_every_kernel_of_its_folders) {
  const std::set<std::string> have = listed(false);
  for (const char* const relative : {"natural/kernels", "kernels"})
    for (const std::string& name : names_in(relative, false))
      EXPECT_TRUE(have.count(name)) << name << " is missing in bench/programs.txt";
}

TEST(BenchProgramList, refuses_malformed_entries) {
  const std::string text =
      "kernel k(n: u32, x: in u32[]) workgroup(1) grid(n) { assert(x[0] == 0, 1) }";
  const auto make = [&](const std::string& lines) {
    return make_program(parse_programs("kernel k k.vyre\n" + lines).at(0), text, ProgramSize::Tiny);
  };
  EXPECT_EQ(make(" n 3/5\n x 2 = int 7 8\n").launch.num_workgroups[0], 3u);
  EXPECT_THROW(make(" n 3\n x 2 = nothing\n"), std::runtime_error);  // unknown generator
  EXPECT_THROW(make(" n 3\n x 2 = int 7\n"), std::runtime_error);    // too few operands
  EXPECT_THROW(make(" x 2\n"), std::runtime_error);                  // a scalar without a value
  EXPECT_THROW(make(" n 3\n x 2\n y 2\n"), std::runtime_error);      // unknown parameter
  EXPECT_THROW(make(" n 3x\n x 2\n"), std::runtime_error);           // not a number
  EXPECT_THROW(parse_programs("kernel k\n"), std::runtime_error);
}

TEST(BenchProgramList, selects_numbers_by_size) {
  EXPECT_EQ(select_number("3/4K/5M", ProgramSize::Tiny), 3);
  EXPECT_EQ(select_number("3/4K/5M", ProgramSize::Quick), 4096);
  EXPECT_EQ(select_number("3/4K/5M", ProgramSize::Large), 5 << 20);
  EXPECT_EQ(select_number("-0.5", ProgramSize::Full), -0.5);
}

}  // namespace
}  // namespace bench
