// Seeded changes of device names, through fuzz/device_name_reader.h.

#include <gtest/gtest.h>

#include "fuzz/device_name_reader.h"
#include "runtime/registry.h"
#include "tests/text/text_edits.h"

namespace vyre::driver {
namespace {

constexpr std::string_view names[] = {"auto",
                                      "cuda:1",
                                      "interp[split]",
                                      "cpu[isa=x86-64-v2,threads=1]",
                                      "interp[schedule=random:7,subgroup=8,split]",
                                      "toy[threads=4,flags=a b,quiet]",
                                      "interp[schedule=reverse],cpu[coarsen=2],cuda"};
constexpr std::string_view pieces[] = {"[",
                                       "]",
                                       ",",
                                       "=",
                                       ":",
                                       "threads=1024",
                                       "threads=",
                                       "=1",
                                       "split",
                                       "-1",
                                       "0",
                                       "08",
                                       "32",
                                       "1e9",
                                       "quiet",
                                       "random:",
                                       "|",
                                       "18446744073709551616",
                                       "\n",
                                       "\xff",
                                       " ",
                                       "cpu",
                                       "schedule=order",
                                       "flags=",
                                       "[]",
                                       "subgroup=16"};

TEST(DeviceNameFuzz, any_text_is_a_name_or_a_coded_error) {
  size_t opened = 0;
  for (const std::string_view name : names) ASSERT_EQ(check_device_name(name), "") << name;
  for (uint64_t seed = 0; seed < 20000; ++seed) {
    lab::Random r(seed);
    const std::string name = edited(std::string(names[r.below(std::size(names))]), pieces, r);
    ASSERT_EQ(check_device_name(name), "") << "seed " << seed << "\n" << name;
    if (seed % 20 != 0) continue;
    const Result<Choice> choice = choose(name);
    opened += bool(choice);
    if (!choice) {
      ASSERT_EQ(check_errors(choice.errors()), "") << "seed " << seed << "\n" << name;
    }
  }
  EXPECT_GT(opened, 10u);
}

}  // namespace
}  // namespace vyre::driver
