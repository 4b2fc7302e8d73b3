#include "runtime/cuda/device_info.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <optional>

namespace vyre::driver::cuda {
namespace {

constexpr DeviceOption device_options[] = {
    {.name = "exact-float-add",
     .type = DeviceOption::Type::Integer,
     .max = 1,
     .sentence = "1: atomic_add of f32 keeps subnormals, by a slower loop."},
    {.name = "lines",
     .type = DeviceOption::Type::Integer,
     .max = 1,
     .sentence = "1: the code has line information, for profilers."},
    {.name = "min-blocks",
     .type = DeviceOption::Type::Integer,
     .max = 32,
     .sentence = "Workgroups that a multiprocessor shall hold at once; 0: not said."},
};

/// Launches that fill the device more than once are worth coarsening. (Copying four elements per
/// invocation is faster from smaller sizes on, by 1 µs; with more ops this need not hold.)
constexpr uint64_t coarse_rounds = 2;

/// Driver versions and the PTX that came with them. Of two with the same PTX the first is listed.
struct PtxRow {
  int driver, major, minor;
};
constexpr PtxRow ptx_versions[] = {
    {10000, 6, 3}, {10010, 6, 4}, {10020, 6, 5}, {11000, 7, 0}, {11010, 7, 1}, {11020, 7, 2},
    {11030, 7, 3}, {11040, 7, 4}, {11050, 7, 5}, {11060, 7, 6}, {11070, 7, 7}, {11080, 7, 8},
    {12000, 8, 0}, {12010, 8, 1}, {12020, 8, 2}, {12030, 8, 3}, {12040, 8, 4}, {12050, 8, 5},
    {12070, 8, 6}, {12080, 8, 7}, {12090, 8, 8}, {13000, 9, 0}};

/// Returns the version of the driver's kernel module: "580.65.06". The driver's compiler changes
/// with it, and cached code comes from that compiler.
std::string module_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module 580.65.06 ...": the first word that begins with
  // a digit and contains a point.
  for (size_t at = 0; at < line.size();) {
    const size_t end = std::min(line.find(' ', at), line.size());
    const std::string word = line.substr(at, end - at);
    if (!word.empty() && word[0] >= '0' && word[0] <= '9' && word.find('.') != word.npos)
      return word;
    at = end + 1;
  }
  return "";
}

std::string in_mib(uint64_t bytes) { return fmt::format("{} MiB", bytes >> 20); }

class Asker {
 public:
  Asker(const Api& api, Device device) : api_(api), device_(device) {}
  int operator()(Attribute a) const {
    int value = 0;
    return api_.device_attribute(&value, a, device_) == Status::Success ? value : 0;
  }

 private:
  const Api& api_;
  Device device_;
};

std::optional<Properties> describe_device(const Api& api, int ordinal) {
  Device device = 0;
  if (api.device_get(&device, ordinal) != Status::Success) return std::nullopt;
  const Asker ask(api, device);
  Properties p;
  p.ordinal = ordinal;
  p.capability = ask(Attribute::CapabilityMajor) * 10 + ask(Attribute::CapabilityMinor);
  p.multiprocessors = static_cast<uint32_t>(ask(Attribute::Multiprocessors));
  p.has_pools = api.has_pools() && ask(Attribute::MemoryPools);

  DeviceInfo& i = p.info;
  char name[256] = {};
  api.device_name(name, sizeof name - 1, device);
  size_t memory = 0;
  api.device_total_memory(&memory, device);
  const std::string module = module_version();
  i.backend = "cuda";
  i.index = static_cast<uint32_t>(ordinal);
  i.name = name;
  i.target = fmt::format("sm_{}", p.capability);
  i.driver_version =
      fmt::format("CUDA {}{}{}", version_text(api.version), module.empty() ? "" : ", ", module);
  i.optimizes = true;
  i.options = device_options;
  i.limits.workgroup_invocations =
      std::min(1024u, static_cast<uint32_t>(ask(Attribute::MaxThreadsPerBlock)));
  i.limits.shared_bytes = static_cast<uint64_t>(
      std::max(ask(Attribute::SharedBytesPerBlockOptin), ask(Attribute::SharedBytesPerBlock)));
  i.limits.memory_bytes = memory;
  i.limits.private_bytes = 512 << 10;
  i.limits.resident_invocations = 1 << 18;
  i.limits.buffer_bytes = std::min<uint64_t>(memory, max_buffer_bytes);
  i.limits.subgroup_sizes = {1, 2, 4, 8, 16, 32, 64};
  i.limits.default_subgroup_size = 32;
  i.limits.native_grid_barrier =
      api.launch_cooperative != nullptr && ask(Attribute::CooperativeLaunch);
  i.limits.forward_progress = true;
  i.limits.vector_access = true;
  i.limits.loops = api.has_conditions();
  i.limits.coarse_from = coarse_rounds * p.multiprocessors *
                         static_cast<uint64_t>(ask(Attribute::ThreadsPerMultiprocessor));

  const auto yes = [](bool b) { return std::string(b ? "yes" : "no"); };
  i.properties = {
      {"compute capability", fmt::format("{}.{}", p.capability / 10, p.capability % 10)},
      {"multiprocessors", fmt::to_string(p.multiprocessors)},
      {"threads of a multiprocessor", fmt::to_string(ask(Attribute::ThreadsPerMultiprocessor))},
      {"clock", fmt::format("{} MHz", ask(Attribute::ClockKilohertz) / 1000)},
      {"memory", in_mib(memory)},
      {"memory bus", fmt::format("{} bits at {} MHz", ask(Attribute::MemoryBusBits),
                                 ask(Attribute::MemoryKilohertz) / 1000)},
      {"L2 cache", in_mib(static_cast<uint64_t>(ask(Attribute::L2Bytes)))},
      {"ECC", yes(ask(Attribute::EccEnabled))},
      {"PCI", fmt::format("{:04x}:{:02x}:{:02x}", ask(Attribute::PciDomain), ask(Attribute::PciBus),
                          ask(Attribute::PciDevice))},
      {"time limit of the system", yes(ask(Attribute::KernelTimeout))},
      {"memory pools", yes(p.has_pools)},
      {"graphs", yes(api.has_graphs())},
      {"loops in graphs", yes(api.has_conditions())},
      {"cooperative launch", yes(i.limits.native_grid_barrier)},
      {"types", "bool i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64"},
      {"atomics", "i32 u32 i64 u64, f32 add"},
      {"native", "integers, f32 and f64 arithmetic, sqrt, fma, atomics, subgroups of up to 32"},
      {"expanded",
       "exp, log, sin and the other functions; f16 and bf16 arithmetic in f32; subgroups of 64"}};
  if (const auto arch = choose_arch(api, p))
    i.properties.insert(i.properties.begin() + 1,
                        {"text", fmt::format("PTX {} for {}", emit_ptx::ptx_version(*arch),
                                             emit_ptx::name(*arch))});
  return p;
}

int capability_of(emit_ptx::Arch arch) {
  return std::atoi(std::string(emit_ptx::name(arch).substr(3)).c_str());  // "sm_90"
}

std::pair<int, int> ptx_needed(emit_ptx::Arch arch) {
  const std::string text(emit_ptx::ptx_version(arch));
  return {std::atoi(text.c_str()), std::atoi(text.c_str() + text.find('.') + 1)};
}

}  // namespace

std::pair<int, int> ptx_of_driver(int version) {
  std::pair<int, int> known = {0, 0};
  for (const PtxRow& row : ptx_versions)
    if (row.driver <= version) known = {row.major, row.minor};
  return known;
}

Result<emit_ptx::Arch> choose_arch(const Api& api, const Properties& device) {
  const std::pair<int, int> known = ptx_of_driver(api.version);
  std::optional<emit_ptx::Arch> best;
  for (const emit_ptx::Arch arch : emit_ptx::all_archs)
    if (capability_of(arch) <= device.capability && ptx_needed(arch) <= known) best = arch;
  if (best) return *best;
  const emit_ptx::Arch first = emit_ptx::all_archs.front();
  const auto [major, minor] = known;
  return diagnose(
             Code::DriverTooOld, {},
             fmt::format("{} has compute capability {}.{} and a driver of CUDA {} (PTX {}.{}); "
                         "vyre needs {}.{} and PTX {}, which came with CUDA 10.0",
                         device.info.name, device.capability / 10, device.capability % 10,
                         version_text(api.version), major, minor, capability_of(first) / 10,
                         capability_of(first) % 10, emit_ptx::ptx_version(first)))
      .with_fix("update the driver, or use another device");
}

std::vector<Properties> find_devices(const Api& api, std::string* why_none) {
  const auto none = [&](std::string why) {
    if (why_none) *why_none = std::move(why);
    return std::vector<Properties>();
  };
  if (const Status s = api.init(0); s != Status::Success)
    return none(fmt::format("the driver does not start: {}", api.describe(s)));
  int count = 0;
  if (const Status s = api.device_count(&count); s != Status::Success)
    return none(fmt::format("the driver does not count its devices: {}", api.describe(s)));
  std::vector<Properties> found;
  for (int i = 0; i < count; ++i)
    if (auto p = describe_device(api, i)) found.push_back(std::move(*p));
  if (found.empty()) {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    return none(
        visible ? fmt::format("the driver sees no device; CUDA_VISIBLE_DEVICES is `{}`", visible)
                : "the driver sees no device");
  }
  return found;
}

}  // namespace vyre::driver::cuda
