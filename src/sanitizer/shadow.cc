#include "sanitizer/shadow.h"

namespace vyre::interp {

void Shadow::append(Cell& c, const Past& p) {
  if (c.count < 2) {
    c.past[c.count++] = p;
    return;
  }
  if (c.count == 2) {
    if (free_lists_.empty()) {
      free_lists_.push_back(static_cast<uint32_t>(lists_.size()));
      lists_.emplace_back();
      list_bytes_ += sizeof(lists_[0]) + sizeof(uint32_t);
    }
    c.more = free_lists_.back();
    free_lists_.pop_back();
  }
  std::vector<Past>& list = lists_[c.more];
  const size_t before = list.capacity();
  list.push_back(p);
  list_bytes_ += (list.capacity() - before) * sizeof(Past);
  ++c.count;
}

void Shadow::shrink(Cell& c, uint32_t n) {
  if (c.count > 2) {
    lists_[c.more].resize(n > 2 ? n - 2 : 0);
    if (n <= 2) free_lists_.push_back(c.more);
  }
  c.count = n;
}

}  // namespace vyre::interp
