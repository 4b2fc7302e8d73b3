#include "tests/runner/kernel_blocks.h"

#include <fmt/format.h>

#include <algorithm>

namespace vyre::runner {
namespace {

/// The name in `kernel NAME(…`, or "".
std::string declared_kernel(std::string_view line) {
  constexpr std::string_view keyword = "kernel ";
  if (!line.starts_with(keyword)) return "";
  line.remove_prefix(keyword.size());
  return std::string(line.substr(0, line.find('(')));
}

}  // namespace

std::vector<KernelBlock> read_kernel_blocks(const TestFile& test, std::string_view key,
                                            Verdict& verdict) {
  std::vector<KernelBlock> blocks;
  std::string kernel;
  bool is_tested = true, is_open = false;
  const auto close = [&] {
    if (!is_tested) verdict.fail(fmt::format("kernel `{}` has no `// {}:` below it", kernel, key));
  };
  for (size_t i = 0; i < test.lines.size(); ++i) {
    const std::string& line = test.lines[i];
    if (std::string name = declared_kernel(line); !name.empty()) {
      close();
      kernel = std::move(name);
      is_tested = false;
    }
    if (const auto rest = after_key(line, key)) {
      if (kernel.empty()) verdict.fail(fmt::format("line {}: no kernel precedes it", i + 1));
      blocks.push_back({i, kernel, split_words(*rest), {}});
      is_tested = is_open = true;
    } else if (is_open && line.starts_with("//")) {
      blocks.back().lines.push_back(line);
    } else {
      is_open = false;
    }
  }
  close();
  if (blocks.empty()) verdict.fail(fmt::format("no `// {}:` says what is tested", key));
  return blocks;
}

void compare_blocks(const TestFile& test, const std::vector<KernelBlock>& blocks,
                    const std::vector<std::vector<std::string>>& actual,
                    const std::vector<std::string>& details, Verdict& verdict) {
  std::vector<std::string> lines = test.lines;
  for (size_t b = blocks.size(); b-- > 0;) {
    const KernelBlock& block = blocks[b];
    if (block.lines == actual[b]) continue;
    verdict.fail(fmt::format("line {}: kernel `{}`, expected (-) and actual (+):\n{}{}",
                             block.line + 1, block.kernel, diff_lines(block.lines, actual[b]),
                             details[b]));
    const auto at = lines.begin() + static_cast<std::ptrdiff_t>(block.line + 1);
    lines.insert(lines.erase(at, at + static_cast<std::ptrdiff_t>(block.lines.size())),
                 actual[b].begin(), actual[b].end());
  }
  std::reverse(verdict.failures.begin(), verdict.failures.end());
  if (!verdict.failures.empty() && lines != test.lines) verdict.blessed = join_lines(lines);
}

std::string diff_lines(const std::vector<std::string>& first,
                       const std::vector<std::string>& second) {
  // common[i][j]: lines that first from i on and second from j on have in common.
  std::vector<std::vector<size_t>> common(first.size() + 1, std::vector<size_t>(second.size() + 1));
  for (size_t i = first.size(); i-- > 0;)
    for (size_t j = second.size(); j-- > 0;)
      common[i][j] = first[i] == second[j] ? common[i + 1][j + 1] + 1
                                           : std::max(common[i + 1][j], common[i][j + 1]);
  std::string text;
  size_t i = 0, j = 0;
  while (i < first.size() || j < second.size()) {
    if (i < first.size() && j < second.size() && first[i] == second[j]) {
      text += "  " + first[i++] + "\n";
      ++j;
    } else if (j == second.size() || (i < first.size() && common[i + 1][j] >= common[i][j + 1])) {
      text += "- " + first[i++] + "\n";
    } else {
      text += "+ " + second[j++] + "\n";
    }
  }
  return text;
}

}  // namespace vyre::runner
