// Speed of the compile cache: a hit from memory and from disk, and a store, for an entry with 100
// KB of code. Usage: bench_compile_cache [seconds] [ops of the program].
//
// The yardsticks are in the same run: memcpy of the code, and reading its file whole.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "ir/ssa_builder.h"
#include "runtime/cache/cache.h"
#include "support/file.h"
#include "wire/fingerprint.h"

namespace {

using namespace vyre;
using namespace vyre::driver;

Program generate(uint32_t ops) {
  SsaBuilder b("generated");
  Program& p = b.program;
  p.buffers.push_back({.name = "x", .role = Role::In, .element = Type::U32});
  p.buffers.push_back({.name = "y", .role = Role::InOut, .element = Type::U32});
  p.workgroup = {256, 1, 1};
  p.grid_dims = 1;
  p.grid[0] = p.formulas.len(1);
  const ValueId i = b.op(Opcode::GlobalId, Type::Void, {}, 0);
  ValueId sum = b.op(Opcode::Load, Type::U32, {i}, MemoryRef{.buffer = BufferId(0)}.pack());
  while (p.ops.size() < ops)
    sum = b.op(Opcode::Add, Type::U32, {sum, b.constant_u32(uint32_t(p.ops.size()))});
  b.effect(Opcode::Store, Type::U32, {i, sum}, MemoryRef{.buffer = BufferId(1)}.pack());
  return b.finish();
}

struct Times {
  double best = 1e9, median = 0;  // microseconds
};

Times measure(double seconds, const auto& work) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (const auto stop = Clock::now() + std::chrono::duration<double>(seconds);
       Clock::now() < stop;) {
    const auto start = Clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2]};
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.5;
  const uint32_t ops = argc > 2 ? uint32_t(std::atoi(argv[2])) : 1000;
  std::string folder = (std::filesystem::temp_directory_path() / "vyre_bench.XXXXXX").string();
  if (!::mkdtemp(folder.data())) return 1;

  const Program program = generate(ops);
  const CacheKey key = make_key(program, {.backend = "toy", .target = "toy_1"}, {});
  const CacheBytes code(100'000, std::byte{42});
  CacheOptions options;
  options.directory = folder;
  CompileCache cache(options);
  options.memory_bytes = 0;
  CompileCache disk(options);
  cache.store(key, program, code);

  fmt::print("cache: program of {} ops, {} bytes of code, {} hardware threads\n",
             program.ops.size(), code.size(), std::thread::hardware_concurrency());
  bool ok = true;
  const auto report = [&](const char* what, double goal, const auto& work) {
    const Times t = measure(seconds, work);
    fmt::print("{:34} {:9.2f} µs median {:9.2f} µs best", what, t.median, t.best);
    if (goal > 0) fmt::print("  (goal {} µs: {})", goal, t.median <= goal ? "met" : "MISSED");
    fmt::print("\n");
    ok = ok && (goal == 0 || t.median <= goal);
  };
  const auto find = [&](CompileCache& from) {
    const auto entry = from.find(key, program);
    if (!entry || entry->code.size() != code.size()) std::abort();
  };
  CacheBytes copy(code.size());
  const std::string path = folder + "/" + CacheDirectory::file_name(key.hash);
  report("memcpy of the code", 0, [&] { std::memcpy(copy.data(), code.data(), code.size()); });
  report("the file read whole", 0, [&] { (void)read_file(path); });
  report("key: fingerprint and the rest", 0,
         [&] { (void)make_key(program, {.backend = "toy", .target = "toy_1"}, {}); });
  report("hit from memory", 20, [&] { find(cache); });
  report("key and hit from memory", 20, [&] {
    const CacheKey k = make_key(program, {.backend = "toy", .target = "toy_1"}, {});
    if (!cache.find(k, program)) std::abort();
  });
  report("hit from disk", 1000, [&] { find(disk); });
  CacheKey other = key;  // replacing a file is slow with ext4, and rare
  report("store to disk", 0, [&] {
    ++other.hash.lo;
    disk.store(other, program, code);
  });
  std::filesystem::remove_all(folder);
  return ok ? 0 : 1;
}
