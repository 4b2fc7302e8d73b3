// The identity of this build. The only file of the library that knows the version, so that a new
// commit recompiles only this file.

#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>

#include <cstring>

#include "runtime/cache/cache_key.h"
#include "support/version.h"

namespace vyre::driver {
namespace {

struct Search {
  uintptr_t address = 0;  // an address in the object to find
  bool found = false;
  std::string path;
  std::string id;
};

/// Returns the GNU build id from the notes of a loaded object, in hexadecimal. The notes are
/// trusted: the linker wrote them into our own executable.
std::string build_id_in(const char* notes, size_t bytes) {
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof note);
    const size_t name = (size_t{note.n_namesz} + 3) & ~size_t{3};
    const size_t data = (size_t{note.n_descsz} + 3) & ~size_t{3};
    if (sizeof note + name + data > bytes) break;
    const char* at = notes + sizeof note;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(at, "GNU", 4) == 0) {
      std::string hex;
      for (size_t i = 0; i < note.n_descsz; ++i)
        hex += fmt::format("{:02x}", static_cast<unsigned char>(at[name + i]));
      return hex;
    }
    notes += sizeof note + name + data;
    bytes -= sizeof note + name + data;
  }
  return "";
}

int look_at(dl_phdr_info* object, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && search.address - begin < part.p_memsz) search.found = true;
  }
  if (!search.found) return 0;
  search.path = object->dlpi_name;
  for (int i = 0; i < object->dlpi_phnum && search.id.empty(); ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    if (part.p_type == PT_NOTE)
      search.id = build_id_in(reinterpret_cast<const char*>(object->dlpi_addr + part.p_vaddr),
                              part.p_memsz);
  }
  return 1;
}

/// Returns the build id of the executable or shared library that holds this function; its size and
/// time if the linker was told to write no id.
std::string object_id() {
  Search search;
  search.address = reinterpret_cast<uintptr_t>(&object_id);
  dl_iterate_phdr(look_at, &search);
  if (!search.id.empty()) return search.id;
  struct stat info{};
  const char* path = search.path.empty() ? "/proc/self/exe" : search.path.c_str();
  if (::stat(path, &info) != 0) return "";
  return fmt::format("{}-{}.{:09}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

}  // namespace

const std::string& build_id() {
  static const std::string id =
      fmt::format("{} {} {}", library_version(), library_revision(), object_id());
  return id;
}

}  // namespace vyre::driver
