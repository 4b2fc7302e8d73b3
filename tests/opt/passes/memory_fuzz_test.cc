// labels: slow
// Programs with many stores, loads and loops over few elements, for the passes that move, forward
// and drop accesses. One invocation, so races cannot occur; indices are inside, outside and wrap.
// VYRE_MEMORY_PROGRAMS=20000 searches longer.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "fuzz/fuzz.h"
#include "generate/random.h"
#include "opt/pipeline.h"
#include "text/parse.h"

namespace vyre::opt {
namespace {

using lab::Random;

class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed) {}

  std::string kernel() {
    text_ =
        "kernel k(x: in u32[], n: u32, m: u32, y: inout u32[], z: out u32[len(y)], q: inout u8[]) "
        "workgroup(1) grid(1) {\n"
        "shared t: u32[20]\nvar w: u32[6]\nlet a = min(n, 40)\nlet b = m\nlet c = y[1] % 9\nvar s "
        "= 1\n";
    counters_ = {"a", "b", "c"};
    block(0, int(random_.between(4, 12)));
    return text_ + "z[0] = s\n}\n";
  }

 private:
  std::string index() {
    const std::string v = random_.pick(counters_);
    const std::string u = random_.pick(counters_);
    switch (random_.below(12)) {
      case 0:
      case 1:
      case 2: return v;
      case 3: return fmt::format("{} + {}", v, random_.below(4));
      case 4: return fmt::format("{} - {}", v, random_.below(4));
      case 5: return fmt::format("{} + {}", v, u);
      case 6: return fmt::format("{} - {}", u, v);
      case 7: return fmt::format("{} * {} + {}", v, random_.between(2, 5), u);
      case 8: return fmt::format("u64({} + {}) * 2", v, random_.below(3));
      case 9: return fmt::format("i32({}) - {}", v, random_.below(5));
      case 10: return fmt::format("u8({} + {})", v, u);
      default: return fmt::format("{}", random_.below(7));
    }
  }
  std::string place() {
    constexpr std::array<std::string_view, 7> buffers = {"y", "y", "y", "w", "w", "t", "z"};
    // Named in order: the evaluation order of arguments is unspecified.
    const std::string at = index();
    return fmt::format("{}[{}]", random_.pick(buffers), at);
  }
  std::string value() {
    switch (random_.below(5)) {
      case 0: return fmt::format("{}", random_.below(100));
      case 1: return fmt::format("x[{}]", index());
      case 2: return fmt::format("u32(q[{}])", index());
      case 3: return place();
      default: return "s";
    }
  }
  std::string condition() {
    const std::string v = random_.pick(counters_);
    switch (random_.below(5)) {
      case 0: return fmt::format("{} < len(y)", v);
      case 1: return fmt::format("{} < len(w)", v);
      case 2: return fmt::format("{} + 1 < len(x)", v);
      case 3: return fmt::format("{} == {}", v, random_.below(8));
      default: return fmt::format("s % 3 == {}", random_.below(3));
    }
  }

  void block(int depth, int statements) {
    for (int i = 0; i < statements; ++i) statement(depth);
  }

  void statement(int depth) {
    const uint64_t kind = random_.below(depth < 3 ? 16 : 9);
    if (kind < 4) {
      const std::string v = value();
      text_ += fmt::format("{} = {}\n", place(), v);
    } else if (kind < 7) {
      text_ += fmt::format("s = s * 31 + {}\n", place());
    } else if (kind == 7) {  // twice the same place
      const std::string p = place();
      text_ += fmt::format("{} = {}\n{} = {} + 1\n", p, value(), p, p);
    } else if (kind == 8) {
      constexpr std::array<std::string_view, 4> others = {"q[{0}] = u8(s)", "atomic_add(y[{0}], 3)",
                                                          "s += atomic_max(t[{0}], 9)",
                                                          "assert(s != 77, 5)"};
      const std::string at = index();
      text_ += fmt::format(fmt::runtime(random_.pick(others)), at) + "\n";
    } else if (kind < 11) {
      text_ += fmt::format("if {} {{\n", condition());
      block(depth + 1, int(random_.between(1, 3)));
      if (in_loop_ && random_.chance(15)) text_ += "break\n";
      text_ += "}\n";
      if (random_.chance(30)) {
        text_.pop_back();
        text_ += " else {\n";
        block(depth + 1, int(random_.between(1, 3)));
        text_ += "}\n";
      }
    } else if (kind < 15) {
      loop(depth);
    } else if (depth == 0) {
      text_ += "barrier workgroup\n";
    }
  }

  void loop(int depth) {
    const std::string i = fmt::format("k{}", ++loops_);
    constexpr std::array<std::string_view, 5> from = {"0", "0", "1", "c", "a"},
                                              by = {"", "", "", " step 2", " step 3"};
    constexpr std::array<std::string_view, 7> to = {"a", "a", "a + 2", "12", "c", "3", "len(w)"};
    const std::string_view step = random_.pick(by), end = random_.pick(to);
    text_ += fmt::format("for {} in {}..{}{} {{\n", i, random_.pick(from), end, step);
    counters_.push_back(i);
    const bool before = in_loop_;
    in_loop_ = true;
    block(depth + 1 + (depth > 0), int(random_.between(1, 4)));
    in_loop_ = before;
    counters_.erase(std::find(counters_.begin(), counters_.end(), i));
    text_ += "}\n";
  }

  Random random_;
  std::string text_;
  std::vector<std::string> counters_;
  bool in_loop_ = false;
  int loops_ = 0;
};

std::vector<std::byte> bytes_of(const std::vector<uint32_t>& list) {
  std::vector<std::byte> bytes(list.size() * 4);
  std::memcpy(bytes.data(), list.data(), bytes.size());
  return bytes;
}

lab::Generated program(uint64_t seed) {
  lab::Generated g;
  g.seed = seed;
  const std::string text = Writer(seed).kernel();
  ParseOutcome parsed = parse(text, {});
  EXPECT_TRUE(parsed.module) << render(parsed.diagnostics, parsed.sources) << text;
  if (!parsed.module) return g;
  g.module = std::move(*parsed.module);
  Random random(seed * 7 + 1);
  const auto list = [&](uint64_t most) {
    std::vector<uint32_t> values(random.between(0, most));
    for (uint32_t& v : values)
      v = random.chance(50) ? uint32_t(random.below(10)) : uint32_t(random.next());
    return bytes_of(values);
  };
  const uint32_t n = uint32_t(random.between(0, 30));
  const uint32_t m =
      random.pick({0u, 1u, 2u, 5u, 8u, 30u, 0xffffffffu, 0xfffffff8u, 0x80000000u, 0x7fffffffu});
  const Program& k = g.module.kernels[0];
  g.inputs.data.resize(k.buffers.size());
  g.inputs.lengths.resize(k.buffers.size());
  for (size_t i = 0; i < k.buffers.size(); ++i) {
    const std::string& name = k.buffers[i].name;
    if (name == "x" || name == "y") g.inputs.data[i] = list(40);
    if (name == "n") g.inputs.data[i] = bytes_of({n});
    if (name == "m") g.inputs.data[i] = bytes_of({m});
    if (name == "q")
      g.inputs.data[i] =
          std::vector<std::byte>(random.pick({0u, 3u, 255u, 256u, 257u, 300u}), std::byte(5));
  }
  return g;
}

uint64_t programs() {
  const char* given = std::getenv("VYRE_MEMORY_PROGRAMS");
  return given ? std::strtoull(given, nullptr, 10) : 100;
}

TEST(MemoryFuzz, optimized_programs_give_the_same_bytes) {
  const std::vector<lab::Subject> subjects = [] {
    auto list = lab::choose_subjects({"opt"});  // with the available devices
    EXPECT_TRUE(list);
    return list ? *list : std::vector<lab::Subject>{};
  }();
  uint64_t versioned = 0, forwarded = 0;
  for (uint64_t seed = 0; seed < programs() && !testing::Test::HasFailure(); ++seed) {
    const lab::Generated g = program(seed);
    if (testing::Test::HasFailure()) return;
    const lab::Verdict verdict = lab::compare(g, subjects);
    for (const lab::Mismatch& m : verdict.mismatches)
      ADD_FAILURE() << "seed " << seed << ": " << m.subject << ": " << m.what.message << "\n"
                    << Writer(seed).kernel();
    Program copy = g.module.kernels[0];
    const auto report = optimize(copy);
    ASSERT_TRUE(report);
    for (const PassRun& run : report->runs) {
      if (run.decision != PassDecision::Changed) continue;
      versioned +=
          run.pass == "eliminate_bounds_checks" && run.after.memory_ops > run.before.memory_ops;
      forwarded += run.pass == "forward_stores";
    }
  }
  // Otherwise this test would be vacuous.
  EXPECT_GT(versioned, programs() / 20);
  EXPECT_GT(forwarded, programs() / 20);
}

}  // namespace
}  // namespace vyre::opt
