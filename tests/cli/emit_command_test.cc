// vyre emit. The emitters themselves are tested in tests/runtime/cpu.

#include "tests/cli/cli_util.h"

namespace vyre {
namespace {

class EmitCommandLine : public CommandLine {
 protected:
  /// Without the CPU component the tool cannot emit, and reports that.
  bool has_emitter(const ProcessResult& r) {
    if (r.err.find("the emitter of backend `cpu` is not here, because") == std::string::npos)
      return true;
    expect_exit(r, 3);
    expect_code(r, "V0702");
    return false;
  }
};

const char* const with_grid_barrier =
    "kernel two(y: inout u32[]) workgroup(64) grid(len(y)) {\n"
    "  y[global_id.x] += 1\n"
    "  barrier grid\n"
    "  y[global_id.x] += y[0]\n"
    "}\n";

TEST_F(EmitCommandLine, llvm_ir_of_a_kernel) {
  const ProcessResult r =
      vyre({"emit", file("saxpy.vyre", saxpy), "--target", "llvm", "--arch", "x86-64-v3"});
  if (!has_emitter(r)) GTEST_SKIP() << "this build has no CPU component";
  expect_exit(r, 0);
  EXPECT_NE(r.out.find("define"), std::string::npos);
  EXPECT_NE(r.out.find("@vyre_kernel"), std::string::npos);
  EXPECT_NE(r.out.find("target triple = \"x86_64-unknown-linux-gnu\""), std::string::npos);
  const ProcessResult raw = vyre(
      {"emit", path("saxpy.vyre"), "--target", "llvm", "--arch", "x86-64-v3", "--unoptimized"});
  expect_exit(raw, 0);
  EXPECT_NE(raw.out, r.out);
}

TEST_F(EmitCommandLine, assembly_of_each_architecture) {
  const std::string kernel = file("saxpy.vyre", saxpy);
  std::string last;
  for (const char* arch : {"x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"}) {
    const ProcessResult r = vyre({"emit", kernel, "--target", "asm", "--arch", arch});
    if (!has_emitter(r)) GTEST_SKIP() << "this build has no CPU component";
    expect_exit(r, 0);
    EXPECT_NE(r.out.find("vyre_kernel:"), std::string::npos) << arch;
    EXPECT_NE(r.out, last) << arch;
    last = r.out;
  }
  EXPECT_NE(last.find("\tret\n"), std::string::npos) << "not AArch64";
}

TEST_F(EmitCommandLine, assembly_with_its_source_lines) {
  const std::string kernel = file("saxpy.vyre", saxpy);
  const ProcessResult wrong = vyre({"emit", kernel, "--target", "llvm", "--lines"});
  expect_exit(wrong, 2);
  expect_code(wrong, "V0606");
  const ProcessResult r =
      vyre({"emit", kernel, "--target", "asm", "--arch", "x86-64-v3", "--lines"});
  if (!has_emitter(r)) GTEST_SKIP() << "this build has no CPU component";
  expect_exit(r, 0);
  const size_t comment = r.out.find("# " + kernel + ":3: y[i] = fma(a, x[i], y[i])\n");
  ASSERT_NE(comment, std::string::npos) << r.out;
  EXPECT_NE(r.out.find("vfmadd", comment), std::string::npos);
  EXPECT_EQ(r.out.find(".loc"), std::string::npos);
}

TEST_F(EmitCommandLine, object_goes_to_a_file) {
  const std::string kernel = file("saxpy.vyre", saxpy);
  const ProcessResult nowhere = vyre({"emit", kernel, "--target", "obj"});
  expect_exit(nowhere, 2);
  expect_code(nowhere, "V0606");
  const ProcessResult r = vyre({"emit", kernel, "--target", "obj", "-o", path("saxpy.o")});
  if (!has_emitter(r)) GTEST_SKIP() << "this build has no CPU component";
  expect_exit(r, 0);
  EXPECT_EQ(contents("saxpy.o").substr(1, 3), "ELF");
}

TEST_F(EmitCommandLine, objects_of_two_kernels_link_together) {
  const std::string two =
      file("two.vyre",
           "kernel a(y: inout u32[]) workgroup(4) grid(len(y)) { y[global_id.x] += 1 }\n"
           "kernel b(y: inout u32[]) workgroup(4) grid(len(y)) { y[global_id.x] *= 3 }\n");
  const ProcessResult a = vyre({"emit", two + ":a", "--target", "obj", "-o", path("a.o")});
  if (!has_emitter(a)) GTEST_SKIP() << "this build has no CPU component";
  expect_exit(a, 0);
  expect_exit(vyre({"emit", two + ":b", "--target", "obj", "-o", path("b.o")}), 0);
  expect_exit(
      vyre({"emit", two + ":a", "--target", "obj", "--symbol", "again", "-o", path("again.o")}), 0);
  for (const char* name : {"vyre_kernel_a", "vyre_kernel_a_info"})
    EXPECT_NE(contents("a.o").find(std::string(1, '\0') + name + '\0'), std::string::npos) << name;
  EXPECT_NE(contents("again.o").find("again_info"), std::string::npos);
  const ProcessResult linked =
      run_process({"ld", "-r", "-o", path("all.o"), path("a.o"), path("b.o"), path("again.o")});
  if (linked.start_error != 0) GTEST_SKIP() << "a linker is not installed";
  EXPECT_EQ(linked.exit_code, 0) << linked.err;
}

TEST_F(EmitCommandLine, symbols_are_names_of_c_and_for_objects) {
  const std::string kernel = file("saxpy.vyre", saxpy);
  const ProcessResult r =
      vyre({"emit", kernel, "--target", "obj", "--symbol", "1st", "-o", path("saxpy.o")});
  expect_exit(r, 2);
  expect_code(r, "V0607");
  expect_code(vyre({"emit", kernel, "--target", "asm", "--symbol", "s"}), "V0606");
  expect_code(vyre({"emit", kernel, "--target", "ptx", "--symbol", "s"}), "V0606");
}

TEST_F(EmitCommandLine, every_segment_of_a_kernel_with_grid_barriers) {
  const ProcessResult r = vyre({"emit", file("two.vyre", with_grid_barrier), "--target", "llvm"});
  if (!has_emitter(r)) GTEST_SKIP() << "this build has no CPU component";
  expect_exit(r, 0);
  EXPECT_EQ(r.out.find("; segment 1 of 2 of kernel `two`, split at its grid barriers\n"), 0u);
  EXPECT_NE(r.out.find("; segment 2 of 2 of kernel `two`"), std::string::npos);
}

TEST_F(EmitCommandLine, subgroup_size_shows) {
  const std::string kernel = file("saxpy.vyre", saxpy);
  const ProcessResult four = vyre({"emit", kernel, "--target", "llvm", "--subgroup-size", "4"});
  if (!has_emitter(four)) GTEST_SKIP() << "this build has no CPU component";
  EXPECT_NE(four.out.find("<4 x "), std::string::npos);
  const ProcessResult sixteen = vyre({"emit", kernel, "--target", "llvm", "--subgroup-size", "16"});
  EXPECT_NE(sixteen.out.find("<16 x "), std::string::npos);
}

TEST_F(EmitCommandLine, ptx_of_each_architecture) {
  const std::string kernel = file("saxpy.vyre", saxpy);
  for (const char* arch : {"sm_75", "sm_80", "sm_90", "sm_100"}) {
    const ProcessResult r = vyre({"emit", kernel, "--target", "ptx", "--arch", arch});
    expect_exit(r, 0);
    EXPECT_NE(r.out.find(std::string(".target ") + arch + "\n"), std::string::npos);
    EXPECT_NE(r.out.find(".visible .entry vyre_kernel("), std::string::npos);
    EXPECT_EQ(r.out.find("\t.loc "), std::string::npos);
  }
  const ProcessResult lines = vyre({"emit", kernel, "--target", "ptx", "--lines"});
  expect_exit(lines, 0);
  EXPECT_NE(lines.out.find("\t.loc 1 "), std::string::npos);
  const ProcessResult split =
      vyre({"emit", file("two.vyre", with_grid_barrier), "--target", "ptx"});
  expect_exit(split, 0);
  EXPECT_NE(split.out.find("// segment 2 of 2 of kernel `two`"), std::string::npos);
  expect_code(vyre({"emit", kernel, "--target", "ptx", "--arch", "sm_1"}), "V0607");
  expect_code(vyre({"emit", kernel, "--target", "ptx", "--subgroup-size", "3"}), "V0607");
  expect_code(vyre({"emit", kernel, "--target", "ptx", "--unoptimized"}), "V0606");
}

TEST_F(EmitCommandLine, spirv_of_each_device) {
  const std::string kernel = file("saxpy.vyre", saxpy);
  for (const char* device : {"full", "nvidia", "lavapipe", "swiftshader", "weak"}) {
    const ProcessResult r = vyre({"emit", kernel, "--target", "spirv", "--profile", device});
    expect_exit(r, 0);
    EXPECT_EQ(r.out.find("; SPIR-V 1.5, "), 0u) << r.out;
    EXPECT_NE(r.out.find("OpEntryPoint GLCompute"), std::string::npos);
    EXPECT_EQ(r.out.find("OpLine"), std::string::npos);
  }
  const ProcessResult native = vyre({"emit", kernel, "--target", "spirv"});
  EXPECT_NE(native.out.find(" Fma "), std::string::npos);
  const ProcessResult without =
      vyre({"emit", kernel, "--target", "spirv", "--profile", "nvidia -fused32"});
  expect_exit(without, 0);
  EXPECT_EQ(without.out.find(" Fma "), std::string::npos);
  const ProcessResult lines = vyre({"emit", kernel, "--target", "spirv", "--lines"});
  expect_exit(lines, 0);
  EXPECT_NE(lines.out.find("OpLine"), std::string::npos);
  EXPECT_NE(lines.out.find("OpName"), std::string::npos);
}

TEST_F(EmitCommandLine, spirv_module_goes_to_a_file) {
  const std::string kernel = file("saxpy.vyre", saxpy);
  const ProcessResult r = vyre({"emit", kernel, "--target", "spirv", "-o", path("saxpy.spv")});
  expect_exit(r, 0);
  EXPECT_EQ(r.out, "");
  EXPECT_EQ(contents("saxpy.spv").substr(0, 4), "\x03\x02\x23\x07");
  const std::string two = file("two.vyre", with_grid_barrier);
  const ProcessResult split = vyre({"emit", two, "--target", "spirv"});
  expect_exit(split, 0);
  EXPECT_NE(split.out.find("; segment 2 of 2 of kernel `two`"), std::string::npos);
  expect_code(vyre({"emit", two, "--target", "spirv", "-o", path("two.spv")}), "V0606");
  expect_code(vyre({"emit", kernel, "--target", "spirv", "-o", path("no/such/folder.spv")}),
              "V0641");
}

TEST_F(EmitCommandLine, spirv_of_a_device_that_is_none) {
  const std::string kernel = file("saxpy.vyre", saxpy);
  const auto spirv = [&](const char* profile) {
    const ProcessResult r = vyre({"emit", kernel, "--target", "spirv", "--profile", profile});
    expect_exit(r, 2);
    expect_code(r, "V0607");
    return r.err;
  };
  EXPECT_NE(spirv("-fma23").find("did you mean `fma32`?"), std::string::npos);
  EXPECT_NE(spirv("toaster").find("name a device (full, nvidia,"), std::string::npos);
  EXPECT_NE(spirv("subgroup_size=3").find("needs a power of two"), std::string::npos);
  EXPECT_NE(spirv("push_constant_bytes=4").find("from 8 to 65536"), std::string::npos);
  expect_code(vyre({"emit", kernel, "--target", "spirv", "--subgroup-size", "3"}), "V0607");
  expect_code(vyre({"emit", kernel, "--target", "spirv", "--arch", "sm_90"}), "V0606");
  expect_code(vyre({"emit", kernel, "--target", "spirv", "--unoptimized"}), "V0606");
  expect_code(vyre({"emit", kernel, "--target", "ptx", "--profile", "weak"}), "V0606");
  const std::string wide = file(
      "wide.vyre", "kernel k(y: out f64[]) workgroup(64) grid(len(y)) { y[global_id.x] = 1.0 }\n");
  const ProcessResult r = vyre({"emit", wide, "--target", "spirv", "--profile", "-float64"});
  expect_exit(r, 3);
  expect_code(r, "V0734");
  EXPECT_NE(r.err.find("f64, which the device does not have\n  --> " + wide + ":1:"),
            std::string::npos)
      << r.err;
}

TEST_F(EmitCommandLine, what_it_cannot_do) {
  const std::string kernel = file("saxpy.vyre", saxpy);
  expect_code(vyre({"emit", kernel, "--target", "basic"}), "V0607");
  expect_code(vyre({"emit", kernel, "--target", "asm", "--arch", "z80"}), "V0607");
  expect_code(vyre({"emit", kernel, "--target", "asm", "--subgroup-size", "3"}), "V0607");
  expect_code(vyre({"emit", kernel}), "V0604");
  expect_code(vyre({"emit", kernel, "--target", "asm", "--unoptimized"}), "V0606");
}

}  // namespace
}  // namespace vyre
