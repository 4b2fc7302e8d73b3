// Memory, submissions and streams, as specified by runtime/device.h.

#include <numeric>

#include "conformance/device_tester.h"

namespace vyre::lab {
namespace {

using namespace driver;
using Buf = driver::Buffer;

void fresh_memory_is_zero(DeviceTester& t) {
  for (int i = 0; i < 4; ++i) {
    const Buf b = t.buffer(4096);
    t.equal(t.read(b), U32s(1024, 0), "fresh memory");
    t.works(t.submit({Fill{b, 0xff}}), "a fill");
    t.equal(t.read(b), U32s(1024, ~0u), "filled memory");
    t.free(b);  // the next allocation may reuse the memory
  }
}

void ranges_are_those_asked_for(DeviceTester& t) {
  const Buf a = t.buffer(16), b = t.buffer(16);
  const std::vector<uint8_t> four = {1, 2, 3, 4};
  std::vector<uint8_t> all(16), part(3), tail(1);
  t.works(t.submit({Fill{a, 9}, Upload{a, bytes_in(four), 4}, Copy{b, a, 6, 1, 3},
                    Fill{b, 7, 15, 1}, Readback{a, bytes_out(all)}, Readback{b, bytes_out(part), 1},
                    Readback{b, bytes_out(tail), 15}}),
          "copies");
  t.expect(all == std::vector<uint8_t>{9, 9, 9, 9, 1, 2, 3, 4, 9, 9, 9, 9, 9, 9, 9, 9} &&
               part == std::vector<uint8_t>{9, 1, 2} && tail[0] == 7,
           "an upload, a copy or a fill touched other bytes than its own");
}

void empty_buffers_and_empty_submissions(DeviceTester& t) {
  const Buf b = t.buffer(0);
  std::vector<uint8_t> nothing;
  t.works(t.submit({Upload{b, {}}, Fill{b, 1}, Copy{b, b, 0}, Readback{b, bytes_out(nothing)}}),
          "copies of no bytes");
  t.works(t.submit({}), "a submission of nothing");
  const Executable code =
      t.compile("kernel k(x: inout u32[]) workgroup(8) grid(len(x)) { x[global_id.x] = 1 }");
  t.works(t.launch(code, {b}), "a launch of no workgroup");
}

/// Stores before and past a buffer have no effect, and loads return 0.
void neighbours_are_safe(DeviceTester& t) {
  const Buf before = t.buffer(U32s(64, 11)), middle = t.buffer(U32s(61, 22)),
            behind = t.buffer(U32s(64, 33)), seen = t.buffer(61 * 4);
  const Executable code = t.compile(
      "kernel k(x: inout u32[], o: out u32[61]) workgroup(64) grid(61) {\n"
      "  let i = i32(global_id.x)\n"
      "  if i >= 61 { return }\n"
      "  x[i - 61] = 1\n"
      "  x[i + 61] = 2\n"
      "  x[i * 67108864 + 61] = 3\n"
      "  atomic_add(x[i + 61], 4)\n"
      "  o[i] = x[i - 61] + x[i + 61] + x[i]\n"
      "}");
  t.works(t.launch(code, {middle, seen}), "a launch");
  t.equal(t.read(before), U32s(64, 11), "the buffer before");
  t.equal(t.read(behind), U32s(64, 33), "the buffer behind");
  t.equal(t.read(middle), U32s(61, 22), "the buffer");
  t.equal(t.read(seen), U32s(61, 22), "what was loaded");
}

void neighbours_of_bytes_are_safe(DeviceTester& t) {
  const Buf b = t.buffer(4 * 67);
  t.works(t.submit({Fill{b, 0x55}}), "a fill");
  const Executable code = t.compile(
      "kernel k(x: inout u8[]) workgroup(32) grid(len(x)) {\n"
      "  if global_id.x % 2 == 0 { x[global_id.x] = u8(global_id.x) }\n"
      "}");
  t.works(t.launch(code, {b}), "a launch");
  std::vector<uint8_t> got(4 * 67);
  t.works(t.submit({Readback{b, bytes_out(got)}}), "a readback");
  for (size_t i = 0; i < got.size(); ++i)
    t.expect(got[i] == (i % 2 == 0 ? uint8_t(i) : 0x55),
             fmt::format("x[{}] is {}: a store of a byte touched its neighbour", i, got[i]));
}

void outputs_start_as_zeros_in_every_launch(DeviceTester& t) {
  const Buf y = t.buffer(U32s(100, 77));
  const Executable code =
      t.compile("kernel k(n: u32, y: out u32[100]) workgroup(32) grid(n) { y[global_id.x] += 1 }");
  t.works(t.launch(code, {driver::scalar(100u), y}), "a launch");
  t.equal(t.read(y), U32s(100, 1), "y");
  t.works(t.launch(code, {driver::scalar(0u), y}), "a launch of nothing");
  t.equal(t.read(y), U32s(100, 0), "y after a launch of nothing");
}

void scratch_starts_as_zeros_in_every_launch(DeviceTester& t) {
  const Buf y = t.buffer(U32s(64, 0));
  const Executable code = t.compile(
      "kernel k(s: scratch u32[64], y: inout u32[64]) workgroup(32) grid(64) {\n"
      "  s[global_id.x] += 3\n"
      "  y[global_id.x] += s[global_id.x]\n"
      "}");
  for (int i = 0; i < 5; ++i) t.works(t.launch(code, {y}), "a launch");
  t.equal(t.read(y), U32s(64, 15), "y");
}

void launches_of_a_stream_run_in_order(DeviceTester& t) {
  const Buf y = t.buffer(U32s(256, 1));
  const Executable twice =
      t.compile("kernel k(y: inout u32[]) workgroup(64) grid(len(y)) { y[global_id.x] *= 2 }");
  const Executable more =
      t.compile("kernel k(y: inout u32[]) workgroup(64) grid(len(y)) { y[global_id.x] += 1 }");
  std::vector<Command> commands;
  for (int i = 0; i < 10; ++i) {
    commands.push_back(Launch{twice, {y}, {}, true});
    commands.push_back(Launch{more, {y}, {}, true});
  }
  t.works(t.submit(std::move(commands)), "twenty launches in a submission");
  uint32_t wanted = 1;
  for (int i = 0; i < 10; ++i) wanted = wanted * 2 + 1;
  t.equal(t.read(y), U32s(256, wanted), "y");
}

/// Accesses of streams to a shared buffer are ordered by its writes.
void streams_wait_for_the_buffers_they_share(DeviceTester& t) {
  const Buf y = t.buffer(U32s(1024, 0));
  const Executable slow = t.compile(
      "kernel k(y: inout u32[]) workgroup(64) grid(len(y)) {\n"
      "  var v = y[global_id.x]\n"
      "  for i in 0..2000 { v = v * 1664525 + 1013904223 }\n"
      "  y[global_id.x] = select(v == 1, 0, y[global_id.x] + 1)\n"
      "}");
  std::vector<Ticket> tickets;
  for (uint32_t i = 0; i < 12; ++i) {
    SubmitOptions o;
    o.stream = i % 3;
    const Result<Ticket> ticket = t.device.submit({Launch{slow, {y}, {}, true}}, o);
    t.works(ticket, "a submission");
    if (ticket) tickets.push_back(*ticket);
  }
  for (const Ticket& ticket : tickets) t.works(ticket.wait(), "a launch");
  t.equal(t.read(y), U32s(1024, 12), "y");
}

void an_upload_is_copied_when_it_is_submitted(DeviceTester& t) {
  U32s words(1000);
  std::iota(words.begin(), words.end(), 0u);
  const U32s kept = words;
  const Buf b = t.buffer(4000);
  const Result<Ticket> ticket = t.device.submit({Upload{b, bytes_in(words)}});
  std::fill(words.begin(), words.end(), 0u);
  t.works(ticket, "a submission");
  if (ticket) t.works(ticket->wait(), "an upload");
  t.equal(t.read(b), kept, "what was uploaded");
}

void many_small_buffers(DeviceTester& t) {
  std::vector<Buf> list;
  for (uint32_t i = 0; i < 200; ++i) list.push_back(t.buffer(U32s(1 + i % 7, i)));
  for (uint32_t i = 0; i < 200; ++i) t.equal(t.read(list[i]), U32s(1 + i % 7, i), "a buffer");
}

constexpr DeviceCase cases[] = {
    {"fresh_memory_is_zero", fresh_memory_is_zero},
    {"ranges_are_those_asked_for", ranges_are_those_asked_for},
    {"empty_buffers_and_empty_submissions", empty_buffers_and_empty_submissions},
    {"neighbours_are_safe", neighbours_are_safe},
    {"neighbours_of_bytes_are_safe", neighbours_of_bytes_are_safe},
    {"outputs_start_as_zeros_in_every_launch", outputs_start_as_zeros_in_every_launch},
    {"scratch_starts_as_zeros_in_every_launch", scratch_starts_as_zeros_in_every_launch},
    {"launches_of_a_stream_run_in_order", launches_of_a_stream_run_in_order},
    {"streams_wait_for_the_buffers_they_share", streams_wait_for_the_buffers_they_share},
    {"an_upload_is_copied_when_it_is_submitted", an_upload_is_copied_when_it_is_submitted},
    {"many_small_buffers", many_small_buffers},
};

}  // namespace

void certify_memory(Certification& c) {
  c.begin_group("memory");
  run_device_cases(c, cases);
  c.end_group();
}

}  // namespace vyre::lab
