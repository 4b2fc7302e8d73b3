#pragma once

// The kernels that are measured: their data, sizes and twins.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/program.h"
#include "twins.h"

namespace bench {

/// The resource that limits a well-written kernel; it decides the goal.
enum class Bound { Memory, Compute };

/// A parameter of a kernel, in order.
struct Parameter {
  enum class Kind { In, InOut, Out, Scalar } kind = Kind::In;
  size_t buffer = 0;      // all but Scalar: index into Case::buffers
  uint32_t scalar = 0;    // bits
  bool is_float = false;  // elements or scalar; decides how results are compared
  bool zeroed = false;    // Out: every launch begins with zeros
  uint32_t element_size = 4;
};

struct Case {
  std::string name;                        // kernels/NAME.vyre and NAME.cl
  std::string kernel;                      // the kernel's name in both
  const vyre::Program* program = nullptr;  // this one instead of kernels/NAME.vyre
  bool clear_outputs = false;              // the device zeroes outputs where it has to
  Bound bound = Bound::Memory;
  Twins twins;
  std::vector<Parameter> parameters;
  std::vector<std::vector<std::byte>> buffers;  // before a launch
  /// OpenCL has no len(): these follow the parameters.
  std::vector<uint32_t> opencl_extra;
  std::array<size_t, 2> opencl_global = {1, 1}, opencl_local = {1, 1};
  int dimensions = 1;
  /// No local memory and no use of the local size: PoCL may choose it (in the column of defaults).
  bool any_local_size = false;
  double tolerance = 0;  // 0: results must be equal to the bit
  uint64_t bytes = 0;    // moved by a launch at least
};

/// Names of all cases in the order of the table.
const std::vector<std::string>& case_names();
/// `small`: sizes that the interpreter can run.
Case make_case(const std::string& name, bool small);

}  // namespace bench
