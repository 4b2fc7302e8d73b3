// The conformance suite on the CUDA backend, with the fake driver: tests everything that the
// runtime requires of a backend, except the arithmetic of kernels, which the interpreter computes
// here.

#include "conformance/certify.h"
#include "runtime/cuda/cuda_util.h"
#include "tools/vyre/certify_command.h"

namespace vyre::driver {
namespace {

void certify(const std::string& spec_text, const fake_cuda::Config& config, uint64_t fuzz) {
  FakeGpu gpu(config);
  const auto spec = lab::parse_device_spec(spec_text);
  ASSERT_TRUE(spec);
  lab::CertifyOptions options;
  options.spec = *spec;
  options.quick = true;
  options.fuzz = fuzz;
  options.prepare = cli::prepare_run;
  std::string told;
  options.report = [&](const lab::CaseReport& c) {
    if (c.result == lab::CaseResult::Failed) told += "\n" + c.group + "/" + c.name + ": " + c.what;
  };
  if (std::getenv("VYRE_TELL"))
    options.progress = [](const std::string& g, const std::string& n) {
      std::fprintf(stderr, "%s/%s\n", g.c_str(), n.c_str());
    };
  const auto report = lab::certify(gpu.open(spec->open), options);
  ASSERT_TRUE(report) << report.errors()[0].message;
  EXPECT_EQ(report->count(&lab::GroupReport::failed), 0u) << told;
  EXPECT_GT(report->count(&lab::GroupReport::passed), 500u);
}

TEST(CudaConformance, native_grid_barriers) { certify("cuda", {}, 100); }

TEST(CudaConformance, split_grid_barriers) { certify("cuda[split]", {}, 50); }

TEST(CudaConformance, subgroups_of_64_and_an_old_driver) {
  fake_cuda::Config config;
  config.driver_version = 11080;  // no loops in graphs
  config.devices[0].capability = 75;
  config.devices[0].pools = false;
  config.devices[0].cooperative = false;
  certify("cuda[subgroup=64]", config, 50);
}

}  // namespace
}  // namespace vyre::driver
