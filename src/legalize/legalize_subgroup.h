#pragma once

// Reductions and scans of subgroups by shuffles, in the order that the specification defines.

#include <functional>

#include "legalize/term_builder.h"

namespace vyre::emit_exact {

bool is_reduction(Opcode code);  // with the scan
bool is_shuffle(Opcode code);    // with the broadcast

/// `step` is one scalar operation of the reduction. `halves`: 64-bit values are shuffled as two.
using Step = std::function<Term(const Term&, const Term&)>;
Term reduce_by_shuffles(TermBuilder& c, Opcode code, const Term& value, uint32_t subgroup,
                        bool halves, const Step& step);

/// A shuffle of a 64-bit value as two of 32 bits.
Term shuffle_by_halves(TermBuilder& c, Opcode code, const Term& value, const Term& lane);

}  // namespace vyre::emit_exact
