// nvcc's code through the driver API, in the same process and context as vyre's.

#include <fmt/format.h>

#include <algorithm>

#include "embedded.h"
#include "gpu_peers.h"

namespace bench {

using cuda::Status;

std::shared_ptr<Cuda> Cuda::open(std::string& missing) {
  const cuda::Api* api = cuda::find_api(&missing);
  if (!api) return nullptr;
  if (const Status s = api->init(0); s != Status::Success) {
    missing = api->describe(s);
    return nullptr;
  }
  int count = 0;
  if (api->device_count(&count) != Status::Success || count == 0) {
    missing = "there is no device";
    return nullptr;
  }
  std::shared_ptr<Cuda> c(new Cuda(*api));
  cuda::Device device = 0;
  c->check(api->device_get(&device, 0), "cuDeviceGet");
  c->check(api->context_retain(&c->context, device), "cuDevicePrimaryCtxRetain");
  c->check(api->context_push(c->context), "cuCtxPushCurrent");
  c->check(api->stream_create(&c->stream, cuda::stream_non_blocking), "cuStreamCreate");
  for (auto [name, module] : {std::pair("twins_same.cubin", &c->same),
                              {"twins_default.cubin", &c->own},
                              {"plain.cubin", &c->plain}})
    if (const std::string_view cubin = embedded(name); !cubin.empty())
      *module = c->load(cubin.data());
  if (!c->same) missing = "no nvcc when this was built";
  return c;
}

Cuda::~Cuda() {
  cuda::ContextHandle popped = nullptr;
  api.stream_destroy(stream);
  api.context_pop(&popped);
}

void Cuda::check(Status status, const char* what) const {
  if (status != Status::Success) throw Failure{fmt::format("{}: {}", what, api.describe(status))};
}

cuda::ModuleHandle Cuda::load(const void* image) const {
  cuda::ModuleHandle module = nullptr;
  check(api.module_load(&module, image, 0, nullptr, nullptr), "cuModuleLoadDataEx");
  return module;
}

cuda::FunctionHandle Cuda::function(cuda::ModuleHandle module, const std::string& name) const {
  cuda::FunctionHandle f = nullptr;
  check(api.module_function(&f, module, name.c_str()), name.c_str());
  return f;
}

CudaMemory::CudaMemory(std::shared_ptr<Cuda> owner, const Case& c) : cuda(std::move(owner)) {
  for (const DataBuffer& b : c.buffers)
    cuda->check(cuda->api.memory_allocate(&buffers.emplace_back(), b.bytes), "cuMemAlloc");
}

CudaMemory::~CudaMemory() {
  cuda->api.stream_synchronize(cuda->stream);
  for (const cuda::DevicePointer p : buffers) cuda->api.memory_free(p);
}

namespace {

class CudaPeer : public Peer {
 public:
  CudaPeer(const Case& c, std::shared_ptr<CudaMemory> memory, const TwinLaunch& twin,
           cuda::ModuleHandle module)
      : case_(c), memory_(std::move(memory)), twin_(twin), c_(*memory_->cuda) {
    function_ = c_.function(module, twin.name);
    for (const TwinLaunch::Argument& a : twin.arguments)
      values_.push_back(a.is_buffer ? memory_->buffers[a.value] : a.value);
    for (uint64_t& v : values_) parameters_.push_back(&v);  // little-endian: 32 bits come first
    c_.check(c_.api.event_create(&begin_, cuda::event_default), "cuEventCreate");
    c_.check(c_.api.event_create(&end_, cuda::event_default), "cuEventCreate");
  }
  ~CudaPeer() override {
    c_.api.event_destroy(begin_);
    c_.api.event_destroy(end_);
  }

  void reset() override {
    for (size_t i = 0; i < memory_->buffers.size(); ++i) {
      const DataBuffer& data = case_.buffers[i];
      if (data.contents.empty())
        c_.check(c_.api.fill_bytes(memory_->buffers[i], 0, data.bytes, c_.stream), "cuMemsetD8");
      else
        c_.check(
            c_.api.copy_to_device(memory_->buffers[i], data.contents.data(), data.bytes, c_.stream),
            "cuMemcpyHtoD");
    }
    c_.check(c_.api.stream_synchronize(c_.stream), "cuStreamSynchronize");
  }
  double launch(uint32_t count) override {
    const auto at_least_one = [](std::array<uint32_t, 3> n) {  // {8} is 8 by 0 by 0
      for (uint32_t& d : n) d = std::max(d, 1u);
      return n;
    };
    const auto g = at_least_one(twin_.grid), b = at_least_one(twin_.block);
    c_.check(c_.api.event_record(begin_, c_.stream), "cuEventRecord");
    for (uint32_t i = 0; i < count; ++i) {
      for (size_t k = 0; k < memory_->buffers.size(); ++k)
        if (case_.buffers[k].zeroed)
          c_.check(c_.api.fill_bytes(memory_->buffers[k], 0, case_.buffers[k].bytes, c_.stream),
                   "cuMemsetD8");
      c_.check(c_.api.launch(function_, g[0], g[1], g[2], b[0], b[1], b[2], 0, c_.stream,
                             parameters_.data(), nullptr),
               "cuLaunchKernel");
    }
    c_.check(c_.api.event_record(end_, c_.stream), "cuEventRecord");
    c_.check(c_.api.stream_synchronize(c_.stream), "cuStreamSynchronize");
    float ms = 0;
    c_.check(c_.api.event_elapsed(&ms, begin_, end_), "cuEventElapsedTime");
    return double(ms) * 1e6 / count;
  }
  std::vector<std::byte> read(size_t buffer) override {
    std::vector<std::byte> bytes(case_.buffers[buffer].bytes);
    c_.check(c_.api.copy_to_host(bytes.data(), memory_->buffers[buffer], bytes.size(), c_.stream),
             "cuMemcpyDtoH");
    c_.check(c_.api.stream_synchronize(c_.stream), "cuStreamSynchronize");
    return bytes;
  }

 private:
  const Case& case_;
  std::shared_ptr<CudaMemory> memory_;
  const TwinLaunch& twin_;
  Cuda& c_;
  cuda::FunctionHandle function_ = nullptr;
  cuda::EventHandle begin_ = nullptr, end_ = nullptr;
  std::vector<uint64_t> values_;
  std::vector<void*> parameters_;
};

}  // namespace

std::unique_ptr<Peer> cuda_peer(const Case& c, std::shared_ptr<CudaMemory> memory,
                                const TwinLaunch& twin, cuda::ModuleHandle module) {
  return std::make_unique<CudaPeer>(c, std::move(memory), twin, module);
}

}  // namespace bench
