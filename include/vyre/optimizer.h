#pragma once

// The optimizer: which passes run on a program and why, and what they did. docs/optimizer.md
// explains it, with whole programs.
//
//   opt::choose_passes(program, options)   opt::ChosenPasses: the passes that optimize() would run,
//                             and a report with an opt::PassChoice for every pass: whether it is
//                             selected, the reason, its priority, and the numbers in words
//   opt::optimize(program, options)   runs them and returns an opt::RunReport: the choices; an
//                             opt::PassRun for each run of a pass with its decision, remarks, time,
//                             and effects and costs before and after; the costs of the program
//   opt::OptimizeOptions      `profile`, an opt::Profile (None, Debug, Release, Size), or `passes`,
//                             those of opt::parse_passes("simplify,remove_dead_code"); `target`, an
//                             opt::Target with what is known of the device; `profile_data`,
//                             measurements (vyre/telemetry.h); `schedule`, an opt::ScheduleOptions
//   opt::all_passes(), opt::find_pass(name)   opt::PassDescriptor: name, phase, family, needs
//   opt::to_json(report)      the report as `vyre run --report` has it
//   driver::CompileOptions::optimize   how a device compiles: `profile`, `passes` and `learnt`
//   driver::Executable::optimizer()   the RunReport of that
//
// Measurements and reports steer which passes run, never what a pass may do. These functions are
// pure: safe from several threads. Programs must have passed check().
//
//   auto chosen = vyre::opt::choose_passes(program, {.profile = vyre::opt::Profile::Size});
//   if (!chosen) return chosen.errors();
//   for (const vyre::opt::PassChoice& c : chosen->report.choices)
//     std::cout << c.pass << ": " << c.reason << ", " << c.detail << '\n';

#include "opt/pipeline.h"
#include "vyre/diagnostic.h"
#include "vyre/program.h"
