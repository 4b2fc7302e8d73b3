// Indices that are clamped, wrapped, strided or reversed: the bytes of the interpreter at sizes
// around the subgroup, with buffers that end or begin at a page that cannot be read.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "codegen/llvm/llvm_abi.h"
#include "codegen/llvm/llvm_emit.h"
#include "codegen/llvm/llvm_lower.h"
#include "ir/launch.h"
#include "tests/codegen/llvm/jit_util.h"
#include "tests/runtime/driver_util.h"

namespace vyre::driver {
namespace {

using emit_llvm::Isa;

constexpr uint32_t invocations = 320;

// Expressions of `i`, the invocation, and `w`, a scalar: one load and one store for each.
constexpr const char* indices[] = {
    "max(i, 1) - 1",
    "max(i, w) - w",
    "min(i + 1, len(x) - 1)",
    "min(i, 4294967295 - i)",
    "clamp(i32(i) - 2, 0, i32(len(x)) - 1)",
    "clamp(i, w, 200)",
    "(i + 1) % len(x)",
    "(i + w) % len(x)",
    "(i + 4294967200) % w",
    "(i32(i) - 40) % 300",
    "(i32(i) - 40) % i32(w)",
    "i / w * w + max(i % w, 1) - 1",
    "i / w",
    "i % 100",
    "i & 127",
    "i >> 7",
    "select(i == 0, len(x) - 1, i - 1)",
    "select(i >= w, i - w, i)",
    "select(i < w, i + 3, i + 9)",
    "max(u64(i), 5) - 5",
    "u64(max(i32(i) - 70, -3))",
    "i64(i32(i) - 70) + 3",
    "u8(i) % 200",
    "u16(i * 300)",
    "i * 2",
    "i * 2 + 1",
    "i * 3",
    "i * 4 + 3",
    "i * 3 - 5",
    "u16(i) * 3 + 65000",
    "u8(i) * 3",
    "(i << 1) + w",
    "len(x) - 1 - i",
    "300 - i * 2",
    "(max(i, 1) - 1) * 3 + 2",
    "(i + 1) % w * 2",
    "100 - max(i, w)",
    "min(max(i, w) - 1, len(x) - 1)",
};

/// Bytes between two pages that cannot be accessed, at one end of the room.
class GuardedBytes {
 public:
  GuardedBytes(const std::vector<std::byte>& data, bool at_end) {
    room_ = (data.size() + page - 1) / page * page;
    start_ = static_cast<std::byte*>(
        mmap(nullptr, room_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(static_cast<void*>(start_), MAP_FAILED);
    if (room_) EXPECT_EQ(mprotect(start_ + page, room_, PROT_READ | PROT_WRITE), 0);
    at_ = start_ + page + (at_end ? room_ - data.size() : 0);
    std::copy(data.begin(), data.end(), at_);
  }
  ~GuardedBytes() { munmap(start_, room_ + 2 * page); }
  GuardedBytes(const GuardedBytes&) = delete;
  std::byte* at() const { return at_; }

 private:
  static constexpr size_t page = 4096;
  size_t room_ = 0;
  std::byte* start_ = nullptr;
  std::byte* at_ = nullptr;
};

/// A kernel that is compiled once and launched with many sizes.
class Compiled {
 public:
  Compiled(Program program, Isa isa, uint32_t lanes) : program_(std::move(program)) {
    emit_llvm::EmitOptions options;
    options.isa = isa;
    options.subgroup_size = lanes;
    auto module = emit_llvm::emit(program_, options);
    EXPECT_TRUE(module);
    emit_llvm::optimize(*module);
    info_ = module->info;
    object_ = std::make_unique<cpu_test::LoadedObject>(*emit_llvm::to_object(*module));
  }

  /// The last buffer's bytes.
  std::vector<std::byte> run(const LaunchInputs& inputs, bool at_end) const {
    const auto shape = resolve_launch(program_, inputs);
    EXPECT_TRUE(shape);
    const size_t n = program_.buffers.size();
    std::vector<std::unique_ptr<GuardedBytes>> memory;
    std::vector<std::byte*> buffers;
    std::vector<uint64_t> scalars(n);
    for (size_t i = 0; i < n; ++i) {
      std::vector<std::byte> data(shape->counts[i] * size_of(program_.buffers[i].element));
      if (inputs.data[i]) data = *inputs.data[i];
      if (program_.buffers[i].role == Role::Scalar)
        std::memcpy(&scalars[i], data.data(), data.size());
      memory.push_back(std::make_unique<GuardedBytes>(data, at_end));
      buffers.push_back(data.empty() ? nullptr : memory.back()->at());
    }
    const uint32_t stop = 0;
    emit_llvm::LaunchArgs args = {buffers.data(), shape->counts.data(), scalars.data(), {}, &stop};
    for (int d = 0; d < 3; ++d) args.num_workgroups[d] = shape->num_workgroups[d];
    std::vector<std::byte> arena(info_.arena_bytes + 64);
    void* aligned = arena.data();
    size_t space = arena.size();
    std::align(64, info_.arena_bytes, aligned, space);
    const auto function =
        reinterpret_cast<emit_llvm::KernelFunction>(object_->find(emit_llvm::kernel_symbol));
    EXPECT_EQ(function(&args, 0, shape->workgroups(), static_cast<std::byte*>(aligned)), 0u);
    const std::byte* result = memory.back()->at();
    const uint64_t size = shape->counts[n - 1] * size_of(program_.buffers[n - 1].element);
    return {result, result + size};
  }

 private:
  Program program_;
  emit_llvm::KernelInfo info_;
  std::unique_ptr<cpu_test::LoadedObject> object_;
};

std::vector<Isa> host_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::X86_64_V2, Isa::X86_64_V3, Isa::X86_64_V4, Isa::AArch64})
    if (emit_llvm::host_runs(isa)) isas.push_back(isa);
  return isas;
}

/// Launches with lengths around the subgroup and scalars of all sizes. The kernel has the buffers
/// w, x and y.
void expect_interpreter_bytes(const Program& program, Isa isa, uint32_t lanes) {
  const Compiled compiled(program, isa, lanes);
  const Type element = program.buffers[1].element;
  bool at_end = false;
  for (const uint32_t length :
       {0u, 1u, lanes - 1, lanes, lanes + 1, 2 * lanes, 130u, 640u, 1000u}) {
    for (const uint32_t w : {0u, 1u, 7u, 128u, 4294967295u}) {
      std::vector<uint32_t> words(length * size_of(element) / 4 + 1);
      for (uint32_t i = 0; i < words.size(); ++i) words[i] = (i + 1) * 2654435761u & 0x3f7f7f7f;
      std::vector<std::byte> data = bytes(words);
      data.resize(length * size_of(element));
      LaunchInputs inputs;
      inputs.data = {bytes(std::vector<uint32_t>{w}), data, std::nullopt};
      inputs.lengths.resize(3);
      const auto wanted = interp::run(program, inputs, {.subgroup_size = lanes});
      ASSERT_TRUE(wanted) << render(wanted.errors(), {});
      at_end = !at_end;
      EXPECT_TRUE(compiled.run(inputs, at_end) == wanted->buffers[2])
          << "length " << length << ", w " << w << ", " << lanes << " lanes, " << name(isa);
    }
  }
}

TEST(access_patterns, loads_give_the_interpreters_bytes) {
  const auto isas = host_isas();
  constexpr const char* types[] = {"u8", "u16", "f32", "u64"};
  size_t turn = 0;
  for (const char* index : indices) {
    for (const uint32_t lanes : {8u, 16u, 32u, 64u}) {
      // Types and instruction sets take turns.
      const char* type = types[turn / 4 % 4];
      SCOPED_TRACE(fmt::format("{} at {}", type, index));
      expect_interpreter_bytes(
          kernel(
              fmt::format("kernel k(w: u32, x: in {0}[], y: out {0}[{1}]) workgroup(64) grid({1}) "
                          "{{ let i = global_id.x\n y[i] = x[{2}] }}",
                          type, invocations, index)),
          isas[turn % isas.size()], lanes);
      ++turn;
    }
    ++turn;
  }
}

TEST(access_patterns, stores_give_the_interpreters_bytes) {
  const auto isas = host_isas();
  size_t turn = 0;
  for (const char* index : indices) {
    const std::string text = index;
    // Several invocations would write one element.
    if (text.find("max") != text.npos || text.find("min") != text.npos ||
        text.find("clamp") != text.npos || text.find('%') != text.npos ||
        text.find('/') != text.npos || text.find(">>") != text.npos ||
        text.find('&') != text.npos || text.find("u8") != text.npos ||
        text.find("select") != text.npos)
      continue;
    const uint32_t lanes = 8u << turn % 4;
    SCOPED_TRACE(text);
    expect_interpreter_bytes(
        kernel(
            fmt::format("kernel k(w: u32, x: in u8[], y: out u8[len(x)]) workgroup(64) grid({}) "
                        "{{ let i = global_id.x\n if w != 7 || i % 3 != 0 {{ y[{}] = u8(i) }} }}",
                        invocations, index)),
        isas[turn++ % isas.size()], lanes);
  }
  for (const char* index : {"(i + 1) % 320", "(i + w) % 320", "select(i == 0, 319, i - 1)"}) {
    SCOPED_TRACE(index);
    for (const Isa isa : isas)
      expect_interpreter_bytes(
          kernel(fmt::format("kernel k(w: u32, x: in u8[], y: out u16[len(x)]) workgroup(64) "
                             "grid({}) {{ let i = global_id.x\n if w != 7 || i % 3 != 0 {{ y[{}] = "
                             "u16(i) }} }}",
                             invocations, index)),
          isa, 32);
  }
}

TEST(access_patterns, lanes_follow_the_accesses_of_narrow_kernels) {
  const auto lanes = [](const std::string& body) {
    emit_llvm::EmitOptions options;
    options.isa = Isa::X86_64_V4;
    const Program p = kernel(
        "kernel k(w: u32, p: in u32[], x: in u8[], y: out u8[len(x)]) workgroup(256) grid(len(x)) "
        "{ "
        "let i = global_id.x\n" +
        body + " }");
    return emit_llvm::lower(p, options).lanes;
  };
  EXPECT_EQ(lanes("y[i] = x[i]"), 64u);
  EXPECT_EQ(lanes("y[i] = x[max(i, 1) - 1] + x[(i + 1) % len(x)]"), 64u);
  EXPECT_EQ(lanes("var s: u8 = 0\n for k in 0..w { s += x[i * w + k] }\n y[i] = s"), 32u);
  EXPECT_EQ(
      lanes("let q = p[i]\n var s: u32 = 0\n while x[q + s] == x[i + s] { s += 1 }\n y[i] = u8(s)"),
      32u);
  EXPECT_EQ(lanes("y[i] = x[i] + u8(lane_id)"), 16u);  // the size that the device reports
}

}  // namespace
}  // namespace vyre::driver
