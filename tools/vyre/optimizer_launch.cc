#include "tools/vyre/optimizer_launch.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <optional>

#include "diagnostics/work_deadline.h"
#include "runtime/compile/optimizer_target.h"
#include "runtime/registry.h"

namespace vyre::cli {
namespace {

/// Sizes of a launch whose data may be missing.
class LaunchSizes {
 public:
  LaunchSizes(const Program& kernel, const LaunchInputs& inputs)
      : p_(kernel), counts_(kernel.buffers.size()), scalars_(kernel.buffers.size()) {
    for (const BufferId i : p_.buffers.ids()) take(i, inputs);
    // The bytes of buffers do not depend on the grid.
    grid_ = inputs.grid.value_or(std::array<uint64_t, 3>{1, 1, 1});
  }

  /// Returns everything that the sizes depend on and that was not given.
  Diagnostics missing() const {
    Diagnostics list;
    for (const BufferId i : p_.buffers.ids()) {
      const Buffer& b = p_.buffers[i];
      if (!is_parameter(b.role) || b.role == Role::Scalar || counts_[i] || b.count != no_formula)
        continue;
      list.push_back(
          diagnose(Code::MissingLength, p_.place(b.loc),
                   fmt::format("the length of `{}` is not known", b.name))
              .with_fix(fmt::format("pass `--len {}=N`, or leave out all inputs", b.name)));
    }
    IdMap<BufferId, bool> told(p_.buffers.size());
    for (const FormulaNode& n : p_.formulas.nodes) {
      const BufferId scalar(n.a);
      if (n.op != FormulaOp::Scalar || scalars_[scalar] || told[scalar]) continue;
      told[scalar] = true;
      const std::string& name = p_.buffers[scalar].name;
      list.push_back(
          diagnose(Code::MissingInput, p_.place(p_.buffers[scalar].loc),
                   fmt::format("no value for `{}`, on which a size depends", name))
              .with_fix(fmt::format("pass `--set {}=V`, or leave out all inputs", name)));
    }
    return list;
  }

  /// Requires that nothing is missing: scalars without a value do not affect the sizes.
  Result<uint64_t> bytes() const {
    IdMap<BufferId, std::optional<uint64_t>> scalars = scalars_;
    for (std::optional<uint64_t>& value : scalars) value = value.value_or(0);
    const Result<LaunchShape> shape = resolve_launch(p_, counts_, scalars, grid_);
    if (!shape) return shape.errors();
    return driver::parameter_bytes(p_, *shape);
  }

 private:
  void take(BufferId i, const LaunchInputs& inputs) {
    if (inputs.lengths.contains(i)) counts_[i] = inputs.lengths[i];
    if (!inputs.data.contains(i) || !inputs.data[i]) return;
    const std::vector<std::byte>& data = *inputs.data[i];
    if (p_.buffers[i].role != Role::Scalar) {
      counts_[i] = data.size() / size_of(p_.buffers[i].element);
      return;
    }
    uint64_t bits = 0;
    std::memcpy(&bits, data.data(), std::min(data.size(), sizeof bits));
    scalars_[i] = bits;
  }

  const Program& p_;
  IdMap<BufferId, std::optional<uint64_t>> counts_, scalars_;
  std::array<uint64_t, 3> grid_;
};

}  // namespace

Result<driver::DeviceInfo> find_device(const std::string& backend) {
  const Result<driver::Choice> choice = driver::choose(backend);
  if (!choice) return choice.errors();
  if (choice->name.has_options())
    return diagnose(Code::OptionMisuse, {},
                    fmt::format("`--backend {}`: nothing runs, so the options have no effect",
                                choice->name.text))
        .with_fix(fmt::format("write `--backend {}`", choice->name.device));
  std::string why;
  std::vector<driver::DeviceInfo> devices = choice->backend->probe(&why);
  if (choice->index < devices.size()) return std::move(devices[choice->index]);
  return diagnose(Code::DeviceNotHere, {},
                  fmt::format("backend `{}` has no device {}{}{}", choice->backend->name(),
                              choice->index, why.empty() ? "" : ", because ", why))
      .with_fix("see `vyre devices`");
}

bool describes_launch(const LaunchFlags& f) {
  return !f.in.empty() || !f.set.empty() || !f.len.empty() || !f.grid.empty();
}

Result<opt::Target> optimizer_target(const driver::DeviceInfo* device, const Program& kernel,
                                     const LaunchInputs* inputs) {
  uint64_t launch_bytes = 0;
  const LaunchSizes sizes(kernel, inputs ? *inputs : LaunchInputs());
  if (Diagnostics missing = sizes.missing(); missing.empty()) {
    const Result<uint64_t> bytes = sizes.bytes();
    if (bytes)
      launch_bytes = *bytes;
    else if (inputs)
      return bytes.errors();
  } else if (inputs) {
    return missing;
  }
  if (device) return driver::optimizer_target(*device, launch_bytes);
  opt::Target unknown;
  unknown.launch_bytes = launch_bytes;
  return unknown;
}

Result<driver::CompileLimits> limits_after(const LoadedModule& loaded, const LaunchFlags& flags) {
  const auto limits = parse_limits(flags);
  if (!limits) return limits.errors();
  double seconds = limits->seconds;
  if (seconds > 0) {
    seconds -= static_cast<double>(loaded.parse_ns + loaded.check_ns) / 1e9;
    if (seconds <= 0)
      return diagnose(Code::TimeLimitExceeded, {},
                      fmt::format("the time of {} seconds was over before kernels were compiled",
                                  limits->seconds))
          .with_fix("raise the time limit, or use a smaller program");
    seconds = std::ceil(seconds * 1e3) / 1e3;  // whole milliseconds read better
  }
  // CompileLimits take 0 bytes as no limit.
  const bool no_memory = !flags.memory_limit.empty() && limits->memory_bytes == 0;
  return driver::CompileLimits(seconds, no_memory ? 1 : limits->memory_bytes);
}

Result<std::string> make_within(const driver::CompileLimits& limits, const Program& kernel,
                                const std::function<Result<std::string>()>& work) {
  std::function<bool()> is_over;
  if (limits.deadline()) is_over = [&] { return limits.is_over(); };
  std::optional<Result<std::string>> made;
  if (!run_until(is_over, [&] { made = work(); }) || limits.is_over())
    return limits.timed_out(kernel);
  return std::move(*made);
}

}  // namespace vyre::cli
