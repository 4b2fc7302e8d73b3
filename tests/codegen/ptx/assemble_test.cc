// ptxas accepts every kernel of the repository, for every architecture. One architecture gets all
// of them, the others every eighth; VYRE_PTXAS_ALL=1 assembles all for each.

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "tests/codegen/ptx/ptx_util.h"

namespace vyre::emit_ptx {
namespace {

constexpr size_t kernels_a_file = 64;  // starting ptxas takes longer than a small kernel

class Ptxas : public testing::TestWithParam<Arch> {};

TEST_P(Ptxas, takes_every_kernel) {
  const std::string ptxas = find_ptxas();
  if (ptxas.empty())
    GTEST_SKIP() << "ptxas is not on this machine (CUDA toolkit): nothing was assembled";
  const Arch arch = GetParam();
  const bool all = arch == Arch::Sm90 || std::getenv("VYRE_PTXAS_ALL") != nullptr;
  std::vector<std::string> texts, names;
  const auto flush = [&] {
    std::string said = texts.empty() ? "" : assemble(ptxas, arch, texts);
    if (!said.empty()) {  // find out which one it is
      for (size_t i = 0; i < texts.size(); ++i)
        if (const std::string one = assemble(ptxas, arch, {texts[i]}); !one.empty())
          ADD_FAILURE() << names[i] << "\n" << one;
      EXPECT_TRUE(HasFailure()) << said;
    }
    texts.clear();
    names.clear();
  };
  size_t n = 0, done = 0;
  for (const Case& c : all_cases()) {
    ++n;
    if (!all && n % 8 != static_cast<size_t>(arch)) continue;
    EmitOptions options{.arch = arch, .native_grid_barrier = c.native_grid_barrier};
    texts.push_back(emit_or_fail(c.program, options, c.name).text);
    names.push_back(c.name);
    ++done;
    if (texts.size() == kernels_a_file) flush();
  }
  flush();
  EXPECT_GT(done, all ? 700u : 80u);
}

INSTANTIATE_TEST_SUITE_P(Archs, Ptxas, testing::ValuesIn(all_archs),
                         [](const auto& p) { return std::string(name(p.param)); });

}  // namespace
}  // namespace vyre::emit_ptx
