// labels: slow
// Command lines of random words: real commands, flags and values, in combinations that make sense
// and in ones that do not.

#include <fmt/format.h>

#include <span>

#include "generate/random.h"
#include "tests/cli/cli_util.h"

namespace vyre {
namespace {

using Words = std::vector<std::string>;
using Names = std::span<const std::string_view>;

constexpr std::string_view program = R"(
kernel saxpy(a: f32, x: in f32[], y: inout f32[len(x)]) workgroup(64) grid(len(y)) {
  y[global_id.x] = fma(a, x[global_id.x], y[global_id.x])
}
kernel endless(y: inout u32[4]) workgroup(4) grid(4) {
  while y[0] != 12345 { y[1] = y[1] + 1 }
}
graph g(a: f32, x: in f32[], y: inout f32[len(x)]) {
  repeat 3 { call saxpy(a, x, y) }
}
)";
constexpr std::string_view files[] = {"p.vyre:saxpy",
                                      "p.vyre:saxpy",
                                      "p.vyre:g",
                                      "p.vyre:endless",
                                      "p.vyre",
                                      "broken.vyre",
                                      "p.vyre:no",
                                      "missing.vyre",
                                      "data.bin",
                                      "-",
                                      ".",
                                      ""};
constexpr std::string_view devices[] = {"interp",  "interp",  "cpu", "cpu[threads=2]", "auto",
                                        "cuda:99", "interp[", "gpu", "cpu[thraeds=1]", ""};
constexpr std::string_view inputs[] = {
    "x=1,2,3", "y=10,20,30", "x=random:3",   "y=random:3:7",
    "x=",      "x",          "x=@data.bin",  "x=raw:@data.bin",
    "x=@.",    "z=1",        "x=1e999,nan,", "x=random:99999999999"};
constexpr std::string_view assignments[] = {
    "a=2", "a=2", "a=nan", "a=", "=2", "y=3", "N=8", "a=0x1_"};
constexpr std::string_view lengths[] = {"y=3", "x=3", "y=18446744073709551615", "y=-1", "a=1", "y"};
constexpr std::string_view numbers[] = {
    "1", "3", "0", "-1", "64,2,1", "1.5", "99999999999999999999", "", "x", "32", "8"};
constexpr std::string_view outputs[] = {
    "y=@out.bin", "y=@out.bin", "x=@/dev/null", "y=@missing/f", "y=@.", "y=", "y"};
constexpr std::string_view targets[] = {"llvm", "asm", "obj", "ptx", "spirv", "x86", ""};
constexpr std::string_view written[] = {"f.json", "f.html", "out.bin", "missing/f.json", "", "."};
constexpr std::string_view passes[] = {
    "none",     "fold_constants,remove_dead_code", "no_such_pass", "release", "debug", ",",
    "plan.json"};
constexpr std::string_view schedules[] = {"order", "reverse", "random:7", "random:", "sideways"};
constexpr std::string_view names[] = {"y",     "y:2", "y:-1", "z",  "",
                                      "V0502", "fma", "run",  "no", "--"};

struct Flag {
  std::string_view name;
  Names values;  // none: a switch
};
constexpr Flag flags[] = {{"--backend", devices},
                          {"--in", inputs},
                          {"--in", inputs},
                          {"--set", assignments},
                          {"--len", lengths},
                          {"--const", assignments},
                          {"--grid", numbers},
                          {"--print", names},
                          {"--out", outputs},
                          {"--target", targets},
                          {"--report", written},
                          {"--trace", written},
                          {"--profile-out", written},
                          {"--profile-in", passes},
                          {"--passes", passes},
                          {"--opt", passes},
                          {"--plan", passes},
                          {"--schedule", schedules},
                          {"--subgroup-size", numbers},
                          {"--output-limit", numbers},
                          {"--repeat", numbers},
                          {"--import-root", files},
                          {"--stop-after", numbers},
                          {"--emit-wire", written},
                          {"--verify", {}},
                          {"--json", {}},
                          {"--sanitize", {}},
                          {"--exact", {}},
                          {"--no-imports", {}},
                          {"--strict", {}},
                          {"--lines", {}},
                          {"--list", {}},
                          {"-v", {}},
                          {"--help", {}},
                          {"--no-such-flag", {}}};

/// Commands that run programs take limits, so that each ends soon; the others end by themselves.
struct Command {
  std::string_view name;
  bool has_limits = false;
};
constexpr Command commands[] = {
    {"run", true}, {"run", true}, {"run", true}, {"check", true}, {"bisect", true},
    {"plan"},      {"emit"},      {"opt"},       {"fmt"},         {"reduce"},
    {"explain"},   {"devices"},   {"cache"},     {"help"},        {"no_such_command"}};

Words random_words(lab::Random& r) {
  const Command& command = commands[r.below(std::size(commands))];
  const auto one = [&](Names list) { return std::string(list[r.below(list.size())]); };
  Words words = {std::string(command.name)};
  if (r.chance(95)) words.push_back(one(files));
  // A launch that is right in all that its program needs, half of the time.
  if (r.chance(50))
    words.insert(words.end(), {"--in", "x=1,2,3", "--in", "y=10,20,30", "--set", "a=2"});
  for (size_t n = r.below(5); n > 0; --n) {
    const Flag& flag = flags[r.below(std::size(flags))];
    words.emplace_back(flag.name);
    if (!flag.values.empty() && r.chance(97)) words.push_back(one(flag.values));
  }
  if (command.has_limits)
    words.insert(words.end(), {"--time-limit", r.chance(90) ? "1" : "nan", "--memory-limit",
                               r.chance(90) ? "64M" : "-1"});
  return words;
}

class CommandLineFuzz : public CommandLine {};

TEST_F(CommandLineFuzz, any_words_end_with_a_status_of_0_to_3) {
  file("p.vyre", std::string(program));
  file("broken.vyre", "kernel k(y: out u32[4]) workgroup(4) grid(4) { y[0] = }\n");
  file("data.bin", std::string(12, '\x3f'));
  file("plan.json", "{}");
  size_t counts[4] = {};
  for (uint64_t seed = 0; seed < 2000 && !HasFailure(); ++seed) {
    lab::Random r(seed);
    const Words words = random_words(r);
    const ProcessResult result = vyre(words, seed % 2 ? std::string(program) : "");
    const std::string line = fmt::format("seed {}: vyre '{}'", seed, fmt::join(words, "' '"));
    ASSERT_TRUE(result.exit_code >= 0 && result.exit_code <= 3)
        << line << "\nexit code " << result.exit_code << "\n"
        << result.out << result.err;
    EXPECT_FALSE(result.exit_code > 0 && result.err.empty() && result.out.empty()) << line;
    ++counts[result.exit_code];
  }
  EXPECT_GT(counts[0], 50u);
  EXPECT_GT(counts[2], 100u);
}

}  // namespace
}  // namespace vyre
