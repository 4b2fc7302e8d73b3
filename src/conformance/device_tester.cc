#include "conformance/device_tester.h"

#include <algorithm>

#include "text/parse.h"

namespace vyre::lab {

using namespace driver;

DeviceTester::~DeviceTester() {
  device.finish();
  for (const driver::Buffer& b : buffers_) (void)bool(device.free(b));
}

void DeviceTester::expect(bool holds, std::string_view otherwise) {
  if (!holds && what.empty()) what = std::string(otherwise);
}

void DeviceTester::equal(const U32s& got, const U32s& wanted, std::string_view name) {
  if (got == wanted) return;
  if (got.size() != wanted.size())
    return expect(false,
                  fmt::format("{} has {} elements, not {}", name, got.size(), wanted.size()));
  const size_t i =
      size_t(std::mismatch(got.begin(), got.end(), wanted.begin()).first - got.begin());
  expect(false, fmt::format("{}[{}] is {}, not {}", name, i, got[i], wanted[i]));
}

Executable DeviceTester::compile(const std::string& source) {
  ParseOutcome parsed = parse(source, {.file_name = "<case>"});
  if (!parsed.module) {
    expect(false, "the case itself is wrong: " + codes_and_messages(parsed.diagnostics));
    return {};
  }
  driver::CompileOptions options = options_;
  options.checked = true;  // some cases are larger than check() allows
  Result<Executable> made = device.compile(parsed.module->kernels[0], options);
  if (made) return *made;
  if (const Diagnostic* d = refusal_in(made.errors()))
    refusal = *d;
  else
    works(made, "compiling");
  return {};
}

driver::Buffer DeviceTester::buffer(uint64_t bytes) {
  const Result<driver::Buffer> made = device.allocate(bytes);
  works(made, "allocating");
  if (!made) return {};
  buffers_.push_back(*made);
  return *made;
}

driver::Buffer DeviceTester::buffer(const U32s& contents) {
  const driver::Buffer b = buffer(contents.size() * 4);
  works(submit({Upload{b, bytes_in(contents)}}), "an upload");
  return b;
}

void DeviceTester::free(driver::Buffer b) {
  works(device.free(b), "freeing");
  std::erase_if(buffers_, [&](const driver::Buffer& x) {
    return x.slot == b.slot && x.generation == b.generation;
  });
}

U32s DeviceTester::read(driver::Buffer b) {
  U32s words(b.bytes / 4);
  works(submit({Readback{b, bytes_out(words)}}), "a readback");
  return words;
}

Result<SubmitReport> DeviceTester::submit(std::vector<Command> commands,
                                          const SubmitOptions& options) {
  const Result<Ticket> t = device.submit(std::move(commands), options);
  if (!t) return t.errors();
  return t->wait();
}

Result<SubmitReport> DeviceTester::launch(const Executable& code, std::vector<Argument> arguments,
                                          double time_limit) {
  Launch l;
  l.executable = code;
  l.arguments = std::move(arguments);
  SubmitOptions o;
  o.time_limit = time_limit;
  return submit({std::move(l)}, o);
}

void DeviceTester::still_works() {
  if (!what.empty() || refusal) return;
  const Executable add = compile(
      "kernel add(y: inout u32[]) workgroup(64) grid(len(y)) { y[global_id.x] += global_id.x }");
  if (refusal || !what.empty()) return;
  U32s wanted(1000);
  for (uint32_t i = 0; i < 1000; ++i) wanted[i] = 5 + i;
  const driver::Buffer y = buffer(U32s(1000, 5));
  works(launch(add, {y}), "a launch afterwards");
  equal(read(y), wanted, "afterwards y");
}

void run_device_cases(Certification& c, std::span<const DeviceCase> cases) {
  for (const DeviceCase& one : cases) {
    if (!c.begins(one.name)) continue;
    const uint64_t before = c.device.memory_used();
    std::string what, skipped;
    std::optional<Diagnostic> refusal;
    {
      DeviceTester t(c.device, c.options.spec.compile);
      one.test(t);
      t.still_works();
      what = t.what;
      skipped = t.skipped;
      refusal = t.refusal;
    }
    if (!what.empty())
      c.failed(what);
    else if (refusal)
      c.refused(*refusal);
    else if (!skipped.empty())
      c.skipped(skipped);
    else if (c.device.memory_used() != before)
      c.failed(fmt::format("{} bytes of the device are not given back",
                           c.device.memory_used() - before));
    else
      c.passed();
  }
}

}  // namespace vyre::lab
