#pragma once

// What the programs of this folder share and what is not the point of any of them: numbers to bytes
// and back, printing, files.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <fstream>
#include <span>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "support/diagnostic.h"
#include "wire/wire.h"

namespace vyre::example {

/// Buffers are bytes to vyre.
template <class T>
std::vector<std::byte> bytes(const std::vector<T>& values) {
  const auto b = std::as_bytes(std::span(values));
  return {b.begin(), b.end()};
}
template <class T>
std::vector<T> elements(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// As `vyre run --print name` does.
template <class T>
void print(std::string_view name, const std::vector<T>& values) {
  fmt::print("{}: {}\n", name, fmt::join(values, " "));
}

/// Shows errors as the command line does; the exit code for main.
inline int fail(const Diagnostics& errors) {
  fmt::print(stderr, "{}", render(errors, {}));
  return 1;
}

/// Writes the program in wire form to the file that the command line names, if it names one.
/// `vyre run FILE` runs it. The exit code for main.
inline int save(const Program& program, int argc, char** argv) {
  if (argc < 2) return 0;
  const std::vector<std::byte> wire = encode(program);
  std::ofstream file(argv[1], std::ios::binary);
  file.write(reinterpret_cast<const char*>(wire.data()), std::streamsize(wire.size()));
  if (file.close(), file) return 0;
  fmt::print(stderr, "cannot write {}\n", argv[1]);
  return 3;
}

}  // namespace vyre::example
