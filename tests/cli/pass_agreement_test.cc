// `vyre run`, `opt`, `emit` and `bisect` pass the same device and launch information to the
// optimizer, and run the same passes.

#include <map>

#include "opt/pipeline.h"
#include "runtime/registry.h"
#include "tests/cli/cli_util.h"
#include "tools/vyre/command_line.h"
#include "tools/vyre/commands.h"

namespace vyre {
namespace {

using Words = std::vector<std::string>;

/// By pass that ran: the target that it saw.
std::map<std::string, opt::Target> seen;

constexpr std::string_view probe_names[] = {
    "probe_scalar",     "probe_loop",    "probe_memory", "probe_fusion",      "probe_dataflow",
    "probe_megakernel", "probe_vectors", "probe_shared", "probe_grid_barrier"};
template <size_t n>
Result<bool> look(Program&, opt::PassContext& context) {
  seen[std::string(probe_names[n])] = context.target;
  return false;
}
template <size_t n>
constexpr opt::PassDescriptor probe(opt::CostFamily family, opt::CapabilitySet needs = {}) {
  return {.name = probe_names[n], .summary = "", .run = look<n>, .family = family, .needs = needs};
}

using opt::Capability;
using opt::CostFamily;
constexpr opt::PassDescriptor probes[] = {
    probe<0>(CostFamily::Scalar),
    probe<1>(CostFamily::Loop),
    probe<2>(CostFamily::Memory),
    probe<3>(CostFamily::Fusion),
    probe<4>(CostFamily::Dataflow),
    probe<5>(CostFamily::Megakernel),
    probe<6>(CostFamily::Scalar, opt::capability(Capability::VectorAccess)),
    probe<7>(CostFamily::Scalar, opt::capability(Capability::SharedMemory)),
    probe<8>(CostFamily::Scalar, opt::capability(Capability::GridBarrier)),
};

class PassAgreement : public CommandLine {
 protected:
  void SetUp() override {
    CommandLine::SetUp();
    for (const opt::PassDescriptor& p : probes)
      registered_.push_back(std::make_unique<opt::RegisterPassForTest>(p));
  }
  void TearDown() override {
    registered_.clear();
    CommandLine::TearDown();
  }

  /// Returns the targets that the probes see when this process runs a command.
  static std::map<std::string, opt::Target> seen_by(const Words& words) {
    seen.clear();
    ::testing::internal::CaptureStdout();
    const auto command = cli::parse_command_line(words);
    EXPECT_TRUE(command) << words[0];
    int code = -1;
    if (const auto* run = std::get_if<cli::RunCommand>(&*command)) code = cli::run(*run);
    if (const auto* opt = std::get_if<cli::OptCommand>(&*command)) code = cli::optimize(*opt);
    if (const auto* emit = std::get_if<cli::EmitCommand>(&*command)) code = cli::emit(*emit);
    if (const auto* bisect = std::get_if<cli::BisectCommand>(&*command))
      code = cli::bisect(*bisect);
    std::fflush(stdout);
    ::testing::internal::GetCapturedStdout();
    EXPECT_EQ(code, 0) << words[0];
    EXPECT_FALSE(seen.empty()) << words[0];
    return seen;
  }

  /// Expects that the four commands agree, and returns what they see.
  std::map<std::string, opt::Target> expect_agreement(const std::string& program,
                                                      const std::string& backend, Words launch) {
    launch.insert(launch.end(), {"--backend", backend});
    const auto with = [&](Words words) {
      words.insert(words.begin() + 1, program);
      words.insert(words.end(), launch.begin(), launch.end());
      return words;
    };
    Words run = {"run"};
    if (backend == "interp") run = {"run", "--opt", "release"};  // there the others do so too
    const auto by_run = seen_by(with(run));
    EXPECT_EQ(seen_by(with({"opt"})), by_run) << backend;
    EXPECT_EQ(seen_by(with({"emit", "--target", "spirv"})), by_run) << backend;
    EXPECT_EQ(seen_by(with({"bisect"})), by_run) << backend;
    return by_run;
  }

  std::vector<std::unique_ptr<opt::RegisterPassForTest>> registered_;
};

const char* const kernel =
    "kernel k(n: u32, x: in u32[], y: out u32[n]) workgroup(64) grid(n) op_id(\"test.k\") {\n"
    "  y[global_id.x] = x[global_id.x] + n\n"
    "}\n";

TEST_F(PassAgreement, every_command_runs_the_passes_of_run) {
  const std::string program = file("k.vyre", kernel);
  for (const std::string backend : {"interp", "cpu"}) {
    if (!driver::choose(backend)) continue;  // this build has no CPU component
    const auto small = expect_agreement(program, backend, {"--in", "x=1,2", "--set", "n=2"});
    EXPECT_EQ(small.at("probe_scalar").launch_bytes, 4u + 8 + 8);
    EXPECT_FALSE(small.contains("probe_memory"));
    const auto large =
        expect_agreement(program, backend, {"--in", "x=random:2048", "--set", "n=2048"});
    EXPECT_TRUE(large.contains("probe_memory"));
    EXPECT_FALSE(large.contains("probe_megakernel"));
    EXPECT_EQ(large.contains("probe_vectors"), backend == "cpu");
    EXPECT_EQ(large.contains("probe_grid_barrier"), backend == "interp");
    EXPECT_NE(large.at("probe_scalar").shared_bytes, 0u);
    EXPECT_EQ(large.at("probe_scalar").device.find(backend + ": "), 0u);
  }
}

TEST_F(PassAgreement, every_command_takes_the_measurements_of_its_device) {
  const std::string program = file("k.vyre", kernel);
  opt::ProfileData data;
  data.hints.record("test.k", 500'000, 8, "interp: reference interpreter, one core");
  const std::string profile = file("p.json", opt::write_profile(data));
  for (const std::string backend : {"interp", "cpu"}) {
    if (!driver::choose(backend)) continue;
    const auto passes = expect_agreement(
        program, backend, {"--in", "x=1,2", "--set", "n=2", "--profile-in", profile});
    EXPECT_EQ(passes.contains("probe_megakernel"), backend == "interp");
  }
}

TEST_F(PassAgreement, a_length_describes_a_launch_as_data_does) {
  const std::string program = file("k.vyre", kernel);
  const Words device = {"--backend", "interp"};
  const auto by = [&](Words words) {
    words.insert(words.end(), device.begin(), device.end());
    return seen_by(words);
  };
  const auto data = by({"opt", program, "--in", "x=random:2048", "--set", "n=2048"});
  EXPECT_EQ(by({"opt", program, "--len", "x=2048", "--set", "n=2048"}), data);
  EXPECT_EQ(by({"emit", program, "--target", "ptx", "--len", "x=2048", "--set", "n=2048"}), data);
  EXPECT_EQ(by({"opt", program}).at("probe_scalar").launch_bytes, 0u) << "the launch is unknown";
}

TEST_F(PassAgreement, bisect_of_a_graph_runs_the_passes_of_run) {
  const std::string program = file("g.vyre", std::string(kernel) +
                                                 "graph g(n: u32, x: in u32[], y: out u32[n]) {\n"
                                                 "  buffer t: u32[n]\n"
                                                 "  call k(n, x, t)\n"
                                                 "  call k(n, t, y)\n"
                                                 "}\n");
  for (const std::string backend : {"interp", "cpu"}) {
    if (!driver::choose(backend)) continue;
    const Words launch = {program,  "--in",      "x=random:5000", "--set",
                          "n=5000", "--backend", backend};
    Words run = {"run", "--opt", "release"}, bisect = {"bisect"};
    run.insert(run.end(), launch.begin(), launch.end());
    bisect.insert(bisect.end(), launch.begin(), launch.end());
    EXPECT_EQ(seen_by(bisect), seen_by(run)) << backend;
  }
}

TEST_F(PassAgreement, a_launch_that_is_described_in_part_is_an_error) {
  const std::string program = file("k.vyre", kernel);
  const auto missing = vyre({"opt", program, "--len", "x=5"});
  expect_exit(missing, 2);
  expect_code(missing, "V0451");
  EXPECT_NE(missing.err.find("pass `--set n=V`"), std::string::npos) << missing.err;
  const auto length = vyre({"emit", program, "--target", "ptx", "--set", "n=5"});
  expect_exit(length, 2);
  expect_code(length, "V0453");
  expect_code(vyre({"opt", program, "--backend", "gpu"}), "V0701");
  expect_exit(vyre({"opt", program, "--set", "n=5", "--len", "x=5"}), 0);
}

}  // namespace
}  // namespace vyre
