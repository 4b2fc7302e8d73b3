#include "tests/runtime/gpu/gpu_util.h"

#include <cstdlib>

#include "check/check.h"
#include "text/parse.h"

namespace vyre::driver {

U counting(size_t n, uint32_t first) {
  U v(n);
  std::iota(v.begin(), v.end(), first);
  return v;
}

U noise(size_t n, uint32_t seed) {
  U v(n);
  uint32_t x = seed * 2654435761u + 1;
  for (uint32_t& e : v) e = x = x * 1664525 + 1013904223, e ^= e >> 15;
  return v;
}

std::string backend_name() {
  const char* name = std::getenv("VYRE_GPU_BACKEND");
  return name && *name ? name : "cuda";
}

Module parsed(const std::string& source) {
  ParseOutcome r = parse(source, {.file_name = "test.vyre"});
  EXPECT_TRUE(r.module) << render(r.diagnostics, r.sources);
  if (!r.module) return {};
  const Diagnostics wrong = check(*r.module);
  EXPECT_FALSE(has_errors(wrong)) << render(wrong, r.sources);
  return std::move(*r.module);
}

Program kernel(const std::string& source, size_t index) {
  Module m = parsed(source);
  return index < m.kernels.size() ? std::move(m.kernels[index]) : Program();
}

std::string text_of(const Diagnostics& errors) { return render(errors, {}); }

LaunchInputs inputs_of(const Program& p, const std::vector<std::vector<std::byte>>& values,
                       std::optional<std::array<uint64_t, 3>> grid) {
  LaunchInputs i;
  i.data.resize(p.buffers.size());
  i.lengths.resize(p.buffers.size());
  i.grid = grid;
  size_t next = 0;
  for (size_t b = 0; b < p.buffers.size(); ++b)
    if (is_host_input(p.buffers[b].role)) i.data[b] = values.at(next++);
  EXPECT_EQ(next, values.size());
  return i;
}

namespace {

/// Opened once: the first opening of a GPU takes a good part of a second.
std::optional<Device>& shared_device(bool split) {
  static std::optional<Device> devices[2];
  return devices[split];
}

/// Before the process ends: drivers end with it, and may do so before objects that are older.
class Closing : public ::testing::Environment {
  void TearDown() override {
    for (const bool split : {false, true}) shared_device(split).reset();
  }
};
[[maybe_unused]] const auto* const closing = ::testing::AddGlobalTestEnvironment(new Closing);

Result<Device> open(bool split) {
  OpenOptions o;
  o.use_cache = false;  // what is tested is what this build compiles
  o.split_grid_barriers = split;
  o.native_grid_barriers = !split;
  return Device::open(backend_name(), o);
}

}  // namespace

void OnDevice::SetUp() {
  std::optional<Device>& shared = shared_device(false);
  if (!shared) {
    Result<Device> made = open(false);
    if (!made) {
      // A backend named by VYRE_GPU_BACKEND must open; the default, cuda, may be unavailable.
      if (std::getenv("VYRE_GPU_BACKEND")) FAIL() << text_of(made.errors());
      GTEST_SKIP() << "there is no `cuda` device here (VYRE_GPU_BACKEND names another): "
                   << made.errors()[0].message;
    }
    shared = std::move(*made);
  }
  device_ = shared;
}

void OnDevice::TearDown() {
  if (!device_) return;
  device_->finish();
  for (const Buffer& b : buffers_) (void)bool(device_->free(b));
}

bool OnDevice::is_gpu() const {
  const std::string& backend = device_->info().backend;
  return backend != "interp" && backend != "cpu";
}

Device& OnDevice::split_device() {
  std::optional<Device>& shared = shared_device(true);
  if (!shared) {
    Result<Device> made = open(true);
    if (!made) {
      ADD_FAILURE() << text_of(made.errors());
      return *device_;
    }
    shared = std::move(*made);
  }
  split_ = shared;
  return *split_;
}

Executable OnDevice::compile(const std::string& source, const CompileOptions& options) {
  Result<Executable> made = device_->compile(kernel(source), options);
  EXPECT_TRUE(made) << (made ? "" : text_of(made.errors()));
  return made ? *made : Executable();
}

Buffer OnDevice::buffer(uint64_t bytes) {
  Result<Buffer> made = device_->allocate(bytes);
  EXPECT_TRUE(made) << (made ? "" : text_of(made.errors()));
  if (!made) return {};
  buffers_.push_back(*made);
  return *made;
}

Buffer OnDevice::buffer(const U& contents) {
  const Buffer b = buffer(contents.size() * 4);
  write(b, contents);
  return b;
}

void OnDevice::write(Buffer b, const U& contents) { submit({Upload{b, in(contents)}}); }

U OnDevice::read(Buffer b) {
  U words(b.bytes / 4);
  submit({Readback{b, out(words)}});
  return words;
}

Result<SubmitReport> OnDevice::attempt(std::vector<Command> commands,
                                       const SubmitOptions& options) {
  const Result<Ticket> ticket = device_->submit(std::move(commands), options);
  if (!ticket) return ticket.errors();
  return ticket->wait();
}

SubmitReport OnDevice::submit(std::vector<Command> commands, const SubmitOptions& options) {
  Result<SubmitReport> report = attempt(std::move(commands), options);
  EXPECT_TRUE(report) << (report ? "" : text_of(report.errors()));
  return report ? *report : SubmitReport();
}

SubmitReport OnDevice::launch(const Executable& code, std::vector<Argument> arguments) {
  std::vector<Command> commands;
  commands.push_back(Launch{code, std::move(arguments)});
  return submit(std::move(commands));
}

namespace {

/// An error without the segment that it names.
std::string without_segment(const std::string& message) {
  return message.starts_with("segment ") ? message.substr(message.find(": ") + 2) : message;
}

}  // namespace

void OnDevice::same(Device& d, const Program& p, const LaunchInputs& inputs,
                    const CompileOptions& compile) {
  interp::Options reference;
  reference.subgroup_size =
      compile.subgroup_size ? compile.subgroup_size : d.info().limits.default_subgroup_size;
  RunOptions options;
  options.compile = compile;
  options.time_limit = 30;
  const uint64_t used = d.memory_used();
  const Result<interp::Outcome> wanted = interp::run(p, inputs, reference);
  const Result<RunOutcome> got = run(d, p, inputs, options);
  ASSERT_EQ(bool(wanted), bool(got)) << (wanted ? text_of(got.errors()) : text_of(wanted.errors()));
  if (!wanted) {
    EXPECT_EQ(to_string(wanted.errors()[0].code), to_string(got.errors()[0].code));
    EXPECT_EQ(wanted.errors()[0].message, without_segment(got.errors()[0].message));
    EXPECT_EQ(wanted.errors()[0].place.line, got.errors()[0].place.line);
  } else {
    for (size_t i = 0; i < wanted->buffers.size(); ++i) {
      const auto &w = wanted->buffers[i], &g = got->buffers[i];
      ASSERT_EQ(w.size(), g.size()) << p.buffers[i].name;
      const auto at = std::mismatch(w.begin(), w.end(), g.begin()).first - w.begin();
      EXPECT_TRUE(w == g) << "`" << p.buffers[i].name << "` differs first in byte " << at;
    }
  }
  EXPECT_EQ(d.memory_used(), used) << "memory of a run is given back";
}

void OnDevice::still_works() {
  const Buffer y = buffer(U(1000, 7));
  launch(compile("kernel k(y: inout u32[]) workgroup(64) grid(len(y)) {\n"
                 "  y[global_id.x] = y[global_id.x] * 3 + global_id.x\n"
                 "}"),
         {y});
  U wanted(1000);
  for (uint32_t i = 0; i < 1000; ++i) wanted[i] = 21 + i;
  EXPECT_EQ(read(y), wanted) << "the device does not work any more";
}

}  // namespace vyre::driver
