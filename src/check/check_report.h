#pragma once

// Collects the diagnostics of the checks. A reporter belongs to one program; it limits the number
// that it keeps (a hostile program has millions of mistakes) and returns them in program order.

#include <cstdint>
#include <string>
#include <vector>

#include "diagnostics/diagnostic.h"
#include "ir/program.h"

namespace vyre {

class Reporter {
 public:
  explicit Reporter(const Program& program) : program_(program) {}

  /// Each adds a diagnostic with the severity of the code's row. The reference is valid until the
  /// next one; a diagnostic over the limit is dropped.
  Diagnostic& at_kernel(Code code, std::string message);
  Diagnostic& at_buffer(Code code, BufferId buffer, std::string message);
  Diagnostic& at_op(Code code, OpId op, std::string message);

  /// The source location of `loc`; none if its ids are invalid.
  Place place(LocId loc) const { return program_.place(loc); }
  Place place_of(OpId op) const { return place(program_.ops[op].loc); }

  /// Returns whether further errors are dropped: a loop over ops may stop.
  bool full() const { return errors_ >= max_kept; }
  bool has_errors() const { return errors_ > 0; }

  /// Allows chains of calls to be followed: they are short. Called when the locations are valid.
  void trust_locations() { locations_hold_ = true; }
  /// Allows the tree of blocks to be walked. Called when the structure is valid.
  void trust_tree() { tree_holds_ = true; }

  /// Returns all diagnostics, in program order: the kernel, its buffers, its ops. Leaves the
  /// reporter empty.
  Diagnostics take();

  static constexpr uint32_t max_kept = 1000;  // errors; as many warnings and notes

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
