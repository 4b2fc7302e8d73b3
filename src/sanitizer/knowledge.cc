#include "sanitizer/knowledge.h"

#include <algorithm>
#include <utility>

namespace vyre::interp {

using Tree = std::shared_ptr<const Knowledge::Node>;

struct Knowledge::Node {
  uint64_t unit;
  uint64_t tick;
  Tree left, right;
  KnowledgeMemory& memory;

  // The shared pointer's counts are allocated with the node.
  static constexpr uint64_t bytes = 96;
  Node(uint64_t u, uint64_t t, Tree l, Tree r, KnowledgeMemory& m)
      : unit(u), tick(t), left(std::move(l)), right(std::move(r)), memory(m) {
    memory.bytes += bytes;
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node() { memory.bytes -= bytes; }
};

namespace {

uint64_t priority(uint64_t unit) {
  unit *= 0x9e3779b97f4a7c15ull;
  return unit ^ unit >> 32;
}
/// Returns whether unit `a` is nearer to the root than `b`.
bool above(uint64_t a, uint64_t b) {
  const uint64_t x = priority(a), y = priority(b);
  return x != y ? x > y : a > b;
}

Tree make(uint64_t unit, uint64_t tick, Tree left, Tree right, KnowledgeMemory& memory) {
  return std::make_shared<const Knowledge::Node>(unit, tick, std::move(left), std::move(right),
                                                 memory);
}

struct Parts {
  Tree below;
  uint64_t tick;  // of the unit itself; 0 if it is absent
  Tree beyond;
};

// The depth of a treap is logarithmic for every program, because programs do not choose the
// priorities.
Parts split(const Tree& t, uint64_t unit, KnowledgeMemory& memory) {
  if (!t) return {nullptr, 0, nullptr};
  if (t->unit == unit) return {t->left, t->tick, t->right};
  if (unit < t->unit) {
    Parts p = split(t->left, unit, memory);
    p.beyond = make(t->unit, t->tick, std::move(p.beyond), t->right, memory);
    return p;
  }
  Parts p = split(t->right, unit, memory);
  p.below = make(t->unit, t->tick, t->left, std::move(p.below), memory);
  return p;
}

Tree join(const Tree& a, const Tree& b, KnowledgeMemory& memory) {
  if (a == b || !b) return a;
  if (!a) return b;
  const bool a_is_root = a->unit == b->unit || above(a->unit, b->unit);
  const Tree& root = a_is_root ? a : b;
  const Tree& other = a_is_root ? b : a;
  const Parts p = split(other, root->unit, memory);
  Tree left = join(root->left, p.below, memory);
  Tree right = join(root->right, p.beyond, memory);
  const uint64_t tick = std::max(root->tick, p.tick);
  if (tick == root->tick && left == root->left && right == root->right) return root;
  return make(root->unit, tick, std::move(left), std::move(right), memory);
}

}  // namespace

uint64_t Knowledge::of(uint64_t unit) const {
  const Node* n = root_.get();
  while (n && n->unit != unit) n = (unit < n->unit ? n->left : n->right).get();
  return n ? n->tick : 0;
}

void Knowledge::learn(uint64_t unit, uint64_t tick, KnowledgeMemory& memory) {
  if (of(unit) >= tick) return;
  root_ = join(root_, make(unit, tick, nullptr, nullptr, memory), memory);
}

void Knowledge::learn(const Knowledge& other, KnowledgeMemory& memory) {
  root_ = join(root_, other.root_, memory);
}

}  // namespace vyre::interp
