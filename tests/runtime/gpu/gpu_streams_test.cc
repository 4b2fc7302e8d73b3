// Submissions that run beside each other and beside the host.

#include <thread>

#include "tests/runtime/gpu/gpu_util.h"

namespace vyre::driver {
namespace {

class streams_on_device : public OnDevice {
 protected:
  /// One workgroup that takes a while, and only a corner of the device.
  Executable busy() {
    return compile(
        "kernel busy(n: u32, x: inout u32[]) workgroup(32) grid(32) {\n"
        "  var v = x[local_id.x]\n"
        "  for i in 0..n { v = v * 1664525 + 1013904223 }\n"
        "  x[local_id.x] = v\n"
        "}");
  }
  static U after(uint32_t n, U x) {
    for (uint32_t& v : x)
      for (uint32_t i = 0; i < n; ++i) v = v * 1664525 + 1013904223;
    return x;
  }
};

TEST_F(streams_on_device, a_submission_returns_before_it_is_done) {
  if (!is_gpu()) GTEST_SKIP() << "only times of a GPU are worth a test";
  const Executable code = busy();
  const Buffer x = buffer(U(32, 1));
  constexpr uint32_t rounds = 20'000'000;  // about 0.1 s
  launch(code, {scalar(1000u), x});
  write(x, U(32, 1));
  const auto begin = Clock::now();
  std::vector<Command> commands;
  commands.push_back(Launch{code, {scalar(rounds), x}});
  const auto ticket = device().submit(std::move(commands));
  const double submitted = seconds_since(begin);
  ASSERT_TRUE(ticket);
  const bool was_done = ticket->is_done();
  const auto report = ticket->wait();
  const double waited = seconds_since(begin);
  ASSERT_TRUE(report) << text_of(report.errors());
  EXPECT_FALSE(was_done);
  EXPECT_LT(submitted, waited / 10) << "submitting took " << submitted << " of " << waited << " s";
  EXPECT_TRUE(ticket->is_done());
  EXPECT_EQ(read(x), after(rounds, U(32, 1)));
}

TEST_F(streams_on_device, run_side_by_side) {
  if (device().info().backend == "vulkan") GTEST_SKIP() << "its streams share one queue";
  const Executable code = busy();
  const uint32_t rounds = is_gpu() ? 4'000'000 : 2000;
  std::vector<Buffer> xs;
  for (uint32_t s = 0; s < 8; ++s) xs.push_back(buffer(U(32, s)));
  const auto all = [&](bool apart) {
    std::vector<Ticket> tickets;
    const auto begin = Clock::now();
    for (uint32_t s = 0; s < 8; ++s) {
      SubmitOptions o;
      o.stream = apart ? s : 0;
      std::vector<Command> commands;
      commands.push_back(Launch{code, {scalar(rounds), xs[s]}});
      const auto t = device().submit(std::move(commands), o);
      EXPECT_TRUE(t);
      if (t) tickets.push_back(*t);
    }
    for (const Ticket& t : tickets) EXPECT_TRUE(t.wait());
    return seconds_since(begin);
  };
  all(true);  // the streams are made
  const double one_after_the_other = all(false), apart = all(true);
  for (uint32_t s = 0; s < 8; ++s) EXPECT_EQ(read(xs[s]), after(3 * rounds, U(32, s)));
  if (is_gpu()) {
    EXPECT_LT(apart, 0.6 * one_after_the_other)
        << "eight streams " << apart << " s, one " << one_after_the_other << " s";
  }
}

TEST_F(streams_on_device, share_buffers_in_order) {
  const Executable add = compile(
      "kernel add(by: u32, x: inout u32[]) workgroup(64) grid(len(x)) { x[global_id.x] = "
      "x[global_id.x] * 3 + by }");
  const Buffer x = buffer(U(5000, 1));
  std::vector<Ticket> tickets;
  uint32_t wanted = 1;
  for (uint32_t i = 0; i < 60; ++i) {
    SubmitOptions o;
    o.stream = i % 5;
    std::vector<Command> commands;
    commands.push_back(Launch{add, {scalar(i), x}});
    const auto t = device().submit(std::move(commands), o);
    ASSERT_TRUE(t);
    tickets.push_back(*t);
    wanted = wanted * 3 + i;
  }
  for (const Ticket& t : tickets) ASSERT_TRUE(t.wait());
  EXPECT_EQ(read(x), U(5000, wanted));
}

TEST_F(streams_on_device, a_thousand_submissions_before_the_first_wait) {
  const Executable add =
      compile("kernel add(x: inout u32[]) workgroup(64) grid(len(x)) { x[global_id.x] += 1 }");
  const Buffer x = buffer(U(256, 0));
  std::vector<Ticket> tickets;
  U seen(256 * 10);
  for (int i = 0; i < 1000; ++i) {
    std::vector<Command> commands;
    commands.push_back(Launch{add, {x}});
    if (i % 100 == 99)
      commands.push_back(Readback{x, out(seen).subspan(size_t(i / 100) * 1024, 1024)});
    const auto t = device().submit(std::move(commands));
    ASSERT_TRUE(t) << i;
    tickets.push_back(*t);
  }
  for (const Ticket& t : tickets) ASSERT_TRUE(t.wait());
  for (size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], (i / 256 + 1) * 100) << i;
}

TEST_F(streams_on_device, uploads_and_readbacks_of_many_sizes) {
  for (const size_t n : {size_t{1}, size_t{1000}, size_t{1} << 18, (size_t{3} << 20) + 5}) {
    SCOPED_TRACE(n);
    const U x = noise(n, 1);
    const Buffer a = buffer(n * 4), b = buffer(n * 4);
    U back(n), part(n / 2);
    submit({Upload{a, in(x)}, Copy{b, a, n * 4}, Readback{b, out(back)},
            Readback{b, out(part), (n - n / 2) * 4}});
    EXPECT_TRUE(back == x);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), x.begin() + ptrdiff_t(n - n / 2)));
  }
}

TEST_F(streams_on_device, threads_submit_as_they_like) {
  const Executable add =
      compile("kernel add(x: inout u32[]) workgroup(64) grid(len(x)) { x[global_id.x] += 1 }");
  std::vector<Buffer> xs;
  for (int i = 0; i < 4; ++i) xs.push_back(buffer(U(1000, 0)));
  std::vector<std::thread> threads;
  for (uint32_t s = 0; s < 4; ++s)
    threads.emplace_back([&, s] {
      for (int i = 0; i < 50; ++i) {
        SubmitOptions o;
        o.stream = s;
        std::vector<Command> commands;
        commands.push_back(Launch{add, {xs[s]}});
        const auto t = device().submit(std::move(commands), o);
        if (!t || (i % 10 == 9 && !t->wait())) ADD_FAILURE() << "submission " << i;
      }
    });
  for (std::thread& t : threads) t.join();
  device().finish();
  for (int s = 0; s < 4; ++s) EXPECT_EQ(read(xs[size_t(s)]), U(1000, 50));
}

}  // namespace
}  // namespace vyre::driver
