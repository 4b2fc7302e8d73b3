#pragma once

// The interpreter as a backend with one flaw, which the suite must find.

#include "runtime/backend.h"
#include "runtime/interp/interp_backend.h"

namespace vyre::lab {

enum class Flaw : uint8_t {
  None,
  MinIsMax,         // i32 min gives the larger
  ForgetsFill,      // every fill does nothing
  DirtyMemory,      // fresh memory is not zero
  LateTrap,         // a trap is reported with the next invocation
  NoTimeLimit,      // the deadline is six seconds later
  RefusesShuffles,  // with a code that no device may refuse with
  SmallWorkgroups,  // and reports it: a limit, not a flaw
};

class ToyBackend : public driver::Backend {
 public:
  explicit ToyBackend(Flaw flaw) : flaw_(flaw) {}
  std::string_view name() const override { return "toy"; }
  std::string_view summary() const override { return "the interpreter, with a flaw"; }
  std::vector<driver::DeviceInfo> probe(std::string* why_none) override;
  Result<std::unique_ptr<driver::BackendDevice>> open(uint32_t index) override;

 private:
  Flaw flaw_;
};

}  // namespace vyre::lab
