#include "check/check_report.h"

#include <algorithm>
#include <utility>

namespace vyre {

Diagnostic& Reporter::at_kernel(Code code, std::string message) {
  return add(code, 0, none, program_.loc, std::move(message));
}

Diagnostic& Reporter::at_buffer(Code code, BufferId buffer, std::string message) {
  return add(code, 1 + uint64_t{buffer.value()}, none, program_.buffers[buffer].loc,
             std::move(message));
}

Diagnostic& Reporter::at_op(Code code, OpId op, std::string message) {
  const uint64_t key = 1 + program_.buffers.size() + op.value();
  return add(code, key, op, program_.ops[op].loc, std::move(message));
}

Diagnostic& Reporter::add(Code code, uint64_t key, OpId op, LocId loc, std::string message) {
  const bool is_error = severity_of(code) == Severity::Error;
  uint32_t& kept = is_error ? errors_ : others_;
  if (kept == max_kept) {
    dropped_ = true;
    unseen_ = {};
    return unseen_;
  }
  ++kept;
  Diagnostic d = diagnose(code, place(loc), std::move(message));
  if (op != none && static_cast<size_t>(program_.ops[op].code) < all_ops().size())
    d.op = mnemonic(program_.ops[op].code);
  entries_.push_back({key, op, loc, std::move(d)});
  return entries_.back().diagnostic;
}

// Op ids follow the program text only in a compacted program, so positions come from a walk.
void Reporter::sort_by_program_order() {
  if (tree_holds_ && !entries_.empty()) {
    IdMap<OpId, uint32_t> position(program_.ops.size());
    uint32_t next = 0;
    walk(program_, [&](OpId op) { position[op] = next++; });
    for (Entry& e : entries_)
      if (e.op != none) e.key = 1 + program_.buffers.size() + position[e.op];
  }
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.key < b.key; });
}

Diagnostics Reporter::take() {
  sort_by_program_order();
  Diagnostics list;
  list.reserve(entries_.size() + 1);
  for (Entry& e : entries_) {
    if (locations_hold_) program_.add_call_notes(e.loc, e.diagnostic);
    list.push_back(std::move(e.diagnostic));
  }
  if (dropped_ || full())
    list.push_back(diagnose(Code::MoreNotShown, place(program_.loc),
                            "there is more to say about this kernel than is shown"));
  entries_.clear();
  errors_ = others_ = 0;
  dropped_ = false;
  return list;
}

}  // namespace vyre
