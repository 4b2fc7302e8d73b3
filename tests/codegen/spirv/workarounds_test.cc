// The table of workarounds: each row changes code, and docs/vulkan.md has all rows.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "codegen/spirv/spirv_workarounds.h"
#include "support/file.h"
#include "tests/codegen/spirv/spirv_util.h"

namespace vyre::emit_spirv {
namespace {

EmitOptions options_with(const WorkaroundInfo& w, bool on, bool stoppable) {
  EmitOptions options;
  options.profile = device(w.vendor == Vendor::Nvidia ? "nvidia" : "lavapipe").profile;
  options.stoppable = stoppable;
  if (w.toggle)
    options.workarounds.*w.toggle = on;
  else
    options.profile.*w.flag = !on;
  return options;
}

TEST(Workarounds, each_changes_code_of_its_program) {
  for (const WorkaroundInfo& w : all_workarounds()) {
    EXPECT_NE(w.toggle == nullptr, w.flag == nullptr) << w.name;
    for (const bool stoppable : {true, false}) {
      size_t changed = 0;
      for (const Case& c : all_cases()) {
        if (!c.name.starts_with(fmt::format("{}:", w.test))) continue;
        const auto on = emit_or_fail(*c.program, options_with(w, true, stoppable), c.name);
        const auto off = emit_or_fail(*c.program, options_with(w, false, stoppable), c.name);
        changed += on.words != off.words;
        if (can_validate()) {
          EXPECT_EQ(validate(off.words), "") << w.name << ", " << c.name;
        }
      }
      EXPECT_GT(changed, 0u) << w.name << " changes no kernel of " << w.test;
    }
  }
}

TEST(Workarounds, page_has_the_table) {
  std::string table =
      "| workaround | driver | symptom | applied | program |\n|---|---|---|---|---|\n";
  for (const WorkaroundInfo& w : all_workarounds())
    table += fmt::format("| `{}` | {} | {} | {} | [{}](../{}) |\n", w.name, driver_of(w.vendor),
                         w.symptom,
                         w.toggle               ? "to all devices"
                         : w.found_by_self_test ? "where the self-test finds it"
                                                : "by the driver's name",
                         w.test.substr(w.test.rfind('/') + 1), w.test);
  const std::string path = VYRE_SOURCE_DIR "/docs/vulkan.md";
  std::string page = read_file(path).bytes;
  constexpr std::string_view mark = "<!-- workarounds -->\n";
  const size_t begin = page.find(mark);
  ASSERT_NE(begin, page.npos);
  const size_t from = begin + mark.size(), to = page.find("\n\n", from) + 1;
  if (std::getenv("VYRE_BLESS")) {
    page.replace(from, to - from, table);
    EXPECT_FALSE(write_file(path, page));
  }
  EXPECT_EQ(page.substr(from, table.size()), table) << "VYRE_BLESS=1 writes it";
}

}  // namespace
}  // namespace vyre::emit_spirv
