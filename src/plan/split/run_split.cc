#include "plan/split/run_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "interp/launch_kernel.h"
#include "plan/split/step_control.h"
#include "support/bytes_text.h"

namespace vyre::plan {
namespace {

using interp::View;

class SplitRun {
 public:
  SplitRun(const Program& program, const SplitPlan& plan, const LaunchInputs& inputs,
           const interp::Options& options)
      : p_(program),
        plan_(plan),
        inputs_(inputs),
        options_(options),
        clock_(options),
        memory_(options) {}

  Result<interp::Outcome> run() {
    if (auto ready = prepare(); !ready) return ready.errors();
    if (auto done = execute(); !done) return done.errors();
    interp::Outcome outcome;
    outcome.buffers.resize(p_.buffers.size());
    for (const BufferId i : p_.buffers.ids())
      if (is_host_output(p_.buffers[i].role)) outcome.buffers[i] = std::move(storage_[i]);
    outcome.shape = std::move(shape_);
    outcome.lane_ops = lane_ops_;
    if (options_.progress) options_.progress(1.0);
    return outcome;
  }

 private:
  Result<> prepare() {
    Result<LaunchShape> shape = resolve_launch(p_, inputs_);
    if (!shape) return shape.errors();
    shape_ = std::move(*shape);
    Result<LaunchShape> extended = segment_shape(p_, plan_, shape_);
    if (!extended) return extended.errors();
    extended_ = std::move(*extended);
    const Result<uint32_t> subgroup = interp::subgroup_size(p_, options_);
    if (!subgroup) return subgroup.errors();
    subgroup_ = *subgroup;

    uint64_t bytes = 0, output = 0;
    for (const BufferId i : extended_.counts.ids()) {
      if (i >= first_parameter()) break;
      const uint64_t size = extended_.counts[i] * size_of(element(i));
      const Role role = role_of(i);
      if (is_parameter(role)) bytes += size;
      if (is_host_output(role)) output += size;
    }
    if (options_.output_limit != 0 && output > options_.output_limit)
      return diagnose(
                 Code::OutputLimitExceeded, {},
                 fmt::format("output limit: kernel `{}` gives {} back; the limit is {}", p_.name,
                             exact_bytes(output), exact_bytes(options_.output_limit, false)))
          .with_fix("raise the output limit, or give smaller lengths");
    if (auto taken = memory_.take(bytes, fmt::format("the buffers of kernel `{}`", p_.name));
        !taken)
      return taken;
    bind();
    return Ok{};
  }

  /// The buffers of a segment are the program's, the hidden ones and the parameters of the host.
  /// This is the first of the parameters.
  BufferId first_parameter() const { return p_.buffers.next_id() + uint32_t(plan_.hidden.size()); }
  Role role_of(BufferId i) const {
    return p_.buffers.contains(i) ? p_.buffers[i].role : Role::Scratch;
  }
  Type element(BufferId i) const {
    if (p_.buffers.contains(i)) return p_.buffers[i].element;
    const size_t h = i - p_.buffers.next_id();
    return h < plan_.hidden.size() ? plan_.hidden[h].element
                                   : plan_.parameters[h - plan_.hidden.size()];
  }

  void bind() {
    const size_t n = extended_.counts.size();
    storage_.resize(n);
    views_.resize(n);
    scalars_.assign(n, 0);
    for (const BufferId i : extended_.counts.ids()) {
      if (i >= first_parameter()) {
        views_[i] = {nullptr, 1, size_of(element(i)), 0};
        continue;
      }
      const Role role = role_of(i);
      const uint64_t size = extended_.counts[i] * size_of(element(i));
      std::byte* base = nullptr;
      if (role == Role::In || role == Role::Uniform) {
        base = const_cast<std::byte*>(inputs_.data[i]->data());  // no segment may write it
      } else if (role == Role::Scalar) {
        std::memcpy(&scalars_[i], inputs_.data[i]->data(), size);
      } else if (is_parameter(role)) {
        if (role == Role::InOut)
          storage_[i] = *inputs_.data[i];
        else
          storage_[i].resize(size);
        base = storage_[i].data();
      }
      views_[i] = {base, extended_.counts[i], size, 0};
      if (!p_.buffers.contains(i) &&
          plan_.hidden[i - p_.buffers.next_id()].rate == HiddenBuffer::Rate::Once)
        once_ = i;
    }
  }

  Result<> execute() {
    if (shape_.num_workgroups[0] == 0 || shape_.num_workgroups[1] == 0 ||
        shape_.num_workgroups[2] == 0)
      return Ok{};
    StepControl control(plan_, {&p_, &shape_, scalars_, subgroup_});
    for (;;) {
      const StepControl::Action action = control.next();
      if (action.kind == StepControl::Kind::Done) return Ok{};
      if (action.kind == StepControl::Kind::Poll) {
        uint32_t word = 0;
        std::memcpy(&word, storage_[once_].data() + size_t{action.word} * 4, 4);
        control.answer(word != 0);
      } else if (action.kind == StepControl::Kind::Pause) {
        if (clock_.expired()) return time_is_over();
      } else {
        std::copy(action.parameters.begin(), action.parameters.end(),
                  scalars_.end() - static_cast<ptrdiff_t>(action.parameters.size()));
        if (auto done = launch(action.segment); !done) return done;
      }
    }
  }

  Diagnostic time_is_over() {
    return diagnose(Code::TimeLimitExceeded, p_.place(p_.loc),
                    fmt::format("kernel `{}` was still running after {} seconds", p_.name,
                                clock_.limit()))
        .with_fix("raise the time limit, or make the loop end");
  }

  Result<> launch(uint32_t segment) {
    Result<uint64_t> ops = interp::launch_kernel(plan_.segments[segment], extended_, views_,
                                                 scalars_, options_, clock_, memory_);
    if (ops && clock_.expired()) ops = time_is_over();
    if (ops) {
      lane_ops_ += *ops;
      return Ok{};
    }
    Diagnostics errors = ops.errors();
    if (plan_.is_split())
      for (Diagnostic& d : errors)
        d.message =
            fmt::format("segment {} of {}: {}", segment + 1, plan_.segments.size(), d.message);
    return errors;
  }

  const Program& p_;
  const SplitPlan& plan_;
  const LaunchInputs& inputs_;
  const interp::Options& options_;
  interp::Clock clock_;
  interp::Memory memory_;
  LaunchShape shape_, extended_;
  IdMap<BufferId, std::vector<std::byte>> storage_;
  IdMap<BufferId, View> views_;
  IdMap<BufferId, uint64_t> scalars_;
  uint32_t subgroup_ = 32;
  BufferId once_{0};
  uint64_t lane_ops_ = 0;
};

}  // namespace

Result<interp::Outcome> run_split(const Program& program, const SplitPlan& plan,
                                  const LaunchInputs& inputs, const interp::Options& options) {
  try {
    return SplitRun(program, plan, inputs, options).run();
  } catch (const std::bad_alloc&) {
    return interp::out_of_memory(fmt::format("the buffers of kernel `{}`", program.name));
  }
}

}  // namespace vyre::plan
