#include <fmt/format.h>

#include <cstdlib>

#include "check/check.h"
#include "cpu_peers.h"
#include "support/file.h"
#include "text/parse.h"

namespace bench {

using namespace vyre;
using namespace vyre::driver;

namespace {

template <class T>
T take(Result<T> result, const std::string& what) {
  if (!result) fail(fmt::format("{}:\n{}", what, render(result.errors(), {})));
  return std::move(*result);
}

class VyrePeer : public Peer {
 public:
  VyrePeer(const Case& c, Device device, uint32_t threads, uint32_t subgroup_size,
           const Optimization& optimize, bool stoppable)
      : case_(c), device_(std::move(device)) {
    const Program program =
        c.program
            ? *c.program
            : load_program(fmt::format("{}/kernels/{}.vyre", BENCH_CPU_DIR, c.name), c.kernel);
    Launch launch;
    CompileOptions how;
    how.subgroup_size = subgroup_size;
    how.optimize = optimize;
    how.stoppable = stoppable;
    if (threads) how.extra = {fmt::format("threads={}", threads)};
    launch.executable = take(device_.compile(program, how), c.name);
    launch.clear_outputs =
        c.clear_outputs;  // else those that need zeros are filled, as in the twins
    for (const Parameter& p : c.parameters) {
      if (p.kind == Parameter::Kind::Scalar) {
        const Type type = program.buffers[launch.arguments.size()].element;
        launch.arguments.push_back(Scalar{type, p.scalar});
        continue;
      }
      buffers_.push_back(take(device_.allocate(c.buffers[p.buffer].size()), c.name));
      launch.arguments.push_back(buffers_.back());
      if (p.zeroed) commands_.push_back(Fill{.to = buffers_.back()});
    }
    commands_.push_back(std::move(launch));
  }
  ~VyrePeer() override {
    device_.finish();
    for (const driver::Buffer& b : buffers_) (void)device_.free(b);
  }

  void reset() override {
    for (size_t i = 0; i < buffers_.size(); ++i)
      take(take(device_.submit({Upload{buffers_[i], case_.buffers[i]}}), case_.name).wait(),
           case_.name);
  }
  void launch() override {
    const Result<Ticket> ticket = device_.submit(commands_);
    if (!ticket) fail(render(ticket.errors(), {}));
    const Result<SubmitReport> report = ticket->wait();
    if (!report) fail(render(report.errors(), {}));
    device_ns_ = report->run_ns + report->fill_ns;
  }
  std::vector<std::byte> read(size_t buffer) override {
    std::vector<std::byte> bytes(case_.buffers[buffer].size());
    take(take(device_.submit({Readback{buffers_[buffer], bytes}}), case_.name).wait(), case_.name);
    return bytes;
  }
  uint64_t device_ns() const override { return device_ns_; }

 private:
  const Case& case_;
  Device device_;
  std::vector<driver::Buffer> buffers_;
  std::vector<Command> commands_;
  uint64_t device_ns_ = 0;
};

}  // namespace

void fail(const std::string& what) {
  fmt::print(stderr, "bench_cpu: {}\n", what);
  std::exit(1);
}

Program load_program(const std::string& path, const std::string& kernel) {
  FileContents text = read_file(path);
  if (!text) fail(text.error->what);
  ParseOutcome parsed = parse(std::move(text.bytes), {.file_name = path});
  if (!parsed.module) fail(render(parsed.diagnostics, parsed.sources));
  const Diagnostics wrong = check(*parsed.module);
  if (has_errors(wrong)) fail(render(wrong, parsed.sources));
  for (Program& p : parsed.module->kernels)
    if (p.name == kernel) return std::move(p);
  fail(fmt::format("{} has no kernel `{}`", path, kernel));
}

std::unique_ptr<Peer> vyre_peer(const Case& c, Device device, uint32_t threads,
                                uint32_t subgroup_size, const Optimization& optimize,
                                bool stoppable) {
  return std::make_unique<VyrePeer>(c, std::move(device), threads, subgroup_size, optimize,
                                    stoppable);
}

}  // namespace bench
