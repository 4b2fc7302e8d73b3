#pragma once

// Result<T>: a value, or the diagnostics that explain its absence. No exception crosses the API.

#include <cassert>
#include <utility>
#include <variant>

#include "diagnostics/diagnostic.h"

namespace vyre {

struct Ok {};

template <class T = Ok>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}  // NOLINT: implicit by design
  Result(Diagnostic d) : state_(Diagnostics{}) { std::get<1>(state_).push_back(std::move(d)); }
  Result(Diagnostics d) : state_(std::move(d)) { assert(!std::get<1>(state_).empty()); }

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }

  Diagnostics& errors() { return std::get<1>(state_); }
  const Diagnostics& errors() const { return std::get<1>(state_); }

 private:
  std::variant<T, Diagnostics> state_;
};

}  // namespace vyre
