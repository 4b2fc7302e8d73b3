#pragma once

// The functions of libcuda.so.1, looked up by name at the first use of the backend. Nothing is
// linked.

#include <string>

#include "diagnostics/result.h"
#include "runtime/cuda/cuda_types.h"

// X(member, symbol, parameters). Without one of these the backend is unavailable.
#define VYRE_CUDA_REQUIRED(X)                                                                     \
  X(init, "cuInit", (unsigned flags))                                                             \
  X(driver_version, "cuDriverGetVersion", (int* version))                                         \
  X(error_name, "cuGetErrorName", (Status status, const char** text))                             \
  X(error_string, "cuGetErrorString", (Status status, const char** text))                         \
  X(device_count, "cuDeviceGetCount", (int* count))                                               \
  X(device_get, "cuDeviceGet", (Device * device, int ordinal))                                    \
  X(device_name, "cuDeviceGetName", (char* name, int bytes, Device device))                       \
  X(device_attribute, "cuDeviceGetAttribute", (int* value, Attribute attribute, Device device))   \
  X(device_total_memory, "cuDeviceTotalMem_v2", (size_t* bytes, Device device))                   \
  X(context_retain, "cuDevicePrimaryCtxRetain", (ContextHandle * context, Device device))         \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (Device device))                             \
  X(context_push, "cuCtxPushCurrent_v2", (ContextHandle context))                                 \
  X(context_pop, "cuCtxPopCurrent_v2", (ContextHandle * context))                                 \
  X(memory_info, "cuMemGetInfo_v2", (size_t* free, size_t* total))                                \
  X(memory_allocate, "cuMemAlloc_v2", (DevicePointer * memory, size_t bytes))                     \
  X(memory_free, "cuMemFree_v2", (DevicePointer memory))                                          \
  X(host_allocate, "cuMemHostAlloc", (void** memory, size_t bytes, unsigned flags))               \
  X(host_free, "cuMemFreeHost", (void* memory))                                                   \
  X(host_register, "cuMemHostRegister_v2", (void* memory, size_t bytes, unsigned flags))          \
  X(host_unregister, "cuMemHostUnregister", (void* memory))                                       \
  X(copy_to_device, "cuMemcpyHtoDAsync_v2",                                                       \
    (DevicePointer to, const void* from, size_t bytes, StreamHandle stream))                      \
  X(copy_to_host, "cuMemcpyDtoHAsync_v2",                                                         \
    (void* to, DevicePointer from, size_t bytes, StreamHandle stream))                            \
  X(copy, "cuMemcpyDtoDAsync_v2",                                                                 \
    (DevicePointer to, DevicePointer from, size_t bytes, StreamHandle stream))                    \
  X(fill_bytes, "cuMemsetD8Async",                                                                \
    (DevicePointer to, unsigned char value, size_t count, StreamHandle stream))                   \
  X(fill_words, "cuMemsetD32Async",                                                               \
    (DevicePointer to, unsigned value, size_t count, StreamHandle stream))                        \
  X(fill_rows, "cuMemsetD2D8Async",                                                               \
    (DevicePointer to, size_t pitch, unsigned char value, size_t width, size_t height,            \
     StreamHandle stream))                                                                        \
  X(stream_create, "cuStreamCreate", (StreamHandle * stream, unsigned flags))                     \
  X(stream_destroy, "cuStreamDestroy_v2", (StreamHandle stream))                                  \
  X(stream_synchronize, "cuStreamSynchronize", (StreamHandle stream))                             \
  X(stream_wait, "cuStreamWaitEvent", (StreamHandle stream, EventHandle event, unsigned flags))   \
  X(event_create, "cuEventCreate", (EventHandle * event, unsigned flags))                         \
  X(event_destroy, "cuEventDestroy_v2", (EventHandle event))                                      \
  X(event_record, "cuEventRecord", (EventHandle event, StreamHandle stream))                      \
  X(event_query, "cuEventQuery", (EventHandle event))                                             \
  X(event_elapsed, "cuEventElapsedTime", (float* ms, EventHandle begin, EventHandle end))         \
  X(module_load, "cuModuleLoadDataEx",                                                            \
    (ModuleHandle * module, const void* image, unsigned options, JitOption* keys, void** values)) \
  X(module_unload, "cuModuleUnload", (ModuleHandle module))                                       \
  X(module_function, "cuModuleGetFunction",                                                       \
    (FunctionHandle * function, ModuleHandle module, const char* name))                           \
  X(link_create, "cuLinkCreate_v2",                                                               \
    (unsigned options, JitOption* keys, void** values, LinkHandle* link))                         \
  X(link_add, "cuLinkAddData_v2",                                                                 \
    (LinkHandle link, int type, void* data, size_t bytes, const char* name, unsigned options,     \
     JitOption* keys, void** values))                                                             \
  X(link_complete, "cuLinkComplete", (LinkHandle link, void** cubin, size_t* bytes))              \
  X(link_destroy, "cuLinkDestroy", (LinkHandle link))                                             \
  X(function_set_attribute, "cuFuncSetAttribute", (FunctionHandle function, int key, int value))  \
  X(function_attribute, "cuFuncGetAttribute", (int* value, int key, FunctionHandle function))     \
  X(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                                     \
    (int* blocks, FunctionHandle function, int block_size, size_t dynamic_shared_bytes))          \
  X(launch, "cuLaunchKernel",                                                                     \
    (FunctionHandle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,    \
     unsigned bz, unsigned shared_bytes, StreamHandle stream, void** parameters, void** extra))

// Without these a feature is missing: pools (11.2), cooperative launches, writes of values by
// streams (11.7), stream priorities, graphs (12.0), loops in graphs (12.3).
#define VYRE_CUDA_OPTIONAL(X)                                                                      \
  X(launch_cooperative, "cuLaunchCooperativeKernel",                                               \
    (FunctionHandle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,     \
     unsigned bz, unsigned shared_bytes, StreamHandle stream, void** parameters))                  \
  X(stream_write_value, "cuStreamWriteValue32_v2",                                                 \
    (StreamHandle stream, DevicePointer to, uint32_t value, unsigned flags))                       \
  X(stream_priorities, "cuCtxGetStreamPriorityRange", (int* least, int* greatest))                 \
  X(stream_create_with_priority, "cuStreamCreateWithPriority",                                     \
    (StreamHandle * stream, unsigned flags, int priority))                                         \
  X(pool_of_device, "cuDeviceGetDefaultMemPool", (PoolHandle * pool, Device device))               \
  X(pool_set, "cuMemPoolSetAttribute", (PoolHandle pool, int key, void* value))                    \
  X(pool_trim, "cuMemPoolTrimTo", (PoolHandle pool, size_t keep))                                  \
  X(pool_allocate, "cuMemAllocAsync", (DevicePointer * memory, size_t bytes, StreamHandle stream)) \
  X(pool_free, "cuMemFreeAsync", (DevicePointer memory, StreamHandle stream))                      \
  X(graph_create, "cuGraphCreate", (GraphHandle * graph, unsigned flags))                          \
  X(graph_destroy, "cuGraphDestroy", (GraphHandle graph))                                          \
  X(graph_add_kernel, "cuGraphAddKernelNode_v2",                                                   \
    (GraphNodeHandle * node, GraphHandle graph, const GraphNodeHandle* after, size_t count,        \
     const KernelNode* what))                                                                      \
  X(graph_add_memset, "cuGraphAddMemsetNode",                                                      \
    (GraphNodeHandle * node, GraphHandle graph, const GraphNodeHandle* after, size_t count,        \
     const MemsetNode* what, ContextHandle context))                                               \
  X(graph_add_copy, "cuGraphAddMemcpyNode",                                                        \
    (GraphNodeHandle * node, GraphHandle graph, const GraphNodeHandle* after, size_t count,        \
     const CopyNode* what, ContextHandle context))                                                 \
  X(graph_set_node_attribute, "cuGraphKernelNodeSetAttribute",                                     \
    (GraphNodeHandle node, int key, const KernelNodeAttribute* value))                             \
  X(graph_instantiate, "cuGraphInstantiateWithFlags",                                              \
    (GraphExecHandle * exec, GraphHandle graph, unsigned long long flags))                         \
  X(graph_exec_destroy, "cuGraphExecDestroy", (GraphExecHandle exec))                              \
  X(graph_launch, "cuGraphLaunch", (GraphExecHandle exec, StreamHandle stream))                    \
  X(graph_upload, "cuGraphUpload", (GraphExecHandle exec, StreamHandle stream))                    \
  X(graph_update_kernel, "cuGraphExecKernelNodeSetParams_v2",                                      \
    (GraphExecHandle exec, GraphNodeHandle node, const KernelNode* what))                          \
  X(graph_update_memset, "cuGraphExecMemsetNodeSetParams",                                         \
    (GraphExecHandle exec, GraphNodeHandle node, const MemsetNode* what, ContextHandle context))   \
  X(graph_update_copy, "cuGraphExecMemcpyNodeSetParams",                                           \
    (GraphExecHandle exec, GraphNodeHandle node, const CopyNode* what, ContextHandle context))     \
  X(graph_create_condition, "cuGraphConditionalHandleCreate",                                      \
    (ConditionHandle * handle, GraphHandle graph, ContextHandle context, unsigned initial,         \
     unsigned flags))                                                                              \
  X(graph_add_node, "cuGraphAddNode_v2",                                                           \
    (GraphNodeHandle * node, GraphHandle graph, const GraphNodeHandle* after, const void* edges,   \
     size_t count, ConditionalNode* what))

namespace vyre::driver::cuda {

struct Api {
#define VYRE_CUDA_MEMBER(member, symbol, parameters) Status(*member) parameters = nullptr;
  VYRE_CUDA_REQUIRED(VYRE_CUDA_MEMBER)
  VYRE_CUDA_OPTIONAL(VYRE_CUDA_MEMBER)
#undef VYRE_CUDA_MEMBER

  std::string path;  // of the library
  int version = 0;   // of the driver: 12040 is 12.4; 0: not known before init

  bool has_pools() const { return pool_of_device && pool_set && pool_allocate && pool_free; }
  bool has_graphs() const;
  bool has_conditions() const;

  /// Returns a status in words: "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".
  std::string describe(Status status) const;
};

/// Returns the library's functions; or null, and in `why` the reason, to follow "because". Opened
/// once per path (VYRE_CUDA_LIBRARY, else libcuda.so.1) and never closed.
const Api* find_api(std::string* why);

/// Returns a version as text: "12.4" for 12040.
std::string version_text(int version);

}  // namespace vyre::driver::cuda
