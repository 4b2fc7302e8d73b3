#pragma once

// Stops launches at their deadline, or all of them when their device closes. One thread sleeps
// until the next deadline; it is created with the first deadline.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace vyre::driver {

class Watchdog {
 public:
  using Clock = std::chrono::steady_clock;

  Watchdog() = default;
  ~Watchdog();

  /// A launch in flight. `word` becomes 1 when the launch must stop; then `stop`, if given, is
  /// called, for a flag that the device does not read from host memory. `is_over`, if given, is
  /// called at the deadline: a launch that has ended by then is not stopped. The watchdog's thread
  /// makes both calls; the destructor waits until they have returned.
  class Watch {
   public:
    Watch(Watchdog& dog, std::atomic<uint32_t>& word, std::optional<Clock::time_point> deadline,
          std::function<bool()> is_over = nullptr, std::function<void()> stop = nullptr);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    Watchdog& dog_;
    std::atomic<uint32_t>& word_;
  };

  /// Stops all, now and from now on.
  void stop_all();

 private:
  struct Entry {
    std::atomic<uint32_t>* word;
    Clock::time_point deadline;
    std::function<bool()> is_over;
    std::function<void()> stop;

    void stop_launch() const;
  };

  void work();

  std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  std::vector<Entry> entries_;
  Clock::time_point wakes_ = Clock::time_point::max();  // when the thread wakes without a signal
  bool stopped_ = false;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace vyre::driver
