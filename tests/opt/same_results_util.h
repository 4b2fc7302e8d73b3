#pragma once

// Compares the results of a program before and after a pass, on the interpreter.

#include <gtest/gtest.h>

#include "tests/opt/some_inputs.h"
#include "text/print.h"

namespace vyre::opt {

inline void expect_same_results(const Program& before, const Program& after) {
  for_some_sizes(before, [&](uint64_t count, uint64_t scalar) {
    EXPECT_EQ(results_of(before, count, scalar), results_of(after, count, scalar))
        << count << " elements, scalars " << scalar << "\n"
        << print(before) << "\nbecame\n"
        << print(after);
  });
}

}  // namespace vyre::opt
