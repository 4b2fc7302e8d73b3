// Generated programs, on the device and on the interpreter.

#include <fmt/format.h>

#include "conformance/certify_cases.h"

namespace vyre::lab {

void certify_fuzz(Certification& c) {
  c.begin_group("fuzz");
  const std::vector<Subject> subjects = {
      device_subject(c.options.spec.text, c.device, c.options.spec.compile)};
  for (uint64_t i = 0; i < c.options.fuzz && !c.stopped(); ++i) {
    const uint64_t seed = c.options.seed + i;
    if (!c.begins(fmt::format("seed-{}", seed))) continue;
    const std::string repeat = fmt::format(
        "vyre fuzz --backends '{}' --seed {} --count 1 --out DIR", c.options.spec.text, seed);
    const Verdict verdict = compare(generate(seed), subjects);
    if (!verdict.mismatches.empty())
      c.failed(verdict.mismatches[0].what.message, repeat);
    else if (verdict.refused != 0)
      c.refused(diagnose(Code::KernelTooLarge, {}, "more than the device has"), repeat);
    else
      c.passed();
  }
  c.end_group();
}

}  // namespace vyre::lab
