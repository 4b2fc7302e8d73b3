#pragma once

// The optimizer: which passes a device runs on a program, and what they did. docs/optimizer.md
// explains it, with a whole program.
//
//   driver::CompileOptions::optimize   how compile() optimizes: `profile`, an opt::Profile (None,
//                             Debug, Release, Size), or `passes`, those of
//                             opt::parse_passes("simplify,remove_dead_code"); and `learnt`, an
//                             opt::ProfileData of earlier runs
//   Executable::optimizer()   opt::RunReport: a PassChoice for each pass, a PassRun for each run
//   opt::optimize(program, options)   the same without a device; `options.target` is what is known
//                             of one
//   opt::HotPathHints         launch times by device and op_id, from OpenOptions::telemetry. Safe
//                             from several threads.
//   opt::write_profile(data), opt::read_profile(text, file, data)   the files of `--profile-out`
//                             and `--profile-in`
//
// Measurements and reports steer which passes run, never what a pass may do.
//
//   vyre::driver::CompileOptions options;
//   options.optimize.profile = vyre::opt::Profile::Size;
//   auto executable = device.compile(program, options);
//   if (!executable) return executable.errors();
//   for (const vyre::opt::PassChoice& c : executable->optimizer().choices)
//     std::cout << c.pass << ": " << c.reason << ", " << c.detail << '\n';

#include "opt/pipeline.h"
#include "vyre/diagnostic.h"
#include "vyre/program.h"
