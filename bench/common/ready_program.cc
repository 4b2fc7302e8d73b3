#include "ready_program.h"

#include <fmt/format.h>

#include <stdexcept>

namespace bench {

using namespace vyre;
using namespace vyre::driver;

namespace {

template <class T>
T take(Result<T> result, const std::string& what) {
  if (!result) throw std::runtime_error(fmt::format("{}: {}", what, render(result.errors(), {})));
  return std::move(*result);
}

}  // namespace

ReadyProgram::ReadyProgram(Device device, const BenchProgram& program, bool planned)
    : device_(std::move(device)), program_(program) {
  for (const ProgramArgument& a : program.arguments) {
    if (a.is_scalar())
      arguments_.emplace_back(Scalar{a.element, a.bits});
    else
      arguments_.emplace_back(take(device_.allocate(a.bytes()), program.name));
  }
  if (program.is_graph) {
    GraphOptions how;
    how.fuse = how.reuse = planned;
    graph_ =
        take(device_.prepare(program.module, program.graph(), program.shape, how), program.name);
    commands_.emplace_back(LaunchGraph{graph_, arguments_});
  } else {
    Launch launch;
    launch.executable = take(device_.compile(program.kernel()), program.name);
    launch.arguments = arguments_;
    commands_.emplace_back(std::move(launch));
  }
  reset();
}

ReadyProgram::~ReadyProgram() {
  device_.finish();
  for (const Argument& a : arguments_)
    if (const auto* buffer = std::get_if<driver::Buffer>(&a)) (void)bool(device_.free(*buffer));
}

void ReadyProgram::upload(const ProgramArgument& argument, const Argument& buffer) {
  const auto ticket = take(
      device_.submit({Upload{std::get<driver::Buffer>(buffer), argument.data}}), program_.name);
  take(ticket.wait(), program_.name);
}

void ReadyProgram::reset() {
  for (size_t i = 0; i < arguments_.size(); ++i)
    if (const ProgramArgument& a = program_.arguments[i]; !a.is_scalar() && is_host_input(a.role))
      upload(a, arguments_[i]);
}

void ReadyProgram::restore() {
  for (size_t i = 0; i < arguments_.size(); ++i)
    if (program_.arguments[i].role == Role::InOut) upload(program_.arguments[i], arguments_[i]);
}

SubmitReport ReadyProgram::run() {
  SubmitOptions how;
  how.call_times = false;
  return take(take(device_.submit(commands_, how), program_.name).wait(), program_.name);
}

std::vector<std::vector<std::byte>> ReadyProgram::outputs() {
  std::vector<std::vector<std::byte>> all;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    const ProgramArgument& a = program_.arguments[i];
    if (!is_host_output(a.role)) continue;
    all.emplace_back(a.bytes());
    const Readback read{std::get<driver::Buffer>(arguments_[i]), all.back()};
    take(take(device_.submit({read}), program_.name).wait(), program_.name);
  }
  return all;
}

}  // namespace bench
