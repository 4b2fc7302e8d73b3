// Listings: each instruction has its source line, and listing does not change the code.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "codegen/llvm/llvm_emit.h"
#include "tests/runtime/driver_util.h"

namespace vyre::driver {
namespace {

const char* const tiles =
    "fn twice(v: f32) -> f32 {\n"                                                               // 1
    "  return v + v\n"                                                                          // 2
    "}\n"                                                                                       // 3
    "kernel k(x: in f32[], y: inout f32[], z: out u32[len(y)]) workgroup(64) grid(len(y)) {\n"  // 4
    "  shared t: f32[64]\n"                                                                     // 5
    "  let i = global_id.x\n"                                                                   // 6
    "  t[local_id.x] = twice(x[i])\n"                                                           // 7
    "  barrier workgroup\n"                                                                     // 8
    "  var s = 0.0\n"                                                                           // 9
    "  for j in 0..local_id.x {\n"    // 10
    "    s = s * t[j]\n"              // 11
    "  }\n"                           // 12
    "  if y[i] > s {\n"               // 13
    "    atomic_add(z[u32(s)], 1)\n"  // 14
    "  }\n"                           // 15
    "  y[i] = s / 3.0\n"              // 16
    "}\n";

/// Assembly without what listings leave out or add, as words.
std::vector<std::string> instructions(std::string_view text) {
  std::vector<std::string> found;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.empty() || (line[0] != '\t' && line[0] != ' ')) continue;
    std::string words;
    for (const char c : line)
      if (c != '\t' && c != ' ') words += c;
    if (!words.empty() && words[0] != '.') found.push_back(words);
  }
  return found;
}

std::string joined(const Listing& listing) {
  std::string text;
  for (const ListingLine& l : listing.lines) text += l.text + "\n";
  return text;
}

std::set<uint32_t> lines_with(const Listing& listing, std::string_view piece) {
  std::set<uint32_t> lines;
  for (const ListingLine& l : listing.lines)
    if (l.text.find(piece) != std::string::npos) lines.insert(l.line);
  return lines;
}

TEST(Listing, instructions_know_their_source_line) {
  const Program p = kernel(tiles);
  const Result<Listing> listing = emit_llvm::list_code(p, {.isa = emit_llvm::Isa::X86_64_V3});
  ASSERT_TRUE(listing);
  EXPECT_EQ(listing->language, "x86-64-v3 assembly");
  EXPECT_TRUE(lines_with(*listing, "vaddps").contains(2))
      << "of the function, where it was written";
  EXPECT_EQ(lines_with(*listing, "vmul"), std::set<uint32_t>{11});
  EXPECT_EQ(lines_with(*listing, "vdivps"), std::set<uint32_t>{16});
  size_t placed = 0, all = 0;
  for (const ListingLine& l : listing->lines) {
    if (l.text[0] != ' ' || l.text[l.text.find_first_not_of(' ')] == '.') continue;
    ++all;
    placed += l.line != 0;
    EXPECT_LE(l.line, 17u);
  }
  EXPECT_GT(placed * 2, all) << "more than half of the instructions are of a line";
  EXPECT_EQ(joined(*listing).find(".loc"), std::string::npos);
  EXPECT_EQ(joined(*listing).find(".debug"), std::string::npos);
}

TEST(Listing, is_the_code_that_runs) {
  const Program p = kernel(tiles);
  for (const emit_llvm::Isa isa : {emit_llvm::Isa::X86_64_V2, emit_llvm::Isa::X86_64_V3,
                                   emit_llvm::Isa::X86_64_V4, emit_llvm::Isa::AArch64}) {
    emit_llvm::EmitOptions options;
    options.isa = isa;
    Result<emit_llvm::Module> module = emit_llvm::emit(p, options);
    ASSERT_TRUE(module);
    emit_llvm::optimize(*module);
    const Result<std::string> assembly = emit_llvm::to_assembly(*module);
    const Result<Listing> listing = emit_llvm::list_code(p, options);
    ASSERT_TRUE(assembly && listing);
    std::vector<std::string> listed = instructions(joined(*listing)),
                             runs = instructions(*assembly);
    if (isa == emit_llvm::Isa::AArch64) {
      // There LLVM keeps the saving of registers together if there is debug information.
      std::sort(listed.begin(), listed.end());
      std::sort(runs.begin(), runs.end());
    }
    EXPECT_EQ(listed, runs) << name(isa);
    // Code has no debug information unless it is requested.
    EXPECT_EQ(assembly->find(".loc"), std::string::npos);
  }
}

TEST(Listing, of_a_device_is_of_its_segments) {
  const Program p = kernel(
      "kernel k(y: inout u32[64]) workgroup(64) grid(64) {\n  let i = global_id.x\n  y[i] = i\n"
      "  barrier grid\n  y[i] = y[63 - i]\n}\n");
  Device cpu = *Device::open("cpu", {.use_cache = false});
  const Executable e = *cpu.compile(p);
  const Result<ListedCode> code = cpu.list_code(e);
  ASSERT_TRUE(code);
  EXPECT_FALSE(code->is_program);
  EXPECT_EQ(code->segments.size(), e.segments());
  EXPECT_GT(e.segments(), 1u);

  Device interp = *Device::open("interp");
  const Result<ListedCode> program = interp.list_code(*interp.compile(p));
  ASSERT_TRUE(program);
  EXPECT_TRUE(program->is_program);
  ASSERT_EQ(program->segments.size(), 1u);
  EXPECT_EQ(lines_with(program->segments[0], "barrier"), std::set<uint32_t>{4});
}

}  // namespace
}  // namespace vyre::driver
