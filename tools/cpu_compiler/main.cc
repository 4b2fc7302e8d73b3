// vyre_cpu_compiler: the process in which libvyre_cpu.so compiles kernels with limits. Not called
// by hand: the library starts it, with a socket as its standard input
// (src/runtime/cpu/isolated_compile.h). The implementation is in the library beside it.

#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <string>

int main() {
  ::closefrom(STDERR_FILENO + 1);  // descriptors that the caller left open
  char self[PATH_MAX];
  const ssize_t n = ::readlink("/proc/self/exe", self, sizeof self);
  if (n <= 0) return 1;
  const std::string path(self, static_cast<size_t>(n));
  const std::string library = path.substr(0, path.rfind('/') + 1) + "libvyre_cpu.so";
  void* const component = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!component) return 1;
  const auto serve = reinterpret_cast<int (*)(int)>(::dlsym(component, "vyre_cpu_serve"));
  return serve ? serve(STDIN_FILENO) : 1;
}
