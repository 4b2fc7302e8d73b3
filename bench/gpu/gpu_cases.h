#pragma once

// The kernels that are measured: their data, sizes and twins.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/programs.h"

namespace bench {

/// A parameter of the vyre kernel, in order.
struct Parameter {
  enum class Kind { In, InOut, Out, Scalar } kind = Kind::In;
  size_t buffer = 0;    // all but Scalar: index into Case::buffers
  uint32_t scalar = 0;  // bits
};

struct DataBuffer {
  uint64_t bytes = 0;
  std::vector<std::byte> contents;  // empty: zeros
  bool zeroed = false;              // the baseline needs zeros before each launch
};

/// A kernel of twins.cu or plain.cu and how it is launched. Its parameters are buffers and 32-bit
/// scalars.
struct TwinLaunch {
  struct Argument {
    bool is_buffer = false;
    uint32_t value = 0;  // index into Case::buffers, or bits
  };
  std::string name;  // "": there is none
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  std::vector<Argument> arguments;
};

/// Values of TwinLaunch arguments.
inline TwinLaunch::Argument at(uint32_t buffer) { return {true, buffer}; }
inline TwinLaunch::Argument value(uint32_t bits) { return {false, bits}; }

struct Case {
  std::string name;                           // kernels/NAME.vyre
  std::string kernel;                         // in it
  std::shared_ptr<const BenchProgram> plain;  // instead: a kernel of bench/programs.txt
  std::vector<Parameter> parameters;
  std::vector<DataBuffer> buffers;
  TwinLaunch twin, wide;
  uint64_t bytes = 0;          // moved by a launch at least
  double operations = 0;       // of a launch; 0: bytes are what counts
  const char* operation = "";  // what is counted: "fma"
  /// With nvcc's defaults products and sums are contracted, so other results are not an error.
  bool contracts = false;
  double goal = 0;       // of the ratio to the twin that is written the same way; 0: none
  double tolerance = 0;  // largest relative difference of f32 results; 0: equal to the byte
};

/// Names of all cases in the order of the table.
const std::vector<std::string>& case_names();
/// `small`: sizes that the interpreter can run.
Case make_case(const std::string& name, bool small);

/// A kernel of bench/programs.txt beside its baseline in plain.cu.
Case plain_case(const ProgramEntry& entry, ProgramSize size);
/// A kernel with its data. Its baseline is the kernel of plain.cu with the program's name.
Case kernel_case(BenchProgram program);
/// Loops at numbers of iterations from 64 to 65,536, without baselines: shows the cost of stop
/// polls.
std::vector<std::function<Case()>> loop_cases(ProgramSize size);

}  // namespace bench
