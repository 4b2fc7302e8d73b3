// Faults, after which the device must still work.

#include <algorithm>

#include "conformance/device_tester.h"
#include "runtime/registry.h"

namespace vyre::lab {
namespace {

using namespace driver;
using Buf = driver::Buffer;

constexpr const char* endless =
    "kernel endless(x: inout u32[]) workgroup(32) grid(64) {\n"
    "  while x[0] == 0 { }\n"
    "  if global_id.x == 0 { x[1] = 1 }\n"
    "}";
constexpr const char* traps_from =
    "kernel traps(from: u32, y: inout u32[]) workgroup(64) grid(len(y)) {\n"
    "  if global_id.x >= from && global_id.x % 3 == 0 { trap global_id.x + 7 }\n"
    "  y[global_id.x] = 1\n"
    "}";

/// Ends soon after its limit with the right code.
void stops(DeviceTester& t, const Executable& code, std::vector<Argument> arguments) {
  if (t.refusal || !t.what.empty()) return;
  const auto begin = std::chrono::steady_clock::now();
  t.fails(t.launch(code, std::move(arguments), 0.2), Code::TimeLimitExceeded,
          "a launch without end, limited to 0.2 s,");
  const double took =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  t.expect(took < 5, fmt::format("a launch limited to 0.2 s took {:.1f} s", took));
}

void time_limit_stops_an_endless_loop(DeviceTester& t) {
  const Buf x = t.buffer(U32s{0, 0});
  stops(t, t.compile(endless), {x});
  t.expect(t.device.is_undefined(x), "what the stopped launch could write is not undefined");
}

void time_limit_stops_an_endless_loop_of_one_lane(DeviceTester& t) {
  const Buf x = t.buffer(U32s(1000, 0));
  stops(t,
        t.compile("kernel k(x: inout u32[]) workgroup(64) grid(len(x)) {\n"
                  "  if global_id.x == 777 { while x[777] == 0 { } }\n"
                  "  x[global_id.x] = 1\n"
                  "}"),
        {x});
}

void time_limit_stops_a_lane_that_waits(DeviceTester& t) {
  const Buf flag = t.buffer(U32s{0});
  stops(t,
        t.compile("kernel waits(flag: inout u32[]) workgroup(1) grid(4) {\n"
                  "  while atomic_load(flag[0]) == 0 { }\n"
                  "}"),
        {flag});
}

void time_limit_does_not_stop_what_ends(DeviceTester& t) {
  const Buf x = t.buffer(U32s{1, 0});
  t.works(t.launch(t.compile(endless), {x}, 60), "a launch that ends at once, limited to 60 s,");
}

void the_trap_of_the_lowest_invocation_is_told(DeviceTester& t) {
  const Executable code = t.compile(traps_from);
  for (const uint32_t from : {0u, 1u, 64u, 1000u, 9996u}) {
    if (t.refusal || !t.what.empty()) return;
    const Buf y = t.buffer(10000 * 4);
    const Result<SubmitReport> r = t.launch(code, {driver::scalar(from), y});
    t.fails(r, Code::Trapped, "a launch with traps");
    if (r) return;
    const uint32_t lowest = (from + 2) / 3 * 3;
    Observation o;
    o.errors = r.errors();
    const std::string wanted = fmt::format("{} at {},0,0", lowest + 7, lowest);
    const std::string got = trap_of(o).value_or("nothing that can be read");
    t.expect(got == wanted, fmt::format("the trap told is {}, the lowest is {}", got, wanted));
  }
}

void a_trap_in_the_last_lane_of_a_partial_workgroup(DeviceTester& t) {
  const Buf y = t.buffer(100 * 4);  // the launch has 128 invocations
  const Result<SubmitReport> r = t.launch(
      t.compile(
          "kernel k(y: inout u32[]) workgroup(64) grid(len(y)) { assert(global_id.x != 127, 3) }"),
      {y});
  t.fails(r, Code::Trapped, "a trap in the last invocation");
}

void buffers_are_undefined_after_a_trap(DeviceTester& t) {
  const Buf y = t.buffer(U32s(100, 1)), other = t.buffer(U32s(100, 2));
  const Executable code = t.compile(traps_from);
  t.fails(t.launch(code, {driver::scalar(3u), y}), Code::Trapped, "a launch with traps");
  t.expect(t.device.is_undefined(y), "the buffer that the trapped launch wrote is defined");
  t.expect(!t.device.is_undefined(other), "a buffer that it did not have is undefined");
  U32s words(100);
  t.fails(t.submit({Readback{y, bytes_out(words)}}), Code::UndefinedBuffer,
          "reading an undefined buffer");
  t.fails(t.launch(code, {driver::scalar(1000u), y}), Code::UndefinedBuffer,
          "a launch on an undefined buffer");
  t.works(t.submit({Fill{y, 0}}), "filling it");
  t.works(t.launch(code, {driver::scalar(1000u), y}), "a launch on the filled buffer");
  t.equal(t.read(y), U32s(100, 1), "y");
  t.equal(t.read(other), U32s(100, 2), "the other buffer");
}

void a_failed_submission_gives_nothing_back(DeviceTester& t) {
  const Buf y = t.buffer(U32s(100, 1)), other = t.buffer(U32s(100, 2));
  const Executable code = t.compile(traps_from);
  U32s words(100, 55);
  t.fails(t.submit(
              {Readback{other, bytes_out(words)}, Launch{code, {driver::scalar(0u), y}, {}, true}}),
          Code::Trapped, "a submission whose launch traps");
  t.equal(words, U32s(100, 55), "memory that a failed submission reads to");
}

void what_follows_a_failed_command_is_not_done(DeviceTester& t) {
  const Buf y = t.buffer(U32s(100, 1)), z = t.buffer(U32s(100, 2));
  const Executable code = t.compile(traps_from);
  t.fails(t.submit({Launch{code, {driver::scalar(0u), y}, {}, true}, Fill{z, 0}}), Code::Trapped,
          "a submission whose launch traps");
  t.expect(t.device.is_undefined(z), "a buffer that the failed submission writes is defined");
}

void fifty_traps_in_a_row(DeviceTester& t) {
  const Executable code = t.compile(traps_from);
  const Buf y = t.buffer(400);
  for (int i = 0; i < 50 && t.what.empty() && !t.refusal; ++i) {
    t.works(t.submit({Fill{y, 0}}), "a fill");
    t.fails(t.launch(code, {driver::scalar(0u), y}), Code::Trapped, "a launch with traps");
  }
}

void foreign_and_stale_buffers_are_found_out(DeviceTester& t) {
  const Executable code =
      t.compile("kernel k(x: inout u32[]) workgroup(8) grid(len(x)) { x[global_id.x] = 1 }");
  Buf foreign = t.buffer(64);
  foreign.device += 1'000'000;
  t.fails(t.launch(code, {foreign}), Code::ForeignBuffer, "a launch on another device's buffer");
  t.fails(t.device.free(foreign), Code::ForeignBuffer, "freeing another device's buffer");
  const Buf stale = t.buffer(64);
  t.free(stale);
  t.buffer(64);  // may reuse the slot of the freed buffer
  t.fails(t.launch(code, {stale}), Code::StaleBuffer, "a launch on a buffer that was freed");
  t.fails(t.device.free(stale), Code::StaleBuffer, "freeing a buffer twice");
}

void wrong_arguments_are_found_out(DeviceTester& t) {
  const Executable code = t.compile(
      "kernel k(n: u32, x: in u32[], y: inout u32[len(x)]) workgroup(8) grid(n) { y[global_id.x] = "
      "x[0] }");
  if (t.refusal) return;
  const Buf x = t.buffer(64), y = t.buffer(64), odd = t.buffer(63), longer = t.buffer(128);
  const Argument n = driver::scalar(4u);
  t.fails(t.launch(code, {n, x}), Code::WrongArgument, "a launch with an argument too few");
  t.fails(t.launch(code, {x, n, y}), Code::WrongArgument, "a launch with a buffer for a scalar");
  t.fails(t.launch(code, {n, odd, y}), Code::WrongArgument, "a launch with half an element");
  t.fails(t.launch(code, {n, x, x}), Code::OverlappingArguments, "one buffer read and written");
  t.fails(t.launch(code, {n, x, longer}), Code::LengthDiffers,
          "a length that is not the formula's");
  t.fails(t.submit({Fill{x, 1, 60, 8}}), Code::RangeOutside, "a fill beyond the end");
  t.works(t.launch(code, {n, x, y}), "the right arguments");
}

void a_buffer_in_use_is_not_freed(DeviceTester& t) {
  const Executable code = t.compile(endless);
  if (t.refusal) return;
  const Buf x = t.buffer(U32s{0, 0});
  SubmitOptions o;
  o.time_limit = 0.3;
  const Result<Ticket> ticket = t.device.submit({Launch{code, {x}, {}, true}}, o);
  t.works(ticket, "a submission");
  if (!ticket) return;
  t.fails(t.device.free(x), Code::BufferInUse, "freeing a buffer of a launch under way");
  t.fails(ticket->wait(), Code::TimeLimitExceeded, "the launch without end");
}

void allocations_beyond_the_limit_fail(DeviceTester& t) {
  const DeviceLimits& limits = t.device.info().limits;
  if (limits.buffer_bytes < ~0ull)
    t.fails(t.device.allocate(limits.buffer_bytes + 1), Code::DeviceMemoryExceeded,
            "a buffer larger than any");
  const uint64_t used = t.device.memory_used();
  const Result<Buf> all = t.device.allocate(limits.memory_bytes + 1);
  t.expect(!all, "more memory than the device has was given");
  t.expect(t.device.memory_used() == used, "a failed allocation is counted");
}

void a_memory_limit_holds(DeviceTester& t) {
  const DeviceInfo& info = t.device.info();
  OpenOptions o;
  o.memory_limit = 10000;
  Result<Device> small = Device::open(fmt::format("{}:{}", info.backend, info.index), o);
  if (!small) {
    t.skipped = "the device cannot be opened by its name";
    return;
  }
  const Result<Buf> first = small->allocate(6000);
  t.works(first, "a buffer within the limit");
  t.fails(small->allocate(6000), Code::DeviceMemoryExceeded, "a buffer beyond the limit");
  if (first) t.works(small->free(*first), "freeing");
  const Result<Buf> second = small->allocate(6000);
  t.works(second, "a buffer after another was freed");
}

void output_limits_hold(DeviceTester& t) {
  const Buf b = t.buffer(U32s(100, 3));
  U32s words(100, 9);
  SubmitOptions o;
  o.output_limit = 399;
  t.fails(t.submit({Readback{b, bytes_out(words)}}, o), Code::ReadbackLimit,
          "a readback of 400 bytes");
  t.equal(words, U32s(100, 9), "memory after a refused readback");
  o.output_limit = 400;
  t.works(t.submit({Readback{b, bytes_out(words)}}, o), "a readback within the limit");
}

/// Does not use the compiler of the case: the Program is parsed from text and changed.
void too_large_kernels_are_refused(DeviceTester& t) {
  const DeviceLimits& limits = t.device.info().limits;
  if (limits.workgroup_invocations < 1024) {
    t.compile("kernel k(x: inout u32[]) workgroup(1024) grid(1) { x[0] = 1 }");
    t.expect(t.refusal && t.refusal->code == Code::KernelTooLarge,
             fmt::format("a workgroup of 1024 was taken; the device says {}",
                         limits.workgroup_invocations));
    t.refusal.reset();
  }
  if (limits.shared_bytes < (1u << 28)) {
    t.compile(
        fmt::format("kernel k(x: inout u32[]) workgroup(1) grid(1) {{\n  shared s: u8[{}]\n"
                    "  s[0] = 1\n  x[0] = u32(s[0])\n}}",
                    limits.shared_bytes + 1));
    t.expect(t.refusal && t.refusal->code == Code::KernelTooLarge,
             fmt::format("{} bytes of shared memory were taken; the device says {}",
                         limits.shared_bytes + 1, limits.shared_bytes));
    t.refusal.reset();
  }
  const bool has_any = limits.subgroup_sizes.size() >= 7;
  if (!has_any) {
    for (const uint32_t size : {1u, 2u, 4u, 8u, 16u, 32u, 64u}) {
      const auto& sizes = limits.subgroup_sizes;
      if (std::find(sizes.begin(), sizes.end(), size) != sizes.end()) continue;
      t.compile(fmt::format(
          "kernel k(x: inout u32[]) workgroup(64) grid(1) subgroup({}) {{ x[0] = subgroup_size }}",
          size));
      t.expect(t.refusal.has_value(), fmt::format("subgroups of {} were taken", size));
      t.refusal.reset();
    }
  }
}

/// A kernel with the maximum sizes that the device reports runs.
void the_largest_workgroup_and_shared_memory_run(DeviceTester& t) {
  const DeviceLimits& limits = t.device.info().limits;
  const uint32_t size = std::min(limits.workgroup_invocations, 1024u);
  const uint64_t words = std::min<uint64_t>(limits.shared_bytes, 48 << 10) / 4;
  const Buf y = t.buffer(size * 4);
  const Executable code =
      t.compile(fmt::format("kernel k(y: inout u32[]) workgroup({0}) grid({0}) {{\n"
                            "  shared s: u32[{1}]\n"
                            "  let l = local_id.x\n"
                            "  for i in l..{1} step {0} {{ s[i] = i }}\n"
                            "  barrier workgroup\n"
                            "  y[l] = s[{1} - 1 - l] + s[{2} - 1 - l]\n"
                            "}}",
                            size, words, size));
  t.works(t.launch(code, {y}), "a launch");
  U32s wanted(size);
  for (uint32_t l = 0; l < size; ++l) wanted[l] = uint32_t(words - 1 - l) + (size - 1 - l);
  t.equal(t.read(y), wanted, "y");
}

constexpr DeviceCase cases[] = {
    {"time_limit_stops_an_endless_loop", time_limit_stops_an_endless_loop},
    {"time_limit_stops_an_endless_loop_of_one_lane", time_limit_stops_an_endless_loop_of_one_lane},
    {"time_limit_stops_a_lane_that_waits", time_limit_stops_a_lane_that_waits},
    {"time_limit_does_not_stop_what_ends", time_limit_does_not_stop_what_ends},
    {"the_trap_of_the_lowest_invocation_is_told", the_trap_of_the_lowest_invocation_is_told},
    {"a_trap_in_the_last_lane_of_a_partial_workgroup",
     a_trap_in_the_last_lane_of_a_partial_workgroup},
    {"buffers_are_undefined_after_a_trap", buffers_are_undefined_after_a_trap},
    {"a_failed_submission_gives_nothing_back", a_failed_submission_gives_nothing_back},
    {"what_follows_a_failed_command_is_not_done", what_follows_a_failed_command_is_not_done},
    {"fifty_traps_in_a_row", fifty_traps_in_a_row},
    {"foreign_and_stale_buffers_are_found_out", foreign_and_stale_buffers_are_found_out},
    {"wrong_arguments_are_found_out", wrong_arguments_are_found_out},
    {"a_buffer_in_use_is_not_freed", a_buffer_in_use_is_not_freed},
    {"allocations_beyond_the_limit_fail", allocations_beyond_the_limit_fail},
    {"a_memory_limit_holds", a_memory_limit_holds},
    {"output_limits_hold", output_limits_hold},
    {"too_large_kernels_are_refused", too_large_kernels_are_refused},
    {"the_largest_workgroup_and_shared_memory_run", the_largest_workgroup_and_shared_memory_run},
};

}  // namespace

void certify_faults(Certification& c) {
  c.begin_group("faults");
  run_device_cases(c, cases);
  c.end_group();
}

}  // namespace vyre::lab
