#pragma once

// Runs the built command line in a separate folder.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/process.h"

namespace vyre {

class CommandLine : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// Runs `vyre words…` in the test's folder.
  ProcessResult vyre(std::vector<std::string> words, const std::string& input = "") const;

  /// Makes a file in the folder and gives its path.
  std::string file(const std::string& name, const std::string& text) const;
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string contents(const std::string& name) const;

  std::filesystem::path folder_;
};

/// Expects an exit code; shows both streams when it is another.
void expect_exit(const ProcessResult& r, int code);
/// Expects a diagnostic with this code on standard error.
void expect_code(const ProcessResult& r, const std::string& code);

extern const char* const saxpy;        // kernel saxpy(a: f32, x: in f32[], y: inout f32[])
extern const char* const two_kernels;  // kernels `first` and `second`, no graph

}  // namespace vyre
