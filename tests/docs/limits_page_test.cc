// docs/limits.md has the numbers that the checker, the parser and the launch compare with.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "check/check_limits.h"
#include "support/file.h"
#include "text/lexer.h"
#include "text/lower/lower.h"
#include "text/parser.h"

namespace vyre {
namespace {

/// 65,536.
std::string with_commas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

TEST(LimitsPage, has_the_numbers_of_the_sources) {
  struct Row {
    std::string_view what;
    std::string limit;
  };
  const Row rows[] = {
      {"bytes of all source files of a program",
       fmt::format("{} MiB", text::max_source_bytes >> 20)},
      {"bytes of a name", with_commas(limits::name_bytes)},
      {"nested blocks", with_commas(limits::nesting)},
      {"constants that use constants declared later, in a chain",
       with_commas(text::max_constant_chain)},
      {"ops of a kernel after inlining", fmt::format("{} Mi", limits::ops >> 20)},
      {"parameters, arrays and tables of a kernel", with_commas(limits::buffers)},
      {"bytes of the tables of a kernel", with_commas(limits::table_bytes)},
      {"terms of one length or grid", with_commas(limits::formula_nodes)},
      {"invocations of a workgroup", with_commas(limits::workgroup)},
      {"lanes of a subgroup", with_commas(limits::subgroup)},
      {"bytes of a `uniform` buffer", with_commas(limits::uniform_bytes)},
  };
  const FileContents page = read_file(VYRE_SOURCE_DIR "/docs/limits.md");
  ASSERT_TRUE(page);
  for (const Row& r : rows)
    EXPECT_NE(page.bytes.find(fmt::format("\n| {} | {} |", r.what, r.limit)), std::string::npos)
        << r.what << ": " << r.limit;
}

}  // namespace
}  // namespace vyre
