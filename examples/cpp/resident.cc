// Heat on a rod: buffers that stay on the device over many launches. Two of them take turns, each
// launch makes the next state from the one before, and only the last comes back to the host.
//
// prints: heat: 0 1 2 3 4 5 6 7 8
// prints: launches: 2000, bytes to the device: 36, bytes back: 36

#include "example.h"

using namespace vyre;

int main(int argc, char** argv) {
  const ParseOutcome parsed = parse(R"(
kernel step(now: in f32[], next: out f32[len(now)]) workgroup(64) grid(len(now)) {
  let i = global_id.x
  if i >= len(now) { return }
  let at_an_end = i == 0 || i == len(now) - 1
  if at_an_end { next[i] = now[i] } else { next[i] = (now[i - 1] + now[i + 1]) * 0.5 }
}
)");
  if (!parsed.module) return example::fail(parsed.diagnostics);
  const Program& program = parsed.module->kernels[0];

  // The best device that is here; chosen_because() says why it is the best.
  Result<driver::Device> device = driver::Device::open("auto");
  if (!device) return example::fail(device.errors());
  const Result<driver::Executable> step = device->compile(program);
  if (!step) return example::fail(step.errors());

  std::vector<float> heat(9, 0.0f);
  heat.back() = 8;  // one end is hot, the other cold
  auto now = device->allocate<float>(heat.size()), next = device->allocate<float>(heat.size());
  if (!now) return example::fail(now.errors());
  if (!next) return example::fail(next.errors());

  // Submissions return at once and run in order.
  const auto first = device->submit({driver::upload(*now, heat)});
  if (!first) return example::fail(first.errors());
  uint64_t launches = 0;
  for (; launches < 2000; ++launches) {
    const auto t = device->submit({driver::Launch{*step, {*now, *next}}});
    if (!t) return example::fail(t.errors());
    std::swap(now, next);
  }
  const auto last = device->submit({driver::read_back(*now, heat)});
  if (!last) return example::fail(last.errors());

  // The one place where the host waits. A launch that failed would be told here: what the readback
  // needs is then undefined.
  const Result<driver::SubmitReport> report = last->wait();
  if (!report) return example::fail(report.errors());
  example::print("heat", heat);
  std::cout << "launches: " << launches << ", bytes to the device: " << first->wait()->uploaded
            << ", bytes back: " << report->read_back << "\n";
  return example::save(program, argc, argv);
}
