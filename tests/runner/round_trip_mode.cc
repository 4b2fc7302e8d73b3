// Mode round-trip: text and wire form hold the same program.

#include <fmt/format.h>

#include <algorithm>

#include "tests/runner/test_file.h"
#include "tests/runner/transport_mode.h"
#include "text/print.h"
#include "wire/fingerprint.h"
#include "wire/wire.h"

namespace vyre::runner {
namespace {

std::string line_at(std::string_view text, size_t at) {
  const size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  return std::string(text.substr(begin, text.find('\n', begin) - begin));
}

/// Returns the first line at which two texts differ.
std::string first_difference(std::string_view a, std::string_view b) {
  const auto at =
      static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  const auto line = 1 + std::count(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  return fmt::format("line {}:\n- {}\n+ {}", line, line_at(a, at),
                     line_at(b, std::min(at, b.size())));
}

void expect_same(const Module& original, const Result<Module>& other, const std::string& how,
                 Verdict& verdict) {
  if (!other)
    return verdict.fail(
        fmt::format("{}: the result cannot be read:\n{}", how, brief(other.errors())));
  const std::string before = print(original);
  const std::string after = print(*other);
  if (before != after)
    verdict.fail(
        fmt::format("{}: printed again it differs at {}", how, first_difference(before, after)));
  if (fingerprint(original) != fingerprint(*other))
    verdict.fail(fmt::format("{}: the fingerprint was {} and is {}", how,
                             fingerprint(original).to_hex(), fingerprint(*other).to_hex()));
}

}  // namespace

Verdict test_round_trip(const TestFile& test) {
  Verdict verdict;
  const auto loaded = cli::load_module_bytes(test.text, test.path, test.load);
  if (!loaded.module) {
    verdict.fail("the file has errors:\n" + brief(loaded.diagnostics));
    return verdict;
  }
  expect_same(*loaded.module, through_text(*loaded.module), "print and parse", verdict);
  const auto decoded = through_wire(*loaded.module);
  expect_same(*loaded.module, decoded, "encode and decode", verdict);
  if (decoded && encode(*decoded) != encode(*loaded.module))
    verdict.fail("encode and decode: encoded again the bytes differ");
  return verdict;
}

}  // namespace vyre::runner
