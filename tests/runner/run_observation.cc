#include "tests/runner/run_observation.h"

namespace vyre::runner {

Observation observe(const cli::Target& target, const Result<cli::RunResult>& result) {
  Observation o;
  if (!result) {
    o.errors = result.errors();
    return o;
  }
  for (const cli::Parameter& p : target.parameters)
    if (is_host_output(p.role)) o.outputs.push_back({p.name, p.element, result->buffers[p.buffer]});
  return o;
}

}  // namespace vyre::runner
