#pragma once

// The names of the tests of the tree, for pages that cite them.

#include <set>
#include <string>

namespace vyre {

/// "Suite.case" of every test below tests/.
std::set<std::string> all_test_cases();

}  // namespace vyre
