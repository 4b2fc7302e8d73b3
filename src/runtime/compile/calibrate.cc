#include "runtime/compile/calibrate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>

#include "runtime/cache/cache.h"
#include "runtime/cache/cache_directory.h"
#include "runtime/cache/cache_key.h"
#include "runtime/device.h"
#include "support/json.h"
#include "text/parse.h"

namespace vyre::driver {
namespace {

using Json = nlohmann::json;
using Steady = std::chrono::steady_clock;

constexpr const char* auto_file = "auto.json";
constexpr const char* barriers_file = "barriers.json";  // of the device that was measured last
constexpr double longest = 1.0;                         // seconds of one submission

constexpr const char* source = R"(
kernel nothing(y: inout u32[]) workgroup(64) grid(1) { }
kernel saxpy(a: f32, x: in f32[], y: inout f32[]) workgroup(64) grid(len(y)) {
  let i = global_id.x
  y[i] = fma(a, x[i], y[i])
}
kernel arithmetic(y: inout u32[]) workgroup(64) grid(len(y)) {
  var v: u32 = global_id.x + 1
  for k in 0..128 {
    v = v ^ (v << 13)
    v = v ^ (v >> 17)
    v = v ^ (v << 5)
  }
  y[global_id.x] = v
}
kernel barriers(x: inout u32[], y: inout u32[]) workgroup(64) grid(len(x)) {
  let i = global_id.x
  let j = len(x) - 1 - i
  x[i] = i
  barrier grid
  y[i] = x[j] + 1
  barrier grid
  x[i] = y[j] + 2
  barrier grid
  y[i] = x[j] + 4
  barrier grid
  x[i] = y[j] + 8
}
)";
constexpr uint32_t barrier_words = 4096, barrier_sum = 15;

class Measurement {
 public:
  explicit Measurement(Device device) : d_(std::move(device)) {}
  ~Measurement() {
    d_.finish();
    for (const Buffer& b : buffers_) (void)bool(d_.free(b));
  }

  Result<Calibration> run() {
    const ParseOutcome parsed = parse(source);
    if (!parsed.module) return parsed.diagnostics;
    std::vector<Executable> kernels;
    for (const Program& p : parsed.module->kernels) {
      Result<Executable> e = d_.compile(p);
      if (!e) return e.errors();
      kernels.push_back(*e);
    }
    constexpr size_t floats = 1 << 16, words = 1 << 14;
    for (const size_t bytes : {floats * 4, floats * 4, words * 4}) {
      Result<Buffer> b = d_.allocate(bytes);
      if (!b) return b.errors();
      buffers_.push_back(*b);
    }
    std::vector<float> x(floats), y(floats, 1.0f), back(floats);
    for (size_t i = 0; i < floats; ++i) x[i] = float(i);
    std::vector<uint32_t> mixed(words);

    Calibration c;
    const auto in = [](const auto& v) { return std::as_bytes(std::span(v)); };
    const auto out = [](auto& v) { return std::as_writable_bytes(std::span(v)); };
    const Launch nothing{kernels[0], {buffers_[2]}, {}, true, {}};
    const Launch saxpy{kernels[1], {scalar(2.0f), buffers_[0], buffers_[1]}, {}, true, {}};
    const Launch arithmetic{kernels[2], {buffers_[2]}, {}, true, {}};
    const Result<> done[] = {
        best(c.launch_ns, {nothing}),
        best(c.saxpy_ns, {Upload{buffers_[0], in(x)}, Upload{buffers_[1], in(y)}, saxpy,
                          Readback{buffers_[1], out(back)}}),
        best(c.arithmetic_ns, {arithmetic}),
    };
    for (const Result<>& r : done)
      if (!r) return r.errors();
    uint64_t ignored = 0;
    if (Result<> r = once(ignored, {Readback{buffers_[2], out(mixed)}}); !r) return r.errors();
    if (!is_right(back, mixed)) c.failure = "its results differ from the specification";
    return c;
  }

  /// Measures the kernel with grid barriers, in the form that the device was opened for.
  Result<uint64_t> barriers() {
    const ParseOutcome parsed = parse(source);
    if (!parsed.module) return parsed.diagnostics;
    const Result<Executable> e = d_.compile(parsed.module->kernels.back());
    if (!e) return e.errors();
    for (int i = 0; i < 2; ++i) {
      Result<Buffer> b = d_.allocate(barrier_words * 4);
      if (!b) return b.errors();
      buffers_.push_back(*b);
    }
    uint64_t ns = 0, ignored = 0;
    std::vector<uint32_t> x(barrier_words);
    if (Result<> r = best(ns, {Launch{*e, {buffers_[0], buffers_[1]}, {}, true, {}}}); !r)
      return r.errors();
    if (Result<> r = once(ignored, {Readback{buffers_[0], std::as_writable_bytes(std::span(x))}});
        !r)
      return r.errors();
    for (uint32_t i = 0; i < barrier_words; ++i)
      if (x[i] != i + barrier_sum)
        return diagnose(Code::DeviceFailed, {}, "its grid barrier does not hold");
    return ns;
  }

 private:
  static bool is_right(const std::vector<float>& saxpy, const std::vector<uint32_t>& mixed) {
    for (size_t i = 0; i < saxpy.size(); ++i)
      if (saxpy[i] != 2.0f * float(i) + 1.0f) return false;
    for (size_t i = 0; i < mixed.size(); ++i) {
      auto v = uint32_t(i + 1);
      for (int k = 0; k < 128; ++k) {
        v ^= v << 13;
        v ^= v >> 17;
        v ^= v << 5;
      }
      if (mixed[i] != v) return false;
    }
    return true;
  }

  Result<> once(uint64_t& ns, const std::vector<Command>& commands) {
    SubmitOptions o;
    o.time_limit = longest;
    const auto begin = Steady::now();
    Result<Ticket> t = d_.submit(commands, o);
    if (!t) return t.errors();
    if (Result<SubmitReport> r = t->wait(); !r) return r.errors();
    ns = uint64_t(std::chrono::nanoseconds(Steady::now() - begin).count());
    return Ok{};
  }

  /// Runs the commands at least twice, because the first run warms up; then for 20 ms. Keeps the
  /// shortest time.
  Result<> best(uint64_t& least, const std::vector<Command>& commands) {
    least = ~0ull;
    const auto stop = Steady::now() + std::chrono::milliseconds(20);
    for (int n = 0; n < 2 || (n < 50 && Steady::now() < stop); ++n) {
      uint64_t ns = 0;
      if (Result<> r = once(ns, commands); !r) return r;
      least = std::min(least, ns);
    }
    return Ok{};
  }

  Device d_;
  std::vector<Buffer> buffers_;
};

Json key_of(const DeviceInfo& info) {
  return {info.backend, info.index, info.name, info.target, info.driver_version};
}

/// Returns the inputs that the times depend on.
Json key_of(std::span<const Candidate> candidates) {
  Json key = Json::array({build_id()});
  for (const Candidate& c : candidates) key.push_back(key_of(c.info));
  return key;
}

std::string text_of(const Json& key, std::span<const Calibration> list) {
  Json results = Json::array();
  for (const Calibration& c : list)
    results.push_back({{"launch_ns", c.launch_ns},
                       {"saxpy_ns", c.saxpy_ns},
                       {"arithmetic_ns", c.arithmetic_ns},
                       {"native_barrier_ns", c.native_barrier_ns},
                       {"split_barrier_ns", c.split_barrier_ns},
                       {"failure", c.failure}});
  return json_text(Json{{"key", key}, {"results", results}}, 2) + "\n";
}

Calibration calibration_of(const Json& r) {
  return {whole_number<uint64_t>(r.at("launch_ns")),
          whole_number<uint64_t>(r.at("saxpy_ns")),
          whole_number<uint64_t>(r.at("arithmetic_ns")),
          whole_number<uint64_t>(r.at("native_barrier_ns")),
          whole_number<uint64_t>(r.at("split_barrier_ns")),
          r.at("failure").get<std::string>()};
}

/// Returns nothing if the text is damaged, or about other devices.
std::optional<std::vector<Calibration>> read(std::string_view text, const Json& key, size_t n) {
  try {
    const Json file = parse_json<Json>(text);
    if (file.at("key") != key || file.at("results").size() != n) return std::nullopt;
    std::vector<Calibration> list;
    for (const Json& r : file.at("results")) list.push_back(calibration_of(r));
    return list;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

/// Returns the result of one device from a text about several.
std::optional<Calibration> read_one(std::string_view text, const DeviceInfo& info) {
  try {
    const Json file = parse_json<Json>(text);
    const Json &key = file.at("key"), &results = file.at("results");
    if (key.at(0) != build_id()) return std::nullopt;
    for (size_t i = 1; i < key.size(); ++i)
      if (key[i] == key_of(info)) return calibration_of(results.at(i - 1));
  } catch (const Json::exception&) {
  }
  return std::nullopt;
}

std::string contents(const std::string& directory, const std::string& file_name) {
  std::string why;
  const auto folder = CacheDirectory::open(directory, CacheDirectory::Open::Existing, why);
  if (!folder) return "";
  const CacheDirectory::Contents file = folder->read(file_name, 1 << 20);
  if (file.kind != CacheDirectory::Contents::Kind::Read) return "";
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

std::optional<std::vector<Calibration>> find(const std::string& directory, const Json& key,
                                             size_t n) {
  return read(contents(directory, auto_file), key, n);
}

void keep(const std::string& directory, const std::string& file_name, const std::string& text) {
  std::string why;
  const auto folder = CacheDirectory::open(directory, CacheDirectory::Open::Create, why);
  if (folder) folder->write(file_name, std::as_bytes(std::span(text)), ::write);
}

/// The interpreter does not count: its barrier is the reference, fast or slow.
bool has_own_barrier(const DeviceInfo& info) {
  return info.limits.native_grid_barrier && info.backend != "interp";
}

/// Measures the native grid barrier and the split form. Returns the error of either.
Result<> compare_barriers(const Candidate& candidate, Calibration& c) {
  for (const bool split : {false, true}) {
    OpenOptions how;
    how.split_grid_barriers = split;
    const Result<Device> device = Device::open(*candidate.backend, candidate.info.index, how);
    if (!device) return device.errors();
    const Result<uint64_t> ns = Measurement(*device).barriers();
    if (!ns) return ns.errors();
    (split ? c.split_barrier_ns : c.native_barrier_ns) = *ns;
  }
  return Ok{};
}

}  // namespace

Calibration calibrate(const Candidate& candidate) {
  Calibration failed;
  try {
    Result<Device> device = Device::open(*candidate.backend, candidate.info.index);
    Result<Calibration> done = device ? Measurement(*device).run() : device.errors();
    if (done && done->failure.empty() && has_own_barrier(candidate.info))
      if (Result<> compared = compare_barriers(candidate, *done); !compared)
        done->failure = compared.errors()[0].message;
    if (done) return *done;
    failed.failure = done.errors()[0].message;
  } catch (const std::exception& e) {
    failed.failure = e.what();
  }
  return failed;
}

bool prefers_split(const Candidate& candidate) {
  if (!has_own_barrier(candidate.info)) return false;
  static auto& known = *new std::map<std::pair<std::string, std::string>, bool>();
  static auto& mutex = *new std::mutex();
  const std::lock_guard lock(mutex);  // other threads wait instead of measuring at the same time
  const CacheOptions cache = CacheOptions::from_environment();
  const std::string directory = cache.enabled ? cache.directory : "";
  const std::span one(&candidate, 1);
  const auto [it, is_new] = known.try_emplace({directory, json_text(key_of(one))}, false);
  if (!is_new) return it->second;
  std::optional<Calibration> found;
  for (const char* file : {auto_file, barriers_file})
    if (!found && !directory.empty()) found = read_one(contents(directory, file), candidate.info);
  if (!found) {
    found.emplace();
    try {
      if (Result<> done = compare_barriers(candidate, *found); !done)
        found->failure = done.errors()[0].message;
    } catch (const std::exception& e) {
      found->failure = e.what();
    }
    if (!directory.empty()) keep(directory, barriers_file, text_of(key_of(one), {&*found, 1}));
  }
  return it->second = found->failure.empty() && found->prefers_split();
}

std::vector<Calibration> calibrations(std::span<const Candidate> candidates,
                                      const std::string& directory) {
  // The process remembers its measurements: the folder may be missing, or not ours.
  static auto& known =
      *new std::map<std::pair<std::string, std::string>, std::vector<Calibration>>();
  static auto& mutex = *new std::mutex();
  const std::lock_guard lock(mutex);  // others wait instead of measuring at the same time
  const Json key = key_of(candidates);
  const std::pair where(directory, json_text(key));
  if (!directory.empty()) {
    if (auto found = find(directory, key, candidates.size())) return *found;
  }
  if (const auto it = known.find(where); it != known.end()) {
    if (!directory.empty()) keep(directory, auto_file, text_of(key, it->second));
    return it->second;
  }
  std::vector<Calibration> list;
  for (const Candidate& c : candidates) list.push_back(calibrate(c));
  if (!directory.empty()) keep(directory, auto_file, text_of(key, list));
  return known[where] = list;
}

}  // namespace vyre::driver
