// vyre emit. The emitters themselves are tested in tests/cpu.

#include "tests/cli/cli_util.h"

namespace vyre {
namespace {

class EmitCommandLine : public CommandLine {
 protected:
  /// Without the CPU component there is nothing to emit with, and the tool says so.
  bool has_emitter(const ProcessResult& r) {
    if (r.err.find("the emitter of backend `cpu` is not here, because") == std::string::npos) return true;
    expect_exit(r, 2);
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
  const ProcessResult r = vyre({"emit", file("saxpy.vyre", saxpy), "--target", "llvm", "--arch", "x86-64-v3"});
  if (!has_emitter(r)) GTEST_SKIP() << "this build has no CPU component";
  expect_exit(r, 0);
  EXPECT_NE(r.out.find("define"), std::string::npos);
  EXPECT_NE(r.out.find("@vyre_kernel"), std::string::npos);
  EXPECT_NE(r.out.find("target triple = \"x86_64-unknown-linux-gnu\""), std::string::npos);
  const ProcessResult raw = vyre({"emit", path("saxpy.vyre"), "--target", "llvm", "--arch", "x86-64-v3", "--unoptimized"});
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

TEST_F(EmitCommandLine, what_it_cannot_do) {
  const std::string kernel = file("saxpy.vyre", saxpy);
  const ProcessResult spirv = vyre({"emit", kernel, "--target", "spirv"});
  expect_code(spirv, "V0702");
  EXPECT_NE(spirv.err.find("this emitter is not in this build"), std::string::npos);
  expect_code(vyre({"emit", kernel, "--target", "basic"}), "V0607");
  expect_code(vyre({"emit", kernel, "--target", "asm", "--arch", "z80"}), "V0607");
  expect_code(vyre({"emit", kernel, "--target", "asm", "--subgroup-size", "3"}), "V0607");
  expect_code(vyre({"emit", kernel}), "V0604");
  expect_code(vyre({"emit", kernel, "--target", "asm", "--unoptimized"}), "V0606");
}

}  // namespace
}  // namespace vyre
