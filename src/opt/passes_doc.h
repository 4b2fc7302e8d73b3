#pragma once

// Tables of the passes, made from their descriptors: the output of `vyre opt --list`, and
// docs/passes.md.

#include <string>

namespace vyre::opt {

std::string passes_text();
std::string passes_markdown();
/// [{"name", "summary", "phase", "family", "requires", "uses", "keeps_lines", "keeps_host_abi",
/// "grows_code"}]
std::string passes_json();

}  // namespace vyre::opt
