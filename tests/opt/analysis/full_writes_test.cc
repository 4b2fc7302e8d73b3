#include "opt/analysis/full_writes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "interp/interp.h"
#include "text/parse.h"

namespace vyre::opt {
namespace {

struct Size {
  uint32_t w = 0, h = 0;
  uint64_t x = 0, y = 0;  // elements
  std::array<uint64_t, 3> grid = {1, 1, 1};
};

/// A kernel with this body, which stores other numbers than 0 to `y`.
class Kernel {
 public:
  explicit Kernel(const std::string& body, const std::string& workgroup = "64") {
    const std::string source = "kernel k(w: u32, h: u32, x: in u8[], y: out u8[]) workgroup(" +
                               workgroup + ") {\n" + body + "\n}\n";
    const ParseOutcome r = parse(source);
    EXPECT_TRUE(r.module) << render(r.diagnostics, r.sources);
    program_ = r.module->kernels[0];
    writes_ = FullWrites(program_);
  }

  /// True if the launch is proved to overwrite `y`. It is then seen to do so.
  bool covers(const Size& s) const {
    LaunchInputs in;
    in.data = {bytes_of(s.w), bytes_of(s.h), std::vector<std::byte>(s.x, std::byte{1}),
               std::nullopt};
    in.lengths = {std::nullopt, std::nullopt, std::nullopt, s.y};
    in.grid = s.grid;
    const auto run = interp::run(program_, in);
    if (!run) {
      ADD_FAILURE() << render(run.errors(), {});
      return false;
    }
    const auto& y = run->buffers[3];
    const bool full = std::count(y.begin(), y.end(), std::byte{0}) == 0;
    const uint64_t scalars[] = {s.w, s.h, 0, 0};
    const bool proved = writes_.covers(BufferId(3), run->shape, scalars);
    EXPECT_TRUE(full || !proved) << s.w << " x " << s.h << ", " << s.y << " elements, grid "
                                 << s.grid[0] << " " << s.grid[1] << " " << s.grid[2];
    return proved;
  }

 private:
  static std::vector<std::byte> bytes_of(uint32_t v) {
    std::vector<std::byte> b(4);
    std::memcpy(b.data(), &v, 4);
    return b;
  }
  Program program_;
  FullWrites writes_;
};

bool is_full(const std::string& body) { return Kernel(body).covers({7, 3, 100, 100, {100, 1, 1}}); }

TEST(full_writes, a_store_that_every_invocation_gets_to) {
  EXPECT_TRUE(is_full("y[global_id.x] = 1"));
  EXPECT_TRUE(is_full("let i = workgroup_id.x * 64 + local_id.x\ny[i] = x[i] + 1"));
  EXPECT_TRUE(is_full("region \"a\" { let v = x[global_id.x] + 1\n y[global_id.x] = v }"));
  EXPECT_TRUE(is_full(
      "assert(x[0] != 3, 1)\ny[global_id.x] = 1"));  // outputs of a failed launch are not visible
  EXPECT_TRUE(is_full("y[global_id.x] = 1\ny[global_id.x] = y[global_id.x] + y[0]"));
  EXPECT_TRUE(is_full("if x[0] > 3 { y[global_id.x] = 0 }\ny[global_id.x + 0] = 1"));
}

TEST(full_writes, not_if_something_is_left_out_or_looked_at_before) {
  EXPECT_FALSE(is_full(""));
  EXPECT_FALSE(is_full("if global_id.x < len(y) - 1 { y[global_id.x] = 1 }"));
  EXPECT_FALSE(is_full("if global_id.x > 0 { y[global_id.x] = 1 }"));
  EXPECT_FALSE(is_full("y[global_id.x + 1] = 1"));
  EXPECT_FALSE(is_full("y[global_id.x * 2] = 1"));
  EXPECT_FALSE(is_full("y[u64(global_id.x) * 2] = 1"));
  EXPECT_FALSE(is_full("y[0] = 1"));
  EXPECT_FALSE(is_full("y[local_id.x] = 1"));
  EXPECT_FALSE(is_full("y[workgroup_id.x] = 1"));
  EXPECT_FALSE(is_full("if x[global_id.x] == 0 { return }\ny[global_id.x] = 1"));
  EXPECT_FALSE(is_full("y[global_id.x] += 1"));
  EXPECT_FALSE(is_full("let v = y[global_id.x + 1]\ny[global_id.x] = v + 1"));
  EXPECT_FALSE(is_full("for i in 0..x[0] { y[global_id.x] = 1 }"));
  EXPECT_FALSE(is_full("for i in 7..w { y[global_id.x] = 1 }"));
  EXPECT_FALSE(is_full("y[x[global_id.x]] = 1"));
  EXPECT_FALSE(
      is_full("for k in 0..2 { y[2 * global_id.x + k] = 1 + y[2 * global_id.x + 1 - k] }"));
  EXPECT_FALSE(is_full("for k in 0..2 { y[2 * global_id.x + k] = 1\nif x[k] == 1 { break } }"));
  EXPECT_FALSE(is_full("for k in 0..2 { if x[k] == 0 { return } }\ny[global_id.x] = 1"));
  EXPECT_FALSE(is_full("if x[0] == 0 { y[global_id.x] = 1 } else { y[global_id.x + 1] = 1 }"));
  EXPECT_FALSE(is_full("if w == 8 { y[global_id.x] = 1 }"));
  EXPECT_FALSE(is_full("if local_id.x == 1 { y[global_id.x] = 1 }"));
}

TEST(full_writes, guards_of_one_dimension) {
  EXPECT_TRUE(is_full("if global_id.x < len(y) { y[global_id.x] = 1 }"));
  EXPECT_TRUE(is_full("if len(y) <= global_id.x { return }\ny[global_id.x] = 1"));
  EXPECT_TRUE(is_full("let i = i32(global_id.x)\nif i >= 0 && i < i32(len(y)) { y[i] = 1 }"));
  EXPECT_TRUE(is_full("let i = u64(global_id.x)\nif i >= len64(y) { return }\ny[i] = 1"));
  EXPECT_TRUE(
      is_full("if !(global_id.x >= len(y)) { if x[0] == 2 { y[global_id.x] = 3 } else { "
              "y[global_id.x] = 1 } }"));
  EXPECT_TRUE(is_full("if w == 7 { y[global_id.x] = 1 }"));
  EXPECT_TRUE(is_full("y[2 * global_id.x + 1] = 2\ny[2 * global_id.x] = 1") ==
              false);  // in this order it is not seen
  EXPECT_TRUE(is_full("y[2 * global_id.x] = 1\ny[2 * global_id.x + 1] = 2"));
  EXPECT_TRUE(is_full("for k in 0..4 { if x[k] == 7 { continue } }\ny[global_id.x] = 1"));
}

/// Bodies as users write them, with the workgroup; `count` is the length of `y` that they are
/// written for.
struct Case {
  const char* workgroup;
  const char* body;
  uint64_t (*count)(const Size&);
  std::array<uint64_t, 3> (*grid)(const Size&);
};
const Case cases[] = {
    {"8, 4", "if global_id.x < w && global_id.y < h { y[global_id.y * w + global_id.x] = 1 }",
     [](const Size& s) -> uint64_t { return uint64_t{s.w} * s.h; },
     [](const Size& s) -> std::array<uint64_t, 3> { return {s.w, s.h, 1}; }},
    {"8, 4",
     "let c = global_id.x\nlet r = global_id.y\nif c >= w || r >= h { return }\nlet i = r * w + c\n"
     "if c == 0 || r == h - 1 { y[i] = 1 } else { y[i] = x[i] + 2 }",
     [](const Size& s) -> uint64_t { return uint64_t{s.w} * s.h; },
     [](const Size& s) -> std::array<uint64_t, 3> { return {s.w, s.h, 1}; }},
    {"8, 4",
     "let c = i32(global_id.x)\nlet r = i32(global_id.y)\nif c >= i32(w) || r >= i32(h) { return "
     "}\ny[r * i32(w) + c] = 1",
     [](const Size& s) -> uint64_t { return uint64_t{s.w} * s.h; },
     [](const Size& s) -> std::array<uint64_t, 3> { return {s.w, s.h, 1}; }},
    {"8, 4", "if global_id.x >= w { return }\ny[global_id.y * w + global_id.x] = 1",
     [](const Size& s) -> uint64_t { return uint64_t{s.w} * s.h; },
     [](const Size& s) -> std::array<uint64_t, 3> { return {s.w, s.h, 1}; }},
    {"8, 4", "let i = global_id.y * w + global_id.x\nif global_id.x < w && i < len(y) { y[i] = 1 }",
     [](const Size& s) -> uint64_t { return uint64_t{s.w} * s.h; },
     [](const Size& s) -> std::array<uint64_t, 3> { return {s.w, s.h, 1}; }},
    {"4, 2, 2",
     "if global_id.x < w && global_id.y < h && global_id.z < 3 {\n"
     "  y[(global_id.z * h + global_id.y) * w + global_id.x] = 1\n}",
     [](const Size& s) -> uint64_t { return uint64_t{s.w} * s.h * 3; },
     [](const Size& s) -> std::array<uint64_t, 3> { return {s.w, s.h, 3}; }},
    {"16", "if local_id.x == 0 { y[workgroup_id.x] = 1 }",
     [](const Size& s) -> uint64_t { return s.w; },
     [](const Size& s) -> std::array<uint64_t, 3> { return {s.w * 16, 1, 1}; }},
    {"16", "if local_id.x == 5 { y[workgroup_id.x] = 1 }",
     [](const Size& s) -> uint64_t { return s.w; },
     [](const Size& s) -> std::array<uint64_t, 3> { return {s.w * 16, 1, 1}; }},
    {"16", "let r = global_id.x\nif r >= h { return }\nfor c in 0..w { y[r * w + c] = 1 }",
     [](const Size& s) -> uint64_t { return uint64_t{s.w} * s.h; },
     [](const Size& s) -> std::array<uint64_t, 3> { return {s.h, 1, 1}; }},
    {"16", "for j in 0..4 { y[global_id.x * 4 + j] = 1 }",
     [](const Size& s) -> uint64_t { return uint64_t{s.w} * 4; },
     [](const Size& s) -> std::array<uint64_t, 3> { return {s.w, 1, 1}; }},
    {"8, 4",
     "let c = global_id.x\nlet r = global_id.y\nif c >= w || r >= h { return }\n"
     "if c == 0 || r == 0 || c == w - 1 { y[r * w + c] = 1\nreturn }\n"
     "if x[r] > 3 { y[r * w + c] = 2\nreturn }\nlet i = r * w + c\ny[i] = x[i] + 1",
     [](const Size& s) -> uint64_t { return uint64_t{s.w} * s.h; },
     [](const Size& s) -> std::array<uint64_t, 3> { return {s.w, s.h, 1}; }},
    {"8, 4",
     "let c = global_id.x\nlet r = global_id.y\nvar out_of_range = false\nif c >= w || r >= h { "
     "out_of_range = true }\n"
     "if !out_of_range { y[r * w + c] = 1 }",
     [](const Size& s) -> uint64_t { return uint64_t{s.w} * s.h; },
     [](const Size& s) -> std::array<uint64_t, 3> { return {s.w, s.h, 1}; }},
    {"8", "for i in global_id.x..w step num_workgroups.x * 8 { y[i] = 1 }",
     [](const Size& s) -> uint64_t { return s.w; },
     [](const Size&) -> std::array<uint64_t, 3> { return {24, 1, 1}; }},
    {"8", "var i = global_id.x\nwhile i < w { y[i] = 1\ni += num_workgroups.x * workgroup_size.x }",
     [](const Size& s) -> uint64_t { return s.w; },
     [](const Size&) -> std::array<uint64_t, 3> { return {16, 1, 1}; }},
    {"4", "var i = i32(global_id.x)\nwhile i <= i32(w) - 1 { y[i] = 1\ni = 4 + i }",
     [](const Size& s) -> uint64_t { return s.w; },
     [](const Size&) -> std::array<uint64_t, 3> { return {4, 1, 1}; }},
    {"4", "let r = workgroup_id.x\nfor c in local_id.x..w step 4 { y[r * w + c] = 1 }",
     [](const Size& s) -> uint64_t { return uint64_t{s.w} * s.h; },
     [](const Size& s) -> std::array<uint64_t, 3> { return {s.h * 4, 1, 1}; }},
    {"4", "let begin = global_id.x * h\nfor i in begin..min(begin + h, w) { y[i] = 1 }",
     [](const Size& s) -> uint64_t { return s.w; },
     [](const Size& s) -> std::array<uint64_t, 3> { return {s.w / s.h + 1, 1, 1}; }},
    {"4", "let begin = global_id.x * h\nfor k in 0..min(h, w - begin) { y[begin + k] = 1 }",
     [](const Size& s) -> uint64_t { return s.w; },
     [](const Size& s) -> std::array<uint64_t, 3> { return {s.w / s.h + 1, 1, 1}; }},
    {"4", "let begin = global_id.x * h\nif begin >= w { return }\ny[global_id.x] = 1",
     [](const Size& s) -> uint64_t { return (s.w + s.h - 1) / s.h; },
     [](const Size& s) -> std::array<uint64_t, 3> { return {(s.w + s.h - 1) / s.h, 1, 1}; }},
    {"8, 2",  // transposition by tiles of 8 by 8, four rows per invocation
     "let tc = workgroup_id.y * 8 + local_id.x\nlet tr = workgroup_id.x * 8 + local_id.y\n"
     "for j in 0..8 step 2 { if tc < h && tr + j < w { y[(tr + j) * h + tc] = 1 } }",
     [](const Size& s) -> uint64_t { return uint64_t{s.w} * s.h; },
     [](const Size& s) -> std::array<uint64_t, 3> { return {s.w, (s.h + 7) / 8 * 2, 1}; }},
};

TEST(full_writes, stores_of_several_dimensions_cover_the_buffer_they_are_written_for) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.body);
    const Kernel k(c.body, c.workgroup);
    for (const auto& [w, h] :
         {std::pair<uint32_t, uint32_t>{1, 1}, {7, 5}, {8, 4}, {9, 4}, {33, 17}, {1, 20}}) {
      Size s{w, h, 1000, 0, {}};
      s.y = c.count(s);
      s.grid = c.grid(s);
      EXPECT_TRUE(k.covers(s)) << w << " x " << h;
      ++s.y;
      k.covers(s);  // is never proved where it does not hold
    }
  }
}

TEST(full_writes, are_never_proved_of_launches_that_leave_an_element_out) {
  std::mt19937 random(1);
  const auto below = [&](uint32_t n) { return uint32_t(random() % n); };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.body);
    const Kernel k(c.body, c.workgroup);
    uint32_t proved = 0;
    for (int i = 0; i < 150; ++i) {
      const uint64_t x = below(40), y = below(60);
      const std::array<uint64_t, 3> grid = {below(24), below(12), 1 + below(4)};
      proved += k.covers({below(12), below(12), x, y, grid});
    }
    EXPECT_GT(proved, 0u);
  }
  EXPECT_FALSE(is_full("var i = global_id.x\nwhile i < w { y[i] = 1\ni += 100 }"));
  EXPECT_FALSE(
      is_full("var i = global_id.x\nwhile i < 100 { y[i] = 1\nif x[i] == 1 { break }\ni += 64 }"));
  EXPECT_FALSE(is_full("var i = global_id.x\nwhile i < 100 && x[i] == 0 { y[i] = 1\ni += 64 }"));
  EXPECT_FALSE(is_full("var i = global_id.x\nwhile i == 0 { y[i] = 1\ni += 64 }"));
  EXPECT_FALSE(is_full("for i in global_id.x..100 step 200 { y[i + 1] = 1 }"));
  EXPECT_FALSE(is_full(
      "if x[0] > 3 { y[global_id.x] = 1\nreturn }\nif x[1] > 3 { return }\ny[global_id.x] = 1"));
  EXPECT_FALSE(is_full("if x[0] == 1 { y[global_id.x + 1] = 1\nreturn }\ny[global_id.x] = 1"));
  EXPECT_FALSE(is_full(
      "var on = x[0] == 1\nif global_id.x < 99 { on = true }\nif on { y[global_id.x] = 1 }"));
  EXPECT_FALSE(is_full(
      "var on = true\nif x[0] == 1 { on = global_id.x < 99 }\nif on { y[global_id.x] = 1 }"));
  // begin + chunk wraps in the last invocation, which then stores nothing.
  const Kernel chunks(
      "let begin = global_id.x * w\nfor i in begin..min(begin + w, len(y)) { y[i] = 1 }", "1");
  EXPECT_TRUE(chunks.covers({10, 0, 0, 35, {4, 1, 1}}));
  EXPECT_FALSE(chunks.covers({0xffffffffu, 0, 0, 35, {2, 1, 1}}));
  // Row 2 starts at 2^32, which wraps to 0.
  const Kernel k(cases[0].body, cases[0].workgroup);
  EXPECT_TRUE(k.covers({0x80000000u, 4, 0, 8, {8, 8, 1}}));
  EXPECT_FALSE(k.covers({0x80000000u, 4, 0, 9, {8, 8, 1}}));
}

}  // namespace
}  // namespace vyre::opt
