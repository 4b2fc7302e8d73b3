// Programs that must not be confused with each other (features F.14), and buffers above 4 GiB
// (F.15).

#include <fmt/format.h>

#include <cstring>

#include "conformance/certify_cases.h"

namespace vyre::lab {
namespace {

using namespace driver;

/// Pairs that differ in one property that a careless cache key omits. Each gives another o[0].
struct Pair {
  const char* name;
  const char* first;
  const char* second;
};
constexpr Pair pairs[] = {
    {"binding_order",
     "kernel k(x: in u32[], y: in u32[], o: out u32[1]) workgroup(1) grid(1) { o[0] = x[0] * 10 + "
     "y[0] }",
     "kernel k(y: in u32[], x: in u32[], o: out u32[1]) workgroup(1) grid(1) { o[0] = x[0] * 10 + "
     "y[0] }"},
    {"shared_size",
     "kernel k(x: in u32[], y: in u32[], o: out u32[1]) workgroup(1) grid(1) { shared t: u32[4]\n "
     "t[5] = 9\n o[0] = t[5] + x[0] }",
     "kernel k(x: in u32[], y: in u32[], o: out u32[1]) workgroup(1) grid(1) { shared t: u32[8]\n "
     "t[5] = 9\n o[0] = t[5] + x[0] }"},
    {"constant",
     "kernel k(x: in u32[], y: in u32[], o: out u32[1]) workgroup(1) grid(1) { o[0] = x[0] + 7 }",
     "kernel k(x: in u32[], y: in u32[], o: out u32[1]) workgroup(1) grid(1) { o[0] = x[0] + 8 }"},
    {"table",
     "const T: u32[2] = [1, 2]\nkernel k(x: in u32[], y: in u32[], o: out u32[1]) workgroup(1) "
     "grid(1) { o[0] = T[x[0]] }",
     "const T: u32[2] = [1, 3]\nkernel k(x: in u32[], y: in u32[], o: out u32[1]) workgroup(1) "
     "grid(1) { o[0] = T[x[0]] }"},
    {"workgroup_size",
     "kernel k(x: in u32[], y: in u32[], o: out u32[1]) workgroup(2) grid(1) { atomic_add(o[0], "
     "x[0]) }",
     "kernel k(x: in u32[], y: in u32[], o: out u32[1]) workgroup(3) grid(1) { atomic_add(o[0], "
     "x[0]) }"},
};

PreparedRun run_of(std::shared_ptr<const Module> module) {
  PreparedRun run;
  run.kernel = &module->kernels[0];
  run.module = std::move(module);
  const auto word = [](uint32_t v) {
    std::vector<std::byte> bytes(4);
    std::memcpy(bytes.data(), &v, 4);
    return bytes;
  };
  run.inputs.data = {word(1), word(4), std::nullopt};
  return run;
}

/// Runs first, second, first again: the last may come from a cache.
void certify_pairs(Certification& c) {
  for (const Pair& pair : pairs) {
    const char* sources[] = {pair.first, pair.second, pair.first};
    const char* turns[] = {"first", "second", "again"};
    for (int i = 0; i < 3; ++i) {
      if (!c.begins(fmt::format("f14_{}.{}", pair.name, turns[i]))) continue;
      if (const auto module = parse_case(c, sources[i])) compare_case(c, run_of(module), "");
    }
  }
}

/// Bytes above and below 2^32 are distinguished from those 4 GiB away.
void certify_large(Certification& c) {
  if (!c.begins("f15_buffers_above_4_gib")) return;
  constexpr uint64_t bytes = (1ull << 32) + 64;
  const DeviceLimits& limits = c.device.info().limits;
  if (!c.options.large) return c.skipped("takes 4 GiB of the device's memory: ask with `--large`");
  if (limits.buffer_bytes < bytes || limits.memory_bytes < bytes + (1ull << 30))
    return c.skipped(fmt::format("the device has {} bytes, {} in one buffer; it takes {}",
                                 limits.memory_bytes, limits.buffer_bytes, bytes));
  const auto module =
      parse_case(c,
                 "kernel far(x: inout u8[], o: out u8[4]) workgroup(64) grid(64) {\n"
                 "  let at: u64 = 4294967296 + u64(global_id.x)\n"
                 "  let behind: u64 = 4294967360\n"
                 "  x[at] = u8(global_id.x + 1)\n"
                 "  if global_id.x == 0 {\n"
                 "    o[0] = x[0]\n"
                 "    o[1] = x[behind]\n"
                 "    o[2] = u8(len64(x) >> 32)\n"
                 "  }\n"
                 "}");
  if (!module) return;
  const Result<Executable> code = c.device.compile(module->kernels[0], c.options.spec.compile);
  if (!code) return c.failed(codes_and_messages(code.errors()));
  const Result<driver::Buffer> x = c.device.allocate(bytes), o = c.device.allocate(4);
  const auto finish = [&] {
    if (x) (void)bool(c.device.free(*x));
    if (o) (void)bool(c.device.free(*o));
  };
  if (!x || !o) {
    c.skipped(codes_and_messages(x ? o.errors() : x.errors()));
    return finish();
  }
  std::vector<uint8_t> head(64, 1), tail(64), flags(4);
  const auto at = [](std::vector<uint8_t>& v) { return std::as_writable_bytes(std::span(v)); };
  const Result<Ticket> t =
      c.device.submit({Fill{*x, 0}, Launch{*code, {*x, *o}, {}, true}, Readback{*x, at(head), 0},
                       Readback{*x, at(tail), 1ull << 32}, Readback{*o, at(flags), 0}});
  const Result<SubmitReport> done = t ? t->wait() : Result<SubmitReport>(t.errors());
  finish();
  if (!done) return c.failed(codes_and_messages(done.errors()));
  for (int i = 0; i < 64; ++i)
    if (head[size_t(i)] != 0 || tail[size_t(i)] != i + 1)
      return c.failed(fmt::format("x[{}] is {} and x[2^32 + {}] is {}", i, head[size_t(i)], i,
                                  tail[size_t(i)]));
  if (flags != std::vector<uint8_t>{0, 0, 1, 0}) return c.failed("loads or the length are wrong");
  c.passed();
}

}  // namespace

void certify_programs(Certification& c) {
  c.begin_group("programs");
  certify_pairs(c);
  certify_large(c);
  c.end_group();
}

}  // namespace vyre::lab
