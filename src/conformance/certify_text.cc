// The run-mode text tests and the examples, on the device.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "conformance/certify_cases.h"
#include "support/file.h"

namespace vyre::lab {
namespace {

namespace fs = std::filesystem;

struct TextGroup {
  const char* name;
  const char* folder;
};
constexpr TextGroup groups[] = {{"features", "tests/text/features"},
                                {"text", "tests/text"},
                                {"conformance", "tests/conformance"},
                                {"examples", "examples"}};

std::vector<std::string> programs_in(const fs::path& folder) {
  std::vector<std::string> list;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error))
    if (at->path().extension() == ".vyre") list.push_back(at->path().string());
  std::sort(list.begin(), list.end());
  return list;
}

/// Paths in `=@FILE` are relative to a source tree.
std::vector<std::string> below(const std::string& root, std::vector<std::string> words) {
  for (std::string& word : words) {
    const size_t at = word.find("=@");
    if (at != word.npos && word.compare(at + 2, 1, "/") != 0 && word.compare(at + 2, 1, "-") != 0)
      word.insert(at + 2, root + "/");
  }
  return words;
}

std::string quoted(const std::string& word) {
  const bool plain =
      !word.empty() && word.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                           "_-+=@%/:.,") == word.npos;
  return plain ? word : "'" + word + "'";
}

/// Returns `vyre run FILE:name …`, to be pasted into a shell.
std::string command(const TextTest& test, const std::vector<std::string>& words,
                    const std::string& backend) {
  const bool named = !words.empty() && !words[0].starts_with('-');
  std::string text = "vyre run " + quoted(named ? test.path + ":" + words[0] : test.path);
  text += " --backend " + quoted(backend);
  for (size_t i = named; i < words.size(); ++i) text += " " + quoted(words[i]);
  for (const auto& flags : test.flags)
    for (const std::string& word : flags) text += " " + quoted(word);
  return text;
}

void certify_file(Certification& c, const std::string& root, const std::string& path) {
  FileContents contents = read_file(path);
  const std::string shown = fs::path(path).lexically_relative(root).string();
  if (!contents) {
    if (c.begins(shown)) c.failed(contents.error->what);
    return;
  }
  const TextTest test = read_text_test(path, std::move(contents.bytes));
  if (test.mode != "run") return;
  const bool slow = std::find(test.lines.begin(), test.lines.end(), "// slow") != test.lines.end();
  if (slow && c.options.quick) return;
  std::vector<std::string> failures;
  const auto blocks = read_run_blocks(test.lines, failures);
  for (const std::string& f : failures)
    if (c.begins(shown)) c.failed(f);
  for (const RunBlock& block : blocks) {
    if (!c.begins(fmt::format("{}:{}", shown, block.line + 1))) continue;
    const auto words = below(root, block.words);
    const auto run = c.options.prepare(test, words);
    // Such errors are the same for all devices; the text-test runner checks them.
    if (!run) continue;
    if (!run->only_interp.empty())
      c.skipped(run->only_interp);
    else if (block.schedule_dependent)
      c.skipped("its result depends on the order of invocations");
    else
      compare_case(c, *run, command(test, words, c.options.spec.text), &block);
  }
}

}  // namespace

void certify_text(Certification& c, const std::string& root) {
  std::vector<std::string> done;
  for (const TextGroup& g : groups) {
    c.begin_group(g.name);
    for (const std::string& path : programs_in(fs::path(root) / g.folder)) {
      if (std::find(done.begin(), done.end(), path) != done.end()) continue;
      done.push_back(path);
      certify_file(c, root, path);
    }
    c.end_group();
  }
}

}  // namespace vyre::lab
