// A page of documentation: every program in it is checked or rejected as it says, every command is
// run.
//
// Programs and commands of one page share a folder, which is empty but for links to what the
// repository has at its top. A block that begins with `// name.vyre` is saved there under its name.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "support/file.h"
#include "support/process.h"
#include "tests/runner/markdown.h"
#include "tests/runner/test_file.h"

namespace vyre::runner {
namespace {

namespace fs = std::filesystem;

using Lines = std::vector<std::string>;

/// A scratch folder that is also the current one while this lives.
class Workshop {
 public:
  Workshop() : before_(fs::current_path()) {
    std::string pattern = (fs::temp_directory_path() / "vyre_docs.XXXXXX").string();
    if (!::mkdtemp(pattern.data())) return;
    folder_ = pattern;
    for (const auto& entry : fs::directory_iterator(VYRE_SOURCE_DIR)) {
      const std::string name = entry.path().filename().string();
      if (!name.starts_with('.') && name != "build")
        fs::create_symlink(entry.path(), folder_ / name);
    }
    fs::current_path(folder_);
  }
  ~Workshop() {
    std::error_code ignored;
    fs::current_path(before_, ignored);
    if (!folder_.empty()) fs::remove_all(folder_, ignored);  // removes the links, not their targets
  }
  Workshop(const Workshop&) = delete;
  bool ready() const { return !folder_.empty(); }

 private:
  fs::path before_, folder_;
};

/// "scale.vyre" of a first line `// scale.vyre`; "" if there is none.
std::string name_of(const Lines& lines, const MarkdownBlock& b) {
  if (b.count == 0) return "";
  std::string_view line = trimmed(lines[b.first]);
  if (!line.starts_with("//")) return "";
  line = trimmed(line.substr(2));
  const bool word = line.find_first_of(" /\t") == line.npos;
  return word && line.ends_with(".vyre") ? std::string(line) : "";
}

bool matches_from(std::span<const std::string> expected, std::span<const std::string> got) {
  // A line `…` stands for any lines: the usual two pointers and a place to come back to.
  size_t e = 0, g = 0, star = expected.size(), mark = 0;
  const auto any = [&](size_t i) { return i < expected.size() && trimmed(expected[i]) == "…"; };
  while (g < got.size()) {
    if (any(e)) {
      star = e++;
      mark = g;
    } else if (e < expected.size() && expected[e] == got[g]) {
      ++e, ++g;
    } else if (star != expected.size()) {
      e = star + 1;
      g = ++mark;
    } else {
      return false;
    }
  }
  while (any(e)) ++e;
  return e == expected.size();
}

class DocumentTest {
 public:
  explicit DocumentTest(std::string path, MarkdownPage page)
      : path_(std::move(path)), page_(std::move(page)) {}

  Verdict run() {
    if (!page_.closed) verdict_.fail("the last block is not closed");
    check_links();
    if (page_.generated) return std::move(verdict_);  // tested where it is made
    check_prose();
    const Workshop workshop;
    if (!workshop.ready()) verdict_.fail("no folder for temporary files");
    // Blessing changes the number of lines before later blocks, so changes are applied at the end.
    for (const MarkdownBlock& b : page_.blocks) block(b);
    bless();
    return std::move(verdict_);
  }

 private:
  void fail(size_t line, const std::string& what) {
    verdict_.fail(fmt::format("line {}: {}", line + 1, what));
  }

  void block(const MarkdownBlock& b) {
    if (b.tag == "vyre" || b.tag == "vyre-error") return program(b);
    if (b.tag == "console") return console(b);
    constexpr std::string_view silent[] = {"sh", "cpp", "cmake", "json", "ebnf", "text", "output"};
    if (std::find(std::begin(silent), std::end(silent), b.tag) == std::end(silent))
      return fail(b.first - 1,
                  b.tag.empty() ? "a block needs a tag: vyre, vyre-error, console, sh, cpp, text …"
                                : fmt::format("there is no tag `{}`", b.tag));
    for (size_t i = b.first; i < b.first + b.count; ++i)
      if (b.tag != "cpp" && looks_like_vyre(page_.lines[i]))
        return fail(i, fmt::format("this reads like vyre, but a `{}` block is not tested", b.tag));
  }

  /// Code that is indented instead of fenced would not be tested.
  void check_prose() {
    std::vector<bool> fenced(page_.lines.size(), false);
    for (const MarkdownBlock& b : page_.blocks)
      std::fill_n(fenced.begin() + static_cast<long>(b.first), b.count, true);
    for (size_t i = 0; i < page_.lines.size(); ++i)
      if (!fenced[i] && page_.lines[i].starts_with("  ") && looks_like_vyre(page_.lines[i]))
        fail(i, "this reads like vyre: put it into a ```vyre block");
  }

  void program(const MarkdownBlock& b) {
    TestFile test;
    const std::string name = name_of(page_.lines, b);
    test.path = name.empty() ? "block.vyre" : name;
    // Empty lines before it, so that diagnostics have the line numbers of the page.
    test.lines.assign(b.first, "");
    const auto begin = page_.lines.begin() + static_cast<long>(b.first);
    test.lines.insert(test.lines.end(), begin, begin + static_cast<long>(b.count));
    test.text = join_lines(test.lines);
    if (!name.empty())
      if (const auto error =
              write_file(name, join_lines({begin, begin + static_cast<long>(b.count)})))
        fail(b.first, error->what);
    if (b.tag == "vyre-error") return take(b, test_reject(test));
    take(b, test_check_clean(test));
    const auto runs = [](const std::string& line) { return after_key(line, "run").has_value(); };
    if (std::any_of(test.lines.begin(), test.lines.end(), runs)) take(b, test_run(test));
  }

  void take(const MarkdownBlock& b, Verdict verdict) {
    for (std::string& f : verdict.failures)
      verdict_.fail(f.starts_with("line ") ? std::move(f)
                                           : fmt::format("line {}: {}", b.first + 1, f));
    if (!verdict.blessed) return;
    Lines lines = read_markdown(*verdict.blessed).lines;
    lines.erase(lines.begin(), lines.begin() + static_cast<long>(b.first));
    changes_.push_back({b.first, b.count, std::move(lines)});
  }

  void console(const MarkdownBlock& b) {
    const size_t end = b.first + b.count;
    if (b.count == 0 || !page_.lines[b.first].starts_with("$ "))
      return fail(b.first, "a console block begins with `$ vyre …`");
    for (size_t at = b.first; at < end;) {
      const size_t here = at;
      std::string command = page_.lines[at++].substr(2);
      while (command.ends_with('\\') && at < end) {
        command.pop_back();
        command += page_.lines[at++];
      }
      const size_t output = at;
      while (at < end && !page_.lines[at].starts_with("$ ")) ++at;
      if (!command.starts_with("vyre "))
        fail(here, "only `$ vyre …` is run; a command that is not run stands in a ```sh block");
      else
        run_command(here, command, output, at - output);
    }
  }

  void run_command(size_t here, const std::string& command, size_t output, size_t count) {
    ProcessOptions options;
    options.timeout = std::chrono::minutes(1);
    const std::string line = "PATH=" VYRE_BIN_DIR ":$PATH; export PATH; exec 2>&1; " + command;
    const ProcessResult result = run_process({"/bin/sh", "-c", line}, options);
    if (result.start_error != 0 || result.timed_out || result.signal != 0)
      return fail(here, "the command did not run to its end");
    const Lines got = read_markdown(result.out).lines;
    const std::span<const std::string> expected(page_.lines.data() + output, count);
    if (matches_from(expected, got)) return;
    fail(here, "the command says:\n" + join_lines(got));
    changes_.push_back({output, count, got});
  }

  void check_links() {
    const fs::path folder = fs::path(path_).parent_path();
    for (const MarkdownLink& link : page_.links) {
      const fs::path target = link.file.empty() ? fs::path(path_) : folder / link.file;
      std::error_code error;
      if (!fs::exists(target, error)) {
        fail(link.line, fmt::format("there is no `{}`", target.string()));
        continue;
      }
      if (link.anchor.empty() || target.extension() != ".md") continue;
      const auto anchors = link.file.empty()
                               ? page_.anchors
                               : read_markdown(read_file(target.string()).bytes).anchors;
      if (std::find(anchors.begin(), anchors.end(), link.anchor) == anchors.end())
        fail(link.line, fmt::format("`{}` has no heading #{}", target.string(), link.anchor));
    }
  }

  void bless() {
    if (changes_.empty()) return;
    Lines lines = page_.lines;
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const Change& a, const Change& b) { return a.first > b.first; });
    for (const Change& c : changes_) {
      const auto at = lines.begin() + static_cast<long>(c.first);
      lines.insert(lines.erase(at, at + static_cast<long>(c.count)), c.lines.begin(),
                   c.lines.end());
    }
    verdict_.blessed = join_lines(lines);
  }

  struct Change {
    size_t first, count;
    Lines lines;
  };

  std::string path_;
  MarkdownPage page_;
  Verdict verdict_;
  std::vector<Change> changes_;
};

}  // namespace

Verdict test_document(const std::string& path) {
  const FileContents contents = read_file(path);
  Verdict verdict;
  if (!contents) {
    verdict.fail(contents.error->what);
    return verdict;
  }
  return DocumentTest(path, read_markdown(contents.bytes)).run();
}

}  // namespace vyre::runner
