#include "opt/passes/number_values.h"

#include <algorithm>
#include <unordered_map>

#include "opt/analysis/analysis_cache.h"
#include "opt/rewriter.h"
#include "support/hash.h"

namespace vyre::opt {
namespace {

/// The key of an op: ops with equal keys have equal results.
struct Key {
  Opcode code;
  Type type, result;
  uint64_t attr;     // of a memory op: the buffer alone, without its marks
  uint64_t version;  // of its memory
  std::vector<ValueId> operands;
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  size_t operator()(const Key& k) const {
    uint64_t h = uint64_t(k.code) | uint64_t(k.type) << 8 | uint64_t(k.result) << 16;
    const auto mix = [&](uint64_t x) { h = (h ^ x) * 0x9e3779b97f4a7c15ull, h ^= h >> 29; };
    mix(k.attr), mix(k.version);
    for (const ValueId v : k.operands) mix(v.value());
    return h;
  }
};

struct State {
  Program& p;
  Rewriter r;
  const Effects& effects;
  std::unordered_map<Key, OpId, KeyHash> table;
  std::vector<Key> added;             // in order, for leaving a scope
  IdMap<BufferId, uint64_t> version;  // by buffer
  uint64_t last_version = 0;
  /// An open block.
  struct Scope {
    size_t added;
    IdMap<BufferId, uint64_t> version_at_entry;  // of an if's then block, for the else block
  };
  std::vector<Scope> scopes;

  State(Program& program, const Effects& e)
      : p(program), r(program), effects(e), version(p.buffers.size(), 0) {}

  void touch(OpId op) {
    for (const BufferId b : version.ids())
      if (effects.may_change(op, b)) version[b] = ++last_version;
  }

  void enter(BlockId block) {
    const OpId owner = p.blocks[block].parent;
    Scope scope{added.size(), {}};
    if (owner != none) {
      const uint32_t which = block - p.op(owner).first_block;
      if (is_loop(p.op(owner).code) && which == 0) touch(owner);
      if (p.op(owner).code == Opcode::If) {
        if (which == 0)
          scope.version_at_entry = version;
        else
          version = arm_entry;
      }
    }
    scopes.push_back(std::move(scope));
  }

  IdMap<BufferId, uint64_t> arm_entry;

  void leave(BlockId block) {
    const OpId owner = p.blocks[block].parent;
    const bool is_test =
        owner != none && p.op(owner).code == Opcode::While && block == p.op(owner).first_block;
    if (is_test) return;  // the body sees its values: closed together with the body
    close();
    if (owner == none) return;
    if (p.op(owner).code == Opcode::While) close();
    const bool is_last = block + 1 == p.op(owner).first_block + p.op(owner).n_blocks;
    if (is_last) touch(owner);
  }

  void close() {
    Scope& scope = scopes.back();
    while (added.size() > scope.added) {
      table.erase(added.back());
      added.pop_back();
    }
    if (!scope.version_at_entry.empty()) arm_entry = std::move(scope.version_at_entry);
    scopes.pop_back();
  }

  void visit(OpId op) {
    const Op& o = p.op(op);
    const Effect effect = info(o.code).effect;
    if (effect != Effect::Pure && effect != Effect::Read) {
      if (!is_control(o.code)) touch(op);
      return;
    }
    Key key{o.code, o.type, p.type(p.result(op)), o.attr, 0, {}};
    if (effect == Effect::Read) {
      const BufferId buffer = p.memory(op).buffer;
      key.attr = buffer.value() | uint64_t(o.results.count) << 32;
      key.version = version[buffer];
    }
    for (uint32_t i = 0; i < o.operands.count; ++i) key.operands.push_back(r.operand(op, i));
    if (info(o.code).commutative) std::sort(key.operands.begin(), key.operands.end());
    const auto [it, is_new] = table.try_emplace(key, op);
    if (is_new) {
      added.push_back(std::move(key));
      return;
    }
    for (uint32_t i = 0; i < o.results.count; ++i)
      r.replace(p.result(op, i), p.result(it->second, i));
    r.remove(op);
  }
};

}  // namespace

Result<bool> number_values(Program& program, PassContext& context) {
  State s(program, context.facts.effects());
  walk_events(program, s);
  return s.r.finish();
}

}  // namespace vyre::opt
