#include <fmt/format.h>

#include "check/check.h"
#include "embedded.h"
#include "gpu_peers.h"
#include "text/parse.h"

namespace bench {

using namespace vyre;
using namespace vyre::driver;

namespace {

CompileOptions options_for(bool stoppable) {
  CompileOptions options;
  options.stoppable = stoppable;
  return options;
}

class VyrePeer : public Peer {
 public:
  VyrePeer(const Case& c, driver::Device device, bool stoppable)
      : case_(c), device_(std::move(device)) {
    const Program program =
        c.plain ? c.plain->kernel() : std::move(load_module(c.name + ".vyre").kernels[0]);
    launch_.executable = take(device_.compile(program, options_for(stoppable)), c.name);
    // A plain kernel runs as users run it; the twins do not clear their outputs.
    launch_.clear_outputs = c.plain != nullptr;
    for (const Parameter& p : c.parameters) {
      if (p.kind == Parameter::Kind::Scalar) {
        const Type type = program.buffers[launch_.arguments.size()].element;
        launch_.arguments.push_back(Scalar{type, p.scalar});
        continue;
      }
      buffers_.push_back(take(device_.allocate(c.buffers[p.buffer].bytes), c.name));
      launch_.arguments.push_back(buffers_.back());
    }
  }
  ~VyrePeer() override {
    device_.finish();
    for (const driver::Buffer& b : buffers_) (void)bool(device_.free(b));
  }

  void reset() override {
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const DataBuffer& data = case_.buffers[i];
      if (data.contents.empty())
        run({Fill{buffers_[i], 0}});
      else
        run({Upload{buffers_[i], data.contents}});
    }
  }
  double launch(uint32_t count) override {
    // One time for all of them, as the twins have it.
    const SubmitReport report = run(std::vector<Command>(count, launch_));
    return double(report.run_ns + report.fill_ns) / count;
  }
  std::vector<std::byte> read(size_t buffer) override {
    std::vector<std::byte> bytes(case_.buffers[buffer].bytes);
    run({Readback{buffers_[buffer], bytes}});
    return bytes;
  }

 private:
  SubmitReport run(std::vector<Command> commands) {
    SubmitOptions how;
    how.call_times = false;
    return take(take(device_.submit(std::move(commands), how), case_.name).wait(), case_.name);
  }

  const Case& case_;
  driver::Device device_;
  std::vector<driver::Buffer> buffers_;
  Launch launch_;
};

}  // namespace

Module parse_module(const std::string& text) {
  ParseOutcome parsed = parse(text, {.file_name = "bench.vyre"});
  if (!parsed.module) throw Failure{render(parsed.diagnostics, parsed.sources)};
  const Diagnostics wrong = check(*parsed.module);
  if (has_errors(wrong)) throw Failure{render(wrong, parsed.sources)};
  return std::move(*parsed.module);
}

Module load_module(const std::string& name) {
  const std::string_view text = embedded(name);
  if (text.empty()) throw Failure{name + " is not inside of this program"};
  return parse_module(std::string(text));
}

std::unique_ptr<Peer> vyre_peer(const Case& c, driver::Device device, bool stoppable) {
  return std::make_unique<VyrePeer>(c, std::move(device), stoppable);
}

}  // namespace bench
