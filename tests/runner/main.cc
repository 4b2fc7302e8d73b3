// vyre_text_tests [--bless] [--filter S] [-v] PATH…
// Runs the tests of files and folders; tests/README.md has their format.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "support/file.h"
#include "tests/runner/test_file.h"

namespace vyre::runner {
namespace {

namespace fs = std::filesystem;

struct Mode {
  std::string_view name;
  Verdict (*test)(const TestFile&);
};
constexpr Mode modes[] = {{"round-trip", test_round_trip},
                          {"reject", test_reject},
                          {"run", test_run},
                          {"check-clean", test_check_clean},
                          {"sanitize", test_sanitize},
                          {"plan", test_plan},
                          {"pass", test_pass},
                          {"codegen", test_codegen}};

struct Arguments {
  bool bless = false;
  bool verbose = false;
  std::string filter;
  std::vector<std::string> paths;
};

bool parse_arguments(int argc, char** argv, Arguments& a) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--bless")
      a.bless = true;
    else if (word == "-v")
      a.verbose = true;
    else if (word == "--filter" && i + 1 < argc)
      a.filter = argv[++i];
    else if (word.starts_with('-'))
      return false;
    else
      a.paths.emplace_back(word);
  }
  return !a.paths.empty();
}

bool is_document(const fs::path& path) { return path.extension() == ".md"; }

/// All .vyre files and pages, sorted. A path without any is an error: missing tests cannot fail.
bool find_tests(const Arguments& a, std::vector<std::string>& tests) {
  for (const std::string& path : a.paths) {
    std::error_code error;
    const size_t before = tests.size();
    if (fs::is_directory(path, error)) {
      for (const auto& entry : fs::recursive_directory_iterator(path))
        if (entry.is_regular_file() &&
            (entry.path().extension() == ".vyre" || is_document(entry.path())))
          tests.push_back(entry.path().string());
    } else if (fs::exists(path, error)) {
      tests.push_back(path);
    }
    if (tests.size() != before) continue;
    fmt::print(stderr, "vyre_text_tests: no .vyre or .md file in {}\n", path);
    return false;
  }
  std::erase_if(tests, [&](const std::string& t) { return t.find(a.filter) == std::string::npos; });
  std::sort(tests.begin(), tests.end());
  tests.erase(std::unique(tests.begin(), tests.end()), tests.end());
  return true;
}

Verdict run_test(const std::string& path) {
  Verdict verdict;
  try {
    if (is_document(path)) return test_document(path);
    const auto test = read_test_file(path, verdict);
    if (!test) return verdict;
    const auto* mode = std::find_if(std::begin(modes), std::end(modes),
                                    [&](const Mode& m) { return m.name == test->mode; });
    if (mode != std::end(modes)) return mode->test(*test);
    verdict.fail(fmt::format("there is no mode `{}`", test->mode));
  } catch (const std::exception& e) {
    verdict.fail(fmt::format("an exception: {}", e.what()));
  }
  return verdict;
}

void show(const std::string& path, const Verdict& verdict) {
  std::string text = "FAIL " + path + "\n";
  for (const std::string& failure : verdict.failures) {
    text += "  ";
    for (const char c : failure) text += c == '\n' ? std::string("\n    ") : std::string(1, c);
    text += '\n';
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
}

bool bless(const std::string& path, const Verdict& verdict) {
  if (!verdict.blessed) return false;
  if (const auto error = write_file(path, *verdict.blessed)) {
    fmt::print(stderr, "{}\n", error->what);
    return false;
  }
  fmt::print("blessed {}\n", path);
  return true;
}

int run_all(const Arguments& a) {
  std::vector<std::string> tests;
  if (!find_tests(a, tests)) return 1;
  size_t passed = 0, failed = 0;
  for (const std::string& path : tests) {
    if (a.verbose) {  // before the test: the last line names a crash
      fmt::print("{}\n", path);
      std::fflush(stdout);
    }
    Verdict verdict = run_test(path);
    // A blessed test must pass: a difference between schedules cannot be blessed.
    if (a.bless && !verdict.failures.empty() && bless(path, verdict)) verdict = run_test(path);
    if (verdict.failures.empty()) {
      ++passed;
    } else {
      ++failed;
      show(path, verdict);
    }
  }
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed == 0 && passed != 0 ? 0 : 1;
}

}  // namespace
}  // namespace vyre::runner

int main(int argc, char** argv) {
  vyre::runner::Arguments arguments;
  if (!vyre::runner::parse_arguments(argc, argv, arguments)) {
    fmt::print(stderr, "usage: vyre_text_tests [--bless] [--filter S] [-v] PATH...\n");
    return 2;
  }
  return vyre::runner::run_all(arguments);
}
