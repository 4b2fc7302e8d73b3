// labels: threads
// libvyre_cpu.so from outside: the right one, none, and wrong ones.

#include <gtest/gtest.h>

#include <filesystem>

#include "runtime/cpu_component.h"
#include "runtime/device.h"
#include "support/process.h"
#include "tests/runtime/driver_util.h"

namespace vyre::driver {
namespace {

const std::string folder = std::string(VYRE_BIN_DIR) + "/../lib";

TEST(cpu_component, is_found_beside_the_program_and_runs) {
  std::string why;
  const CpuComponent* component = cpu_component(&why);
  ASSERT_TRUE(component) << why;
  Result<Device> d = Device::open(*component->backend, 0);
  ASSERT_TRUE(d);
  const Executable k = *d->compile(kernel(
      "kernel k(y: out u32[]) workgroup(8) grid(len(y)) { y[global_id.x] = global_id.x * 2 }"));
  std::vector<uint32_t> y(20);
  const Buffer b = *d->allocate(80);
  ASSERT_TRUE(d->submit({Launch{k, {b}, {}, true}, Readback{b, out(y)}})->wait());
  EXPECT_EQ(y[19], 38u);
}

TEST(cpu_component, that_is_not_there_says_so) {
  std::string why;
  EXPECT_FALSE(open_cpu_component("/nowhere/libvyre_cpu.so", &why));
  EXPECT_NE(why.find("its library cannot be loaded: /nowhere/libvyre_cpu.so: cannot open"),
            std::string::npos)
      << why;
}

TEST(cpu_component, that_is_another_library_is_refused) {
  std::string why;
  EXPECT_FALSE(open_cpu_component("libm.so.6", &why));
  EXPECT_EQ(why, "libm.so.6 is not the CPU component of vyre");
}

/// A library with our entry points, made by the system's compiler.
std::string library_with_id(const std::string& id) {
  const std::string path = testing::TempDir() + "/libvyre_cpu_of_another_build.so";
  const ProcessResult made =
      run_process({"cc", "-shared", "-fPIC", "-o", path, "-x", "c", "-"},
                  {.input = "const char* vyre_cpu_interface_id(void) { return \"" + id +
                            "\"; }\n"
                            "void* vyre_cpu_component(void) { return 0; }\n"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  return path;
}

TEST(cpu_component, of_another_build_is_refused) {
  std::string why;
  const std::string path = library_with_id("0123456789abcdef");
  EXPECT_FALSE(open_cpu_component(path, &why));
  EXPECT_NE(why.find("is of another build of vyre (interface 01234567, not "), std::string::npos)
      << why;
}

}  // namespace
}  // namespace vyre::driver
