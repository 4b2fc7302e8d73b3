#pragma once

// Measurements for `auto`: a few small launches on every available device, timed once and kept in
// the folder of the compile cache.
//
// The score of a device is the time of ten empty launches, of a saxpy of 2^16 elements with its
// copies to the device and back, and of a kernel of arithmetic, the best of a few runs each. The
// least score wins. A device that fails, is wrong or takes longer than a second is out. The
// interpreter is selected only if all others are out.
//
// Where a device has a native grid barrier, a kernel with grid barriers is timed with it and split.
// A device that was chosen by name is measured so too, when it compiles such a kernel.

#include <span>
#include <string>
#include <vector>

#include "runtime/backend.h"

namespace vyre::driver {

/// A device that `auto` may choose.
struct Candidate {
  Backend* backend = nullptr;
  DeviceInfo info;
};

struct Calibration {
  uint64_t launch_ns = 0;      // of an empty launch, with the wait for it
  uint64_t saxpy_ns = 0;       // with the copies
  uint64_t arithmetic_ns = 0;  // without
  /// For the kernel with grid barriers: with the device's native barrier, and split. 0: not
  /// measured.
  uint64_t native_barrier_ns = 0, split_barrier_ns = 0;
  std::string failure;  // why it is out; "" if it is not

  uint64_t score() const { return 10 * launch_ns + saxpy_ns + arithmetic_ns; }
  bool prefers_split() const { return native_barrier_ns > split_barrier_ns; }
  bool operator==(const Calibration&) const = default;
};

/// Runs the kernels: about a tenth of a second, less on a fast device.
Calibration calibrate(const Candidate& candidate);

/// Returns true if a kernel with grid barriers runs faster split than with the device's native
/// barrier. Uses what calibrations() or an earlier call has stored for this device, its driver and
/// this vyre; else measures the barriers only, and stores that. Takes well under a second once.
bool prefers_split(const Candidate& candidate);

/// Returns the calibrations of all candidates, in their order: those stored for exactly these
/// devices, their drivers and this vyre, or new ones, which are stored. A damaged file is measured
/// anew; a folder that cannot be written to is not an error. `directory` "": kept by the process
/// only.
std::vector<Calibration> calibrations(std::span<const Candidate> candidates,
                                      const std::string& directory);

}  // namespace vyre::driver
