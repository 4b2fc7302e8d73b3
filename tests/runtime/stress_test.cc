// labels: threads
// Several threads on one device: allocating, submitting to several streams, waiting, dropping
// tickets, freeing. For ThreadSanitizer (preset `tsan`), and for the counts at the end.

#include <thread>

#include "tests/runtime/driver_util.h"
#include "tests/runtime/graph_stress_util.h"

namespace vyre::driver {
namespace {

TEST(Stress, threads_share_a_device_its_streams_and_its_buffers) {
  Device d = open_split();
  const Executable add = *d.compile(
      kernel("kernel add_one(y: inout u32[]) workgroup(64) grid(len(y)) { y[global_id.x] += 1 }"));
  // A loop that the device counts: its submissions are driven by a thread of the stream.
  const Executable loop = *d.compile(
      kernel("kernel count(n: inout u32[1], y: inout u32[]) workgroup(64) grid(len(y)) {\n"
             " while uniform_load(n[0], grid) != 0 {\n y[global_id.x] += 1\n barrier grid\n"
             " if global_id.x == 0 { n[0] = n[0] - 1 } } }"));
  const Buffer common = *d.allocate(256);
  std::atomic<uint32_t> wrong = 0, added = 0;
  const auto stop = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
  const auto work = [&](uint32_t k) {
    for (uint32_t i = 0; std::chrono::steady_clock::now() < stop && i < 400; ++i) {
      SubmitOptions o;
      o.stream = (k + i) % 3;
      U data(64, k), n = {i % 4};
      const Result<Buffer> b = d.allocate(256), flag = d.allocate(4);
      if (!b || !flag) {
        ++wrong;
        return;
      }
      std::vector<Command> commands = {Upload{*b, in(data)}, Upload{*flag, in(n)},
                                       Launch{add, {*b}, {}, true, {}}};
      if (i % 3 == 0) commands.push_back(Launch{loop, {*flag, *b}, {}, true, {}});
      commands.push_back(Readback{*b, out(data)});
      const Result<Ticket> t = d.submit(commands, o);
      if (d.submit({Launch{add, {common}, {}, true, {}}}, o)) ++added;  // no thread waits for it
      (void)t->is_done();
      (void)t->progress();
      if (i % 5 == 0) (void)bool(d.free(*b));  // in use, perhaps
      if (i % 5 != 0 && (!t || !t->wait() || data != U(64, k + 1 + (i % 3 == 0 ? i % 4 : 0))))
        ++wrong;
      if (i % 7 == 0) d.finish();
      (void)d.memory_used();
      (void)t->wait();
      (void)bool(d.free(*b));
      (void)bool(d.free(*flag));
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t k = 0; k < 4; ++k) threads.emplace_back(work, k);
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, 0u);
  U total(64);
  ASSERT_TRUE(d.submit({Readback{common, out(total)}})->wait());
  EXPECT_EQ(total, U(64, added));
  d.finish();
  ASSERT_TRUE(d.free(common));
  EXPECT_EQ(d.memory_used(), 0u);
}

TEST(Stress, threads_share_graphs) { EXPECT_EQ(share_graphs(open_split(), 4, 40), 0u); }

TEST(Stress, several_threads_wait_for_one_ticket) {
  Device d = open();
  const Executable add = *d.compile(
      kernel("kernel add_one(y: inout u32[]) workgroup(64) grid(len(y)) { y[global_id.x] += 1 }"));
  const Buffer b = *d.allocate(4096);
  for (int i = 0; i < 20; ++i) {
    U data(1024);
    const Ticket t = *d.submit({Launch{add, {b}, {}, true, {}}, Readback{b, out(data)}});
    std::vector<std::thread> threads;
    std::atomic<int> good = 0;
    for (int k = 0; k < 3; ++k) threads.emplace_back([&] { good += bool(t.wait()); });
    for (auto& w : threads) w.join();
    EXPECT_EQ(good, 3);
    EXPECT_EQ(data[1023], uint32_t(i + 1));
  }
}

TEST(Stress, a_long_chain_of_submissions_that_nobody_waits_for) {
  Ticket last;
  U data(64);
  {
    Device d = open();
    const Executable add = *d.compile(kernel(
        "kernel add_one(y: inout u32[]) workgroup(64) grid(len(y)) { y[global_id.x] += 1 }"));
    const Buffer b = *d.allocate(256);
    for (int i = 0; i < 20'000; ++i) ASSERT_TRUE(d.submit({Launch{add, {b}, {}, true, {}}}));
    last = *d.submit({Readback{b, out(data)}});
  }
  ASSERT_TRUE(last.wait());
  EXPECT_EQ(data, U(64, 20'000));
}

}  // namespace
}  // namespace vyre::driver
