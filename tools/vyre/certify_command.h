#pragma once

// `vyre certify`: the command line's additions to the suite of conformance/certify.h.

#include "conformance/certify.h"
#include "tools/vyre/command_line.h"

namespace vyre::cli {

/// The words of a `// run:` line as `vyre run` understands them.
Result<lab::PreparedRun> prepare_run(const lab::TextTest& test,
                                     const std::vector<std::string>& words);

/// The report as JSON.
std::string certify_json(const driver::DeviceInfo& device, const lab::CertifyReport& report);

int certify(const CertifyCommand& command);

}  // namespace vyre::cli
