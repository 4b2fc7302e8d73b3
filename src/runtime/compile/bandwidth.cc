#include "runtime/compile/bandwidth.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>
#include <span>

#include "runtime/buffer_owner.h"
#include "runtime/cache/cache.h"
#include "runtime/cache/cache_directory.h"
#include "runtime/cache/cache_key.h"
#include "runtime/device.h"
#include "runtime/registry.h"
#include "support/json.h"
#include "text/parse.h"

namespace vyre::driver {
namespace {

using Json = nlohmann::json;
using Steady = std::chrono::steady_clock;

constexpr const char* file_name = "bandwidth.json";  // of all devices that were measured
constexpr double time_limit = 10;                    // seconds of one copy, on a busy machine

constexpr const char* source = R"(
kernel copy(x: in u32[], y: inout u32[]) workgroup(256) grid(len(y)) {
  y[global_id.x] = x[global_id.x]
}
)";

/// Returns a size so large that caches hold little of it; all buffers take at most 1/64 of the
/// device's memory.
uint64_t buffer_bytes(const DeviceLimits& limits) {
  constexpr uint64_t mib = 1 << 20;
  return std::min(std::clamp(limits.memory_bytes / 128, 16 * mib, 256 * mib), limits.buffer_bytes) /
         1024 * 1024;
}

Result<SubmitReport> run(Device& device, std::vector<Command> commands) {
  SubmitOptions options;
  options.time_limit = time_limit;
  Result<Ticket> ticket = device.submit(std::move(commands), options);
  if (!ticket) return ticket.errors();
  return ticket->wait();
}

/// Measures copies for 20 ms after the device's warm-up: at least three, fewer if they take a
/// second.
Result<uint64_t> measure(Device device) {
  const ParseOutcome parsed = parse(source);
  if (!parsed.module) return parsed.diagnostics;
  const Result<Executable> copy = device.compile(parsed.module->kernels[0]);
  if (!copy) return copy.errors();
  const uint64_t bytes = buffer_bytes(device.info().limits);
  BufferOwner owner(device);
  const Result<Buffer> from = owner.allocate(bytes);
  if (!from) return from.errors();
  const Result<Buffer> to = owner.allocate(bytes);
  if (!to) return to.errors();
  // Memory that was never written may be backed by a single page of zeros.
  if (auto filled = run(device, {Fill{*from, 1}, Fill{*to, 2}}); !filled) return filled.errors();
  uint64_t least = ~uint64_t{0};
  const auto begin = Steady::now();
  const std::chrono::nanoseconds warm_up(device.info().warm_up_ns);
  const auto has_time = [&](int copies) {
    return Steady::now() - begin < warm_up + std::chrono::milliseconds(copies < 3 ? 1000 : 20);
  };
  for (int n = 0; n == 0 || has_time(n); ++n) {
    const auto copied = run(device, {driver::Launch{*copy, {*from, *to}}});
    if (!copied) return copied.errors();
    least = std::min(least, copied->run_ns);
  }
  if (least == 0) return diagnose(Code::DeviceFailed, {}, "it does not tell how long a copy takes");
  return static_cast<uint64_t>(2e9 * static_cast<double>(bytes) / static_cast<double>(least));
}

Json key_of(const DeviceInfo& info) {
  return {build_id(), info.backend, info.index, info.name, info.target, info.driver_version};
}

/// Returns the entries of the file: {"key", "bytes_per_second"}; none if it is damaged.
Json read_entries(const CacheDirectory& folder) {
  const CacheDirectory::Contents file = folder.read(file_name, 1 << 20);
  if (file.kind != CacheDirectory::Contents::Kind::Read) return Json::array();
  const std::string_view text(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
  const Json entries = try_parse_json<Json>(text);
  const auto is_entry = [](const Json& e) {
    return e.is_object() && e.contains("key") &&
           e.value("bytes_per_second", Json()).is_number_unsigned();
  };
  const bool is_good = entries.is_array() && std::all_of(entries.begin(), entries.end(), is_entry);
  return is_good ? entries : Json::array();
}

/// Writes an entry. Entries of other builds are useless and are dropped.
void write_entry(const CacheDirectory& folder, const Json& entries, const Json& key,
                 uint64_t bytes_per_second) {
  Json kept = Json::array({{{"key", key}, {"bytes_per_second", bytes_per_second}}});
  for (const Json& e : entries)
    if (e["key"].is_array() && e["key"].size() == key.size() && e["key"][0] == key[0])
      kept.push_back(e);
  const std::string text = json_text(kept, 2) + "\n";
  folder.write(file_name, std::as_bytes(std::span(text)), ::write);
}

std::optional<CacheDirectory> open_folder(const CacheOptions& cache) {
  std::string why;
  if (!cache.enabled || cache.directory.empty()) return std::nullopt;
  return CacheDirectory::open(cache.directory, CacheDirectory::Open::Create, why);
}

}  // namespace

Bandwidth measured_bandwidth(std::string_view backend, uint32_t index,
                             const CacheOptions& cache) try {
  if (backend == "interp") return {0, "the reference interpreter is not measured"};
  const auto failed = [](const Diagnostics& errors) { return Bandwidth{0, errors[0].message}; };
  const Result<Choice> choice = choose(fmt::format("{}:{}", backend, index));
  if (!choice) return failed(choice.errors());
  const Json key = key_of(choice->backend->probe(nullptr).at(choice->index));
  const std::optional<CacheDirectory> folder = open_folder(cache);
  const Json entries = folder ? read_entries(*folder) : Json::array();
  for (const Json& e : entries)
    if (e["key"] == key) return {e["bytes_per_second"].get<uint64_t>(), ""};
  const Result<Device> device = Device::open(*choice);
  if (!device) return failed(device.errors());
  const Result<uint64_t> measured = measure(*device);
  if (!measured) return failed(measured.errors());
  if (folder) write_entry(*folder, entries, key, *measured);
  return {*measured, ""};
} catch (const std::exception& e) {
  return {0, e.what()};
}

}  // namespace vyre::driver
