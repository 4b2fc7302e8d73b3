// Kernels written in C++ are the kernels that the language makes.

#include "ir/kernel.h"

#include <gtest/gtest.h>

#include "check/check.h"
#include "text/parse.h"
#include "text/print.h"
#include "wire/fingerprint.h"

namespace vyre {
namespace {

Program parse_one(const std::string& source) {
  ParseOutcome r = parse(source);
  EXPECT_TRUE(r.module) << render(r.diagnostics, r.sources);
  return r.module ? std::move(r.module->kernels[0]) : Program{};
}

void expect_same(Result<Program> built, const std::string& source) {
  ASSERT_TRUE(built) << render(built.errors(), {});
  EXPECT_FALSE(has_errors(check(*built))) << render(check(*built), {});
  EXPECT_EQ(print(*built), print(parse_one(source)));
  EXPECT_EQ(fingerprint(*built), fingerprint(parse_one(source)));
}

TEST(kernel, saxpy_reads_like_code) {
  Kernel k("saxpy");
  Val a = k.scalar(Type::F32, "a");
  Buf x = k.in(Type::F32, "x"), y = k.inout(Type::F32, "y");
  k.workgroup(256).grid(k.len(y));
  Val i = k.global_id();
  Val xi = x[i], yi = y[i];  // named: C++ leaves the order of a call's arguments open
  y[i] = fma(a, xi, yi);
  expect_same(k.finish(), R"(
kernel saxpy(a: f32, x: in f32[], y: inout f32[]) workgroup(256) grid(len(y)) {
  %0 = scalar a : f32
  %1 = global_id.x
  %2 = load x[%1] : f32
  %3 = load y[%1] : f32
  %4 = fma %0, %2, %3 : f32
  store y[%1], %4
})");
}

TEST(kernel, block_sums_with_variables_and_loops) {
  Kernel k("block_sums");
  Buf x = k.in(Type::U32, "x");
  Buf sums = k.out(Type::U32, "sums", ceil_div(k.len(x), 256));
  k.workgroup(256).grid(k.len(x));
  Buf tile = k.shared(Type::U32, 256);
  Val l = k.local_id();
  tile[l] = x[k.global_id()];
  k.barrier(Scope::Workgroup);
  Var stride = k.var(Type::U32, 128);
  k.while_([&] { return stride > 0; }, [&] {
    k.if_(l < stride, [&] { tile[l] = tile[l] + tile[l + stride]; });
    k.barrier(Scope::Workgroup);
    stride = stride >> 1;
  });
  k.if_(l == 0, [&] { sums[k.workgroup_id()] = tile[0]; });
  const Result<Program> p = k.finish();
  ASSERT_TRUE(p);
  EXPECT_FALSE(has_errors(check(*p)));
  const std::string text = print(*p);
  EXPECT_NE(text.find("while with"), std::string::npos) << text;
  EXPECT_EQ(print(parse_one(text)), text);
}

TEST(kernel, arms_of_an_if_merge_only_what_they_assign) {
  Kernel k("k");
  Buf y = k.out(Type::U32, "y", 4);
  k.workgroup(4).grid(4);
  Var a = k.var(Type::U32, 1);
  Var b = k.var(Type::U32, 2);
  k.if_(k.global_id() > 1, [&] { a = 7; }, [&] { a += 5; });
  Val i = k.global_id();
  y[i] = a + b;
  expect_same(k.finish(), R"(
kernel k(y: out u32[4]) workgroup(4) grid(4) {
  %0 = const 1 : u32
  %1 = const 2 : u32
  %2 = global_id.x
  %3 = const 1 : u32
  %4 = gt %2, %3 : u32
  %5 = if %4 : u32 {
    %6 = const 7 : u32
    yield %6
  } else {
    %7 = const 5 : u32
    %8 = add %0, %7 : u32
    yield %8
  }
  %9 = global_id.x
  %10 = add %5, %1 : u32
  store y[%9], %10
})");
}

TEST(kernel, a_loop_drops_what_it_only_reads) {
  Kernel k("k");
  Buf y = k.out(Type::U32, "y", 4);
  k.workgroup(4).grid(4);
  Var read = k.var(Type::U32, 3);
  Var sum = k.var(Type::U32, 0);
  k.for_(0, k.constant(Type::U32, 10), [&](Val i) {
    k.if_(i == 5, [&] { k.continue_(); });
    k.if_(sum > 20, [&] { k.break_(); });
    sum += Val(read) * i;
  });
  y[k.global_id()] = sum;
  const Result<Program> p = k.finish();
  ASSERT_TRUE(p);
  EXPECT_FALSE(has_errors(check(*p))) << print(*p);
  walk(*p, [&](OpId id) {
    if (p->op(id).code == Opcode::For) {
      EXPECT_EQ(p->results(id).size(), 1u) << print(*p);
    }
  });
}

TEST(kernel, nested_loops_carry_through_each_level) {
  Kernel k("k");
  Buf y = k.out(Type::U32, "y", 4);
  k.workgroup(4).grid(4);
  Var n = k.var(Type::U32, 0);
  k.for_(0, k.constant(Type::U32, 3), [&](Val) {
    k.for_(0, k.constant(Type::U32, 3), [&](Val j) {
      k.if_(j > 1, [&] { k.break_(); });
      n += 1;
    });
  });
  y[0] = n;
  const Result<Program> p = k.finish();
  ASSERT_TRUE(p);
  EXPECT_FALSE(has_errors(check(*p))) << print(*p);
}

TEST(kernel, an_if_that_never_goes_on_still_ends_its_block) {
  Kernel k("k");
  Buf y = k.out(Type::U32, "y", 4);
  k.workgroup(4).grid(4);
  k.for_(0, k.constant(Type::U32, 3), [&](Val i) { k.if_(i > 1, [&] { k.break_(); }, [&] { k.continue_(); }); });
  k.if_(k.global_id() == 2, [&] { k.return_(); }, [&] { k.trap(3); });
  y[0] = 1;
  const Result<Program> p = k.finish();
  ASSERT_TRUE(p);
  EXPECT_FALSE(has_errors(check(*p))) << print(*p);
}

TEST(kernel, mistakes_come_out_of_finish_with_their_line) {
  Kernel k("k");
  Buf x = k.in(Type::F32, "x"), y = k.out(Type::U32, "y", 4);
  k.workgroup(4).grid(4);
  y[0] = x[0];
  x[0] = 1.0f;
  k.if_(x[0], [&] { y[0] = 1; });
  y[x[0]] = 1;
  y[0] = 1.5;
  (void)(Val(x[0]) % Val(x[0]));
  (void)k.bitcast(Type::U64, x[0]);
  k.break_();
  const Result<Program> p = k.finish();
  ASSERT_FALSE(p);
  std::vector<Code> codes;
  for (const Diagnostic& d : p.errors()) {
    codes.push_back(d.code);
    EXPECT_NE(d.place.file.find("kernel_test.cc"), std::string::npos);
    EXPECT_GT(d.place.line, 0u);
    EXPECT_FALSE(d.fix.empty());
  }
  EXPECT_EQ(codes, (std::vector<Code>{Code::TypeMismatch, Code::WriteToReadOnly, Code::ConditionNotBool, Code::IndexNotInteger,
                                      Code::LiteralDoesNotFit, Code::WrongOperandType, Code::BitcastWidth, Code::BreakOutsideLoop}));
}

}  // namespace
}  // namespace vyre
