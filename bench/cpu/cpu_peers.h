#pragma once

// The implementations that run a case: vyre, g++ and PoCL, with a common interface. A peer keeps
// its buffers; a launch allocates nothing and returns when the result is complete.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cpu_cases.h"
#include "runtime/device.h"

namespace bench {

class Peer {
 public:
  virtual ~Peer() = default;
  /// All buffers as the case has them.
  virtual void reset() = 0;
  virtual void launch() = 0;
  virtual std::vector<std::byte> read(size_t buffer) = 0;
  /// Time of the last launch as measured by the device; 0: the device does not measure it.
  virtual uint64_t device_ns() const { return 0; }
};

/// Prints what is wrong and ends the program: a benchmark that goes on would measure something
/// else.
[[noreturn]] void fail(const std::string& what);

/// `threads`: 0 means all. `subgroup_size`: 0 leaves it to the backend.
std::unique_ptr<Peer> vyre_peer(const Case& c, vyre::driver::Device device, uint32_t threads,
                                uint32_t subgroup_size,
                                const vyre::driver::Optimization& optimize = {},
                                bool stoppable = true);
/// The program of a case, read and checked.
vyre::Program load_program(const std::string& path, const std::string& kernel);

/// Buffers of the twins; one for all of a case's twins.
struct TwinMemory;
std::shared_ptr<TwinMemory> twin_memory(const Case& c);
std::unique_ptr<Peer> twin_peer(const Case& c, std::shared_ptr<TwinMemory> memory, Twin twin);

/// PoCL, or why not in `missing`.
class OpenCl;
std::shared_ptr<OpenCl> open_pocl(std::string& missing);
std::string describe(const OpenCl& cl);
/// `exact`: no contraction, correctly rounded division and square root; else its own defaults.
std::unique_ptr<Peer> pocl_peer(const Case& c, std::shared_ptr<OpenCl> cl, bool exact);

}  // namespace bench
