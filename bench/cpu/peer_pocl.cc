// PoCL through the ICD loader, opened at run time: the benchmark builds and runs without either.

#include <fmt/format.h>

#include "cpu_peers.h"

#if __has_include(<CL/cl.h>)

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>

#include "cpu_host_memory.h"
#include "support/file.h"

namespace bench {

class OpenCl {
 public:
#define VYRE_CL(name) decltype(&::name) name = nullptr;
  // clang-format off
#define VYRE_CL_ALL(X)                                                                       \
  X(clGetPlatformIDs)                                                                        \
  X(clGetPlatformInfo)                                                                       \
  X(clGetDeviceIDs)                                                                          \
  X(clGetDeviceInfo)                                                                         \
  X(clCreateContext) X(clCreateCommandQueue) X(clCreateProgramWithSource) X(clBuildProgram)  \
      X(clGetProgramBuildInfo) X(clCreateKernel) X(clSetKernelArg) X(clCreateBuffer)         \
          X(clReleaseMemObject) X(clEnqueueWriteBuffer) X(clEnqueueReadBuffer)               \
              X(clEnqueueFillBuffer) X(clEnqueueNDRangeKernel) X(clFinish) X(clReleaseEvent) \
                  X(clGetEventProfilingInfo) X(clReleaseKernel) X(clReleaseProgram)
  // clang-format on
  VYRE_CL_ALL(VYRE_CL)
  void* library = nullptr;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  std::string about;
};

namespace {

void must(cl_int error, const char* what) {
  if (error != CL_SUCCESS) fail(fmt::format("PoCL: {} gave error {}", what, error));
}

std::string device_text(const OpenCl& cl, cl_device_info what) {
  char text[512] = {};
  cl.clGetDeviceInfo(cl.device, what, sizeof text - 1, text, nullptr);
  return text;
}

class PoclPeer : public Peer {
 public:
  PoclPeer(const Case& c, std::shared_ptr<OpenCl> cl, bool exact)
      : case_(c), cl_(std::move(cl)), choose_local_(!exact && c.any_local_size) {
    const std::string path = fmt::format("{}/kernels/{}.cl", BENCH_CPU_DIR, c.name);
    const vyre::FileContents file = vyre::read_file(path);
    if (!file) fail(file.error->what);
    const char* text = file.bytes.data();
    const size_t size = file.bytes.size();
    cl_int error = 0;
    program_ = cl_->clCreateProgramWithSource(cl_->context, 1, &text, &size, &error);
    must(error, "clCreateProgramWithSource");
    const char* options = exact ? "-DEXACT -cl-fp32-correctly-rounded-divide-sqrt" : "";
    if (cl_->clBuildProgram(program_, 1, &cl_->device, options, nullptr, nullptr) != CL_SUCCESS) {
      std::string log(20000, '\0');
      cl_->clGetProgramBuildInfo(program_, cl_->device, CL_PROGRAM_BUILD_LOG, log.size(),
                                 log.data(), nullptr);
      fail(fmt::format("PoCL can't build {}:\n{}", path, log.c_str()));
    }
    kernel_ = cl_->clCreateKernel(program_, c.kernel.c_str(), &error);
    must(error, "clCreateKernel");
    cl_uint index = 0;
    for (const Parameter& p : c.parameters) {
      if (p.kind == Parameter::Kind::Scalar) {
        must(cl_->clSetKernelArg(kernel_, index++, 4, &p.scalar), "clSetKernelArg");
        continue;
      }
      memory_.push_back(host_memory(c.buffers[p.buffer].size()));
      buffers_.push_back(cl_->clCreateBuffer(cl_->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                             c.buffers[p.buffer].size(), memory_.back().get(),
                                             &error));
      must(error, "clCreateBuffer");
      must(cl_->clSetKernelArg(kernel_, index++, sizeof(cl_mem), &buffers_.back()),
           "clSetKernelArg");
      if (p.zeroed) zeroed_.push_back(buffers_.size() - 1);
    }
    for (const uint32_t v : c.opencl_extra)
      must(cl_->clSetKernelArg(kernel_, index++, 4, &v), "clSetKernelArg");
  }
  ~PoclPeer() override {
    cl_->clFinish(cl_->queue);
    for (cl_mem b : buffers_) cl_->clReleaseMemObject(b);
    cl_->clReleaseKernel(kernel_);
    cl_->clReleaseProgram(program_);
  }

  void reset() override {
    for (size_t i = 0; i < buffers_.size(); ++i)
      must(cl_->clEnqueueWriteBuffer(cl_->queue, buffers_[i], CL_TRUE, 0, case_.buffers[i].size(),
                                     case_.buffers[i].data(), 0, nullptr, nullptr),
           "clEnqueueWriteBuffer");
  }
  void launch() override {
    const uint8_t zero = 0;
    for (const size_t i : zeroed_)
      must(cl_->clEnqueueFillBuffer(cl_->queue, buffers_[i], &zero, 1, 0, case_.buffers[i].size(),
                                    0, nullptr, nullptr),
           "clEnqueueFillBuffer");
    cl_event event = nullptr;
    must(cl_->clEnqueueNDRangeKernel(
             cl_->queue, kernel_, cl_uint(case_.dimensions), nullptr, case_.opencl_global.data(),
             choose_local_ ? nullptr : case_.opencl_local.data(), 0, nullptr, &event),
         "clEnqueueNDRangeKernel");
    must(cl_->clFinish(cl_->queue), "clFinish");
    cl_ulong begin = 0, end = 0;
    cl_->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, nullptr);
    cl_->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
    device_ns_ = end - begin;
    cl_->clReleaseEvent(event);
  }
  std::vector<std::byte> read(size_t buffer) override {
    std::vector<std::byte> bytes(case_.buffers[buffer].size());
    must(cl_->clEnqueueReadBuffer(cl_->queue, buffers_[buffer], CL_TRUE, 0, bytes.size(),
                                  bytes.data(), 0, nullptr, nullptr),
         "clEnqueueReadBuffer");
    return bytes;
  }
  uint64_t device_ns() const override { return device_ns_; }

 private:
  const Case& case_;
  std::shared_ptr<OpenCl> cl_;
  bool choose_local_ = false;
  cl_program program_ = nullptr;
  cl_kernel kernel_ = nullptr;
  std::vector<HostMemory> memory_;
  std::vector<cl_mem> buffers_;
  std::vector<size_t> zeroed_;
  uint64_t device_ns_ = 0;
};

}  // namespace

std::shared_ptr<OpenCl> open_pocl(std::string& missing) {
  auto cl = std::make_shared<OpenCl>();
  cl->library = dlopen("libOpenCL.so.1", RTLD_NOW);
  if (!cl->library) {
    missing = "libOpenCL.so.1 is not installed (scripts/bench-cpu installs it)";
    return nullptr;
  }
#define VYRE_CL_LOAD(name)                                                             \
  if (!(cl->name = reinterpret_cast<decltype(cl->name)>(dlsym(cl->library, #name)))) { \
    missing = "libOpenCL.so.1 has no " #name;                                          \
    return nullptr;                                                                    \
  }
  VYRE_CL_ALL(VYRE_CL_LOAD)
  cl_platform_id platforms[16];
  cl_uint count = 0;
  if (cl->clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS) count = 0;
  for (cl_uint i = 0; i < count && i < 16; ++i) {
    char name[256] = {}, version[256] = {};
    cl->clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
    cl->clGetPlatformInfo(platforms[i], CL_PLATFORM_VERSION, sizeof version - 1, version, nullptr);
    if (std::string_view(name) != "Portable Computing Language") continue;
    if (cl->clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &cl->device, nullptr) != CL_SUCCESS)
      continue;
    cl_int error = 0;
    cl->context = cl->clCreateContext(nullptr, 1, &cl->device, nullptr, nullptr, &error);
    must(error, "clCreateContext");
    cl->queue =
        cl->clCreateCommandQueue(cl->context, cl->device, CL_QUEUE_PROFILING_ENABLE, &error);
    must(error, "clCreateCommandQueue");
    cl->about = fmt::format("{}, device {}", version, device_text(*cl, CL_DEVICE_NAME));
    return cl;
  }
  missing = "no OpenCL platform is PoCL (Debian package pocl-opencl-icd)";
  return nullptr;
}

std::string describe(const OpenCl& cl) { return cl.about; }

std::unique_ptr<Peer> pocl_peer(const Case& c, std::shared_ptr<OpenCl> cl, bool exact) {
  return std::make_unique<PoclPeer>(c, std::move(cl), exact);
}

}  // namespace bench

#else

namespace bench {

class OpenCl {};
std::shared_ptr<OpenCl> open_pocl(std::string& missing) {
  missing = "bench_cpu was built without the OpenCL headers (Debian package opencl-headers)";
  return nullptr;
}
std::string describe(const OpenCl&) { return ""; }
std::unique_ptr<Peer> pocl_peer(const Case&, std::shared_ptr<OpenCl>, bool) { return nullptr; }

}  // namespace bench

#endif
