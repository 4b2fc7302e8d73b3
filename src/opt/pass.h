#pragma once

// A pass: a free function and a descriptor.
//
//   Result<bool> fold_constants(Program& program, PassContext& context);
//
// A pass returns whether it changed anything; false means that the program is the same to the bit.
// It leaves the program compact() and legal, and keeps its meaning for every input: a change must
// be proved from analyses, never guessed from names or shapes. Where a pass does not transform, it
// states why with context.refuse(). Its other properties are data in its descriptor, so that
// selection and scheduling need no knowledge of any pass.

#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnostics/result.h"
#include "ir/program.h"

namespace vyre::opt {

class Facts;
struct DeviceCosts;

/// When a pass runs, in this order.
enum class Phase : uint8_t { Canonical, Scalar, Memory, Loop, Sync, Cleanup };
std::string_view name(Phase phase);

/// The kind of cost that a pass saves, which decides how large a program must be to run it.
enum class CostFamily : uint8_t {
  Loop,
  Memory,
  Fusion,
  Dataflow,
  Megakernel,
  Scalar,
  Sync,
  Unknown
};
std::string_view name(CostFamily family);

/// Analyses of a program. A pass declares which it uses and which it invalidates.
enum class Fact : uint8_t {
  DefUse,
  Uniformity,
  Ranges,
  Affine,
  Effects,
  Liveness,
  Escape,
  Pressure
};
inline constexpr size_t fact_count = 8;
std::string_view name(Fact fact);

class FactSet {
 public:
  constexpr FactSet() = default;
  constexpr FactSet(std::initializer_list<Fact> list) {
    for (const Fact f : list) bits_ |= 1u << unsigned(f);
  }
  static constexpr FactSet all() {
    FactSet s;
    s.bits_ = (1u << fact_count) - 1;
    return s;
  }
  constexpr bool has(Fact f) const { return bits_ >> unsigned(f) & 1; }

 private:
  uint32_t bits_ = 0;
};

/// Capabilities of a target that a pass may need.
enum class Capability : uint8_t {
  VectorAccess,  // one access loads or stores several neighbouring elements
  SharedMemory,
  GridBarrier  // without splitting the program
};
using CapabilitySet = std::bitset<8>;
constexpr CapabilitySet capability(Capability c) { return CapabilitySet(1ull << unsigned(c)); }

/// Kinds of effects, for those that a pass may add to a program without them.
enum class EffectKind : uint8_t { Read, Write, Atomic, Barrier, Subgroup, Trap };
using EffectKinds = std::bitset<8>;
constexpr EffectKinds effect(EffectKind k) { return EffectKinds(1ull << unsigned(k)); }

/// The target as far as it is known: an unknown device has all capabilities, 0 bytes and no name.
/// driver::optimizer_target() returns that of a device.
struct Target {
  CapabilitySet capabilities = CapabilitySet().set();
  uint64_t shared_bytes = 0;
  uint64_t launch_bytes = 0;           // of all parameters; 0: the launch is unknown
  std::string device = {};             // in HotPathHints; "": unknown
  const DeviceCosts* costs = nullptr;  // device_costs.h; null: no pass judges whether it pays
  bool operator==(const Target&) const = default;
};

/// A place where a pass could have changed the program and did not.
struct Refusal {
  OpId op = none;
  std::string why;
};

struct PassContext {
  Facts& facts;
  const Target& target;
  /// Limit of stored refusals: one per buffer of a program fits.
  static constexpr size_t max_refusals = 64;
  std::vector<Refusal> refusals;
  uint64_t refused = 0;
  bool nothing_to_do = false;  // set by a pass that found nothing of its kind in the program

  void refuse(OpId op, std::string_view why) {
    ++refused;
    if (refusals.size() < max_refusals) refusals.push_back({op, std::string(why)});
  }
};

using PassFunction = Result<bool> (*)(Program& program, PassContext& context);

struct PassDescriptor {
  std::string_view name;     // equals the function's, and the word of `--passes`
  std::string_view summary;  // one line
  PassFunction run = nullptr;
  Phase phase = Phase::Scalar;
  CostFamily family = CostFamily::Scalar;
  std::span<const std::string_view> requires_passes = {};
  FactSet uses = {};
  FactSet invalidates = FactSet::all();
  bool keeps_host_abi = true;  // buffers and scalars stay as the host knows them
  bool keeps_lines = true;     // every source line that did something still does
  bool grows_code = false;
  CapabilitySet needs = {};
  EffectKinds may_add = {};
};

}  // namespace vyre::opt
