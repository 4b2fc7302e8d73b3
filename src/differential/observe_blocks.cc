#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "differential/text_test.h"

namespace vyre::lab {
namespace {

constexpr std::pair<std::string_view, Expect> keys[] = {
    {"out", Expect::Out},         {"traps", Expect::Traps},    {"fails", Expect::Fails},
    {"plan", Expect::Plan},       {"elided", Expect::Elided},  {"reused", Expect::Reused},
    {"cleared", Expect::Cleared}, {"refused", Expect::Refused}};

/// A comment that is indented further than its line's key continues it.
bool is_continuation(std::string_view line) {
  line = trimmed(line);
  return line.starts_with("//   ") && !trimmed(line.substr(2)).empty();
}

/// A line `// word: …`, which looks like a key.
bool looks_like_key(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with("//")) return false;
  line = trimmed(line.substr(2));
  const size_t colon = line.find(':');
  return colon != line.npos && colon != 0 &&
         std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(colon), [](char c) {
           return std::isalpha(static_cast<unsigned char>(c)) || c == '-';
         });
}

class Reader {
 public:
  Reader(const std::vector<std::string>& lines, std::vector<std::string>& failures, bool plans)
      : lines_(lines), failures_(failures), plans_(plans) {}

  std::vector<RunBlock> read() {
    while (at_ < lines_.size()) line();
    if (blocks_.empty()) failures_.push_back("no `// run:` line");
    return std::move(blocks_);
  }

 private:
  void line() {
    const size_t here = at_;
    const std::string& text = lines_[at_];
    if (const auto words = after_key(text, "run")) return begin_block(here, *words);
    for (const auto& [key, kind] : keys)
      if (plans_ || !is_of_plan(kind))
        if (const auto rest = after_key(text, key)) return expectation(here, kind, *rest);
    ++at_;
    if (trimmed(text) == "// schedule-dependent") {
      (blocks_.empty() ? all_dependent_ : blocks_.back().schedule_dependent) = true;
      return;
    }
    const bool in_block = !blocks_.empty() && here == end_of_block_;
    if (in_block && looks_like_key(text))
      fail(here, plans_ ? "this is neither `run:`, `plan:`, `elided:`, `reused:`, `cleared:`, "
                          "`refused:`, `out:`, `traps:` nor `fails:`"
                        : "this is neither `run:`, `out:`, `traps:` nor `fails:`");
  }

  /// Returns the text of a key with its continuations; advances past them.
  std::string continued(std::string_view rest) {
    std::string text(rest);
    for (++at_; at_ < lines_.size() && is_continuation(lines_[at_]); ++at_)
      text += ' ' + std::string(trimmed(trimmed(lines_[at_]).substr(2)));
    end_of_block_ = at_;
    return text;
  }

  void begin_block(size_t here, std::string_view words) {
    RunBlock block;
    block.line = here;
    block.schedule_dependent = all_dependent_;
    block.words = split_words(continued(words));
    block.insert_at = at_;
    blocks_.push_back(std::move(block));
  }

  void expectation(size_t here, Expect kind, std::string_view rest) {
    std::string text = continued(rest);
    if (blocks_.empty()) return fail(here, "an expectation before the first `// run:`");
    blocks_.back().expectations.push_back({kind, here, at_ - here, std::move(text)});
  }

  void fail(size_t line, std::string_view what) {
    failures_.push_back(fmt::format("line {}: {}", line + 1, what));
  }

  const std::vector<std::string>& lines_;
  std::vector<std::string>& failures_;
  const bool plans_;
  std::vector<RunBlock> blocks_;
  size_t at_ = 0;
  size_t end_of_block_ = 0;
  bool all_dependent_ = false;
};

}  // namespace

std::vector<RunBlock> read_run_blocks(const std::vector<std::string>& lines,
                                      std::vector<std::string>& failures, bool plans) {
  return Reader(lines, failures, plans).read();
}

}  // namespace vyre::lab
