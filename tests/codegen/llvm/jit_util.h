#pragma once

// Object code in this process, for tests of parts of a kernel.

#include <cstddef>
#include <memory>
#include <set>
#include <span>
#include <string>

namespace vyre::cpu_test {

/// Functions of an object file, callable as long as this lives. C functions that it needs come from
/// the process.
class LoadedObject {
 public:
  explicit LoadedObject(std::span<const std::byte> object);
  ~LoadedObject();
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;

  void* find(const std::string& function) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Symbols that an object needs from outside.
std::set<std::string> undefined_symbols(std::span<const std::byte> object);

}  // namespace vyre::cpu_test
