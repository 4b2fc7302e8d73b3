#include "tools/vyre/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace vyre::cli {
namespace {

constexpr auto patience = std::chrono::seconds(1);
constexpr auto pause = std::chrono::milliseconds(100);

}  // namespace

bool wants_colour(int fd) {
  const char* no_colour = std::getenv("NO_COLOR");
  if (no_colour && *no_colour) return false;
  const char* terminal = std::getenv("TERM");
  if (terminal && std::string_view(terminal) == "dumb") return false;
  return ::isatty(fd) == 1;
}

Progress::Progress(std::string what)
    : what_(std::move(what)),
      enabled_(::isatty(STDERR_FILENO) == 1),
      next_(Clock::now() + patience) {}

Progress::~Progress() { hide(); }

void Progress::hide() {
  if (!drawn_) return;
  drawn_ = false;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

void Progress::update(double fraction) {
  update(
      [&] { return fmt::format("{} %", static_cast<int>(100 * std::clamp(fraction, 0.0, 1.0))); });
}

void Progress::update(const std::function<std::string()>& text) {
  if (!enabled_) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + pause;
  drawn_ = true;
  fmt::print(stderr, "\r\x1b[K{}: {}", what_, text());
  std::fflush(stderr);
}

}  // namespace vyre::cli
