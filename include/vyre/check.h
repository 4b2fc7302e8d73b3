#pragma once

// Checks whether a program is legal.
//
//   check(program, options), check(module, options)   all problems, in program order:
//                    structure, types, limits, barriers outside uniform flow, graphs. Errors,
//                    warnings and notes; has_errors(list) tells whether the program may run.
//     options        CheckOptions:
//     options.exact  results that depend on the order of float atomics are errors
//     options.time_limit, options.memory_limit   seconds and bytes; passing one is a diagnostic
//
// parse(), Kernel::finish() and the wire decoder leave the final decision to check().
// Device::compile(), Device::prepare(), driver::run() and driver::run_graph() call it unless
// CompileOptions::checked says that it was called; interp::run() requires a checked program.
//
// Handles any program, also hostile ones, in linear time and without recursion. A pure function,
// safe from several threads.
//
//   vyre::Diagnostics found = vyre::check(module);
//   std::cerr << vyre::render(found, parsed.sources);  // warnings too
//   if (vyre::has_errors(found)) return 1;

#include "check/check.h"
#include "vyre/diagnostic.h"
#include "vyre/program.h"
