#pragma once

// Ends the use of oneTBB and LLVM before exit() destroys the static objects of these libraries. A
// device in a static object of the program may be destroyed after them; it then finds that it was
// closed, and what the libraries made for it is left to the system.

namespace vyre::driver {

class ClosedAtProcessEnd {
 public:
  virtual void close_at_process_end() = 0;

 protected:
  ~ClosedAtProcessEnd() = default;
  /// Has close_at_process_end() called by exit(). Call it when the object is complete: what it was
  /// made of is then destroyed after that.
  void close_with_process();
  /// Waits for a call in progress; none comes afterwards. Call it first in the destructor.
  void leave_process_end();
};

/// True once exit() has begun to close devices.
bool is_process_ending();

}  // namespace vyre::driver
