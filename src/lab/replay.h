#pragma once

// A generated program as files that people, `vyre run` and the text-test runner can use.

#include <optional>
#include <string>

#include "lab/differential.h"
#include "support/file.h"

namespace vyre::lab {

/// Writes `folder/seed-N.vyre`, the printed program below the comments `// test: run`, why it is
/// there, `// run:` and what the reference gives, and beside it `seed-N.NAME.bin` for each input
/// buffer. Makes the folder if need be. `path` receives the program's path.
std::optional<FileError> write_replay(const std::string& folder, const Generated& g,
                                      const Verdict& verdict, std::string* path);

}  // namespace vyre::lab
