#include "runtime/vulkan/self_test_cases.h"

#include <fmt/format.h>

#include <cassert>

#include "runtime/vulkan/self_test_tables.h"
#include "text/parse.h"

namespace vyre::driver::vulkan {
namespace {

using emit_exact::Profile;

/// The number of corner cases paired with each other, and 10^5 random operands.
constexpr uint32_t many = 102'400;

ProfileFlag find_flag(std::string_view wanted) {
#define VYRE_FIELD(field, value, text) \
  if (wanted == #field) return &Profile::field;
  VYRE_PROFILE(VYRE_FIELD)
#undef VYRE_FIELD
  return nullptr;
}

std::vector<std::pair<ProfileFlag, std::string>> find_flags(std::string_view words) {
  std::vector<std::pair<ProfileFlag, std::string>> flags;
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    flags.emplace_back(find_flag(words.substr(0, end)), words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return flags;
}

TestGroup group_of(const Group& g) {
  std::string parameters, body = "  let i = global_id.x\n", stores;
  const std::string_view types = g.types;
  size_t at = 0;
  uint32_t inputs = 0;
  while (at < types.size()) {
    const size_t end = std::min(types.find(' ', at), types.size());
    parameters += fmt::format("{}: in {}[], ", "abc"[inputs], types.substr(at, end - at));
    body += fmt::format("  let {} = {}[i]\n", "xyz"[inputs], "abc"[inputs]);
    ++inputs;
    at = end + 1;
  }
  TestGroup made;
  made.name = g.name;
  made.needs = find_flag(g.needs);
  made.elements = many;
  for (size_t i = 0; i < g.rows.size(); ++i) {
    const Row& r = g.rows[i];
    parameters += fmt::format("{}r{}: out {}[len(a)]", i ? ", " : "", i, r.type);
    stores += fmt::format("  r{}[i] = {}\n", i, r.expression);
    made.rows.push_back({find_flags(r.flags), r.key, r.expression, BufferId(inputs + i)});
  }
  made.program = self_test_program(
      fmt::format("kernel t({}) workgroup(64) grid(len(a)) {{\n{}{}}}", parameters, body, stores));
  return made;
}

TestGroup group_of(const Whole& w) {
  TestGroup made;
  made.name = w.name;
  made.needs = find_flag(w.needs);
  made.elements = w.elements ? w.elements : many;
  made.program = self_test_program(w.source);
  for (const Row& r : w.rows)
    for (const BufferId b : made.program.buffers.ids())
      if (made.program.buffers[b].name == r.type)
        made.rows.push_back({find_flags(r.flags), r.key, r.expression, b});
  return made;
}

}  // namespace

Program self_test_program(const std::string& source) {
  ParseOutcome r = parse(source);
  assert(r.module && "a kernel of the self-test does not parse");
  return r.module ? std::move(r.module->kernels[0]) : Program{};
}

std::vector<TestGroup> self_test_groups() {
  std::vector<TestGroup> groups;
  for (const Whole& w : self_test_wholes()) groups.push_back(group_of(w));
  for (const Group& g : self_test_ops()) groups.push_back(group_of(g));
  return groups;
}

}  // namespace vyre::driver::vulkan
