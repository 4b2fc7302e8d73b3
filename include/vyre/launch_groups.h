#pragma once

// Which stages fit into one launch within a budget of bytes: a pure function of sizes and layouts,
// for planners of pipelines. docs/plans.md has the rules, and a whole program.
//
//   plan::LaunchStage         id, layout hash, bytes of input, output and scratch, whether the host
//                             must act before it
//   plan::plan_launch_groups(stages, budget, storage)   plan::LaunchPlan: greedy groups, each a
//                             plan::LaunchGroup, in the original order, with the launches and bytes
//                             that they avoid; or the first error
//   plan::best_launch_groups(stages, budget, storage)   the fewest launches
//   plan::LaunchGroupStorage  memory of the caller's choice, which plans use again
//   plan::layout_hash(program, shape), plan::stages_of(module, graph, shape)   stages of kernels
//
// A storage belongs to one thread at a time.
//
//   vyre::plan::LaunchGroupStorage storage;
//   const vyre::plan::LaunchStage stages[] = {{.id = 1, .input = 64, .output = 32, .scratch = 8},
//                                             {.id = 2, .input = 32, .output = 48, .scratch = 8}};
//   auto plan = vyre::plan::plan_launch_groups(stages, 256, storage);
//   if (plan) std::cout << plan->launches << " launch\n";

#include "plan/launches/launch_groups.h"
#include "vyre/diagnostic.h"
#include "vyre/program.h"
