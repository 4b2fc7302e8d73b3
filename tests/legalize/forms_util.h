#pragma once

// Inlines the out-of-line expansions of ops that are marked ByFunction.

#include "ir/program.h"
#include "legalize/profile.h"

namespace vyre::emit_exact {

/// How many ops stand for their long forms.
size_t marked_ops(const Program& expanded);

/// Each of them replaced by its form().
Program with_forms(const Program& expanded, const Profile& profile);

/// Removes the marks of expansions, which are not part of the IR.
Program without_marks(Program expanded);

}  // namespace vyre::emit_exact
