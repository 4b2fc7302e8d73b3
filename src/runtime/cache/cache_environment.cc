// The cache settings of the environment, and the caches of the process.

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <tuple>

#include "runtime/cache/cache.h"

namespace vyre::driver {
namespace {

/// Returns "" if the variable is not set, or if the process has more rights than the user who set
/// it.
std::string variable(const char* name) {
  const char* value = ::secure_getenv(name);
  return value ? value : "";
}

std::optional<uint64_t> parse_size(std::string_view text) {
  constexpr std::string_view units = "KMGT";
  uint64_t count = 0, bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit = text.substr(size_t(end - text.data()));
  if (unit.empty()) return count;
  const char letter = unit[0] >= 'a' && unit[0] <= 'z' ? char(unit[0] - 32) : unit[0];
  const size_t power = units.find(letter);
  if (unit.size() > 1 || power == units.npos ||
      __builtin_mul_overflow(count, uint64_t{1} << (10 * (power + 1)), &bytes))
    return std::nullopt;
  return bytes;
}

/// Makes a relative path absolute, because the current folder may change later.
std::string absolute(const std::string& path) {
  std::error_code error;
  const auto result = std::filesystem::absolute(path, error);
  return error ? "" : result.lexically_normal().string();
}

std::string default_directory(std::string& why) {
  if (const std::string own = variable("VYRE_CACHE_DIR"); !own.empty()) return absolute(own);
  // The XDG specification requires that relative paths are ignored.
  if (const std::string xdg = variable("XDG_CACHE_HOME"); xdg.starts_with('/'))
    return absolute(xdg + "/vyre");
  if (const std::string home = variable("HOME"); !home.empty())
    return absolute(home + "/.cache/vyre");
  why = "neither VYRE_CACHE_DIR nor XDG_CACHE_HOME nor HOME is set";
  return "";
}

}  // namespace

CacheOptions CacheOptions::from_environment(std::string* problem) {
  std::string ignored;
  std::string& mistake = problem ? *problem : ignored;
  mistake.clear();
  CacheOptions options;
  options.directory = default_directory(options.why_no_disk);
  if (const std::string text = variable("VYRE_CACHE"); text == "off" || text == "0")
    options.enabled = false;
  else if (!text.empty() && text != "on" && text != "1")
    mistake = fmt::format("VYRE_CACHE is '{}', which is neither on nor off", text);
  if (const std::string text = variable("VYRE_CACHE_SIZE"); !text.empty()) {
    if (const auto bytes = parse_size(text))
      options.disk_bytes = *bytes;
    else
      mistake = fmt::format("VYRE_CACHE_SIZE is '{}', which is no size", text);
  }
  return options;
}

CompileCache& CompileCache::shared() {
  using Which = std::tuple<bool, std::string, uint64_t>;
  // Never destroyed: other objects that live as long as the process may still use them.
  static auto& caches = *new std::map<Which, std::unique_ptr<CompileCache>>();
  static auto& mutex = *new std::mutex();
  CacheOptions options = CacheOptions::from_environment();
  const std::lock_guard lock(mutex);
  auto& cache = caches[{options.enabled, options.directory, options.disk_bytes}];
  if (!cache) cache = std::make_unique<CompileCache>(std::move(options));
  return *cache;
}

}  // namespace vyre::driver
