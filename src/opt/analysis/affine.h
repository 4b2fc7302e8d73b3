#pragma once

// Index forms: a value as a sum  offset + Σ factor · symbol, where symbols are values that are not
// sums themselves (ids, lengths, loads, carried values …), each taken as the number that it is in
// its type.
//
// The sum is of exact integers only where `exact` holds: ranges proved that no operation of it
// wrapped. Where it does not, the form holds modulo 2^width of the value's type, which is still
// enough to tell that two values differ by a constant modulo 2^width; factors and offset are then
// the numbers closest to 0. A form has a limited number of terms; a value with more is itself a
// symbol. Runs in time linear in the number of ops.

#include <optional>
#include <vector>

#include "ir/program.h"
#include "opt/analysis/ranges.h"

namespace vyre::opt {

struct AffineTerm {
  ValueId symbol = none;
  int64_t factor = 0;
  bool operator==(const AffineTerm&) const = default;
};

struct AffineForm {
  int64_t offset = 0;
  std::vector<AffineTerm> terms;  // by symbol, factors other than 0
  bool exact = false;
  bool is_constant() const { return terms.empty(); }
  bool operator==(const AffineForm&) const = default;
};

class AffineForms {
 public:
  static constexpr size_t most_terms = 6;
  AffineForms(const Program& program, const Ranges& ranges);
  /// The form of an integer; a value of another type is a symbol.
  const AffineForm& of(ValueId v) const { return forms_[v]; }
  /// b - a if it is a constant (in exact integers if both forms are exact, else none).
  std::optional<int64_t> distance(ValueId a, ValueId b) const;

 private:
  IdMap<ValueId, AffineForm> forms_;
};

}  // namespace vyre::opt
