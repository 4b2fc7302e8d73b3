// Decode → scan as two kernels and as one (plan/fusion/fuse_handoff.h), on a device. Usage:
// bench_handoff [bytes, default 64 MiB] [backend, default cpu].
//
// The examples hex_newlines and base64_scan, kernels and data the same, results compared first.
// Times are those of a submission with its wait; buffers are resident. CPU time is of all threads:
// what counts on a machine that is busy with other things.

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "ir/graph_launch.h"
#include "plan/fusion/fuse_handoff.h"
#include "runtime/device.h"
#include "support/file.h"
#include "text/parse.h"

namespace {

using namespace vyre;
using namespace vyre::driver;
using Memory = driver::Buffer;

constexpr int repeats = 9;

template <class T>
T must(Result<T> r) {
  if (!r) {
    fmt::print(stderr, "{}\n", render(r.errors(), {}));
    std::exit(1);
  }
  return std::move(*r);
}

double cpu_seconds() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  const auto of = [](timeval t) { return double(t.tv_sec) + double(t.tv_usec) * 1e-6; };
  return of(u.ru_utime) + of(u.ru_stime);
}

struct Times {
  std::vector<double> wall, cpu;
  void add(double w, double c) {
    wall.push_back(w);
    cpu.push_back(c);
  }
  static double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
  }
};

void measure(Device& device, std::vector<Command> commands, Times& times) {
  const auto start = std::chrono::steady_clock::now();
  const double before = cpu_seconds();
  Ticket done = must(device.submit(std::move(commands)));
  if (const auto r = done.wait(); !r) std::exit(1);
  const double cpu = cpu_seconds() - before;
  times.add(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), cpu);
}

Module load(const std::string& name) {
  const std::string path = std::string(VYRE_SOURCE_DIR) + "/examples/" + name;
  ParseOutcome parsed = parse(read_file(path).bytes);
  if (!parsed.module) std::exit(1);
  return std::move(*parsed.module);
}

uint32_t buffer_of(const Program& p, std::string_view name) {
  for (uint32_t i = 0; i < p.buffers.size(); ++i)
    if (p.buffers[i].name == name) return i;
  std::exit(1);
}

struct Bench {
  Device& device;
  const Program& producer;
  const Program& consumer;
  uint64_t elements;                    // of the buffer between them
  std::vector<Argument> before, after;  // arguments without that buffer
  std::vector<Memory> outputs;

  std::vector<std::byte> results() {
    std::vector<std::byte> all;
    for (const Memory& b : outputs) {
      std::vector<std::byte> bytes(b.bytes);
      Ticket t = must(device.submit({Readback{b, bytes}}));
      if (const auto r = t.wait(); !r) std::exit(1);
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
  }

  void run(const std::string& name, double goal) {
    const uint32_t out = buffer_of(producer, "bytes"), in = buffer_of(consumer, "bytes");
    const plan::JoinOutcome o = plan::fuse_handoff(producer, out, consumer, in);
    if (!o.joined) {
      fmt::print("{}: {}\n", name, o.why_not);
      std::exit(1);
    }
    const Memory between = must(device.allocate(elements));
    const Executable make = must(device.compile(producer)), use = must(device.compile(consumer)),
                     one = must(device.compile(o.joined->program));
    // The buffer is the last parameter of the producer and the first of the consumer.
    std::vector<Argument> first = before, second = {between}, joined;
    first.push_back(between);
    second.insert(second.end(), after.begin(), after.end());
    joined = {uint64_t{elements}, uint64_t{groups()}};
    joined.insert(joined.end(), before.begin(), before.end());
    joined.insert(joined.end(), after.begin(), after.end());
    const std::vector<Command> two = {Launch{make, first}, Launch{use, second}};
    const std::vector<Command> together = {Launch{one, joined}};
    Times apart, fused, ignored;
    measure(device, two, ignored);
    const auto expected = results();
    measure(device, together, ignored);
    if (results() != expected) {
      fmt::print("{}: results differ\n", name);
      std::exit(1);
    }
    for (int i = 0; i < repeats; ++i) {
      measure(device, two, apart);
      measure(device, together, fused);
    }
    const double wall = Times::median(apart.wall) / Times::median(fused.wall);
    const double cpu = Times::median(apart.cpu) / Times::median(fused.cpu);
    fmt::print(
        "{:14} {:9} bytes: two kernels {:7.2f} ms ({:7.2f} CPU), one {:7.2f} ms ({:7.2f} CPU), "
        "ratio {:.2f} ({:.2f} CPU)",
        name, elements, 1e3 * Times::median(apart.wall), 1e3 * Times::median(apart.cpu),
        1e3 * Times::median(fused.wall), 1e3 * Times::median(fused.cpu), wall, cpu);
    if (goal > 0) fmt::print(", goal {}: {}", goal, wall >= goal ? "met" : "MISSED");
    fmt::print("\n");
  }

  uint64_t producer_invocations = 0;
  uint64_t groups() const {
    return (producer_invocations + producer.workgroup[0] - 1) / producer.workgroup[0];
  }
};

std::vector<std::byte> letters(uint64_t n, std::string_view of) {
  std::vector<std::byte> bytes(n);
  uint64_t state = 12345;
  for (std::byte& b : bytes) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    b = std::byte(of[(state >> 40) % of.size()]);
  }
  return bytes;
}

Memory upload(Device& d, std::span<const std::byte> bytes) {
  const Memory b = must(d.allocate(bytes.size()));
  if (const auto r = must(d.submit({Upload{b, bytes}})).wait(); !r) std::exit(1);
  return b;
}

}  // namespace

int main(int argc, char** argv) {
  const uint64_t n =
      (argc > 1 ? std::strtoull(argv[1], nullptr, 10) : uint64_t{64} << 20) / 12288 * 12288;
  Device device = must(Device::open(argc > 2 ? argv[2] : "cpu"));
  {
    const Module m = load("hex_newlines.vyre");
    const Memory text = upload(device, letters(2 * n, "0123456789abcdef"));
    const Memory bits = must(device.allocate((n + 31) / 32 * 4));
    const Memory counts = must(device.allocate((n + 4095) / 4096 * 4));
    Bench b{device, m.kernels[0], m.kernels[1], n, {text}, {bits, counts}, {bits, counts}};
    b.producer_invocations = n;
    b.run("hex_newlines", 1.4);
  }
  {
    const Module m = load("base64_scan.vyre");
    const Memory text = upload(
        device,
        letters(n / 3 * 4, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"));
    const Memory word = upload(device, letters(5, "a"));
    const Memory next = must(device.allocate(6 * 256));
    const Executable table = must(device.compile(m.kernels[0]));
    if (const auto r = must(device.submit({Launch{table, {word, next}}})).wait(); !r) return 1;
    const Memory matches = must(device.allocate((n + 95) / 96 * 4));
    Bench b{device, m.kernels[1], m.kernels[2], n, {text}, {word, next, matches}, {matches}};
    b.producer_invocations = n / 3;
    b.run("base64_scan", 0);
  }
}
