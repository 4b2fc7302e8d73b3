#include "opt/analysis/analysis_cache.h"

#include "opt/analysis/cost.h"

namespace vyre::opt {

template <class T, class Make>
const T& Facts::get(std::unique_ptr<T>& slot, Make make) {
  if (slot) {
    ++counts_.reused;
  } else {
    slot = make();
    ++counts_.recomputed;
  }
  return *slot;
}

const DefUse& Facts::def_use() {
  return get(def_use_, [&] { return std::make_unique<DefUse>(program_); });
}
const UniformityInfo& Facts::uniformity() {
  return get(uniformity_,
             [&] { return std::make_unique<UniformityInfo>(analyze_uniformity(program_)); });
}
const Ranges& Facts::ranges() {
  return get(ranges_, [&] { return std::make_unique<Ranges>(program_); });
}
const AffineForms& Facts::affine() {
  const Ranges& r = ranges();
  return get(affine_, [&] { return std::make_unique<AffineForms>(program_, r); });
}
const Effects& Facts::effects() {
  return get(effects_, [&] { return std::make_unique<Effects>(program_); });
}
const Liveness& Facts::liveness() {
  return get(liveness_, [&] { return std::make_unique<Liveness>(program_); });
}
const Escape& Facts::escape() {
  return get(escape_, [&] { return std::make_unique<Escape>(program_); });
}
uint64_t Facts::pressure() {
  return get(pressure_, [&] { return std::make_unique<uint64_t>(register_pressure(program_)); });
}

void Facts::invalidate(FactSet facts) {
  const auto drop = [&](Fact f, auto& slot) {
    if (!facts.has(f) || !slot) return;
    slot.reset();
    ++counts_.invalidated;
  };
  drop(Fact::DefUse, def_use_);
  drop(Fact::Uniformity, uniformity_);
  // Index forms hold proofs from ranges.
  if (facts.has(Fact::Ranges)) drop(Fact::Ranges, affine_);
  drop(Fact::Ranges, ranges_);
  drop(Fact::Affine, affine_);
  drop(Fact::Effects, effects_);
  drop(Fact::Liveness, liveness_);
  drop(Fact::Escape, escape_);
  drop(Fact::Pressure, pressure_);
}

}  // namespace vyre::opt
