#pragma once

// A hash table of created ops, for reuse of equal ones. Ops of a scope are removed when it is
// closed, newest first: each is then the first of its chain, so no search is needed.

#include <vector>

#include "ir/program.h"

namespace vyre::emit_exact {

class KnownOps {
 public:
  struct Key {
    uint64_t what;  // code and type
    uint64_t attr;
    uint64_t operands[2];  // two values each, none where there are fewer
    bool operator==(const Key&) const = default;
  };
  static Key key_of(Opcode code, Type type, uint64_t attr, const ValueId (&v)[4]) {
    return {
        uint64_t(code) << 8 | uint64_t(type),
        attr,
        {uint64_t{v[0].value()} << 32 | v[1].value(), uint64_t{v[2].value()} << 32 | v[3].value()}};
  }

  KnownOps() : first_(1u << 10, none) {}

  /// The result of the op: `none`, to be set before the next call, if it is new.
  ValueId& result(const Key& key) {
    uint32_t& first = first_[slot_of(key)];
    for (uint32_t i = first; i != none; i = entries_[i].next)
      if (entries_[i].key == key) return entries_[i].result;
    entries_.push_back({key, none, first});
    first = uint32_t(entries_.size() - 1);
    if (entries_.size() > first_.size()) grow();
    return entries_.back().result;
  }

  void open() { scopes_.push_back(entries_.size()); }
  void close() {
    for (; entries_.size() > scopes_.back(); entries_.pop_back())
      first_[slot_of(entries_.back().key)] = entries_.back().next;
    scopes_.pop_back();
  }

 private:
  struct Entry {
    Key key;
    ValueId result;
    uint32_t next;  // in its chain, older
  };

  size_t slot_of(const Key& k) const {
    uint64_t h = k.what;
    for (const uint64_t part : {k.attr, k.operands[0], k.operands[1]}) {
      h = (h ^ part) * 0x9e3779b97f4a7c15ull;
      h ^= h >> 29;
    }
    return h & (first_.size() - 1);
  }
  void grow() {
    first_.assign(first_.size() * 2, none);
    for (uint32_t i = 0; i < entries_.size(); ++i) {
      uint32_t& first = first_[slot_of(entries_[i].key)];
      entries_[i].next = first;
      first = i;
    }
  }

  std::vector<uint32_t> first_;  // entry, by slot
  std::vector<Entry> entries_;
  std::vector<size_t> scopes_;
};

}  // namespace vyre::emit_exact
