#include "check/check.h"

#include <iterator>
#include <optional>

#include "check/check_graph.h"
#include "check/check_limits.h"
#include "check/check_report.h"
#include "check/check_structure.h"
#include "check/check_types.h"
#include "check/order.h"
#include "check/placement.h"
#include "check/uniformity.h"
#include "check/update_by_all.h"
#include "check/update_order.h"
#include "diagnostics/budget.h"
#include "ir/stats.h"

namespace vyre {
namespace {

/// Bytes that the checks need for each byte of a program, the program included.
constexpr uint64_t growth = 2;

/// Adds one common fix to errors that only damaged or hand-made programs can have.
Diagnostics with_fixes(Diagnostics found) {
  for (Diagnostic& d : found)
    if (d.severity == Severity::Error && d.fix.empty())
      d.with_fix("make the program again from its source, or mend what built it");
  return found;
}

Diagnostics check_program(const Program& program, const CheckOptions& options, const Budget& budget,
                          uint64_t kept) {
  Reporter report(program);
  const auto poll = [&] { budget.check(kept + growth * memory_of(program)); };
  poll();
  if (check_structure(program, report)) {
    poll();
    check_limits(program, report);
    check_buffers(program, report);
    poll();
    check_types(program, report);
    poll();
    const UniformityInfo uniformity = analyze_uniformity(program);
    poll();
    check_placement(program, uniformity, report);
    poll();
    check_order(program, options.exact, report);
    poll();
    if (!report.has_errors()) {
      check_update_order(program, uniformity, options.exact, report);
      check_update_by_all(program, uniformity, report);
    }
  }
  poll();
  return with_fixes(report.take());
}

/// Runs a check under the limits of the options.
template <class Fn>
Diagnostics within_limits(const CheckOptions& options, Fn&& run) {
  if (auto fault = fault_of_time_limit(options.time_limit)) return {std::move(*fault)};
  const Budget budget(options.time_limit, options.memory_limit);
  try {
    const BudgetPoll poll(budget);
    return run(budget);
  } catch (const BudgetExceeded& exceeded) {
    return {budget.diagnostic(exceeded, "checking the program", {})};
  }
}

Diagnostics check_module(const Module& module, const CheckOptions& options, const Budget& budget) {
  Diagnostics list;
  const auto add = [&](Diagnostics more) {
    list.insert(list.end(), std::make_move_iterator(more.begin()),
                std::make_move_iterator(more.end()));
  };
  uint64_t kept = 0;
  for (const Program& kernel : module.kernels) kept += memory_of(kernel);
  for (const Graph& graph : module.graphs) kept += memory_of(graph);
  std::vector<bool> legal;
  for (const Program& kernel : module.kernels) {
    Diagnostics found = check_program(kernel, options, budget, kept - memory_of(kernel));
    legal.push_back(!has_errors(found));
    add(std::move(found));
  }
  add(check_declarations(module));
  for (const Graph& graph : module.graphs) {
    budget.check(kept);
    add(check_graph(module, graph, legal));
  }
  budget.check(kept);
  return with_fixes(std::move(list));
}

}  // namespace

Diagnostics check(const Program& program, const CheckOptions& options) {
  return within_limits(
      options, [&](const Budget& budget) { return check_program(program, options, budget, 0); });
}

Diagnostics check(const Module& module, const CheckOptions& options) {
  return within_limits(options,
                       [&](const Budget& budget) { return check_module(module, options, budget); });
}

}  // namespace vyre
