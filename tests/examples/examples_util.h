#pragma once

// Loads the programs of examples/ and runs them on typed vectors.

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "interp/interp.h"
#include "ir/module.h"

namespace vyre::examples {

/// Parsed and checked: an error or a warning fails the test. `constants` are those of --const.
Module load(const std::string& name, const std::map<std::string, std::string>& constants = {});

/// Bytes by parameter, none for outputs.
using Inputs = std::vector<std::optional<std::vector<std::byte>>>;
using Buffers = std::vector<std::vector<std::byte>>;

/// Runs the module's graph if it has one, else its only kernel. Buffers by parameter; all empty if
/// the run failed.
Buffers run_in_order(const Module& m, const Inputs& inputs);
/// In three orders, which must agree to the byte.
Buffers run(const Module& m, const Inputs& inputs);

template <class T>
std::vector<std::byte> bytes(const std::vector<T>& v) {
  std::vector<std::byte> b(v.size() * sizeof(T));
  if (!b.empty()) std::memcpy(b.data(), v.data(), b.size());
  return b;
}
template <class T>
std::vector<std::byte> scalar(T v) {
  return bytes(std::vector<T>{v});
}
inline std::vector<std::byte> bytes(const std::string& s) {
  return bytes(std::vector<char>(s.begin(), s.end()));
}

template <class T>
std::vector<T> elements(const std::vector<std::byte>& b) {
  std::vector<T> v(b.size() / sizeof(T));
  if (!v.empty()) std::memcpy(v.data(), b.data(), b.size());
  return v;
}

/// The same numbers every time; the high bits are the random ones.
std::vector<uint32_t> numbers(size_t n, uint32_t seed = 12345);
/// Floats of many magnitudes and both signs, none of them special.
std::vector<float> floats(size_t n, uint32_t seed = 12345);

/// None, one, around a block of 256, many blocks, and more than 256 blocks.
inline constexpr size_t sizes[] = {0, 1, 2, 255, 256, 257, 1000, 70000};

}  // namespace vyre::examples
