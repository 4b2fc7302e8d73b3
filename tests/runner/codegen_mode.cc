// Mode codegen: patterns in the code that `vyre emit` prints for a kernel.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "runtime/cpu_component.h"
#include "support/process.h"
#include "tests/runner/kernel_blocks.h"

namespace vyre::runner {
namespace {

size_t count_of(std::string_view text, std::string_view piece) {
  size_t n = 0;
  for (size_t at = text.find(piece); at != text.npos; at = text.find(piece, at + 1)) ++n;
  return n;
}

struct EmittedCode {
  std::string text;    // the code, or the error
  bool fails = false;  // the command refused it
};

/// True if the code is LLVM's, and this build has no LLVM.
bool is_unavailable(const KernelBlock& block) {
  const auto names = [&](std::string_view target) {
    return std::find(block.words.begin(), block.words.end(), target) != block.words.end();
  };
  std::string why;
  return (names("llvm") || names("asm")) && !driver::cpu_component(&why);
}

/// Runs `vyre emit FILE:kernel words`; without passes, unless the words name some.
EmittedCode emit(const TestFile& test, const KernelBlock& block) {
  std::vector<std::string> command = {VYRE_BIN_DIR "/vyre", "emit", test.path + ":" + block.kernel};
  command.insert(command.end(), block.words.begin(), block.words.end());
  const auto names = [&](std::string_view flag) {
    return std::find(command.begin(), command.end(), flag) != command.end();
  };
  if (!names("--passes") && !names("--opt")) command.insert(command.end(), {"--passes", "none"});
  ProcessResult result = run_process(command);
  if (result.exit_code == 0) return {std::move(result.out), false};
  return {result.start_error ? "vyre cannot be started" : std::move(result.err), true};
}

/// Compares the lines of a block with code: each unchanged if it holds, else the true line.
class PatternReader {
 public:
  explicit PatternReader(const EmittedCode& code) : code_(code) {}

  std::string actual(const std::string& line) {
    if (const auto piece = after_key(line, "fails"))
      return code_.fails && contains(*piece) ? line : "// does not fail so";
    if (code_.fails) return "// fails";
    if (const auto piece = after_key(line, "has")) return find_next(line, *piece);
    if (const auto piece = after_key(line, "lacks"))
      return contains(*piece) ? fmt::format("// has: {}", *piece) : line;
    if (const auto rest = after_key(line, "count")) return count(line, *rest);
    return line.starts_with("//  ") ? line
                                    : fmt::format("// has no meaning: {}", trimmed(line.substr(2)));
  }

 private:
  bool contains(std::string_view piece) const {
    return code_.text.find(piece) != std::string::npos;
  }

  /// Pieces follow each other.
  std::string find_next(const std::string& line, std::string_view piece) {
    const size_t at = code_.text.find(piece, at_);
    if (at == std::string::npos)
      return fmt::format("// {}: {}", contains(piece) ? "has only before" : "lacks", piece);
    at_ = at + piece.size();
    return line;
  }

  std::string count(const std::string& line, std::string_view rest) const {
    size_t wanted = 0;
    const auto number = std::from_chars(rest.data(), rest.data() + rest.size(), wanted);
    const std::string_view piece = trimmed(rest.substr(size_t(number.ptr - rest.data())));
    if (number.ec != std::errc() || piece.empty()) return "// count: NUMBER PIECE";
    const size_t actual = count_of(code_.text, piece);
    return actual == wanted ? line : fmt::format("// count: {} {}", actual, piece);
  }

  const EmittedCode& code_;
  size_t at_ = 0;  // past the last piece that was found
};

}  // namespace

Verdict test_codegen(const TestFile& test) {
  Verdict verdict;
  const auto blocks = read_kernel_blocks(test, "emit", verdict);
  if (!verdict.failures.empty()) return verdict;
  std::vector<std::vector<std::string>> actual;
  std::vector<std::string> details;
  for (const KernelBlock& block : blocks) {
    if (block.lines.empty())
      verdict.fail(fmt::format("line {}: no pattern follows", block.line + 1));
    std::vector<std::string>& lines = actual.emplace_back();
    if (is_unavailable(block)) {
      lines = block.lines;
      details.emplace_back();
      continue;
    }
    const EmittedCode code = emit(test, block);
    PatternReader reader(code);
    for (const std::string& line : block.lines) lines.push_back(reader.actual(line));
    details.push_back("in:\n" + code.text);
  }
  compare_blocks(test, blocks, actual, details, verdict);
  return verdict;
}

}  // namespace vyre::runner
