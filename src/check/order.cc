#include "check/order.h"

#include <fmt/format.h>

#include "check/check_limits.h"

namespace vyre {
namespace {

void check_float_add(const Program& p, OpId op, bool exact, Reporter& r) {
  const std::string buffer = quoted(p.buffer_of(op).name);
  if (exact)
    r.at_op(
         Code::FloatAddNotExact, op,
         fmt::format("f32 `atomic_add` on {} depends on the order of execution, and exact results "
                     "were asked for",
                     buffer))
        .with_fix("add integers, reduce in a fixed order, or run without `--exact`");
  else
    r.at_op(Code::FloatAddOrder, op,
            fmt::format("f32 `atomic_add` on {}: the sum depends on the order of the additions",
                        buffer));
}

}  // namespace

void check_order(const Program& program, bool exact, Reporter& report) {
  IdMap<ValueId, uint32_t> uses;  // counted only if there is an atomic
  walk(program, [&](OpId op) {
    const Op& o = program.ops[op];
    if (!is_atomic(o.code)) return;
    if (o.code == Opcode::AtomicAdd && o.type == Type::F32)
      check_float_add(program, op, exact, report);
    if (o.results.count == 0) return;
    if (uses.empty()) uses = count_uses(program);
    if (uses[program.result(op)] == 0) return;
    report.at_op(Code::OldValueOrder, op,
                 fmt::format("the value that `{}` on {} gives depends on the order of execution",
                             mnemonic(o.code), quoted(program.buffer_of(op).name)));
  });
}

}  // namespace vyre
