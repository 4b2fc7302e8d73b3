#pragma once

// What only people at a terminal want: colour, and a line that says how far the work is.

#include <chrono>
#include <functional>
#include <string>

namespace vyre::cli {

/// Is `fd` a terminal that shows colours, and has the user not said NO_COLOR
/// (https://no-color.org)?
bool wants_colour(int fd);

/// A line on standard error that appears after one second of work and vanishes at the end. Nothing
/// at all if standard error is no terminal.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Cheap enough to be called often: draws at most ten times a second.
  void update(double fraction);
  /// The same for work whose end is not known. `text` is called only when it is drawn.
  void update(const std::function<std::string()>& text);
  /// Takes the line away, so that something else can be written; the next update draws it again.
  void hide();

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  bool enabled_;
  bool drawn_ = false;
  Clock::time_point next_;
};

}  // namespace vyre::cli
