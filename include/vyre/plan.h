#pragma once

// Plans: how graphs run on a device. docs/plans.md explains them, with a whole program. Kernels
// with grid barriers: vyre/split.h.
//
//   resolve_graph(graph, {{"x", n}, {"a", 2}})   GraphShape: lengths and scalars, by name;
//                             or by index: resolve_graph(graph, counts, scalars)
//   driver::GraphExecutable::planned()   plan::PlannedGraph: its GraphPlan (calls that are one
//                             kernel, buffers that share memory), and the graph after fusion
//   plan::print_plan(planned, module, graph)   for people
//   plan::write_plan(planned, module, graph), plan::read_plan(text, file)   the files of `vyre plan
//                             --json` and `vyre run --plan`
//
// Plans are values, and these functions are pure: safe from several threads.
//
//   auto ready = device.prepare(module, graph, *shape);
//   if (!ready) return ready.errors();
//   std::cout << vyre::plan::print_plan(ready->planned(), module, graph);

#include "ir/graph_launch.h"
#include "ir/named_sizes.h"
#include "plan/graph_plan.h"
#include "plan/plan_file.h"
#include "vyre/diagnostic.h"
#include "vyre/program.h"
