#pragma once

// Telemetry: measured launch times, which decide what the optimizer spends its time on, and the
// files that carry them from one process to the next. docs/optimizer.md explains it, with a whole
// program.
//
//   opt::HotPathHints         launch times by device and op_id: record(op_id, ns, bytes, device)
//                             adds one, is_hot(op_id, device) compares the mean with the
//                             threshold, entries() lists all. Safe from several threads.
//   opt::ProfileData          hints, and the optimizer's reports by program
//   opt::write_profile(data), opt::read_profile(text, file, data)   the files of `--profile-out`
//                             and `--profile-in`
//   opt::OptimizeOptions::profile_data, driver::Optimization::learnt   use them
//   driver::OpenOptions::telemetry   called with a driver::LaunchSample after each timed launch
//
// Telemetry never decides what a pass may do, so it cannot change results.
//
//   vyre::opt::ProfileData data;
//   data.hints.record("scan.block", 250'000, 1 << 20, "cuda:0");
//   std::ofstream("profile.json") << vyre::opt::write_profile(data);

#include "opt/profile_file.h"
#include "vyre/diagnostic.h"
