#include "tests/differential/toy_backend_util.h"

#include <algorithm>

namespace vyre::lab {
namespace {

using namespace driver;

DeviceInfo toy_info(DeviceInfo info, Flaw flaw) {
  info.backend = "toy";
  info.name = "toy";
  if (flaw == Flaw::SmallWorkgroups) info.limits.workgroup_invocations = 64;
  return info;
}

class ToyDevice : public BackendDevice {
 public:
  ToyDevice(std::unique_ptr<BackendDevice> real, Flaw flaw)
      : real_(std::move(real)), flaw_(flaw), info_(toy_info(real_->info(), flaw)) {}

  const DeviceInfo& info() const override { return info_; }

  Result<MemoryHandle> allocate(uint64_t bytes) override {
    Result<MemoryHandle> made = real_->allocate(bytes);
    if (!made || flaw_ != Flaw::DirtyMemory) return made;
    const auto done = real_->submit(0, {{DeviceFill{{*made, 0, bytes}, 1}}}, {}, std::nullopt);
    if (done) real_->wait(*done);
    return made;
  }
  void release(MemoryHandle memory) override { real_->release(memory); }

  Result<std::shared_ptr<CompiledKernel>> compile(std::shared_ptr<const Program> program,
                                                  const CompileOptions& options) override {
    if (flaw_ == Flaw::RefusesShuffles)
      for (const Op& op : program->ops)
        if (op.code == Opcode::SubgroupShuffleXor)
          return diagnose(Code::InternalError, {}, "the toy has no shuffles");
    return real_->compile(std::move(program), options);
  }

  Result<SubmissionHandle> submit(
      uint32_t stream, std::vector<DeviceCommand> commands, std::span<const SubmissionHandle> after,
      std::optional<std::chrono::steady_clock::time_point> deadline) override {
    if (flaw_ == Flaw::ForgetsFill)
      for (DeviceCommand& c : commands)
        if (auto* fill = c.as<DeviceFill>()) fill->to.bytes = 0;
    if (flaw_ == Flaw::MinIsMax)
      for (DeviceCommand& c : commands)
        if (auto* launch = c.as<DeviceLaunch>()) launch->program = with_wrong_min(*launch->program);
    if (flaw_ == Flaw::NoTimeLimit && deadline) *deadline += std::chrono::seconds(6);
    return real_->submit(stream, std::move(commands), after, deadline);
  }
  bool is_done(SubmissionHandle s) override { return real_->is_done(s); }

  SubmissionOutcome wait(SubmissionHandle s) override {
    SubmissionOutcome o = real_->wait(s);
    if (flaw_ != Flaw::LateTrap) return o;
    if (o.kind == SubmissionOutcome::Kind::Trapped) ++o.trap.invocation[0];
    for (Diagnostic& d : o.errors)  // the interpreter words its traps itself
      if (const size_t at = d.message.find("invocation ("); at != std::string::npos)
        d.message.insert(at + 12, "1");
    return o;
  }

 private:
  static std::shared_ptr<const Program> with_wrong_min(const Program& p) {
    auto wrong = std::make_shared<Program>(p);
    for (Op& op : wrong->ops)
      if (op.code == Opcode::Min && op.type == Type::I32) op.code = Opcode::Max;
    return wrong;
  }

  std::unique_ptr<BackendDevice> real_;
  Flaw flaw_;
  DeviceInfo info_;
};

}  // namespace

std::vector<DeviceInfo> ToyBackend::probe(std::string* why_none) {
  std::vector<DeviceInfo> list = interp_backend()->probe(why_none);
  for (DeviceInfo& d : list) d = toy_info(d, flaw_);
  return list;
}

Result<std::unique_ptr<BackendDevice>> ToyBackend::open(uint32_t index) {
  auto real = interp_backend()->open(index);
  if (!real) return std::move(real.errors());
  return std::unique_ptr<BackendDevice>(std::make_unique<ToyDevice>(std::move(*real), flaw_));
}

}  // namespace vyre::lab
