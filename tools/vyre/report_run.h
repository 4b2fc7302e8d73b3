#pragma once

// Adds to a report the data that the run itself does not return: the machine, memory traffic, the
// first values and pictures of outputs, the bandwidth of the device.

#include "report/run_report.h"
#include "tools/vyre/device_run.h"

namespace vyre::cli {

/// Sets version, commit, machine and date.
void describe_host(report::RunReport& report);

/// Returns the bytes of each buffer that the kernel loads from, plus those of each that it stores
/// to.
uint64_t kernel_traffic(const Program& kernel, const std::vector<uint64_t>& counts);

/// Sets the description of a launch: the span is one of the kernel, or of the graph's launch
/// `span.launch`.
void describe_launch(const report::RunReport& report, report::Span& span);

/// Sets the first values of the outputs that were read back, and with `pictures` their pictures.
void describe_outputs(report::RunReport& report, const Target& target, const DeviceRun& ran,
                      bool pictures);

/// Sets the device's bandwidth: measured now, or found in the folder of the compile cache.
void measure_bandwidth(report::RunReport& report);

}  // namespace vyre::cli
