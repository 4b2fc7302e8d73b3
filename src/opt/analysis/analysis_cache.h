#pragma once

// Analysis cache: derived information about a program, computed when it is first used and kept
// until a pass invalidates it. A result holds for every launch of the program: sizes and inputs of
// one launch do not contribute.

#include <array>
#include <memory>

#include "check/uniformity.h"
#include "opt/analysis/affine.h"
#include "opt/analysis/def_use.h"
#include "opt/analysis/effects.h"
#include "opt/analysis/escape.h"
#include "opt/analysis/liveness.h"
#include "opt/analysis/ranges.h"
#include "opt/pass.h"

namespace vyre::opt {

class Facts {
 public:
  explicit Facts(const Program& program) : program_(program) {}
  Facts(const Facts&) = delete;
  Facts& operator=(const Facts&) = delete;

  const DefUse& def_use();
  const UniformityInfo& uniformity();
  const Ranges& ranges();
  const AffineForms& affine();
  const Effects& effects();
  const Liveness& liveness();
  const Escape& escape();
  uint64_t pressure();

  void invalidate(FactSet facts);

  /// Since the last call of reset_counts().
  struct Counts {
    uint32_t reused = 0, recomputed = 0, invalidated = 0;
  };
  const Counts& counts() const { return counts_; }
  void reset_counts() { counts_ = {}; }

 private:
  template <class T, class Make>
  const T& get(std::unique_ptr<T>& slot, Make make);

  const Program& program_;
  Counts counts_;
  std::unique_ptr<DefUse> def_use_;
  std::unique_ptr<UniformityInfo> uniformity_;
  std::unique_ptr<Ranges> ranges_;
  std::unique_ptr<AffineForms> affine_;
  std::unique_ptr<Effects> effects_;
  std::unique_ptr<Liveness> liveness_;
  std::unique_ptr<Escape> escape_;
  std::unique_ptr<uint64_t> pressure_;
};

}  // namespace vyre::opt
