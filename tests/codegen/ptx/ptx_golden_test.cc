// The PTX of some kernels as golden files, so that reviews show the effect of a change of the
// emitter. The first lines of a program state its target. VYRE_BLESS=1 writes today's text.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "support/file.h"
#include "tests/codegen/ptx/ptx_util.h"

namespace vyre::emit_ptx {
namespace {

namespace fs = std::filesystem;

TEST(PtxGolden, text_is_as_it_was) {
  std::vector<fs::path> programs;
  for (const auto& entry : fs::directory_iterator(VYRE_SOURCE_DIR "/tests/codegen/ptx/golden"))
    if (entry.path().extension() == ".vyre") programs.push_back(entry.path());
  std::sort(programs.begin(), programs.end());
  EXPECT_GE(programs.size(), 12u);
  const std::string ptxas = find_ptxas();
  for (const fs::path& path : programs) {
    const std::string source = read_file(path.string()).bytes;
    const auto says = [&](const char* word) { return source.find(word) != source.npos; };
    const size_t at = source.find("// arch: ");
    ASSERT_NE(at, source.npos) << path;
    const auto arch = parse_arch(source.substr(at + 9, source.find('\n', at) - at - 9));
    ASSERT_TRUE(arch) << path;
    EmitOptions options{.arch = *arch, .lines = says("// lines\n")};
    options.native_grid_barrier = says("// native\n");
    if (says("// linear\n")) options.grid = Grid::Linear;
    const Kernel kernel = emit_or_fail(program_of(source, says("// trusted\n")), options, path);
    const std::string golden = fs::path(path).replace_extension(".ptx").string();
    if (std::getenv("VYRE_BLESS")) {
      EXPECT_FALSE(write_file(golden, kernel.text));
    }
    if (!ptxas.empty()) {
      EXPECT_EQ(assemble(ptxas, *arch, {kernel.text}), "") << path;
    }
    EXPECT_EQ(kernel.text, read_file(golden).bytes) << path;
  }
}

}  // namespace
}  // namespace vyre::emit_ptx
