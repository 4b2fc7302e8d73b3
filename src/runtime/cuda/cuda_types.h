#pragma once

// The part of the CUDA driver's C interface that we use, declared here so that no header of the
// toolkit is needed. Values and layouts are those of the interface, which never change under a
// name.

#include <cstddef>
#include <cstdint>

namespace vyre::driver::cuda {

// ---- Results.

enum class Status : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  Deinitialized = 4,
  StubLibrary = 34,
  DeviceUnavailable = 46,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinaryForGpu = 209,
  EccUncorrectable = 214,
  InvalidPtx = 218,
  NvlinkUncorrectable = 220,
  JitCompilerNotFound = 221,
  UnsupportedPtxVersion = 222,
  Contained = 226,
  NotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchTimeout = 702,
  ContextIsDestroyed = 709,
  Assert = 710,
  HardwareStackError = 714,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  InvalidAddressSpace = 717,
  InvalidPc = 718,
  LaunchFailed = 719,
  CooperativeLaunchTooLarge = 720,
  NotSupported = 801,
  MpsRpcFailure = 806,
  MpsClientTerminated = 810,
  Unknown = 999,
};

// ---- Handles.

using DevicePointer = unsigned long long;
using Device = int;
using ContextHandle = struct ContextTag*;
using ModuleHandle = struct ModuleTag*;
using FunctionHandle = struct FunctionTag*;
using StreamHandle = struct StreamTag*;
using EventHandle = struct EventTag*;
using LinkHandle = struct LinkTag*;
using PoolHandle = struct PoolTag*;
using GraphHandle = struct GraphTag*;
using GraphNodeHandle = struct GraphNodeTag*;
using GraphExecHandle = struct GraphExecTag*;
using ConditionHandle = unsigned long long;

// ---- Device attributes.

enum class Attribute : int {
  MaxThreadsPerBlock = 1,
  SharedBytesPerBlock = 8,
  ClockKilohertz = 13,
  Multiprocessors = 16,
  KernelTimeout = 17,
  Integrated = 18,
  CanMapHostMemory = 19,
  EccEnabled = 32,
  PciBus = 33,
  PciDevice = 34,
  MemoryKilohertz = 36,
  MemoryBusBits = 37,
  L2Bytes = 38,
  ThreadsPerMultiprocessor = 39,
  PciDomain = 50,
  CapabilityMajor = 75,
  CapabilityMinor = 76,
  RegistersPerMultiprocessor = 82,
  CooperativeLaunch = 95,
  SharedBytesPerBlockOptin = 97,
  MemoryPools = 115,
};

// ---- Flags and options.

inline constexpr unsigned stream_non_blocking = 1;
inline constexpr unsigned event_default = 0;
inline constexpr unsigned event_disable_timing = 2;
inline constexpr unsigned host_alloc_portable = 1;
inline constexpr unsigned host_register_portable = 1;
inline constexpr int function_max_dynamic_shared_bytes = 8;
inline constexpr int function_local_bytes = 3;
inline constexpr int function_registers = 4;
inline constexpr int pool_release_threshold = 4;
inline constexpr int kernel_node_cooperative = 2;
inline constexpr int jit_input_ptx = 1;

enum class JitOption : int {
  InfoLog = 3,
  InfoLogBytes = 4,
  ErrorLog = 5,
  ErrorLogBytes = 6,
  LogVerbose = 12,
  LineInfo = 13,
};

// ---- Structures.

struct KernelNode {  // CUDA_KERNEL_NODE_PARAMS_v2
  FunctionHandle function = nullptr;
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned shared_bytes = 0;
  void** parameters = nullptr;
  void** extra = nullptr;
  void* kernel = nullptr;
  ContextHandle context = nullptr;
};
static_assert(sizeof(KernelNode) == 72);

struct MemsetNode {  // CUDA_MEMSET_NODE_PARAMS
  DevicePointer to = 0;
  size_t pitch = 0;
  unsigned value = 0;
  unsigned element_bytes = 1;
  size_t width = 0;  // in elements
  size_t height = 1;
};
static_assert(sizeof(MemsetNode) == 40);

enum class MemoryType : unsigned { Host = 1, Device = 2 };

struct CopyEnd {  // one half of CUDA_MEMCPY3D_v2
  size_t x_bytes = 0, y = 0, z = 0, level = 0;
  MemoryType type = MemoryType::Device;
  void* host = nullptr;
  DevicePointer device = 0;
  void* array = nullptr;
  void* reserved = nullptr;
  size_t pitch = 0, height = 0;
};
struct CopyNode {  // CUDA_MEMCPY3D_v2
  CopyEnd from, to;
  size_t width_bytes = 0, height = 1, depth = 1;
};
static_assert(sizeof(CopyEnd) == 88 && sizeof(CopyNode) == 200);

struct KernelNodeAttribute {  // CUlaunchAttributeValue
  union {
    char pad[64] = {};
    int cooperative;
  };
};
static_assert(sizeof(KernelNodeAttribute) == 64);

inline constexpr int node_type_conditional = 13;
inline constexpr int condition_while = 1;

struct ConditionalNode {  // CUgraphNodeParams with `conditional`
  int type = node_type_conditional;
  int reserved0[3] = {};
  ConditionHandle handle = 0;
  int condition = condition_while;
  unsigned graphs = 1;
  GraphHandle* bodies = nullptr;  // written by the driver
  ContextHandle context = nullptr;
  long long reserved1[25] = {};
  long long reserved2 = 0;
};
static_assert(sizeof(ConditionalNode) == 16 + 29 * 8 + 8);

}  // namespace vyre::driver::cuda
