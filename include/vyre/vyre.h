#pragma once

// All of vyre. Each part documents its contents and ends with an example:
//
//   vyre/diagnostic.h   errors as values: Result<T>, Diagnostic, rendering
//   vyre/program.h      Program, Module, Graph: what every other part makes or takes
//   vyre/parse.h        the vyre language: parse, print, format
//   vyre/kernel.h       kernels written in C++
//   vyre/check.h        checks whether a program is legal
//   vyre/run.h          the reference interpreter, and bytes for it
//   vyre/device.h       devices: buffers that stay there, submissions, streams
//   vyre/optimizer.h    which passes run on a program and why, and what they did
//   vyre/telemetry.h    measured launch times that steer the optimizer, and their files
//   vyre/plan.h         how graphs run: fused calls, shared memory
//   vyre/handoff.h      buffers that become tiles in shared memory
//   vyre/split.h        kernels with grid barriers as several launches
//   vyre/launch_groups.h   which stages fit into one launch
//   vyre/wire.h         programs as bytes, and their fingerprints
//   vyre/object.h       kernels that were compiled to object files
//   vyre/version.h      VYRE_VERSION and VYRE_GIT, of the headers
//
// The interfaces that these headers describe are stable within a minor version (0.1.x). They
// include files of vyre/internal/: declarations there that are not named here may change or
// disappear at any time.
//
// Everything is in namespace vyre. Objects, except for devices, are plain values: copies are deep,
// objects share no hidden state, and nothing needs to be closed or freed. Functions are pure: they
// keep no state between calls, so different threads may call them at the same time, also on the
// same const objects. Only one thread at a time may change an object, as with a std::vector.
//
// The only exceptions are std::bad_alloc and std::length_error, when memory is exhausted. Errors
// are values.
//
//   #include <vyre/vyre.h>
//
//   std::string source = "kernel k(y: out u32[4]) workgroup(4) grid(4) {\n"
//                        "  y[global_id.x] = global_id.x * global_id.x\n"
//                        "}\n";
//   vyre::ParseOutcome parsed = vyre::parse(source);
//   vyre::Diagnostics found = parsed.diagnostics;
//   if (parsed.module) found = vyre::check(*parsed.module);
//   if (vyre::has_errors(found)) {
//     std::cerr << vyre::render(found, parsed.sources);
//     return 1;
//   }
//   auto outcome = vyre::interp::run(parsed.module->kernels[0], {});
//   if (outcome) use(vyre::values_of<uint32_t>(outcome->buffers[0]));  // 0 1 4 9

#include "vyre/check.h"
#include "vyre/device.h"
#include "vyre/diagnostic.h"
#include "vyre/handoff.h"
#include "vyre/kernel.h"
#include "vyre/launch_groups.h"
#include "vyre/object.h"
#include "vyre/optimizer.h"
#include "vyre/parse.h"
#include "vyre/plan.h"
#include "vyre/program.h"
#include "vyre/run.h"
#include "vyre/split.h"
#include "vyre/telemetry.h"
#include "vyre/version.h"
#include "vyre/wire.h"
