#pragma once

// Kernels with grid barriers as launches of their segments. docs/grid_barrier.md explains the
// mechanism, with a whole program. Devices do this themselves where it is needed; these functions
// are for programs that run segments on their own.
//
//   plan::has_grid_barrier(program)
//   plan::split_at_grid_barriers(program)   plan::SplitPlan: segments, buffers for values that live
//                             across a barrier, and the steps that launch the segments
//   plan::check_split(program, plan)   an independent check of a plan
//   plan::segment_shape(program, plan, shape)   elements of all buffers of a segment
//   plan::run_split(program, plan, inputs)   the steps on the reference interpreter
//   plan::StepControl         walks the steps for code that launches segments itself
//   plan::print(plan)         a plan for people
//   driver::Executable::plan()   the plan that a device runs; null if it runs the kernel whole
//
// A plan is a value, and these functions are pure: safe from several threads. The program must have
// passed check().
//
//   auto plan = vyre::plan::split_at_grid_barriers(program);
//   if (!plan) return plan.errors();
//   std::cout << vyre::plan::print(*plan);

#include "plan/split/check_split.h"
#include "plan/split/run_split.h"
#include "plan/split/split_grid.h"
#include "plan/split/step_control.h"
#include "vyre/diagnostic.h"
#include "vyre/program.h"
#include "vyre/run.h"
