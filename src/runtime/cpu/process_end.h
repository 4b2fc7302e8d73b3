#pragma once

// Ends the use of oneTBB and LLVM before exit() destroys the static objects of these libraries. A
// device in a static object of the program may be destroyed after them. It then finds that it was
// closed, and the resources of the libraries are left to the system.

namespace vyre::driver {

class ClosedAtProcessEnd {
 public:
  virtual void close_at_process_end() = 0;

 protected:
  ~ClosedAtProcessEnd() = default;
  /// Registers a call of close_at_process_end() with exit(). Call it when the object is complete:
  /// the objects that it uses are then destroyed after that call.
  void close_with_process();
  /// Waits for a call in progress; afterwards there is none. Call it first in the destructor.
  void leave_process_end();
};

/// True once exit() has begun to close devices.
bool is_process_ending();

}  // namespace vyre::driver
