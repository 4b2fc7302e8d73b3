#pragma once

// A program of bench/programs.txt on a device: compiled, with its buffers allocated.

#include "programs.h"
#include "runtime/device.h"

namespace bench {

class ReadyProgram {
 public:
  /// `planned`: for a graph, whether calls are fused and intermediates share memory.
  ReadyProgram(vyre::driver::Device device, const BenchProgram& program, bool planned = true);
  ~ReadyProgram();
  ReadyProgram(const ReadyProgram&) = delete;

  /// Uploads the data of all inputs.
  void reset();
  /// Uploads the data of `inout` arguments, so that every run begins with the same bytes.
  void restore();
  /// Runs the program once and waits.
  vyre::driver::SubmitReport run();
  /// Bytes of each `inout` and `out` argument in order.
  std::vector<std::vector<std::byte>> outputs();

  const vyre::driver::GraphExecutable& graph() const { return graph_; }

 private:
  void upload(const ProgramArgument& argument, const vyre::driver::Argument& buffer);

  vyre::driver::Device device_;
  const BenchProgram& program_;
  vyre::driver::GraphExecutable graph_;
  std::vector<vyre::driver::Argument> arguments_;
  std::vector<vyre::driver::Command> commands_;
};

}  // namespace bench
