#pragma once

// The subcommands, one file each. A command does its work, prints its results, and returns the exit
// code.

#include "tools/vyre/command_line.h"

namespace vyre::cli {

int run(const RunCommand& command);
int check(const CheckCommand& command);
int emit(const EmitCommand& command);
int optimize(const OptCommand& command);
int bisect(const BisectCommand& command);
int reduce(const ReduceCommand& command);
int plan(const PlanCommand& command);
int format(const FormatCommand& command);
int explain(const ExplainCommand& command);
int devices(const DevicesCommand& command);
int cache(const CacheCommand& command);
int fuzz(const FuzzCommand& command);
int certify(const CertifyCommand& command);

}  // namespace vyre::cli
