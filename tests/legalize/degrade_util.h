#pragma once

// Simulates a defective device: in its programs every op that a profile calls wrong gives wrong
// results, as on real devices: subnormals read and returned as zeros, fma rounded twice, -0 and +0
// confused, quotients and roots off by some units in the last place. The output of expand() must
// not depend on these results.

#include <string>

#include "ir/program.h"
#include "legalize/profile.h"

namespace vyre::emit_exact {

Program degrade(const Program& program, const Profile& profile);

/// The first op that a device with this profile has no right to see, or "": types that it lacks,
/// and ops that may not even be used as an estimate.
std::string forbidden(const Program& program, const Profile& profile);

}  // namespace vyre::emit_exact
