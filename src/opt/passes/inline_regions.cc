#include "opt/passes/inline_regions.h"

#include "opt/rewriter.h"

namespace vyre::opt {

Result<bool> inline_regions(Program& program, PassContext& context) {
  Rewriter r(program);
  context.nothing_to_do = true;
  for (const OpId op : r.ops()) {
    if (!r.is_there(op) || program.op(op).code != Opcode::Region) continue;
    r.dissolve(op, 0);
    context.nothing_to_do = false;
  }
  return r.finish();
}

}  // namespace vyre::opt
