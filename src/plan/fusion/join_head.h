#pragma once

// The head of a joined program: its parameters, arrays, tables and sizes. Internal to joins.

#include <map>
#include <optional>

#include "ir/ssa_builder.h"
#include "plan/fusion/join_programs.h"

namespace vyre::plan {

/// Where the length of a buffer that is gone comes from.
struct GoneCount {
  FormulaId formula = no_formula;
  uint32_t scalar = none;  // the parameter that holds it, if the formula says no more
};

class JoinedHead {
 public:
  JoinedHead(SsaBuilder& builder, const std::vector<uint32_t>& gone) : b_(builder), gone_(gone) {}

  /// Parameters of a part, then (second call) its arrays and tables, which must come last.
  void add_parameters(const Part& part);
  void add_arrays(const Part& part);
  uint32_t add_private(std::string_view name, Type element, uint64_t count);
  /// A scalar that tells something about a launch.
  uint32_t add_scalar(std::string name, Type type, const JoinedParameter& origin);
  /// The grid of a part becomes that of the program.
  void take_grid(const Part& part);

  bool is_gone(uint32_t memory) const;
  /// The length of a memory that is gone, as a u64.
  ValueId count_of(uint32_t memory);
  /// By buffer of the part: that of the program, none if it is gone.
  const std::vector<uint32_t>& buffers_of(const Part& part) const { return numbers_.at(&part); }
  const std::vector<uint32_t>& memory() const { return memory_; }
  const std::vector<JoinedParameter>& origin() const { return origin_; }
  std::string unique(std::string_view name);

 private:
  FormulaId translate(const Part& part, FormulaId id);
  FormulaId gone_length(uint32_t memory);
  void add_gone(const Part& part, uint32_t i);
  uint32_t add(Buffer buffer, uint32_t memory, const JoinedParameter& origin);

  SsaBuilder& b_;
  const std::vector<uint32_t>& gone_;
  std::map<const Part*, std::vector<uint32_t>> numbers_;
  std::map<uint32_t, uint32_t> by_memory_;
  std::map<uint32_t, GoneCount> counts_;
  std::vector<uint32_t> memory_;
  std::vector<JoinedParameter> origin_;
};

}  // namespace vyre::plan
