#pragma once

// The machine and the compilers, for the table's head.

#include <string>
#include <utility>
#include <vector>

namespace bench {

/// ("cpu", "AMD EPYC …"), ("cores", "2"), …
std::vector<std::pair<std::string, std::string>> machine();
/// Runnable tasks over the last minute.
double load_average();

}  // namespace bench
