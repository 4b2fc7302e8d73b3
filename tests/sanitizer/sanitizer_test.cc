// The sanitizer where text tests cannot reach: programs that the checker refuses, limits, and
// random programs against all pairs of accesses.

#include "sanitizer/sanitizer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "interp/interp_machine.h"
#include "sanitizer/knowledge.h"
#include "text/parse.h"

namespace vyre::interp {
namespace {

/// Parsed, but not checked.
Module parsed(const std::string& text) {
  ParseOutcome r = parse(text, {});
  EXPECT_TRUE(r.module) << render(r.diagnostics, r.sources);
  return std::move(*r.module);
}

std::vector<Options> schedules() {
  std::vector<Options> list(4);
  list[1].schedule = Schedule::Reverse;
  list[2].schedule = list[3].schedule = Schedule::Random;
  list[3].seed = 5;
  return list;
}

size_t count(const Diagnostics& list, Code code) {
  return static_cast<size_t>(
      std::count_if(list.begin(), list.end(), [&](const Diagnostic& d) { return d.code == code; }));
}

TEST(Sanitizer, barrier_that_half_of_a_workgroup_passes_is_a_mismatch) {
  const Module m = parsed(
      "kernel k(y: out u32[8]) workgroup(8) grid(8) {\n"
      "  if local_id.x < 4 { barrier workgroup }\n"
      "  y[local_id.x] = 1\n"
      "}\n");
  for (const Options& options : schedules()) {
    const Sanitized s = sanitize(m.kernels[0], {}, options);
    ASSERT_EQ(s.findings.size(), 1u) << render(s.findings, {});
    EXPECT_EQ(s.findings[0].code, Code::BarrierMismatch);
    EXPECT_EQ(s.findings[0].place.line, 2u);
    EXPECT_NE(
        s.findings[0].message.find("invocation (0, 0, 0) waits at this workgroup barrier, but "
                                   "invocation (4, 0, 0) does not"),
        std::string::npos)
        << s.findings[0].message;
  }
}

TEST(Sanitizer, subgroup_barrier_is_for_its_subgroup_alone) {
  const Module m = parsed(
      "kernel k(y: out u32[8]) workgroup(8) grid(8) subgroup(4) {\n"
      "  if local_id.x < 4 { barrier subgroup }\n"
      "  if local_id.x < 6 { barrier subgroup }\n"
      "  y[local_id.x] = 1\n"
      "}\n");
  const Sanitized s = sanitize(m.kernels[0], {});
  ASSERT_EQ(s.findings.size(), 1u) << render(s.findings, {});
  EXPECT_EQ(s.findings[0].place.line, 3u);
}

TEST(Sanitizer, grid_barrier_that_a_workgroup_passes_by_is_a_mismatch) {
  const Module m = parsed(
      "kernel k(y: out u32[600]) workgroup(300) grid(600) {\n"
      "  shared t: u32[1]\n"
      "  if workgroup_id.x == 0 { barrier grid }\n"
      "  y[global_id.x] = t[0]\n"
      "}\n");
  const Sanitized s = sanitize(m.kernels[0], {});
  EXPECT_EQ(count(s.findings, Code::BarrierMismatch), 1u) << render(s.findings, {});
}

TEST(Sanitizer, lanes_that_returned_are_not_waited_for) {
  const Module m = parsed(
      "kernel k(y: out u32[8]) workgroup(8) grid(8) {\n"
      "  if local_id.x >= 4 { return }\n"
      "  barrier workgroup\n"
      "  y[local_id.x] = 1\n"
      "}\n");
  EXPECT_TRUE(sanitize(m.kernels[0], {}).findings.empty());
}

TEST(Sanitizer, shadow_memory_counts_against_the_limit) {
  const Module m =
      parsed("kernel k(y: out u8[100000]) workgroup(64) grid(100000) { y[global_id.x] = 1 }\n");
  Options options;
  options.memory_limit = 1 << 20;  // enough to run, not to remember every byte
  EXPECT_TRUE(run(m.kernels[0], {}, options));
  const Sanitized s = sanitize(m.kernels[0], {}, options);
  ASSERT_EQ(s.errors.size(), 1u);
  EXPECT_EQ(s.errors[0].code, Code::MemoryLimitExceeded);
  EXPECT_NE(s.errors[0].message.find("the sanitizer's"), std::string::npos) << s.errors[0].message;
  options.memory_limit = 64 << 20;
  EXPECT_TRUE(sanitize(m.kernels[0], {}, options).errors.empty());
}

TEST(Sanitizer, memory_of_a_call_is_given_back) {
  const Module m = parsed(
      "kernel k(x: inout u32[64], t: scratch u32[4096]) workgroup(64) grid(64) {\n"
      "  shared s: u32[64]\n"
      "  for i in 0..64 { t[local_id.x * 64 + i] = 1 }\n"
      "  s[local_id.x] = x[local_id.x]\n"
      "  x[local_id.x] = s[local_id.x]\n"
      "}\n"
      "graph g(x: inout u32[64]) { repeat 200 { call k(x) } }\n");
  Options options;
  options.memory_limit = 2 << 20;
  GraphInputs in;
  in.data = {std::vector<std::byte>(256)};
  const Sanitized s = sanitize(m, m.graphs[0], in, options);
  EXPECT_TRUE(s.errors.empty()) << render(s.errors, {});
}

TEST(Sanitizer, more_than_2_to_the_40_invocations_are_refused) {
  const Module m = parsed("kernel k(y: out u32[1]) workgroup(1) { y[0] = 1 }\n");
  LaunchInputs in;
  in.grid = {4000000000, 4000, 1};
  const Sanitized s = sanitize(m.kernels[0], in);
  ASSERT_EQ(s.errors.size(), 1u);
  EXPECT_EQ(s.errors[0].code, Code::TooLargeToSanitize);
}

TEST(Sanitizer, time_limit_holds_in_the_middle_of_long_lists) {
  // 1024 lanes read one element from many lines: every access looks at all that came before.
  std::string text =
      "kernel k(x: inout u32[1], f: scratch u32[1], y: out u32[1024]) workgroup(1024) grid(1024) "
      "{\n"
      "  var s: u32 = atomic_load(f[0], acq_rel)\n"
      "  if s == 1 { x[0] = 1 }\n";
  for (int i = 0; i < 200; ++i) text += "  s += x[0]\n";
  text += "  y[local_id.x] = s\n}\n";
  const Module m = parsed(text);
  LaunchInputs in;
  in.data = {std::vector<std::byte>(4)};
  Options options;
  options.time_limit = 0.2;
  const Sanitized s = sanitize(m.kernels[0], in, options);
  ASSERT_EQ(s.errors.size(), 1u);
  EXPECT_EQ(s.errors[0].code, Code::TimeLimitExceeded);
}

TEST(Knowledge, is_a_vector_clock) {
  KnowledgeMemory memory;
  {
    Random random(3);
    std::vector<Knowledge> known(6);
    std::vector<std::map<uint64_t, uint64_t>> expected(6);
    for (uint64_t step = 1; step <= 4000; ++step) {
      const size_t a = random.next() % 6, b = random.next() % 6;
      if (random.next() % 3 != 0) {
        const uint64_t unit = random.next() % 50;
        known[a].learn(unit, step, memory);
        expected[a][unit] = step;
      } else {
        known[a].learn(known[b], memory);
        for (const auto& [unit, tick] : expected[b])
          expected[a][unit] = std::max(expected[a][unit], tick);
      }
      if (step % 500 == 0) {
        known[b].forget();
        expected[b].clear();
      }
      for (uint64_t unit = 0; unit < 50; ++unit) {
        const auto at = expected[a].find(unit);
        ASSERT_EQ(known[a].of(unit), at == expected[a].end() ? 0 : at->second);
      }
    }
    EXPECT_GT(memory.bytes, 0u);
  }
  EXPECT_EQ(memory.bytes, 0u);
}

// ---- Random programs that synchronize by barriers, against every pair of their accesses.

struct Statement {
  enum Kind : uint8_t { Read, Write, Atomic, Subgroup, Workgroup, Grid } kind = Read;
  bool shared = false;
  uint32_t atomic = 0;             // which of `atomics`
  uint32_t modulus = 1, rest = 0;  // invocations with id % modulus == rest
  uint32_t factor = 1, plus = 0;   // element (id * factor + plus) % elements
};

constexpr uint32_t elements = 12, lanes = 8, subgroup = 4, groups = 3;

constexpr const char* atomics[] = {"atomic_add({}, 1)", "atomic_xor({}, 1)", "atomic_store({}, 1)",
                                   "atomic_store({}, 2)"};

struct Made {
  std::string text;
  std::vector<Statement> statements;  // statement i stands in line i + 3
};

Made make_program(Random& random) {
  Made made;
  made.text = fmt::format(
      "kernel k(g: inout u32[{}], y: out u32[{}]) workgroup({}) grid({}) subgroup({}) {{\n"
      "  shared s: u32[{}]; var v: u32 = 0\n",
      elements, lanes * groups, lanes, lanes * groups, subgroup, elements);
  const size_t n = 3 + random.next() % 8;
  for (size_t i = 0; i < n; ++i) {
    Statement s;
    const uint64_t kind = random.next() % 16;
    s.kind = kind < 4    ? Statement::Read
             : kind < 8  ? Statement::Write
             : kind < 12 ? Statement::Atomic
             : kind < 13 ? Statement::Subgroup
             : kind < 15 ? Statement::Workgroup
                         : Statement::Grid;
    s.shared = random.next() % 2;
    s.atomic = random.next() % std::size(atomics);
    s.modulus = 1 + random.next() % 4;
    s.rest = random.next() % s.modulus;
    s.factor = random.next() % 3;
    s.plus = random.next() % elements;
    const std::string element = fmt::format("{}[(global_id.x * {} + {}) % {}]",
                                            s.shared ? 's' : 'g', s.factor, s.plus, elements);
    const std::string guard = fmt::format("if global_id.x % {} == {} ", s.modulus, s.rest);
    const char* const scopes[] = {"subgroup", "workgroup", "grid"};
    made.text += s.kind == Statement::Read    ? guard + "{ v += " + element + " }"
                 : s.kind == Statement::Write ? guard + "{ " + element + " = v }"
                 : s.kind == Statement::Atomic
                     ? guard + "{ " + fmt::format(fmt::runtime(atomics[s.atomic]), element) + " }"
                     : fmt::format("barrier {}", scopes[s.kind - Statement::Subgroup]);
    made.text += "\n";
    made.statements.push_back(s);
  }
  made.text += "  y[global_id.x] = v\n}\n";
  return made;
}

using Lines = std::set<std::pair<uint32_t, uint32_t>>;

struct Expected {
  Lines races;
  Lines orders;  // unordered atomics that do not commute
};

/// All pairs of lines, by the definitions and nothing else.
Expected all_pairs(const std::vector<Statement>& statements) {
  struct Access {
    uint32_t line, id, element, atomic;
    Statement::Kind kind;
    bool shared;
    std::array<uint32_t, 3> barriers;  // that came before, of subgroup, workgroup and grid or wider
  };
  std::vector<Access> accesses;
  for (uint32_t id = 0; id < lanes * groups; ++id) {
    std::array<uint32_t, 3> barriers = {};
    for (uint32_t i = 0; i < statements.size(); ++i) {
      const Statement& s = statements[i];
      if (s.kind >= Statement::Subgroup) {
        for (uint32_t scope = 0; scope <= uint32_t(s.kind - Statement::Subgroup); ++scope)
          ++barriers[scope];
      } else if (id % s.modulus == s.rest) {
        accesses.push_back(
            {i + 3, id, (id * s.factor + s.plus) % elements, s.atomic, s.kind, s.shared, barriers});
      }
    }
  }
  Expected expected;
  for (const Access& a : accesses)
    for (const Access& b : accesses) {
      if (a.id >= b.id || a.element != b.element || a.shared != b.shared) continue;
      const bool one_group = a.id / lanes == b.id / lanes;
      if (a.shared && !one_group) continue;
      if (a.kind == Statement::Read && b.kind == Statement::Read) continue;
      const bool atomic = a.kind == Statement::Atomic && b.kind == Statement::Atomic;
      if (atomic && a.atomic == b.atomic) continue;
      const uint32_t scope = a.id / subgroup == b.id / subgroup ? 0 : one_group ? 1 : 2;
      if (a.barriers[scope] != b.barriers[scope]) continue;
      (atomic ? expected.orders : expected.races)
          .insert({std::min(a.line, b.line), std::max(a.line, b.line)});
    }
  return expected;
}

Lines found_pairs(const Sanitized& s, Code code) {
  Lines pairs;
  for (const Diagnostic& d : s.findings) {
    if (d.code != code) continue;
    uint32_t other = d.place.line;
    for (const Note& n : d.notes)
      if (n.place.line != 0) other = n.place.line;
    pairs.insert({std::min(other, d.place.line), std::max(other, d.place.line)});
  }
  return pairs;
}

TEST(Sanitizer, finds_exactly_the_races_and_orders_of_random_programs_under_every_schedule) {
  Random random(1);
  size_t racy = 0, clean = 0, ordered = 0;
  for (int round = 0; round < 1500; ++round) {
    const Made made = make_program(random);
    const Expected expected = all_pairs(made.statements);
    (expected.races.empty() ? clean : racy) += 1;
    ordered += !expected.orders.empty();
    const Module m = parsed(made.text);
    LaunchInputs in;
    in.data = {std::vector<std::byte>(elements * 4)};
    for (const Options& options : schedules()) {
      const Sanitized s = sanitize(m.kernels[0], in, options);
      ASSERT_TRUE(s.errors.empty()) << render(s.errors, {});
      ASSERT_EQ(found_pairs(s, Code::DataRace), expected.races)
          << made.text << render(s.findings, {});
      ASSERT_EQ(found_pairs(s, Code::OrderDependent), expected.orders)
          << made.text << render(s.findings, {});
    }
  }
  EXPECT_GT(racy, 200u);
  EXPECT_GT(clean, 50u);
  EXPECT_GT(ordered, 100u);
}

}  // namespace
}  // namespace vyre::interp
