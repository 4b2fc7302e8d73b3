#include "interp/wording.h"

#include <fmt/format.h>

namespace vyre::interp {

Diagnostic trapped(const Program& p, uint32_t code, const std::array<uint32_t, 3>& invocation,
                   OpId op) {
  const LocId loc = op == none ? p.loc : p.op(op).loc;
  Diagnostic d = diagnose(Code::Trapped, loc == none ? Place{} : p.place(loc),
                          fmt::format("kernel `{}` trapped with code {} in invocation ({}, {}, {})",
                                      p.name, code, invocation[0], invocation[1], invocation[2]));
  if (op != none) d.op = mnemonic(p.op(op).code);
  if (loc != none) p.add_call_notes(loc, d);
  d.with_fix("look at the condition that leads here; nothing was written to the host's buffers");
  return d;
}

Diagnostic timed_out(const Program& p, OpId op, double seconds) {
  LocId loc = p.loc;
  std::string where;
  if (op != none) {
    loc = p.op(op).loc;
    if (is_loop(p.op(op).code))
      where =
          loc == none ? " in a loop" : fmt::format(" in the loop at line {}", p.place(loc).line);
  }
  Diagnostic d = diagnose(
      Code::TimeLimitExceeded, loc == none ? Place{} : p.place(loc),
      fmt::format("kernel `{}` was still running{} after {} seconds", p.name, where, seconds));
  if (op != none) d.op = mnemonic(p.op(op).code);
  if (loc != none) p.add_call_notes(loc, d);
  d.with_fix("raise the time limit, or make the loop end");
  return d;
}

}  // namespace vyre::interp
