#pragma once

// The vector clock of an invocation beyond barriers: for each unit (an invocation, a subgroup, a
// workgroup) whose releases it has acquired, the tick before which it knows everything. It has
// entries for those units only.
//
// A value type: a persistent treap whose priorities are hashes of its keys. So the same set of keys
// has the same shape, copies share their nodes, and merging two that are mostly the same visits
// only the differences: a chain of n releases and acquires through one counter costs O(n log n),
// not O(n²).

#include <cstdint>
#include <memory>

namespace vyre::interp {

/// A unit of invocations: its level and its number in the launch.
enum class Level : uint8_t { Invocation, Subgroup, Workgroup };
constexpr uint64_t unit(Level level, uint64_t number) {
  return number << 2 | static_cast<uint64_t>(level);
}

/// Bytes of all nodes that are alive.
struct KnowledgeMemory {
  uint64_t bytes = 0;
};

class Knowledge {
 public:
  bool empty() const { return root_ == nullptr; }
  /// Everything that `unit` did before this tick is known; 0: nothing.
  uint64_t of(uint64_t unit) const;
  /// Raises the entry of `unit` to `tick`.
  void learn(uint64_t unit, uint64_t tick, KnowledgeMemory& memory);
  /// Merges all entries of `other`.
  void learn(const Knowledge& other, KnowledgeMemory& memory);
  void forget() { root_ = nullptr; }

  struct Node;

 private:
  std::shared_ptr<const Node> root_;
};

}  // namespace vyre::interp
