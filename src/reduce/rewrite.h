#pragma once

// The common parts of transformations of kernels.

#include <vector>

#include "opt/rewriter.h"
#include "reduce/candidate.h"
#include "reduce/transform.h"

namespace vyre::reduce {

/// Calls fn(program, rewriter) for each kernel, and applies what the rewriter collected.
template <class Fn>
void for_each_kernel(Candidate& c, Fn&& fn) {
  for (Program& p : c.module.kernels) {
    opt::Rewriter r(p);
    fn(p, r);
    r.finish();
  }
}

/// Bits of the number one.
uint64_t one(Type type);
/// Half of a number, toward zero; a float first loses its fraction. Other types stay.
uint64_t half(Type type, uint64_t bits);

/// Replaces each result of `op` that is used by a new constant before it: zero, or one.
void replace_results(Program& p, opt::Rewriter& r, OpId op, bool by_one = false);

/// Breaks and continues of a loop, those of inner loops left out.
std::vector<OpId> own_exits(const Program& p, OpId loop);

/// Replaces the exit of a nested block by a yield: for an `if` or region with zeros, for a loop
/// with the values that it carries.
void make_yield(Program& p, opt::Rewriter& r, OpId exit);

/// Returns whether the op names a buffer.
inline bool names_buffer(const Op& o) {
  const AttrKind kind = info(o.code).attribute;
  return kind == AttrKind::Memory || kind == AttrKind::Buffer;
}

}  // namespace vyre::reduce
