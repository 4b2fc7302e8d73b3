#pragma once

// Writes graphs of small kernels that pass elements to each other: elementwise, in place, shifted,
// gathered, through shared memory, with early returns and traps. Many of them can be fused, and
// some only seem fusible. Internal to the generator.

#include <string>
#include <vector>

#include "generate/generate.h"
#include "generate/random.h"

namespace vyre::lab {

class ChainWriter {
 public:
  ChainWriter(Random& random, const GenerateOptions& options) : r_(random), options_(options) {}
  Generated write();

 private:
  struct Slot {
    std::string name;
    Type element = Type::U32;
    Role role = Role::In;
  };

  uint32_t input();
  uint32_t output(uint32_t other, bool& in_place);
  std::string number_of(const Slot& s, const std::string& load);
  std::string element_of(Type element, const std::string& number);
  std::string guarded(const std::string& store, const std::string& number);
  std::string body(const Slot& a, const Slot& b, const Slot& out);
  void call();

  Random& r_;
  const GenerateOptions& options_;
  std::vector<Slot> slots_;
  std::string kernels_, calls_;
  uint32_t n_kernels_ = 0;
  uint64_t width_ = 64;
};

}  // namespace vyre::lab
