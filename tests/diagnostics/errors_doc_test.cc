#include <gtest/gtest.h>

#include "diagnostics/explain.h"
#include "support/file.h"

namespace vyre {
namespace {

TEST(ErrorsDoc, is_current) {
  const FileContents file = read_file(VYRE_SOURCE_DIR "/docs/errors.md");
  ASSERT_TRUE(file) << file.error->what;
  // Not EXPECT_EQ, which would print both files.
  EXPECT_TRUE(file.bytes == errors_markdown())
      << "docs/errors.md is out of date; run\n  build/release/bin/vyre explain --markdown > "
         "docs/errors.md";
}

TEST(ErrorsDoc, has_an_anchor_and_a_link_for_every_code) {
  const std::string text = errors_markdown();
  for (const CodeInfo& c : all_codes()) {
    std::string anchor = to_string(c.code);
    anchor[0] = 'v';
    EXPECT_NE(text.find("<a id=\"" + anchor + "\">"), text.npos) << anchor;
    EXPECT_NE(text.find("(#" + anchor + ")"), text.npos) << anchor;
  }
}

}  // namespace
}  // namespace vyre
