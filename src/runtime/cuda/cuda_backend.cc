#include "runtime/cuda/cuda_backend.h"

#include <fmt/format.h>

#include "runtime/cuda/cuda_device.h"

namespace vyre::driver {
namespace {

class CudaBackend : public Backend {
 public:
  std::string_view name() const override { return "cuda"; }
  std::string_view summary() const override { return "NVIDIA GPUs"; }

  std::vector<DeviceInfo> probe(std::string* why_none) override {
    const cuda::Api* api = cuda::find_api(why_none);
    std::vector<DeviceInfo> infos;
    if (!api) return infos;
    for (cuda::Properties& p : cuda::find_devices(*api, why_none))
      infos.push_back(std::move(p.info));
    return infos;
  }

  Result<std::unique_ptr<BackendDevice>> open(uint32_t index) override {
    std::string why;
    const cuda::Api* api = cuda::find_api(&why);
    if (!api) return not_here(why);
    const std::vector<cuda::Properties> devices = cuda::find_devices(*api, &why);
    if (devices.empty()) return not_here(why);
    if (index >= devices.size())
      return diagnose(Code::DeviceIndex, {},
                      fmt::format("`cuda:{}`: the backend has {} device{}, numbered from 0", index,
                                  devices.size(), devices.size() == 1 ? "" : "s"))
          .with_fix("use an index that is there");
    return cuda::CudaDevice::open(*api, devices[index]);
  }

 private:
  static Diagnostic not_here(const std::string& why) {
    return diagnose(Code::DeviceNotHere, {},
                    fmt::format("backend `cuda` is not here, because {}", why))
        .with_fix("use `--backend auto`, or one that is here");
  }
};

}  // namespace

Backend* cuda_backend(std::string* why) {
  static CudaBackend backend;
  return cuda::find_api(why) ? &backend : nullptr;
}

}  // namespace vyre::driver
