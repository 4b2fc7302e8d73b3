#include "plan/split/slot_sharing.h"

#include <algorithm>
#include <utility>

namespace vyre::plan {

ValueId SlotSharing::find(ValueId v) const {
  ValueId root = v;
  while (parent_[root] != none) root = parent_[root];
  while (v != root) v = std::exchange(parent_[v], root);
  return root;
}

bool SlotSharing::merge(ValueId a, ValueId b) {
  a = find(a);
  b = find(b);
  if (a == b) return true;
  // A store without a load still overwrites the slot.
  const auto end = [](const LiveInterval& i) { return std::max(i.end, i.begin + 1); };
  for (const LiveInterval& x : live_[a])
    for (const LiveInterval& y : live_[b])
      if (x.begin < end(y) && y.begin < end(x)) return false;
  live_[a].insert(live_[a].end(), live_[b].begin(), live_[b].end());
  live_[b].clear();
  parent_[b] = a;
  return true;
}

}  // namespace vyre::plan
