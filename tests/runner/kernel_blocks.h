#pragma once

// Comments below a kernel with the expected result, for modes `pass` and `codegen`:
//
//   kernel k(…) … { … }
//   // KEY: words
//   // and comments up to the first other line, or the next `// KEY:`

#include <string>
#include <string_view>
#include <vector>

#include "tests/runner/test_file.h"

namespace vyre::runner {

struct KernelBlock {
  size_t line = 0;                 // of KEY, index into TestFile::lines
  std::string kernel;              // declared above it
  std::vector<std::string> words;  // after KEY
  std::vector<std::string> lines;  // the comments after it
};

/// Returns the blocks of a key. A kernel without one is a failure: nothing would be tested.
std::vector<KernelBlock> read_kernel_blocks(const TestFile& test, std::string_view key,
                                            Verdict& verdict);

/// Fails with a diff for each block whose comments are not the `actual` ones, which are blessed.
/// `details` follow a diff.
void compare_blocks(const TestFile& test, const std::vector<KernelBlock>& blocks,
                    const std::vector<std::vector<std::string>>& actual,
                    const std::vector<std::string>& details, Verdict& verdict);

/// Returns the lines of both texts: "- " of the first alone, "+ " of the second alone, "  " of
/// both.
std::string diff_lines(const std::vector<std::string>& first,
                       const std::vector<std::string>& second);

}  // namespace vyre::runner
