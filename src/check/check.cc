#include "check/check.h"

#include <iterator>

#include "check/graph.h"
#include "check/limits.h"
#include "check/order.h"
#include "check/placement.h"
#include "check/report.h"
#include "check/structure.h"
#include "check/types.h"
#include "check/uniformity.h"
#include "check/update_order.h"

namespace vyre {

Diagnostics check(const Program& program, const CheckOptions& options) {
  Reporter report(program);
  if (check_structure(program, report)) {
    check_limits(program, report);
    check_buffers(program, report);
    check_types(program, report);
    const UniformityInfo uniformity = analyze_uniformity(program);
    check_placement(program, uniformity, report);
    check_order(program, options.exact, report);
    if (!report.has_errors()) check_update_order(program, uniformity, options.exact, report);
  }
  Diagnostics found = report.take();
  // What only damaged or hand-made programs can have wrong has one remedy.
  for (Diagnostic& d : found)
    if (d.severity == Severity::Error && d.fix.empty()) d.with_fix("make the program again from its source, or mend what built it");
  return found;
}

Diagnostics check(const Module& module, const CheckOptions& options) {
  Diagnostics list;
  const auto add = [&](Diagnostics more) {
    list.insert(list.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
  };
  std::vector<bool> legal;
  for (const Program& kernel : module.kernels) {
    Diagnostics found = check(kernel, options);
    legal.push_back(!has_errors(found));
    add(std::move(found));
  }
  add(check_declarations(module));
  for (const Graph& graph : module.graphs) add(check_graph(module, graph, legal));
  return list;
}

}  // namespace vyre
