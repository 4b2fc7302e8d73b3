#pragma once

// A generated program as files for readers, `vyre run` and the text-test runner.

#include <optional>
#include <string>

#include "differential/differential.h"
#include "support/file.h"

namespace vyre::lab {

/// Writes `folder/seed-N.vyre`, the printed program below the comments `// test: run`, the
/// mismatches, `// run:` and the reference results, and beside it `seed-N.NAME.bin` for each input
/// buffer. Makes the folder if necessary. `path` receives the program's path.
std::optional<FileError> write_replay(const std::string& folder, const Generated& g,
                                      const Verdict& verdict, std::string* path);

/// Writes `folder/name` and makes the folder if necessary. `path` receives the absolute path.
std::optional<FileError> write_text(const std::string& folder, const std::string& name,
                                    const std::string& text, std::string* path);

/// The program as a text test of mode `run` in one file, its inputs as values in the `// run:`
/// line. `comments` give the reason for the test.
std::string text_test(const Generated& g, const Outputs& expected, uint32_t subgroup_size,
                      const std::vector<std::string>& comments);

}  // namespace vyre::lab
