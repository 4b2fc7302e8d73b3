#include "tests/memory/failing_allocation.h"

#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>

namespace vyre {
namespace {

std::atomic<bool> is_counting{false};
std::atomic<uint64_t> counted{0};
std::atomic<uint64_t> failing{0};

struct Library {
  const char* name;
  std::atomic<uintptr_t> begin{0}, end{0};
};
// Those whose allocations do not fail. Templates of LLVM are in the second one, too.
Library exempt[] = {{"libLLVM"}, {"libvyre_cpu"}};

int find_exempt(dl_phdr_info* object, size_t, void*) {
  for (Library& library : exempt) {
    if (!std::strstr(object->dlpi_name, library.name)) continue;
    uintptr_t end = 0;
    for (int i = 0; i < object->dlpi_phnum; ++i)
      if (const ElfW(Phdr)& part = object->dlpi_phdr[i]; part.p_type == PT_LOAD)
        end = std::max<uintptr_t>(end, object->dlpi_addr + part.p_vaddr + part.p_memsz);
    library.begin = object->dlpi_addr;
    library.end = end;
  }
  return 0;
}

bool is_exempt(const void* caller) {
  const auto address = reinterpret_cast<uintptr_t>(caller);
  return std::any_of(std::begin(exempt), std::end(exempt), [&](const Library& library) {
    return address >= library.begin && address < library.end;
  });
}

/// Null if the allocation is the one that fails, or if memory is exhausted.
void* allocate(size_t bytes, size_t alignment, const void* caller) {
  if (is_counting && !is_exempt(caller) && ++counted == failing) return nullptr;
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
  dl_iterate_phdr(find_exempt, nullptr);
  counted = 0;
  failing = fails;
  is_counting = true;
}

FailingAllocation::~FailingAllocation() {
  is_counting = false;
  failing = 0;
}

uint64_t FailingAllocation::count() const { return counted; }

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
