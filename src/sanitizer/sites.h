#pragma once

// The accesses to memory in a program: accesses of one kind to one buffer on one line (of one chain
// of calls) are one site. Findings are about pairs of sites, so an unrolled loop or a `load_n` is
// one site, as it is for the reader.

#include <cstdint>
#include <vector>

#include "ir/eval/atomic_update.h"
#include "ir/program.h"

namespace vyre::interp {

struct Site {
  OpId op = none;  // the first one, for messages
  BufferId buffer{0};
  bool writes = false;
  bool atomic = false;
  bool workgroup_scope = false;  // an atomic that is atomic for its own workgroup only
  bool acq_rel = false;
  bool gives_value = false;                  // an atomic whose result is used
  AtomicUpdate update = AtomicUpdate::None;  // a cas that fails has one, too
  uint32_t order_site =
      none;  // as findings about order know it: of a cas that fails, where it writes
};

/// The data of a memory op that the sanitizer needs.
struct SiteOfOp {
  uint32_t site = none;
  uint32_t failed_site = none;  // atomic_cas: where it did not write
  Type index = Type::U32;       // as the memory functions take it
  uint8_t bytes = 0;            // load_as: bytes of the value; else 0
  bool acq_rel = false;
  bool modifies = false;  // an atomic that is not only a load
  bool replaces = false;  // … and ignores the old value
};

struct Sites {
  std::vector<Site> sites;
  IdMap<OpId, SiteOfOp> of_op;          // by op
  IdMap<BufferId, bool> written;        // by buffer: some op writes it
  IdMap<BufferId, bool> order_matters;  // by buffer: the order of its atomics may matter
  bool synchronizes = false;            // by acq_rel atomics
  bool synchronizes_groups = false;  // some of them at the scope of a workgroup, in device memory
};

/// Sites in the order of the program. Runs in time linear in the size of the program.
Sites find_sites(const Program& program);

}  // namespace vyre::interp
