#include "gpu_cases.h"

namespace bench {
namespace {

Parameter::Kind kind_of(vyre::Role role) {
  switch (role) {
    case vyre::Role::Scalar: return Parameter::Kind::Scalar;
    case vyre::Role::InOut: return Parameter::Kind::InOut;
    case vyre::Role::Out: return Parameter::Kind::Out;
    default: return Parameter::Kind::In;
  }
}

}  // namespace

Case plain_case(const ProgramEntry& entry, ProgramSize size) {
  return kernel_case(load_program(entry, size));
}

Case kernel_case(BenchProgram made) {
  auto program = std::make_shared<BenchProgram>(std::move(made));
  Case c;
  c.name = program->name;
  c.kernel = program->kernel().name;
  c.tolerance = program->tolerance;
  c.twin.name = program->name;
  for (size_t d = 0; d < 3; ++d) {
    c.twin.grid[d] = uint32_t(program->launch.num_workgroups[d]);
    c.twin.block[d] = program->kernel().workgroup[d];
  }
  std::vector<TwinLaunch::Argument> counts;
  for (ProgramArgument& a : program->arguments) {
    const auto index = uint32_t(c.buffers.size());
    c.parameters.push_back({kind_of(a.role), index, uint32_t(a.bits)});
    c.twin.arguments.push_back(a.is_scalar() ? value(uint32_t(a.bits)) : at(index));
    if (a.is_scalar()) continue;
    counts.push_back(value(uint32_t(a.count)));
    c.buffers.push_back({a.bytes(), std::move(a.data), a.zeroed});
    c.bytes += a.bytes() * (a.role == vyre::Role::InOut ? 2 : 1);
  }
  c.twin.arguments.insert(c.twin.arguments.end(), counts.begin(), counts.end());
  c.plain = std::move(program);
  return c;
}

}  // namespace bench
