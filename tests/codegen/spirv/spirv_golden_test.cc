// The words of some kernels as text in golden files, so that reviews show the effect of a change of
// the emitter. The programs are those of tests/codegen/ptx/golden, and some further ones.
// VYRE_BLESS=1 writes today's text.

#include <gtest/gtest.h>

#include <cstdlib>

#include "support/file.h"
#include "tests/codegen/spirv/spirv_util.h"

namespace vyre::emit_spirv {
namespace {

struct Golden {
  const char* program;  // under tests/codegen
  const char* profile;
  const char* text;  // in golden/
};
constexpr Golden goldens[] = {
    {"ptx/golden/saxpy", "full", "saxpy"},
    {"ptx/golden/saxpy", "nvidia", "saxpy_nvidia"},
    {"ptx/golden/saxpy", "lavapipe", "saxpy_lavapipe"},
    {"ptx/golden/vectors", "nvidia", "vectors"},
    {"ptx/golden/block_sums", "nvidia", "block_sums"},
    {"ptx/golden/atomics", "nvidia", "atomics"},
    {"ptx/golden/arrays", "full", "arrays"},
    {"ptx/golden/division", "full", "division"},
    {"ptx/golden/index_types", "full", "index_types"},
    {"ptx/golden/narrow", "full", "narrow"},
    {"ptx/golden/narrow", "-storage8 -storage16 -shared_bytes", "narrow_as_words"},
    {"ptx/golden/linear_grid", "full", "linear_grid"},
    {"ptx/golden/subgroups", "full", "subgroups"},
    {"ptx/golden/subgroups_partial", "lavapipe", "subgroups_partial"},
    {"ptx/golden/traps_and_loops", "full", "traps_and_loops"},
    {"ptx/golden/long_loops", "full", "long_loops"},
    {"spirv/golden/ghosts", "full", "ghosts"},
    {"spirv/golden/pairs", "-int64 -float64", "pairs"},
    {"spirv/golden/many_parameters", "full", "many_parameters"},
};

TEST(SpirvGolden, text_is_as_it_was) {
  for (const Golden& g : goldens) {
    const std::string folder = VYRE_SOURCE_DIR "/tests/codegen/";
    const auto source = read_file(folder + g.program + ".vyre");
    ASSERT_TRUE(source) << g.program;
    const auto says = [&](const char* word) {
      return source.bytes.find(word) != source.bytes.npos;
    };
    EmitOptions options;
    options.profile = device(g.profile).profile;
    options.debug = says("// lines\n");
    options.linear_grid = says("// linear\n");
    const Program program = emit_ptx::program_of(source.bytes, says("// trusted\n"));
    const Kernel kernel = emit_or_fail(program, options, g.text);
    if (can_validate()) {
      EXPECT_EQ(validate(kernel.words), "") << g.text;
    }
    const Result<std::string> text = disassemble(kernel.words);
    ASSERT_TRUE(text) << g.text;
    EXPECT_EQ(text->find("Op#"), std::string::npos) << g.text << ": an instruction without a name";
    const std::string golden = folder + "spirv/golden/" + g.text + ".txt";
    if (std::getenv("VYRE_BLESS")) {
      EXPECT_FALSE(write_file(golden, *text));
    }
    EXPECT_EQ(*text, read_file(golden).bytes) << g.text;
  }
}

}  // namespace
}  // namespace vyre::emit_spirv
