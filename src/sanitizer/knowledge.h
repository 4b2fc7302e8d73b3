#pragma once

// What an invocation knows of others beyond barriers: of which units (an invocation, a subgroup, a
// workgroup) it has heard, by release and acquire, everything before which tick. A vector clock
// that names only those it has heard of.
//
// A value: a persistent treap whose priorities are hashes of its keys. So the same set of keys has
// the same shape, copies share their nodes, and joining two that are mostly the same visits only
// where they differ: a chain of n releases and acquires through one counter costs O(n log n), not
// n².

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
  /// Raises what is known of `unit` to `tick`.
  void learn(uint64_t unit, uint64_t tick, KnowledgeMemory& memory);
  /// Learns all that `other` knows.
  void learn(const Knowledge& other, KnowledgeMemory& memory);
  void forget() { root_ = nullptr; }

  struct Node;

 private:
  std::shared_ptr<const Node> root_;
};

}  // namespace vyre::interp
