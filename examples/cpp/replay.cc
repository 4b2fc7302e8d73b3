// A graph that is prepared once and run for frame after frame: planned, compiled and given its
// memory before the first frame, and one submission each after that.
//
// prints: 3 calls, 1 launch a frame, 0 bytes for 2 intermediates
// prints: brightest of frames 0 to 4: 90 100 110 120 130

#include <algorithm>

#include "example.h"

using namespace vyre;

int main(int argc, char** argv) {
  const ParseOutcome parsed = parse(R"(
kernel lighten(by: u8, x: in u8[], y: out u8[len(x)]) workgroup(256) grid(len(x)) {
  y[global_id.x] = sat_add(x[global_id.x], by)
}
kernel clamp_to(most: u8, x: in u8[], y: out u8[len(x)]) workgroup(256) grid(len(x)) {
  y[global_id.x] = min(x[global_id.x], most)
}
graph frame(by: u8, x: in u8[], y: out u8[len(x)]) {
  buffer a: u8[len(x)]
  buffer b: u8[len(x)]
  call lighten(by, x, a)
  call lighten(by, a, b)
  call clamp_to(200, b, y)
}
)");
  if (!parsed.module) return example::fail(parsed.diagnostics);
  if (const Diagnostics d = check(*parsed.module); has_errors(d)) return example::fail(d);
  const Graph& graph = parsed.module->graphs[0];

  Result<driver::Device> device = driver::Device::open("auto");
  if (!device) return example::fail(device.errors());

  // Lengths of buffers and values of scalars. Scalars may be others later.
  std::vector<uint8_t> picture(640 * 480, 10);
  const Result<GraphShape> shape = resolve_graph(graph, {{"by", 0}, {"x", picture.size()}});
  if (!shape) return example::fail(shape.errors());
  const auto frame = device->prepare(*parsed.module, graph, *shape);
  if (!frame) return example::fail(frame.errors());
  std::cout << "3 calls, " << frame->planned().plan.fusion.groups.size() << " launch a frame, "
            << frame->memory_bytes() << " bytes for 2 intermediates\n";

  const auto x = device->allocate<uint8_t>(picture.size()),
             y = device->allocate<uint8_t>(picture.size());
  if (!x) return example::fail(x.errors());
  if (!y) return example::fail(y.errors());
  std::cout << "brightest of frames 0 to 4:";
  for (uint32_t i = 0; i < 5; ++i) {
    std::vector<uint8_t> result(picture.size());
    const auto ticket = device->submit({driver::upload(*x, picture),
                                        driver::LaunchGraph{*frame, {40 + 5 * i, *x, *y}},
                                        driver::read_back(*y, result)});
    if (!ticket) return example::fail(ticket.errors());
    if (const auto report = ticket->wait(); !report) return example::fail(report.errors());
    std::cout << ' ' << int(*std::max_element(result.begin(), result.end()));
  }
  std::cout << '\n';
  return example::save(parsed.module->kernels[0], argc, argv);
}
