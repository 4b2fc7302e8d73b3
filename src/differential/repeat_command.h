#pragma once

// A generated program as files that people, `vyre run` and the text-test runner can use.

#include <optional>
#include <string>

#include "differential/differential.h"
#include "support/file.h"

namespace vyre::lab {

/// Writes `folder/seed-N.vyre`, the printed program below the comments `// test: run`, why it is
/// there, `// run:` and what the reference gives, and beside it `seed-N.NAME.bin` for each input
/// buffer. Makes the folder if need be. `path` receives the program's path.
std::optional<FileError> write_replay(const std::string& folder, const Generated& g,
                                      const Verdict& verdict, std::string* path);

/// Writes `folder/name` and makes the folder if need be. `path` receives the absolute path.
std::optional<FileError> write_text(const std::string& folder, const std::string& name,
                                    const std::string& text, std::string* path);

/// The program as a text test of mode `run` in one file, its inputs as values in the `// run:`
/// line. `comments` say why it is there.
std::string text_test(const Generated& g, const Outputs& expected, uint32_t subgroup_size,
                      const std::vector<std::string>& comments);

}  // namespace vyre::lab
