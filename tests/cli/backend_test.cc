// `vyre run` on a backend other than the interpreter, in this process: a test backend that runs on
// the interpreter and fails on request.

#include <unistd.h>

#include <map>

#include "diagnostics/failure.h"
#include "runtime/interp/interp_backend.h"
#include "runtime/registry.h"
#include "tests/cli/cli_util.h"
#include "tools/vyre/commands.h"
#include "tools/vyre/diagnostic_output.h"

namespace vyre {
namespace {

using namespace driver;

struct Counts {
  int readbacks = 0;
  uint64_t read_bytes = 0;
  int launches = 0;
  int timed_launches = 0;
};

/// Forwards all calls, and flips a bit of readbacks if it is `wrong`.
class OtherDevice : public BackendDevice {
 public:
  OtherDevice(std::unique_ptr<BackendDevice> inner, uint32_t index, bool wrong, bool reversed,
              Counts& counts)
      : inner_(std::move(inner)),
        info_(inner_->info()),
        wrong_(wrong),
        reversed_(reversed),
        counts_(counts) {
    info_.backend = "other";
    info_.index = index;
    info_.name = "other device " + std::to_string(index);
    info_.limits.subgroup_sizes = {8, 16};
    info_.limits.default_subgroup_size = 8;
    info_.limits.buffer_bytes = 1 << 20;  // a report measures the bandwidth of a copy
  }
  const DeviceInfo& info() const override { return info_; }
  Result<MemoryHandle> allocate(uint64_t bytes) override { return inner_->allocate(bytes); }
  void release(MemoryHandle memory) override { inner_->release(memory); }
  Result<std::shared_ptr<CompiledKernel>> compile(std::shared_ptr<const Program> program,
                                                  const CompileOptions& options) override {
    CompileOptions o = options;
    if (o.subgroup_size == 0) o.subgroup_size = info_.limits.default_subgroup_size;
    if (reversed_) o.extra.push_back("schedule=reverse");
    return inner_->compile(std::move(program), o);
  }
  Result<SubmissionHandle> submit(
      uint32_t stream, std::vector<DeviceCommand> commands, std::span<const SubmissionHandle> after,
      std::optional<std::chrono::steady_clock::time_point> deadline) override {
    std::vector<std::shared_ptr<std::vector<std::byte>>> staging;
    for (const DeviceCommand& c : commands) {
      // Not those of the bandwidth measurement.
      const auto* const launch = c.as<DeviceLaunch>();
      const bool counts = launch && launch->program->name != "copy";
      counts_.launches += counts;
      counts_.timed_launches += counts && c.timed;
      const auto* const readback = c.as<DeviceReadback>();
      if (!readback) continue;
      staging.push_back(readback->staging);
      ++counts_.readbacks;
      counts_.read_bytes += readback->from.bytes;
    }
    auto handle = inner_->submit(stream, std::move(commands), after, deadline);
    if (handle) readbacks_[*handle] = std::move(staging);
    return handle;
  }
  bool is_done(SubmissionHandle s) override { return inner_->is_done(s); }
  SubmissionOutcome wait(SubmissionHandle s) override {
    SubmissionOutcome o = inner_->wait(s);
    for (const auto& bytes : readbacks_[s])
      if (wrong_ && !bytes->empty()) bytes->back() ^= std::byte{1};
    return o;
  }

 private:
  std::unique_ptr<BackendDevice> inner_;
  DeviceInfo info_;
  bool wrong_;
  bool reversed_;
  Counts& counts_;
  std::map<SubmissionHandle, std::vector<std::shared_ptr<std::vector<std::byte>>>> readbacks_;
};

class OtherBackend : public Backend {
 public:
  bool wrong = false;
  bool reversed = false;  // runs lanes in the reverse order
  Counts counts;
  std::string_view name() const override { return "other"; }
  std::string_view summary() const override { return "for tests"; }
  std::vector<DeviceInfo> probe(std::string*) override {
    std::vector<DeviceInfo> devices;
    for (const uint32_t i : {0u, 1u}) devices.push_back((*open(i))->info());
    return devices;
  }
  Result<std::unique_ptr<BackendDevice>> open(uint32_t index) override {
    auto inner = interp_backend()->open(0);
    if (!inner) return std::move(inner.errors());
    return std::unique_ptr<BackendDevice>(
        std::make_unique<OtherDevice>(std::move(*inner), index, wrong, reversed, counts));
  }
};

class OtherBackendTest : public CommandLine {
 protected:
  OtherBackend other_;
  RegisterForTest registered_{&other_};

  /// In this process, with what it wrote.
  ProcessResult run(std::vector<std::string> words) const {
    const auto command = cli::parse_command_line(words);
    ProcessResult r;
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    if (const auto* c = command ? std::get_if<cli::RunCommand>(&*command) : nullptr)
      r.exit_code = cli::run(*c);
    else if (command)
      r.exit_code = cli::devices(std::get<cli::DevicesCommand>(*command));
    std::fflush(stdout);
    r.out = testing::internal::GetCapturedStdout();
    r.err = testing::internal::GetCapturedStderr();
    return r;
  }
  ProcessResult run_saxpy(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {
        "run", file("saxpy.vyre", saxpy), "--set", "a=2", "--in", "x=1,2,3", "--in", "y=10,20,30"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
};

TEST_F(OtherBackendTest, verify_compares_with_the_interpreter) {
  auto r = run_saxpy({"--backend", "other", "--verify", "--print", "y"});
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "y: 12 24 36\n");
  other_.wrong = true;
  r = run_saxpy({"--backend", "other", "--print", "y"});
  expect_exit(r, 0);
  EXPECT_NE(r.out, "y: 12 24 36\n");
  r = run_saxpy({"--backend", "other", "--verify", "--print", "y"});
  expect_exit(r, 1);
  expect_code(r, "V0631");
  EXPECT_NE(r.err.find("with `--backend other` and 36 with `--backend interp`"), std::string::npos)
      << r.err;
  EXPECT_EQ(r.out, "");
}

TEST_F(OtherBackendTest, verify_is_within_the_time_limit) {
  other_.reversed = true;
  // A race: in the reverse order lane 0 is the last to store.
  const std::string text =
      "kernel k(y: out u32[1]) workgroup(2) grid(2) {\n"
      "  y[0] = global_id.x\n  barrier workgroup\n  while y[0] != 0 { }\n}\n";
  auto r = run({"run", file("k.vyre", text), "--backend", "other", "--print", "y"});
  expect_exit(r, 0);
  r = run({"run", path("k.vyre"), "--backend", "other", "--verify", "--time-limit", "1"});
  expect_exit(r, 1);
  expect_code(r, "V0502");
  EXPECT_NE(r.err.find("this is of the second run"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("both runs together have 1 seconds"), std::string::npos) << r.err;
}

TEST_F(OtherBackendTest, verify_is_within_the_memory_limit) {
  expect_exit(run_saxpy({"--backend", "other", "--memory-limit", "40"}), 0);
  for (const char* limit : {"28", "40", "1K"}) {
    const auto r = run_saxpy({"--backend", "other", "--memory-limit", limit, "--verify"});
    expect_exit(r, 1);
    expect_code(r, "V0503");
    EXPECT_NE(r.err.find("this is of the second run"), std::string::npos) << r.err;
  }
  expect_exit(run_saxpy({"--backend", "other", "--memory-limit", "1M", "--verify"}), 0);
}

// The sum of a subgroup is another number for another size: comparing with 32 lanes would find a
// difference where there is none.
TEST_F(OtherBackendTest, verify_takes_the_subgroup_size_of_the_device) {
  const std::string text =
      "kernel k(y: out u32[]) workgroup(64) grid(len(y)) {\n"
      "  y[global_id.x] = subgroup_add(1)\n}\n";
  auto r = run({"run", file("k.vyre", text), "--len", "y=64", "--backend", "other", "--verify",
                "--print", "y:1"});
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "y: 8\n");
  r = run({"run", path("k.vyre"), "--len", "y=64", "--backend", "other", "--verify", "--print",
           "y:1", "--subgroup-size", "16"});
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "y: 16\n");
  r = run({"run", path("k.vyre"), "--len", "y=64", "--backend", "other", "--subgroup-size", "64"});
  expect_exit(r, 3);
  expect_code(r, "V0721");
}

// ---- requested outputs and times

const char* const three_outputs = R"(
kernel k(x: in u32[], small: out u32[2], large: out u32[len(x)]) workgroup(4) grid(len(x)) {
  let i = global_id.x
  if i < 2 { small[i] = i }
  if i < len(x) { large[i] = x[i] }
}
kernel next(y: inout u32[]) workgroup(1) grid(1) { for i in 1..len(y) { y[i] += y[i - 1] } }
graph g(x: in u32[], small: out u32[2], large: out u32[len(x)]) {
  call k(x, small, large)
  call next(large)
  call next(large)
}
)";

TEST_F(OtherBackendTest, reads_back_the_outputs_that_are_requested) {
  const std::string program = file("three.vyre", three_outputs);
  struct Case {
    std::vector<std::string> words;
    int readbacks;
    uint64_t bytes;
  };
  const Case cases[] = {
      {{}, 2, 8 + 16},
      {{"--print", "small"}, 1, 8},
      {{"--print", "x"}, 0, 0},
      {{"--print", "small:1", "--print", "large"}, 2, 8 + 16},
      {{"--out", "large=@" + path("large.bin")}, 1, 16},
      {{"--out", "large=@" + path("large.bin"), "--print", "small"}, 2, 8 + 16},
      {{"--print", "small", "--json"}, 1, 8},
      {{"--out", "large=@" + path("large.bin"), "--json"}, 2, 8 + 16},  // JSON shows all
      {{"--print", "small", "--verify"}, 2, 8 + 16},                    // compares all
      {{"--print", "small", "--repeat", "3"}, 1, 8},
  };
  for (const std::string name : {"k", "g"})
    for (const Case& c : cases) {
      SCOPED_TRACE(name + (c.words.empty() ? "" : " " + c.words.back()));
      other_.counts = {};
      std::vector<std::string> words = {"run",       program + ":" + name, "--in",
                                        "x=4,3,2,1", "--backend",          "other"};
      words.insert(words.end(), c.words.begin(), c.words.end());
      expect_exit(run(words), 0);
      EXPECT_EQ(other_.counts.readbacks, c.readbacks);
      EXPECT_EQ(other_.counts.read_bytes, c.bytes);
    }
  EXPECT_EQ(std::filesystem::file_size(path("large.bin")), 16u);
}

TEST_F(OtherBackendTest, times_calls_of_a_graph_for_reports_traces_and_profiles) {
  const std::string program = file("three.vyre", three_outputs);
  const auto timed = [&](std::vector<std::string> more) {
    other_.counts = {};
    std::vector<std::string> words = {"run",    program + ":g", "--backend", "other",
                                      "--plan", "none",         "--in",      "x=1,2"};
    words.insert(words.end(), more.begin(), more.end());
    expect_exit(run(words), 0);
    EXPECT_EQ(other_.counts.launches % 3, 0);
    return other_.counts.timed_launches;
  };
  EXPECT_EQ(timed({}), 0);
  EXPECT_EQ(timed({"-v"}), 0);
  EXPECT_EQ(timed({"--json"}), 0);
  EXPECT_EQ(timed({"--repeat", "5"}), 0);
  EXPECT_EQ(timed({"--report", path("r.json")}), 3);
  EXPECT_EQ(timed({"--trace", path("t.json")}), 3);
  EXPECT_EQ(timed({"--profile-out", path("p.json")}), 3);
}

TEST_F(OtherBackendTest, the_index_chooses_the_device) {
  auto r = run_saxpy({"--backend", "other:1", "-v", "--print", "y"});
  expect_exit(r, 0);
  EXPECT_NE(r.err.find("backend: other:1, other device 1"), std::string::npos) << r.err;
  r = run_saxpy({"--backend", "other:2"});
  expect_exit(r, 3);
  expect_code(r, "V0703");
  r = run({"devices"});
  EXPECT_NE(r.out.find("other:0   other device 0\nother:1   other device 1\n"), std::string::npos)
      << r.out;
}

TEST_F(OtherBackendTest, a_schedule_is_for_the_interpreter) {
  const auto r = run_saxpy({"--backend", "other", "--schedule", "reverse"});
  expect_exit(r, 2);
  expect_code(r, "V0624");
  EXPECT_NE(r.err.find("`--backend interp`"), std::string::npos) << r.err;
}

// ---- exit codes
// ----------------------------------------------------------------------------------

TEST(ExitCodes, every_code_of_the_driver_says_whose_fault_it_is) {
  const auto expect = [](std::initializer_list<Code> codes, int exit) {
    for (const Code c : codes)
      EXPECT_EQ(cli::exit_code({diagnose(c, {}, "")}), exit) << to_string(c);
  };
  expect({Code::Trapped, Code::TimeLimitExceeded, Code::MemoryLimitExceeded,
          Code::OutputLimitExceeded, Code::ReadbackLimit, Code::ResultsDiffer},
         1);
  expect({Code::UnknownDevice, Code::ForeignBuffer, Code::StaleBuffer, Code::BufferInUse,
          Code::UndefinedBuffer, Code::RangeOutside, Code::OverlappingArguments,
          Code::WrongArgument, Code::ReportFormat, Code::ScheduleOfDevice},
         2);
  expect({Code::DeviceNotHere, Code::DeviceIndex, Code::DeviceFailed, Code::DeviceMemoryExceeded,
          Code::KernelTooLarge, Code::NeedsForwardProgress, Code::OutOfMemory, Code::CannotWrite},
         3);
}

}  // namespace
}  // namespace vyre
