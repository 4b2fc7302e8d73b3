// The driver's functions: devices, contexts, memory, streams and events.

#include "runtime/cuda/fake_driver.h"

using namespace vyre::fake_cuda;
using namespace vyre::driver::cuda;

FAKE Control* vyre_fake_cuda_control() { return &driver(); }

FAKE Status cuInit(unsigned) {
  ENTER("cuInit")
  driver().initialized = true;
  return Status::Success;
}
FAKE Status cuDriverGetVersion(int* version) {
  *version = driver().config.driver_version;
  return Status::Success;
}
FAKE Status cuGetErrorName(Status s, const char** text) {
  static const std::map<int, const char*> names = {{1, "CUDA_ERROR_INVALID_VALUE"},
                                                   {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                   {100, "CUDA_ERROR_NO_DEVICE"},
                                                   {218, "CUDA_ERROR_INVALID_PTX"},
                                                   {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
                                                   {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                   {719, "CUDA_ERROR_LAUNCH_FAILED"}};
  const auto it = names.find(int(s));
  *text = it == names.end() ? nullptr : it->second;
  return it == names.end() ? Status::InvalidValue : Status::Success;
}
FAKE Status cuGetErrorString(Status s, const char** text) {
  *text = s == Status::OutOfMemory ? "out of memory" : "an error of the fake driver";
  return Status::Success;
}
FAKE Status cuDeviceGetCount(int* count) {
  ENTER("cuDeviceGetCount")
  if (!driver().initialized) return Status::NotInitialized;
  *count = int(driver().config.devices.size());
  return Status::Success;
}
FAKE Status cuDeviceGet(Device* device, int ordinal) {
  ENTER("cuDeviceGet")
  if (ordinal < 0 || size_t(ordinal) >= driver().config.devices.size())
    return Status::InvalidDevice;
  *device = ordinal;
  return Status::Success;
}
FAKE Status cuDeviceGetName(char* name, int bytes, Device device) {
  std::snprintf(name, size_t(bytes), "%s", driver().config.devices[size_t(device)].name.c_str());
  return Status::Success;
}
FAKE Status cuDeviceGetAttribute(int* value, Attribute a, Device device) {
  const DeviceConfig& d = driver().config.devices[size_t(device)];
  switch (a) {
    case Attribute::CapabilityMajor: *value = d.capability / 10; break;
    case Attribute::CapabilityMinor: *value = d.capability % 10; break;
    case Attribute::MaxThreadsPerBlock: *value = 1024; break;
    case Attribute::SharedBytesPerBlock: *value = 48 << 10; break;
    case Attribute::SharedBytesPerBlockOptin: *value = d.shared_bytes_optin; break;
    case Attribute::Multiprocessors: *value = d.multiprocessors; break;
    case Attribute::RegistersPerMultiprocessor: *value = 65536; return Status::Success;
    case Attribute::ThreadsPerMultiprocessor: *value = 2048; break;
    case Attribute::ClockKilohertz: *value = 1980000; break;
    case Attribute::MemoryKilohertz: *value = 3201000; break;
    case Attribute::MemoryBusBits: *value = 6144; break;
    case Attribute::L2Bytes: *value = 50 << 20; break;
    case Attribute::CooperativeLaunch: *value = d.cooperative; break;
    case Attribute::MemoryPools: *value = d.pools; break;
    default: *value = 0;
  }
  return Status::Success;
}
FAKE Status cuDeviceTotalMem_v2(size_t* bytes, Device device) {
  *bytes = driver().config.devices[size_t(device)].memory_bytes;
  return Status::Success;
}

// Contexts.

FAKE Status cuDevicePrimaryCtxRetain(ContextHandle* context, Device device) {
  ENTER("cuDevicePrimaryCtxRetain")
  Context_* const c = driver().contexts[size_t(device)].get();
  ++c->retained;  // a lost context, too: using it fails
  *context = reinterpret_cast<ContextHandle>(c);
  return Status::Success;
}
FAKE Status cuDevicePrimaryCtxRelease_v2(Device device) {
  ENTER("cuDevicePrimaryCtxRelease")
  Context_& c = *driver().contexts[size_t(device)];
  if (c.retained == 0) return Status::InvalidContext;
  if (--c.retained == 0) c.destroy();
  return Status::Success;
}
FAKE Status cuDevicePrimaryCtxReset_v2(Device device) {
  ENTER("cuDevicePrimaryCtxReset")
  driver().contexts[size_t(device)]->destroy();
  return Status::Success;
}
FAKE Status cuCtxPushCurrent_v2(ContextHandle context) {
  if (!context) return Status::InvalidContext;
  Driver::current_stack().push_back(reinterpret_cast<Context_*>(context));
  return Status::Success;
}
FAKE Status cuCtxPopCurrent_v2(ContextHandle* context) {
  if (Driver::current_stack().empty()) return Status::InvalidContext;
  *context = reinterpret_cast<ContextHandle>(Driver::current_stack().back());
  Driver::current_stack().pop_back();
  return Status::Success;
}

// Memory.

FAKE Status cuMemGetInfo_v2(size_t* free, size_t* total) {
  ENTER_CONTEXT("cuMemGetInfo")
  *total = driver().config.devices[size_t(driver().current()->ordinal)].memory_bytes;
  *free = *total - driver().current()->used;
  return Status::Success;
}
FAKE Status cuMemAlloc_v2(DevicePointer* memory, size_t bytes) {
  ENTER_CONTEXT("cuMemAlloc")
  return driver().allocate(memory, bytes);
}
FAKE Status cuMemFree_v2(DevicePointer memory) {
  ENTER_CONTEXT("cuMemFree")
  return driver().release(*driver().current(), memory) ? Status::Success : Status::InvalidValue;
}
FAKE Status cuDeviceGetDefaultMemPool(PoolHandle* pool, Device device) {
  ENTER("cuDeviceGetDefaultMemPool")
  *pool = reinterpret_cast<PoolHandle>(size_t(device) + 1);
  return Status::Success;
}
FAKE Status cuMemPoolSetAttribute(PoolHandle, int, void*) {
  ENTER("cuMemPoolSetAttribute")
  return Status::Success;
}
FAKE Status cuMemPoolTrimTo(PoolHandle, size_t) {
  ENTER("cuMemPoolTrimTo")
  return Status::Success;
}
FAKE Status cuMemAllocAsync(DevicePointer* memory, size_t bytes, StreamHandle) {
  ENTER_CONTEXT("cuMemAllocAsync")
  return driver().allocate(memory, bytes);
}
FAKE Status cuMemFreeAsync(DevicePointer memory, StreamHandle stream) {
  ENTER_CONTEXT("cuMemFreeAsync")
  Context_* const c = driver().current();
  driver().enqueue(stream, [c, memory] {
    if (!driver().release(*c, memory)) c->error = int(Status::IllegalAddress);
  });
  return Status::Success;
}
FAKE Status cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  ENTER_CONTEXT("cuMemHostAlloc")
  *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  std::memset(*memory, 0xcd, bytes);
  const std::lock_guard lock(driver().mutex);
  driver().current()->host[reinterpret_cast<DevicePointer>(*memory)] = bytes;
  return Status::Success;
}
FAKE Status cuMemFreeHost(void* memory) {
  ENTER_CONTEXT("cuMemFreeHost")
  const std::lock_guard lock(driver().mutex);
  if (!driver().current()->host.erase(reinterpret_cast<DevicePointer>(memory)))
    return Status::InvalidValue;
  std::free(memory);
  return Status::Success;
}
FAKE Status cuMemHostRegister_v2(void*, size_t, unsigned) {
  ENTER_CONTEXT("cuMemHostRegister")
  return Status::Success;
}
FAKE Status cuMemHostUnregister(void*) {
  ENTER_CONTEXT("cuMemHostUnregister")
  return Status::Success;
}

// Copies and fills.

FAKE Status cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, size_t bytes, StreamHandle s) {
  ENTER_CONTEXT("cuMemcpyHtoDAsync")
  Context_* const c = driver().current();
  driver().enqueue(
      s, [=] { driver().copy(c, to, reinterpret_cast<DevicePointer>(from), bytes, true, false); });
  return Status::Success;
}
FAKE Status cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, size_t bytes, StreamHandle s) {
  ENTER_CONTEXT("cuMemcpyDtoHAsync")
  Context_* const c = driver().current();
  driver().enqueue(
      s, [=] { driver().copy(c, reinterpret_cast<DevicePointer>(to), from, bytes, false, true); });
  return Status::Success;
}
FAKE Status cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, size_t bytes,
                                 StreamHandle s) {
  ENTER_CONTEXT("cuMemcpyDtoDAsync")
  Context_* const c = driver().current();
  driver().enqueue(s, [=] { driver().copy(c, to, from, bytes, true, true); });
  return Status::Success;
}
static Status fill_on(MemsetNode n, StreamHandle s) {
  Context_* const c = driver().current();
  driver().enqueue(s, [=] { driver().fill(c, n); });
  return Status::Success;
}
FAKE Status cuMemsetD8Async(DevicePointer to, unsigned char value, size_t count, StreamHandle s) {
  ENTER_CONTEXT("cuMemsetD8Async")
  return fill_on({to, 0, value, 1, count, 1}, s);
}
FAKE Status cuMemsetD32Async(DevicePointer to, unsigned value, size_t count, StreamHandle s) {
  ENTER_CONTEXT("cuMemsetD32Async")
  if (to % 4) return Status::InvalidValue;
  return fill_on({to, 0, value, 4, count, 1}, s);
}
FAKE Status cuMemsetD2D8Async(DevicePointer to, size_t pitch, unsigned char value, size_t width,
                              size_t height, StreamHandle s) {
  ENTER_CONTEXT("cuMemsetD2D8Async")
  return fill_on({to, pitch, value, 1, width, height}, s);
}

// Streams and events.

static std::shared_ptr<Event_> event_of(EventHandle handle) {
  const std::lock_guard lock(driver().mutex);
  const auto& all = driver().current()->events;
  const auto it = all.find(handle);
  return it == all.end() ? nullptr : it->second;
}

static Status create_stream(StreamHandle* stream) {
  auto* const made = new Stream_();
  *stream = reinterpret_cast<StreamHandle>(made);
  const std::lock_guard lock(driver().mutex);
  driver().current()->streams.insert(made);
  return Status::Success;
}
FAKE Status cuStreamCreate(StreamHandle* stream, unsigned) {
  ENTER_CONTEXT("cuStreamCreate")
  return create_stream(stream);
}
FAKE Status cuStreamCreateWithPriority(StreamHandle* stream, unsigned, int) {
  ENTER_CONTEXT("cuStreamCreateWithPriority")
  return create_stream(stream);
}
FAKE Status cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  ENTER_CONTEXT("cuCtxGetStreamPriorityRange")
  *least = 0;
  *greatest = -5;
  return Status::Success;
}
/// In order on its stream, as everything: on a stream whose kernel does not end it never happens.
FAKE Status cuStreamWriteValue32_v2(StreamHandle stream, DevicePointer to, uint32_t value,
                                    unsigned flags) {
  ENTER_CONTEXT("cuStreamWriteValue32")
  if (to % 4 || flags) return Status::InvalidValue;
  Context_* const c = driver().current();
  driver().enqueue(stream, [=] {
    driver().copy(c, to, reinterpret_cast<DevicePointer>(&value), sizeof value, true, false);
  });
  return Status::Success;
}
FAKE Status cuStreamDestroy_v2(StreamHandle stream) {
  ENTER_CONTEXT("cuStreamDestroy")
  auto* const made = reinterpret_cast<Stream_*>(stream);
  {
    const std::lock_guard lock(driver().mutex);
    if (!driver().current()->streams.erase(made)) return Status::InvalidValue;
  }
  delete made;
  return Status::Success;
}
FAKE Status cuStreamSynchronize(StreamHandle stream) {
  ENTER_CONTEXT("cuStreamSynchronize")
  reinterpret_cast<Stream_*>(stream)->drain();
  return Status(driver().current()->error.load());
}
FAKE Status cuStreamWaitEvent(StreamHandle stream, EventHandle event, unsigned) {
  ENTER_CONTEXT("cuStreamWaitEvent")
  const auto e = event_of(event);
  if (!e) return Status::InvalidValue;
  uint64_t turn = 0;
  {
    const std::lock_guard lock(e->mutex);
    turn = e->recorded;
  }
  Context_* const c = driver().current();
  driver().enqueue(stream, [e, turn, c] {
    std::unique_lock lock(e->mutex);
    while (e->completed < turn && !c->error)
      e->changed.wait_for(lock, std::chrono::milliseconds(5));
  });
  return Status::Success;
}
FAKE Status cuEventCreate(EventHandle* event, unsigned) {
  ENTER_CONTEXT("cuEventCreate")
  auto e = std::make_shared<Event_>();
  *event = reinterpret_cast<EventHandle>(e.get());
  const std::lock_guard lock(driver().mutex);
  driver().current()->events[*event] = std::move(e);
  return Status::Success;
}
FAKE Status cuEventDestroy_v2(EventHandle event) {
  ENTER_CONTEXT("cuEventDestroy")
  const std::lock_guard lock(driver().mutex);
  return driver().current()->events.erase(event) ? Status::Success : Status::InvalidValue;
}
FAKE Status cuEventRecord(EventHandle event, StreamHandle stream) {
  ENTER_CONTEXT("cuEventRecord")
  const auto e = event_of(event);
  if (!e) return Status::InvalidValue;
  uint64_t turn = 0;
  {
    const std::lock_guard lock(e->mutex);
    turn = ++e->recorded;
  }
  driver().enqueue(stream, [e, turn] { e->complete(turn); });
  return Status::Success;
}
FAKE Status cuEventQuery(EventHandle event) {
  ENTER_CONTEXT("cuEventQuery")
  const auto e = event_of(event);
  if (!e) return Status::InvalidValue;
  const std::lock_guard lock(e->mutex);
  return e->completed >= e->recorded ? Status::Success : Status::NotReady;
}
FAKE Status cuEventElapsedTime(float* ms, EventHandle begin, EventHandle end) {
  ENTER_CONTEXT("cuEventElapsedTime")
  const auto b = event_of(begin), e = event_of(end);
  if (!b || !e) return Status::InvalidValue;
  const std::scoped_lock lock(b->mutex, e->mutex);
  if (b->completed < b->recorded || e->completed < e->recorded) return Status::NotReady;
  *ms = std::chrono::duration<float, std::milli>(e->at - b->at).count();
  return Status::Success;
}
