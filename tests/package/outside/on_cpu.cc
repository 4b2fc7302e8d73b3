// Runs a kernel on the CPU backend, whose library lies in the prefix and not beside this program.
// The devices live until the process ends: they are closed after main, in all orders that static
// objects allow.

#include <vyre/vyre.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

using namespace vyre::driver;

const char* const source =
    "kernel twice(y: inout u32[]) workgroup(64) grid(len(y)) {\n"
    "  y[global_id.x] *= 2\n"
    "}\n";

vyre::Result<Device> open_cpu() { return Device::open("cpu", {.use_cache = false}); }

vyre::Result<std::vector<uint32_t>> run(Device& device) {
  const vyre::ParseOutcome parsed = vyre::parse(source);
  if (!parsed.module) return parsed.diagnostics;
  const auto twice = device.compile(parsed.module->kernels[0]);
  if (!twice) return twice.errors();
  std::vector<uint32_t> values = {1, 2, 3};
  const auto y = device.allocate(values.size() * 4);
  if (!y) return y.errors();
  const auto ticket =
      device.submit({Upload{*y, std::as_bytes(std::span(values))}, Launch{*twice, {*y}},
                     Readback{*y, std::as_writable_bytes(std::span(values))}});
  if (!ticket) return ticket.errors();
  if (const auto report = ticket->wait(); !report) return report.errors();
  return values;
}

int show(vyre::Result<Device>& device) {
  const auto values = device ? run(*device) : vyre::Result<std::vector<uint32_t>>(device.errors());
  if (!values) {
    std::fputs(vyre::render(values.errors(), {}).c_str(), stdout);
    return 1;
  }
  std::printf("twice:");
  for (const uint32_t v : *values) std::printf(" %u", v);
  std::printf("\n");
  return 0;
}

/// Destroyed after everything that the backend's libraries make while they are used.
Device before_main;
/// Opened before main; the backend's library is loaded by it.
vyre::Result<Device>& opened_before_main() {
  static vyre::Result<Device> device = open_cpu();
  return device;
}

}  // namespace

int main(int count, char** words) {
  const std::string_view when = count > 1 ? words[1] : "";
  if (when == "first") {
    auto device = open_cpu();
    if (device) before_main = *device;
    return show(device);
  }
  if (when == "used") return show(opened_before_main());
  if (when == "exit") std::exit(show(opened_before_main()));
  if (when == "busy") {  // the work ends while the process does
    auto device = open_cpu();
    if (!device) return 1;
    before_main = *device;
    const auto y = before_main.allocate(64 << 20);
    for (int i = 0; i < 20 && y; ++i) (void)before_main.submit({Fill{*y, uint8_t(i)}});
    return show(device);
  }
  if (when == "leaked") {  // never closed
    auto* const device = new vyre::Result<Device>(open_cpu());
    return show(*device);
  }
  return 2;
}
