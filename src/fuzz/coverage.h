#pragma once

// The contents of generated programs: operations with their types, and features. Detects a
// generator that no longer generates one of them.

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "differential/differential.h"
#include "generate/generate.h"

namespace vyre::lab {

class Coverage {
 public:
  Coverage() : pairs_(all_ops().size()) {}

  /// `expected` is the program's result, for the features of results.
  void add(const Generated& g, const Outputs* expected = nullptr);

  uint64_t programs() const { return programs_; }
  /// Occurrences of an op with a T; Type::Void for rows without one.
  uint64_t count(Opcode code, Type type) const {
    return pairs_[static_cast<size_t>(code)][static_cast<size_t>(type)];
  }
  /// Programs with a feature, by name: "loop", "workgroup barrier", "graph", …
  const std::map<std::string_view, uint64_t>& features() const { return features_; }
  /// The names that `features` can have.
  static std::vector<std::string_view> feature_names();

 private:
  uint64_t programs_ = 0;
  std::vector<std::array<uint64_t, type_count>> pairs_;
  std::map<std::string_view, uint64_t> features_;
};

}  // namespace vyre::lab
