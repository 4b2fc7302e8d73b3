// Lines of source texts by number.

#include <gtest/gtest.h>

#include "diagnostics/source_line.h"

namespace vyre {
namespace {

TEST(SourceLines, are_found_by_number_from_one) {
  const Sources sources = {{"a", "first\n\nthird"}, {"b", "one\n"}, {"empty", ""}};
  SourceLines lines(sources);
  for (int i = 0; i < 2; ++i) {  // the second time from the starts that are known
    EXPECT_EQ(lines.find("a", 1), "first");
    EXPECT_EQ(lines.find("a", 2), "");
    EXPECT_EQ(lines.find("a", 3), "third");
    EXPECT_EQ(lines.find("b", 1), "one");
    EXPECT_EQ(lines.find("b", 2), "");
    EXPECT_EQ(lines.find("empty", 1), "");
  }
}

TEST(SourceLines, are_none_of_unknown_texts_and_numbers) {
  const Sources sources = {{"a", "first\n\nthird"}};
  SourceLines lines(sources);
  EXPECT_EQ(lines.find("b", 1), std::nullopt);
  EXPECT_EQ(lines.find("a", 0), std::nullopt);
  EXPECT_EQ(lines.find("a", 4), std::nullopt);
}

}  // namespace
}  // namespace vyre
