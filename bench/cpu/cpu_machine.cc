#include "cpu_machine.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <thread>

namespace bench {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string cpu_field(const std::string& field) {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(field))
      if (const size_t colon = line.find(": "); colon != line.npos) return line.substr(colon + 2);
  return "unknown";
}

std::string simd() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return "AVX-512";
  if (__builtin_cpu_supports("avx2")) return "AVX2";
  return "SSE";
#else
  return "unknown";
#endif
}

}  // namespace

double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : -1;
}

std::vector<std::pair<std::string, std::string>> machine() {
  const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  const std::time_t now = std::time(nullptr);
  return {
      {"date", fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(now))},
      {"cpu", fmt::format("{} (family {}, model {}), {}", cpu_field("model name"),
                          cpu_field("cpu family"), cpu_field("model\t"), simd())},
      {"cores", fmt::format("{}", std::thread::hardware_concurrency())},
      {"last-level cache", first_line("/sys/devices/system/cpu/cpu0/cache/index3/size")},
      {"governor", governor.empty() ? "not readable" : governor},
      {"g++", __VERSION__},
      {"load", fmt::format("{:.2f} before the first kernel", load_average())},
  };
}

}  // namespace bench
