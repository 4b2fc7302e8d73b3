#include "opt/pass_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "ir/stats.h"

namespace vyre::opt {
namespace {

constexpr std::array<std::string_view, 7> reason_names = {
    "hot_path_telemetry",  "pass_cost_report", "program_shape",   "always_on",
    "required_dependency", "below_threshold",  "profile_rejected"};
constexpr std::array<uint32_t, 7> priorities = {500, 400, 300, 200, 100, 0, 0};
constexpr std::array<std::string_view, 4> profile_names = {"none", "debug", "release", "size"};

/// A threshold of a family, and the program's value for it.
struct Shape {
  bool always = false;
  uint64_t has = 0, needs = 0;
  std::string_view unit;
  bool is_known = true;  // false: only the launch tells, which counts as enough
};

Shape shape_of(CostFamily family, const ProgramStats& s, const Target& target) {
  switch (family) {
    case CostFamily::Loop: return {false, s.ops, loop_ops, "ops"};
    case CostFamily::Memory: {
      const bool is_known = target.launch_bytes != 0 || !s.runtime_sized;
      const uint64_t bytes = target.launch_bytes ? target.launch_bytes : s.static_device_bytes;
      return {false, bytes, memory_bytes, "bytes", is_known || bytes >= memory_bytes};
    }
    case CostFamily::Fusion: return {false, s.top_level_regions, fusion_regions, "regions"};
    case CostFamily::Dataflow: return {false, s.ops, dataflow_ops, "ops"};
    case CostFamily::Megakernel: return {false, s.ops, megakernel_ops, "ops"};
    case CostFamily::Scalar:
    case CostFamily::Sync:
    case CostFamily::Unknown: return {true, 0, 0, ""};
  }
  return {true, 0, 0, ""};
}

class Selection {
 public:
  explicit Selection(const SelectionInput& input) : in_(input), stats_(stats(*input.program)) {
    for (size_t i = 0; i < in_.passes.size(); ++i) index_.emplace(in_.passes[i]->name, i);
    if (in_.hints) measured_ = in_.hints->find(in_.program->op_id, in_.target.device);
  }

  std::vector<Decision> run() {
    for (const PassDescriptor* pass : in_.passes) decisions_.push_back(decide(*pass));
    reject_dependents();
    pull_in_requirements();
    for (Decision& d : decisions_) d.priority = priority(d.reason);
    return std::move(decisions_);
  }

 private:
  Decision decide(const PassDescriptor& pass) {
    std::string why;
    if (!accepts(in_.profile, pass, in_.target, &why))
      return {&pass, false, Reason::ProfileRejected, 0, std::move(why)};
    if (measured_ && in_.hints->is_hot(*measured_))
      return {&pass, true, Reason::HotPathTelemetry, 0, measurement()};
    if (in_.earlier)
      if (const uint64_t saved = in_.earlier->reduction_by(pass.name))
        return {&pass, true, Reason::PassCostReport, 0,
                fmt::format("it reduced a cost by {} the last time", saved)};
    const Shape shape = shape_of(pass.family, stats_, in_.target);
    if (shape.always)
      return {&pass, true, Reason::AlwaysOn, 0,
              fmt::format("passes of family {} need no size", name(pass.family))};
    if (!shape.is_known)
      return {&pass, true, Reason::ProgramShape, 0,
              fmt::format("buffer sizes are not known before the launch; family {} needs {} {}",
                          name(pass.family), shape.needs, shape.unit)};
    const bool enough = shape.has >= shape.needs;
    std::string detail = fmt::format("{} {}, family {} needs {}", shape.has, shape.unit,
                                     name(pass.family), shape.needs);
    if (!enough && measured_) detail += "; " + measurement();
    return {&pass, enough, enough ? Reason::ProgramShape : Reason::BelowThreshold, 0,
            std::move(detail)};
  }

  /// Describes the measurement: the mean, of how many launches, on which device, and the threshold.
  std::string measurement() const {
    const HotPathHints::Entry& e = *measured_;
    return fmt::format("launches of `{}` take {} ns on average ({} measured on {}); hot from {} ns",
                       e.op_id, e.mean_ns(), e.launches,
                       e.device.empty() ? "an unknown device" : e.device,
                       in_.hints->threshold_ns());
  }

  /// A pass that requires one that the profile rejects cannot run either. A requirement that is not
  /// in the list does not count; the scheduler refuses it.
  void reject_dependents() {
    bool changed = true;
    while (changed) {  // at most as often as the longest chain
      changed = false;
      for (Decision& d : decisions_) {
        if (d.reason == Reason::ProfileRejected) continue;
        for (const std::string_view name : d.pass->requires_passes) {
          const auto it = index_.find(name);
          if (it == index_.end() || decisions_[it->second].reason != Reason::ProfileRejected)
            continue;
          d.selected = false;
          d.reason = Reason::ProfileRejected;
          d.detail = fmt::format("it requires `{}`, which profile {} rejects", name,
                                 opt::name(in_.profile));
          changed = true;
          break;
        }
      }
    }
  }

  void pull_in_requirements() {
    std::vector<size_t> work;
    for (size_t i = 0; i < decisions_.size(); ++i)
      if (decisions_[i].selected) work.push_back(i);
    while (!work.empty()) {
      const Decision& by = decisions_[work.back()];
      work.pop_back();
      for (const std::string_view name : by.pass->requires_passes) {
        const auto it = index_.find(name);
        if (it == index_.end()) continue;
        Decision& d = decisions_[it->second];
        if (d.selected) continue;
        d.selected = true;
        d.reason = Reason::RequiredDependency;
        d.detail = fmt::format("`{}` requires it", by.pass->name);
        work.push_back(it->second);
      }
    }
  }

  const SelectionInput& in_;
  const ProgramStats stats_;
  std::optional<HotPathHints::Entry> measured_;  // the entry for the program on the target
  std::unordered_map<std::string_view, size_t> index_;
  std::vector<Decision> decisions_;
};

}  // namespace

std::string_view name(Reason reason) { return reason_names[size_t(reason)]; }
uint32_t priority(Reason reason) { return priorities[size_t(reason)]; }
std::string_view name(Profile profile) { return profile_names[size_t(profile)]; }

std::optional<Profile> parse_profile(std::string_view text) {
  for (size_t i = 0; i < profile_names.size(); ++i)
    if (profile_names[i] == text) return Profile(i);
  return std::nullopt;
}

bool accepts(Profile profile, const PassDescriptor& pass, const Target& target, std::string* why) {
  const auto reject = [&](std::string text) {
    if (why) *why = std::move(text);
    return false;
  };
  if (profile == Profile::None) return reject("profile none runs no pass");
  if (profile == Profile::Debug) {
    if (pass.family != CostFamily::Scalar) return reject("profile debug runs Scalar passes only");
    if (!pass.keeps_lines) return reject("profile debug keeps every source line");
    return true;
  }
  if (!pass.keeps_host_abi)
    return reject(fmt::format("profile {} keeps the host's ABI", name(profile)));
  if ((pass.needs & ~target.capabilities).any())
    return reject("the target lacks a capability that it needs");
  if (profile == Profile::Size && pass.grows_code)
    return reject("profile size runs nothing that grows code");
  return true;
}

std::vector<Decision> select_passes(const SelectionInput& input) { return Selection(input).run(); }

}  // namespace vyre::opt
