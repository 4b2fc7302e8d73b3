// Precompiled for the library and the command line: the headers that most sources parse. Sources still include
// what they use; a build with -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON checks that.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <bitset>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "ir/program.h"
#include "diagnostics/diagnostic.h"
#include "diagnostics/result.h"
