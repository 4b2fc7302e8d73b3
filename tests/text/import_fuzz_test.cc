// Seeded changes of programs with imports and tables, through fuzz/import_resolver.h.

#include <gtest/gtest.h>

#include "fuzz/import_resolver.h"
#include "tests/text/front_end_util.h"
#include "tests/text/text_edits.h"

namespace vyre {
namespace {

constexpr std::string_view program = R"(import "a"
import "lib/b"
const t: u8[] = @"t"
const u: u32[2] = @"./t"
kernel k(y: out u32[4]) workgroup(4) grid(4) {
  y[global_id.x] = twice(N) + M + u32(t[0]) + u[1]
}
graph g(y: out u32[4]) { call k(y) }
--- a
import "lib/../lib/b"
import "a"
const N = 8
fn twice(x: u32) -> u32 { return x + x }
--- lib/b
import "../a"
import "../main.vyre"
const M = 3
--- t
234567
)";
constexpr std::string_view pieces[] = {"import \"a\"\n",
                                       "import \"lib/b\"\n",
                                       "import \"missing\"\n",
                                       "import \"t\"\n",
                                       "@\"t\"",
                                       "@\"a\"",
                                       "\"",
                                       "../",
                                       "./",
                                       "/",
                                       "\n--- a\n",
                                       "\n--- c\n",
                                       "\n--- ",
                                       "lib/",
                                       "N",
                                       "M",
                                       "const N = M\n",
                                       "const M = N\n",
                                       "\n",
                                       "{",
                                       "}",
                                       "\xff",
                                       "",
                                       "99999999999999999999",
                                       "import \"/dev/zero\"\n",
                                       "import \"\"\n"};

TEST(ImportFuzz, texts_with_imports_end_within_their_limits) {
  ASSERT_EQ(check_import_resolver(program), "");
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    lab::Random r(seed);
    const std::string text = edited(std::string(program), pieces, r);
    ASSERT_EQ(check_import_resolver(text), "") << "seed " << seed << "\n" << text;
  }
}

TEST(ImportFuzz, text_without_a_resolver_reads_no_file) {
  const ParseOutcome imported =
      parse("import \"/etc/passwd\"\n" + kernel("k", ""), {.file_name = "main.vyre"});
  EXPECT_EQ(error_codes(imported.diagnostics), "V0169");
  EXPECT_EQ(imported.sources.size(), 1u);
  const ParseOutcome table =
      parse("const t: u8[] = @\"/etc/passwd\"\n" + kernel("k", ""), {.file_name = "main.vyre"});
  EXPECT_EQ(error_codes(table.diagnostics), "V0161");
}

}  // namespace
}  // namespace vyre
