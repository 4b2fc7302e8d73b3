// Repeated launches are passed to the backend as one body. The interpreter is run as a backend that
// accepts bodies and as one that does not; the results must be equal.

#include <random>

#include "tests/runtime/driver_util.h"

namespace vyre::driver {
namespace {

const char* kernels = R"(
kernel scale(by: u32, x: in u32[], y: out u32[len(x)]) workgroup(32) grid(len(x)) {
  assert(x[global_id.x] != 57005, 9)
  y[global_id.x] = x[global_id.x] * by + global_id.x
}
kernel bump(by: u32, x: inout u32[]) workgroup(32) grid(len(x)) {
  assert(x[global_id.x] != 48879, 7)
  x[global_id.x] += by
}
kernel half(x: in u32[], y: out u32[len(x)]) workgroup(32) grid(len(x)) {
  if global_id.x % 2 == 0 { y[global_id.x] = x[global_id.x] }
}
kernel through(x: inout u32[], t: scratch u32[len(x)]) workgroup(32) grid(len(x)) {
  t[global_id.x] += x[global_id.x]
  x[global_id.x] = t[global_id.x] + 1
}
kernel slow(x: in u32[], y: out u32[len(x)]) workgroup(32) grid(len(x)) {
  var sum = 0
  for i in 0..3000 { sum += x[(global_id.x + i) % len(x)] }
  y[global_id.x] = sum
}
)";

constexpr uint64_t n = 40;
const SubmitOptions untimed = {.call_times = false};

/// One backend with its kernels and a few buffers.
struct Side {
  explicit Side(bool loops) {
    backend.changed.limits.loops = loops;
    OpenOptions o;
    o.use_cache = false;
    device = *Device::open(backend, 0, o);
    for (size_t i = 0; i < kernel_of.size(); ++i)
      kernel_of[i] = *device.compile(kernel(kernels, i));
    for (Buffer& b : buffers) b = *device.allocate(n * 4);
    set(0, U(n, 3));
  }
  void set(size_t i, const U& values) {
    ASSERT_TRUE(device.submit({Upload{buffers[i], in(values)}})->wait());
  }
  Command scale(uint32_t by, size_t x, size_t y) {
    return Launch{kernel_of[0], {scalar(by), buffers[x], buffers[y]}};
  }
  Command bump(uint32_t by, size_t x) { return Launch{kernel_of[1], {scalar(by), buffers[x]}}; }
  /// From the first buffer to the second and back, and on.
  std::vector<Command> chain(uint32_t by = 5, size_t length = 10) {
    std::vector<Command> all;
    for (size_t i = 0; i < length; ++i) all.push_back(scale(by, i % 2, 1 - i % 2));
    return all;
  }
  /// Returns the contents of a buffer after the run, or the errors.
  std::string run(std::vector<Command> commands, size_t result = 0,
                  const SubmitOptions& how = untimed) {
    U values(n);
    commands.push_back(Readback{buffers[result], out(values)});
    const Result<Ticket> t = device.submit(commands, how);
    if (!t) return render(t.errors(), {});
    const Result<SubmitReport> r = t->wait();
    if (!r) return render(r.errors(), {});
    std::string text = std::to_string(r->launches) + " launches:";
    for (const uint32_t v : values) text += ' ' + std::to_string(v);
    return text;
  }
  /// Bodies that the backend was given since the last call.
  int bodies() { return backend.replays.exchange(0); }

  Failing backend;
  Device device;
  std::array<Executable, 5> kernel_of;
  std::array<Buffer, 3> buffers;
};

class Sequences : public ::testing::Test {
 protected:
  /// The same on both sides, and what it was.
  template <class F>
  std::string same(const F& run) {
    const std::string wanted = run(plain_), got = run(keeping_);
    EXPECT_EQ(wanted, got);
    EXPECT_EQ(plain_.bodies(), 0);
    return got;
  }
  /// So often that it is kept.
  void learn(uint32_t by = 5) {
    for (int i = 0; i < 3; ++i) same([&](Side& s) { return s.run(s.chain(by)); });
    EXPECT_EQ(keeping_.bodies(), 2);
  }
  Side plain_{false}, keeping_{true};
};

TEST_F(Sequences, are_kept_when_they_come_again) {
  const int wanted[] = {0, 1, 1, 1};
  for (const int bodies : wanted) {
    const std::string text = same([](Side& s) { return s.run(s.chain()); });
    EXPECT_TRUE(text.starts_with("10 launches:")) << text;
    EXPECT_EQ(keeping_.bodies(), bodies);
  }
}

TEST_F(Sequences, are_not_kept_if_they_are_short_or_timed) {
  for (int i = 0; i < 4; ++i) {
    same([](Side& s) { return s.run(s.chain(5, 4)); });
    same([](Side& s) { return s.run(s.chain(), 0, {}); });
  }
  EXPECT_EQ(keeping_.bodies(), 0);
}

TEST_F(Sequences, with_scratch_memory_are_not_kept) {
  for (int i = 0; i < 4; ++i)
    same([](Side& s) {
      std::vector<Command> all = s.chain();
      all.push_back(Launch{s.kernel_of[3], {s.buffers[0]}});
      return s.run(all);
    });
  EXPECT_EQ(keeping_.bodies(), 0);
}

/// Each differs from what is kept in one thing.
TEST_F(Sequences, are_known_by_everything) {
  learn();
  const std::function<void(Side&, Launch&)> changes[] = {
      [](Side&, Launch& l) { l.arguments[0] = scalar(6u); },
      [](Side& s, Launch& l) { l.arguments[2] = s.buffers[2]; },
      [](Side&, Launch& l) { l.grid = {7, 1, 1}; },
      [](Side&, Launch& l) { l.clear_outputs = false; },
      [](Side& s, Launch& l) {
        l.executable = *s.device.compile(kernel(std::string(kernels) + "\n", 0));
      },
      [](Side& s, Launch& l) { l = {s.kernel_of[2], {s.buffers[0], s.buffers[1]}}; },
      [](Side&, Launch& l) { l.arguments.pop_back(); },
      [](Side& s, Launch& l) { std::swap(l.arguments[0], l.arguments[1] = s.buffers[0]); },
  };
  for (const auto& change : changes) {
    SCOPED_TRACE(&change - changes);
    same([&](Side& s) {
      std::vector<Command> all = s.chain();
      change(s, std::get<Launch>(all[8]));
      return s.run(all, 1);
    });
    EXPECT_EQ(keeping_.bodies(), 0);
  }
  same([](Side& s) { return s.run(s.chain()); });
  EXPECT_EQ(keeping_.bodies(), 1);
}

TEST_F(Sequences, tell_of_traps_as_others_do) {
  learn();
  for (int i = 0; i < 2; ++i) {
    U bad(n, 3);
    bad[17] = 57005;
    const std::string text = same([&](Side& s) {
      s.set(0, bad);
      return s.run(s.chain());
    });
    EXPECT_NE(text.find("scale"), std::string::npos) << text;
    EXPECT_EQ(keeping_.bodies(), 1);
    // Buffers that it could have written are undefined, as for the same launches without a body.
    const std::string undefined = same([](Side& s) { return s.run(s.chain()); });
    EXPECT_NE(undefined.find("undefined"), std::string::npos) << undefined;
    EXPECT_EQ(keeping_.bodies(), 0);
    same([](Side& s) {
      s.set(0, U(n, 3));
      return s.run(s.chain(), 1);
    });
    EXPECT_EQ(keeping_.bodies(), 1);
  }
}

TEST_F(Sequences, find_out_about_buffers_that_are_gone) {
  learn();
  same([](Side& s) {
    EXPECT_TRUE(s.device.free(s.buffers[1]));
    return s.run(s.chain());
  });
  EXPECT_EQ(keeping_.bodies(), 0);
  same([](Side& s) {
    s.buffers[1] = *s.device.allocate(n * 4);
    return s.run(s.chain());
  });
  EXPECT_EQ(keeping_.bodies(), 0) << "it has the slot of the old one, but is another";
  same([](Side& s) { return s.run(s.chain()); });
  EXPECT_EQ(keeping_.bodies(), 1);
}

TEST_F(Sequences, use_their_buffers_until_they_have_ended) {
  for (int i = 0; i < 3; ++i) {
    const std::string text = same([](Side& s) {
      const std::vector<Command> reads(10, Launch{s.kernel_of[4], {s.buffers[0], s.buffers[1]}});
      s.backend.holds = true;
      const Result<Ticket> t = s.device.submit(reads, untimed);
      EXPECT_TRUE(t);
      const std::string read = message_of(s.device.free(s.buffers[0]));
      const std::string written = message_of(s.device.free(s.buffers[1]));
      s.backend.release();
      EXPECT_TRUE(t->wait());
      return read + written;
    });
    EXPECT_NE(text.find("under way"), std::string::npos) << text;
    EXPECT_EQ(keeping_.bodies(), i > 0);
  }
}

TEST_F(Sequences, with_other_grids_are_others) {
  for (const uint64_t grid : {7, 7, 7, 8})
    same([&](Side& s) {
      std::vector<Command> all = s.chain();
      for (Command& c : all) std::get<Launch>(c).grid = {grid, 1, 1};
      return s.run(all);
    });
  EXPECT_EQ(keeping_.bodies(), 2);
}

TEST_F(Sequences, wait_for_what_they_need_and_fail_with_it) {
  learn();
  U bad(n, 3);
  bad[5] = 48879;
  const std::string text = same([&](Side& s) {
    s.set(0, bad);
    SubmitOptions other = untimed;
    other.stream = 1;
    const Result<Ticket> before = s.device.submit({s.bump(1, 0)}, other);
    EXPECT_TRUE(before);
    return s.run(s.chain());
  });
  EXPECT_NE(text.find("a submission before that writes it failed"), std::string::npos) << text;
  EXPECT_EQ(keeping_.bodies(), 1);
}

TEST_F(Sequences, may_stand_beside_other_commands) {
  for (int i = 0; i < 4; ++i)
    same([&](Side& s) {
      std::vector<Command> all = {Fill{s.buffers[0], uint8_t(i)}};
      for (const Command& c : s.chain(4)) all.push_back(c);
      all.push_back(Copy{s.buffers[2], s.buffers[0], n * 4});
      for (const Command& c : s.chain(6)) all.push_back(c);
      return s.run(all);
    });
  EXPECT_EQ(keeping_.bodies(), 6);
}

/// Launches, errors, and buffers that are defined again, by chance.
TEST_F(Sequences, do_what_single_launches_do) {
  std::mt19937 random(7);
  int bodies = 0;
  std::vector<std::vector<uint32_t>> scripts;  // a few, repeated many times
  for (int i = 0; i < 6; ++i) {
    scripts.emplace_back(8 + random() % 6);
    for (uint32_t& word : scripts.back()) word = random();
  }
  for (int round = 0; round < 200; ++round) {
    const auto& script = scripts[random() % scripts.size()];
    const bool resets = random() % 3 == 0;
    const size_t result = random() % 3;
    U start(n, random() % 50);
    if (random() % 4 == 0) start[random() % n] = random() % 2 ? 48879 : 57005;
    same([&](Side& s) {
      if (resets)
        for (size_t b = 0; b < s.buffers.size(); ++b) s.set(b, start);
      std::vector<Command> all;
      for (const uint32_t w : script) {
        const size_t x = w % 3, y = (x + 1 + w / 3 % 2) % 3;
        if (w >> 8 & 1)
          all.push_back(s.bump(w >> 16 & 15, x));
        else if (w >> 9 & 1)
          all.push_back(s.scale(w >> 16 & 15, x, y));
        else
          all.push_back(Launch{s.kernel_of[2], {s.buffers[x], s.buffers[y]}});
      }
      return s.run(all, result);
    });
    bodies += keeping_.bodies();
  }
  EXPECT_GT(bodies, 40);
}

}  // namespace
}  // namespace vyre::driver
