// Generated programs, on the device and on the interpreter.

#include <fmt/format.h>

#include "conformance/certify_cases.h"

namespace vyre::lab {

namespace {

/// Devices may flush subnormals in it, so that its results are not the same everywhere.
bool adds_floats_atomically(const Generated& g) {
  bool found = false;
  for (const Program& kernel : g.module.kernels)
    walk(kernel, [&](OpId op) {
      found |= kernel.op(op).code == Opcode::AtomicAdd && kernel.op(op).type == Type::F32;
    });
  return found;
}

}  // namespace

void certify_fuzz(Certification& c) {
  c.begin_group("fuzz");
  const std::vector<Subject> subjects = {
      device_subject(c.options.spec.text, c.device, c.options.spec.compile)};
  for (uint64_t i = 0; i < c.options.fuzz && !c.stopped(); ++i) {
    const uint64_t seed = c.options.seed + i;
    if (!c.begins(fmt::format("seed-{}", seed))) continue;
    const std::string repeat = fmt::format(
        "vyre fuzz --backends '{}' --seed {} --count 1 --out DIR", c.options.spec.text, seed);
    const Generated program = generate(seed);
    const Verdict verdict = compare(program, subjects);
    if (!verdict.mismatches.empty() && adds_floats_atomically(program))
      c.skipped("f32 atomic_add may flush subnormals");
    else if (!verdict.mismatches.empty())
      c.failed(verdict.mismatches[0].what.message, repeat);
    else if (verdict.refused != 0)
      c.refused(diagnose(Code::KernelTooLarge, {}, "more than the device has"), repeat);
    else
      c.passed();
  }
  c.end_group();
}

}  // namespace vyre::lab
