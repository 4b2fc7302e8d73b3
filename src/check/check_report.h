#pragma once

// Where the checks put what they find. A reporter belongs to one program; it caps what it keeps (a
// hostile program has millions of mistakes) and hands the rest out in program order.

#include <cstdint>
#include <string>
#include <vector>

#include "diagnostics/diagnostic.h"
#include "ir/program.h"

namespace vyre {

class Reporter {
 public:
  explicit Reporter(const Program& program) : program_(program) {}

  /// Each adds a diagnostic with the severity of the code's row. The reference is good until the
  /// next one; what is over the cap goes to a diagnostic that nobody sees.
  Diagnostic& at_kernel(Code code, std::string message);
  Diagnostic& at_buffer(Code code, BufferId buffer, std::string message);
  Diagnostic& at_op(Code code, OpId op, std::string message);

  /// The place of a location; none if its ids don't hold.
  Place place(LocId loc) const { return program_.place(loc); }
  Place place_of(OpId op) const { return place(program_.ops[op].loc); }

  /// Nothing more will be kept: a loop over ops may stop.
  bool full() const { return errors_ >= max_kept; }
  bool has_errors() const { return errors_ > 0; }

  /// Chains of calls may be followed: they are short. Said when the locations hold.
  void trust_locations() { locations_hold_ = true; }
  /// The tree of blocks may be walked. Said when the structure holds.
  void trust_tree() { tree_holds_ = true; }

  /// All of it, in program order: the kernel, its buffers, its ops. Leaves the reporter empty.
  Diagnostics take();

  static constexpr uint32_t max_kept = 1000;  // errors; and as many warnings and notes

 private:
  struct Entry {
    uint64_t key = 0;  // by program order
    OpId op = none;
    LocId loc = none;
    Diagnostic diagnostic;
  };
  Diagnostic& add(Code code, uint64_t key, OpId op, LocId loc, std::string message);
  void sort_by_program_order();

  const Program& program_;
  std::vector<Entry> entries_;
  uint32_t errors_ = 0;
  uint32_t others_ = 0;
  bool dropped_ = false;
  bool locations_hold_ = false;
  bool tree_holds_ = false;
  Diagnostic unseen_{};
};

}  // namespace vyre
