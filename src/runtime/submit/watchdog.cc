#include "runtime/submit/watchdog.h"

#include <algorithm>

namespace vyre::driver {

Watchdog::Watch::Watch(Watchdog& dog, std::atomic<uint32_t>& word,
                       std::optional<Clock::time_point> deadline, std::function<bool()> is_over,
                       std::function<void()> stop)
    : dog_(dog), word_(word) {
  const Clock::time_point end = deadline.value_or(Clock::time_point::max());
  const std::lock_guard lock(dog.mutex_);
  const bool needs_thread = deadline && !dog.thread_.joinable();
  // Before the entry, which would stay if the thread could not be created.
  if (needs_thread) dog.thread_ = std::thread([&dog] { dog.work(); });
  dog.entries_.push_back({&word, end, std::move(is_over), std::move(stop)});
  if (dog.stopped_) dog.entries_.back().stop_launch();
  if (deadline && !needs_thread && end < dog.wakes_) dog.changed_.notify_one();
}

void Watchdog::Entry::stop_launch() const {
  word->store(1, std::memory_order_relaxed);
  if (stop) stop();
}

Watchdog::Watch::~Watch() {
  const std::lock_guard lock(dog_.mutex_);
  const auto it = std::find_if(dog_.entries_.begin(), dog_.entries_.end(),
                               [&](const Entry& e) { return e.word == &word_; });
  std::swap(*it, dog_.entries_.back());
  dog_.entries_.pop_back();
}

void Watchdog::stop_all() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (const Entry& e : entries_) e.stop_launch();
}

void Watchdog::work() {
  std::unique_lock lock(mutex_);
  while (!closing_) {
    const Clock::time_point now = Clock::now();
    wakes_ = Clock::time_point::max();
    for (Entry& e : entries_) {
      if (e.deadline <= now) {
        if (!e.is_over || !e.is_over()) e.stop_launch();
        e.deadline = Clock::time_point::max();
      }
      wakes_ = std::min(wakes_, e.deadline);
    }
    if (wakes_ == Clock::time_point::max())
      changed_.wait(lock);
    else
      changed_.wait_until(lock, wakes_);
  }
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

}  // namespace vyre::driver
