#include "tests/memory/failing_allocation.h"

#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace vyre {
namespace {

std::atomic<bool> is_counting{false};
std::atomic<uint64_t> counted{0};
std::atomic<uint64_t> counted_in_component{0};
std::atomic<uint64_t> failing{0};

/// Addresses of a shared library; none while it is not loaded.
struct Library {
  const char* name;
  std::atomic<uintptr_t> begin{0}, end{0};

  bool holds(uintptr_t address) const { return address >= begin && address < end; }
};
Library llvm{"libLLVM"}, component{"libvyre_cpu"};

int find_library(dl_phdr_info* object, size_t, void*) {
  for (Library* library : {&llvm, &component}) {
    if (!std::strstr(object->dlpi_name, library->name)) continue;
    uintptr_t end = 0;
    for (int i = 0; i < object->dlpi_phnum; ++i)
      if (const ElfW(Phdr)& part = object->dlpi_phdr[i]; part.p_type == PT_LOAD)
        end = std::max<uintptr_t>(end, object->dlpi_addr + part.p_vaddr + part.p_memsz);
    library->begin = object->dlpi_addr;
    library->end = end;
  }
  return 0;
}

/// The kinds of callers of an allocation.
struct Callers {
  bool in_llvm = false;       // one of them is a function of LLVM
  bool in_component = false;  // one of them is a function of the CPU component
};

_Unwind_Reason_Code look_at(_Unwind_Context* frame, void* data) {
  auto& callers = *static_cast<Callers*>(data);
  const uintptr_t address = _Unwind_GetIP(frame);
  callers.in_llvm |= llvm.holds(address);
  callers.in_component |= component.holds(address);
  return callers.in_llvm ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/// True if the allocation may fail: bad_alloc would not pass through a function of LLVM, which is
/// compiled without exceptions. Inline functions of LLVM in our code can throw.
bool may_fail(const void* caller) {
  if (llvm.end == 0) return true;
  if (llvm.holds(reinterpret_cast<uintptr_t>(caller))) return false;
  Callers callers;
  _Unwind_Backtrace(look_at, &callers);
  if (callers.in_llvm) return false;
  counted_in_component += callers.in_component;
  return true;
}

/// Null if the allocation is the one that fails, or if memory is exhausted.
void* allocate(size_t bytes, size_t alignment, const void* caller) {
  if (is_counting && may_fail(caller) && ++counted == failing) return nullptr;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes == 0 ? 1 : bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* allocate_or_throw(size_t bytes, size_t alignment, const void* caller) {
  void* const memory = allocate(bytes, alignment, caller);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

FailingAllocation::FailingAllocation(uint64_t fails) {
  dl_iterate_phdr(find_library, nullptr);
  counted = 0;
  counted_in_component = 0;
  failing = fails;
  is_counting = true;
}

FailingAllocation::~FailingAllocation() {
  is_counting = false;
  failing = 0;
}

uint64_t FailingAllocation::count() const { return counted; }
uint64_t FailingAllocation::count_in_component() const { return counted_in_component; }

}  // namespace vyre

#define VYRE_CALLER __builtin_extract_return_addr(__builtin_return_address(0))

void* operator new(size_t bytes) { return vyre::allocate_or_throw(bytes, 1, VYRE_CALLER); }
void* operator new[](size_t bytes) { return vyre::allocate_or_throw(bytes, 1, VYRE_CALLER); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return vyre::allocate_or_throw(bytes, size_t(alignment), VYRE_CALLER);
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return vyre::allocate_or_throw(bytes, size_t(alignment), VYRE_CALLER);
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return vyre::allocate(bytes, 1, VYRE_CALLER);
}
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return vyre::allocate(bytes, 1, VYRE_CALLER);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
