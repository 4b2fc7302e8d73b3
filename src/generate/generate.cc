#include "generate/generate.h"

#include <algorithm>

#include "generate/chain_writer.h"
#include "generate/graph_writer.h"
#include "generate/interesting.h"
#include "generate/kernel_writer.h"

namespace vyre::lab {

bool observes_subgroup(Opcode code) {
  return info(code).effect == Effect::Convergent || code == Opcode::LaneId ||
         code == Opcode::SubgroupSize;
}

bool observes_subgroup(const Module& module) {
  bool observed = false;
  for (const Program& p : module.kernels)
    walk(p, [&](OpId op) { observed = observed || observes_subgroup(p.op(op).code); });
  return observed;
}

uint32_t Generated::fixed_subgroup() const {
  const uint32_t size = module.kernels.front().subgroup;
  const bool all = std::all_of(module.kernels.begin(), module.kernels.end(),
                               [&](const Program& p) { return p.subgroup == size; });
  return all ? size : 0;
}

Generated generate(uint64_t seed, const GenerateOptions& options) {
  Random random(seed);
  Generated g;
  if (options.graphs && (random.chance(15) || options.only_graphs)) {
    g = random.chance(45) ? ChainWriter(random, options).write()
                          : GraphWriter(random, options).write();
  } else {
    WrittenKernel k = KernelWriter(random, options, "k", {}, false).write();
    g.module.kernels.push_back(std::move(k.program));
    g.inputs = std::move(k.inputs);
  }
  g.seed = seed;
  g.observes_subgroup = observes_subgroup(g.module);
  return g;
}

Generated other_inputs(const Generated& g, uint64_t number) {
  Generated other = g;
  Random random(g.seed ^ (number + 1) * 0x9e3779b97f4a7c15ull);
  const Program& p = g.module.kernels[0];
  for (size_t i = 0; i < other.inputs.data.size(); ++i) {
    auto& data = other.inputs.data[i];
    if (!data || p.buffers[i].role == Role::Scalar) continue;
    const Type element = p.buffers[i].element;
    data = interesting_bytes(random, element, data->size() / size_of(element));
  }
  return other;
}

}  // namespace vyre::lab
