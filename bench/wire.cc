// Speed of the wire form on a generated program, and instructions an op where valgrind is
// installed. Usage: bench_wire [ops] [seconds]; bench_wire OPS decode TIMES only decodes, for
// profilers.
//
// No other implementation reads this format; memcpy of the same bytes in the same run is the
// reference.

#include "wire/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "ir/ssa_builder.h"
#include "support/process.h"
#include "wire/fingerprint.h"

namespace {

using namespace vyre;

/// Arithmetic, loads, stores, ifs and loops in about the proportions of real kernels.
Program generate(uint32_t ops) {
  SsaBuilder b("generated");
  Program& p = b.program;
  p.buffers.push_back({.name = "x", .role = Role::In, .element = Type::U32});
  p.buffers.push_back({.name = "y", .role = Role::InOut, .element = Type::U32});
  p.workgroup = {256, 1, 1};
  p.grid_dims = 1;
  p.grid[0] = p.formulas.len(1);
  const StringId file = p.add_string("generated.vyre");
  const ValueId i = b.op(Opcode::GlobalId, Type::Void, {}, 0);
  const VarId sum = b.declare(i);
  for (uint32_t line = 1; p.ops.size() < ops; ++line) {
    b.loc = p.add_location({.file = file, .line = line, .column = 3, .length = 12});
    const ValueId x = b.op(Opcode::Load, Type::U32, {i}, MemoryRef{.buffer = BufferId(0)}.pack());
    const ValueId k = b.constant_u32(line);
    b.set(sum, b.op(Opcode::Add, Type::U32, {b.op(Opcode::Mul, Type::U32, {x, k}), b.get(sum)}));
    if (line % 4 == 0) {
      b.begin_if(b.op(Opcode::Lt, Type::U32, {b.get(sum), k}));
      b.set(sum, b.op(Opcode::Xor, Type::U32, {b.get(sum), x}));
      b.end_if();
    }
    if (line % 16 == 0) {
      b.begin_for(b.constant_u32(0), k, b.constant_u32(1));
      b.set(sum, b.op(Opcode::RotL, Type::U32, {b.get(sum), k}));
      b.end_for();
    }
    if (line % 8 == 0)
      b.effect(Opcode::Store, Type::U32, {i, b.get(sum)}, MemoryRef{.buffer = BufferId(1)}.pack());
  }
  return b.finish();
}

/// Instructions of one decoding, counted by callgrind: this program decodes once and three times
/// under it, the rest cancels. 0 if valgrind is not here.
double count_instructions(uint32_t ops) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto run = [&](const char* times) {
    const ProcessResult r =
        run_process({"valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", self,
                     std::to_string(ops), "decode", times});
    const size_t at = r.err.find("Collected : ");
    return at == r.err.npos ? 0.0 : std::atof(r.err.c_str() + at + 12);
  };
  const double once = run("1"), thrice = run("3");
  return once > 0 && thrice > 0 ? (thrice - once) / 2 : 0;
}

double seconds_of_best(double budget, const auto& work) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  const auto stop = Clock::now() + std::chrono::duration<double>(budget);
  do {
    const auto start = Clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  } while (Clock::now() < stop);
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const uint32_t wanted = argc > 1 ? uint32_t(std::atoi(argv[1])) : 100'000;
  const Program program = generate(wanted);
  const size_t ops = program.ops.size();
  const auto bytes = encode(program);
  const auto decode = [&] {
    if (!decode_program(bytes, {.trusted = true})) std::abort();
  };
  if (argc > 3 && std::string_view(argv[2]) == "decode") {
    for (int i = std::atoi(argv[3]); i > 0; --i) decode();
    return 0;
  }

  const double budget = argc > 2 ? std::atof(argv[2]) : 0.5;
  fmt::print("wire: {} ops, {} bytes ({:.1f} an op), {} hardware threads\n", ops, bytes.size(),
             double(bytes.size()) / double(ops), std::thread::hardware_concurrency());
  const auto report = [&](const char* what, const auto& work) {
    const double seconds = seconds_of_best(budget, work);
    fmt::print("{:12} {:9.1f} MB/s {:8.2f} ns/op\n", what, double(bytes.size()) / seconds / 1e6,
               seconds * 1e9 / double(ops));
    return seconds;
  };
  std::vector<std::byte> copy(bytes.size());
  const double memcpy_time =
      report("memcpy", [&] { std::memcpy(copy.data(), bytes.data(), bytes.size()); });
  const double decode_time = report("decode", decode);
  report("encode", [&] { copy = encode(program); });
  report("fingerprint", [&] { (void)fingerprint(program); });
  fmt::print("decode takes {:.1f} times as long as memcpy\n", decode_time / memcpy_time);

  const uint32_t few = 1000;
  const double small = count_instructions(few) / double(generate(few).ops.size());
  const double large = count_instructions(wanted) / double(ops);
  if (small > 0 && large > 0)
    fmt::print("decode: {:.1f} instructions an op, {:.2f} times as many as with {} ops\n", large,
               large / small, few);
  else
    fmt::print("decode: instructions not counted, they need valgrind\n");
  return copy == bytes ? 0 : 1;
}
