// labels: threads
// Code for `vyre emit` with limits, from the compiler process.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/cpu/compile_message.h"
#include "runtime/cpu/isolated_compile.h"
#include "tests/runtime/driver_util.h"
#include "tests/support/instrumented.h"

namespace vyre::driver {
namespace {

using Form = CpuEmitRequest::Form;

const char* const small_text =
    "kernel small(x: in u32[], y: inout u32[len(x)]) workgroup(64) grid(len(x)) {\n"
    "  y[global_id.x] += x[global_id.x] * 3\n}\n";

/// Takes LLVM seconds, and hundreds of megabytes.
std::string endless_text() {
  std::string body;
  for (int k = 0; k < 6000; ++k)
    body += fmt::format("  if x[i+{0}] == {0} {{ y[i] += x[i*{0}] }}\n", k);
  return "kernel endless(x: in u32[], y: inout u32[len(x)]) workgroup(64) grid(len(x)) {\n"
         "  let i = global_id.x\n" +
         body + "}\n";
}

EmitRequest request_of(Form form, const Program& program, const char* arch = "x86-64-v3") {
  CpuEmitRequest request;
  request.form = form;
  request.arch = arch;
  request.symbol = form == Form::Object ? "a_symbol" : "";
  return *understand(request, program);
}

TEST(IsolatedEmit, gives_the_code_of_emitting_in_the_process) {
  const Program small = kernel(small_text);
  for (const Form form : {Form::LlvmIr, Form::Assembly, Form::Object})
    for (const char* arch : {"x86-64-v2", "aarch64"})
      for (const bool optimize : {true, false}) {
        EmitRequest request = request_of(form, small, arch);
        request.optimize = optimize;
        const auto here = emit_here(small, request);
        const auto there = emit_isolated(small, request, CompileLimits(100, 1 << 20));
        ASSERT_TRUE(here && there);
        EXPECT_EQ(*there, *here) << arch << ", form " << int(form);
        EXPECT_FALSE(there->empty());
      }
}

TEST(IsolatedEmit, gives_the_listing_of_the_process) {
  const Program small = kernel(small_text);
  const EmitRequest request = request_of(Form::Assembly, small);
  const auto here = emit_llvm::list_code(small, request.options);
  const auto there = list_isolated(small, request, CompileLimits(100));
  ASSERT_TRUE(here && there);
  EXPECT_EQ(there->language, here->language);
  EXPECT_EQ(there->files, here->files);
  ASSERT_EQ(there->lines.size(), here->lines.size());
  for (size_t i = 0; i < here->lines.size(); ++i) {
    EXPECT_EQ(there->lines[i].text, here->lines[i].text);
    EXPECT_EQ(there->lines[i].line, here->lines[i].line);
    EXPECT_EQ(there->lines[i].column, here->lines[i].column);
  }
}

TEST(IsolatedEmit, ends_at_its_limits) {
  const Program endless = kernel(endless_text());
  const EmitRequest request = request_of(Form::Assembly, endless);
  EXPECT_EQ(code_of(emit_isolated(endless, request, CompileLimits(0.2))), Code::TimeLimitExceeded);
  EXPECT_EQ(code_of(list_isolated(endless, request, CompileLimits(0.2))), Code::TimeLimitExceeded);
  if (is_instrumented) return;
  EXPECT_EQ(code_of(emit_isolated(endless, request, CompileLimits(100, 1))),
            Code::MemoryLimitExceeded);
}

TEST(IsolatedEmit, reports_errors_of_the_emitter) {
  const Program small = kernel(small_text);
  EmitRequest request = request_of(Form::LlvmIr, small);
  request.options.subgroup_size = 3;
  EXPECT_EQ(code_of(emit_isolated(small, request, CompileLimits(100))), Code::BadSubgroupSize);
}

TEST(CompileMessage, listings_come_back_and_parts_of_them_are_refused) {
  Listing listing;
  listing.language = "assembly";
  listing.files = {"a.vyre", ""};
  listing.lines = {{"add", 1, 2, 3}, {"", 0, 0, 0}};
  const std::vector<std::byte> bytes = encode_listing(listing);
  const auto answer = decode_answer(bytes);
  ASSERT_TRUE(answer);
  const auto again = decode_listing(answer->result);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->files, listing.files);
  ASSERT_EQ(again->lines.size(), 2u);
  EXPECT_EQ(again->lines[0].text, "add");
  EXPECT_EQ(again->lines[0].file, 1u);
  EXPECT_EQ(again->lines[0].column, 3u);
  for (size_t n = 1; n < 16; ++n)
    EXPECT_FALSE(decode_listing(answer->result.first(answer->result.size() - n))) << n;
}

}  // namespace
}  // namespace vyre::driver
