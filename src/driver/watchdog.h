#pragma once

// Tells launches to stop: at their deadline, or all of them when their device closes. Nobody polls a
// clock: one thread sleeps until the next deadline, and is only made when there is one.

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

  /// A launch under way. `word` becomes 1 when it is to stop. `is_over`, if there is one, is asked
  /// at the deadline, by the watchdog's thread: what has ended by then is not stopped.
  class Watch {
   public:
    Watch(Watchdog& dog, std::atomic<uint32_t>& word, std::optional<Clock::time_point> deadline,
          std::function<bool()> is_over = nullptr);
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
  };

  void work();

  std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  std::vector<Entry> entries_;
  Clock::time_point wakes_ = Clock::time_point::max();  // the thread, by itself
  bool stopped_ = false;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace vyre::driver
