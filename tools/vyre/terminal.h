#pragma once

// Output for people at a terminal: colour, and a progress line.

#include <chrono>
#include <functional>
#include <string>

namespace vyre::cli {

/// Returns true if `fd` is a terminal that shows colours, and the user has not set NO_COLOR
/// (https://no-color.org).
bool wants_colour(int fd);

/// A line on standard error that appears after one second of work and vanishes at the end. Prints
/// nothing if standard error is not a terminal.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Cheap enough to be called often: draws at most ten times a second.
  void update(double fraction);
  /// The same for work of unknown length. `text` is called only when the line is drawn.
  void update(const std::function<std::string()>& text);
  /// Removes the line, so that other text can be written; the next update draws it again.
  void hide();

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  bool enabled_;
  bool drawn_ = false;
  Clock::time_point next_;
};

}  // namespace vyre::cli
