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
  k.while_([&] { return stride > 0; },
           [&] {
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
  k.for_(0, k.constant(Type::U32, 3),
         [&](Val i) { k.if_(i > 1, [&] { k.break_(); }, [&] { k.continue_(); }); });
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
  EXPECT_EQ(codes, (std::vector<Code>{Code::TypeMismatch, Code::WriteToReadOnly,
                                      Code::ConditionNotBool, Code::IndexNotInteger,
                                      Code::LiteralDoesNotFit, Code::WrongOperandType,
                                      Code::BitcastWidth, Code::BreakOutsideLoop}));
}

TEST(kernel, a_mistake_has_the_line_of_its_operator_or_call) {
  Kernel k("k");
  Buf x = k.in(Type::F32, "x"), y = k.out(Type::U32, "y", 4);
  k.workgroup(4).grid(4);
  const Val i = k.global_id(), f = x[i];
  Var v = k.var(Type::U32, 1), w = k.var(Type::F32, 1.0f);
  std::vector<uint32_t> lines;
  const auto on = [&](uint32_t line) { lines.push_back(line); };
  // clang-format off
  on(__LINE__); (void)(f % f);
  on(__LINE__); (void)(f + i);
  on(__LINE__); (void)(f * 2);
  on(__LINE__); (void)(2 < f);
  on(__LINE__); (void)(-i);
  on(__LINE__); (void)(x[0] & x[1]);
  on(__LINE__); (void)max(f, i);
  on(__LINE__); (void)select(f, f, f);
  on(__LINE__); (void)sqrt(i);
  on(__LINE__); y[f] = 1;
  on(__LINE__); y[i] = 1.5;
  on(__LINE__); y[i] = f;
  on(__LINE__); y[i] = x[i];
  on(__LINE__); x[i] = f;
  on(__LINE__); y[i] = w;
  on(__LINE__); v = f;
  on(__LINE__); v = w;
  on(__LINE__); v = -1;
  on(__LINE__); v += f;
  on(__LINE__); v <<= w;
  on(__LINE__); (void)k.cast(Type::F16, f);
  on(__LINE__); (void)k.bitcast(Type::U64, f);
  on(__LINE__); (void)k.apply(Opcode::PopCount, {f});
  on(__LINE__); (void)k.global_id(3);
  on(__LINE__); k.if_(i, [] {});
  on(__LINE__); k.for_(0, f, [](Val) {});
  on(__LINE__); (void)k.atomic_add(y[0], f);
  on(__LINE__ + 2); (void)(i + i +
      i +
      f + i);
  // clang-format on
  const Result<Program> p = k.finish();
  ASSERT_FALSE(p);
  std::vector<uint32_t> found;
  for (const Diagnostic& d : p.errors()) found.push_back(d.place.line);
  EXPECT_EQ(found, lines) << render(p.errors(), {});
}

TEST(kernel, an_operation_has_the_line_of_its_operator) {
  Kernel k("k");
  Buf x = k.in(Type::U32, "x"), y = k.out(Type::U32, "y", 4);
  k.workgroup(4).grid(4);
  const Val i = k.global_id();
  const uint32_t first = __LINE__;
  Val a = x[i];
  Val b = a * 3;
  b = b / a;
  y[i] = b;
  const Result<Program> p = k.finish();
  ASSERT_TRUE(p);
  const auto line_of = [&](Opcode code) {
    uint32_t line = 0;
    walk(*p, [&](OpId id) {
      if (p->op(id).code == code) line = p->place(p->op(id).loc).line;
    });
    return line;
  };
  EXPECT_EQ(line_of(Opcode::Load), first + 1);
  EXPECT_EQ(line_of(Opcode::Mul), first + 2);
  EXPECT_EQ(line_of(Opcode::Div), first + 3);
  EXPECT_EQ(line_of(Opcode::Store), first + 4);
}

TEST(kernel, numbers_stand_on_either_side_of_operators_and_functions) {
  Kernel k("k");
  Buf x = k.in(Type::F32, "x"), y = k.out(Type::F32, "y", k.len(x));
  k.workgroup(4).grid(k.len(x));
  Val i = k.global_id();
  Var least = k.var(Type::F32, 1.0f);
  y[i] = max(x[i], 0.0f);
  y[i] = min(2.0f, least);
  y[i] = fma(x[i], 2.0f, 1.0f);
  y[i] = select(i < 3, 1.0f, x[i]);
  y[i] = 1.0f - x[i] * 2.0f;
  y[i] /= 2.0f;
  k.for_(0, 4, [&](Val j) { y[j] = k.apply(Opcode::Max, {0.5f, x[j]}); });
  const Result<Program> p = k.finish();
  ASSERT_TRUE(p) << render(p.errors(), {});
  EXPECT_FALSE(has_errors(check(*p))) << render(check(*p), {});
  EXPECT_EQ(print(*p), print(parse_one(R"(
kernel k(x: in f32[], y: out f32[len(x)]) workgroup(4) grid(len(x)) {
  let i = global_id.x
  var least: f32 = 1.0
  y[i] = max(x[i], 0.0)
  y[i] = min(2.0, least)
  y[i] = fma(x[i], 2.0, 1.0)
  y[i] = select(i < 3, 1.0, x[i])
  y[i] = 1.0 - x[i] * 2.0
  y[i] = y[i] / 2.0
  for j in 0..4 { y[j] = max(0.5, x[j]) }
})")));
}

TEST(kernel, types_of_the_host_are_types_of_the_language) {
  const std::vector<int16_t> steps = {1, -2, 3};
  Kernel k("k");
  Val a = k.scalar<double>("a");
  Buf x = k.in<float>("x");
  k.uniform<uint8_t>("u", 4);
  k.inout<int64_t>("y", k.len(x));
  k.out<bool>("z", 2);
  k.scratch<uint16_t>("t", k.len(x) * 2);
  k.workgroup(4).grid(k.len(x));
  k.shared<uint32_t>(4);
  k.array<int32_t>(2);
  k.table<int16_t>(steps);
  Var n = k.var(1.5);
  n = a;
  const Result<Program> p = k.finish();
  ASSERT_TRUE(p) << render(p.errors(), {});
  EXPECT_FALSE(has_errors(check(*p))) << render(check(*p), {});
  std::vector<Type> types;
  for (const Buffer& b : p->buffers) types.push_back(b.element);
  EXPECT_EQ(types, (std::vector<Type>{Type::F64, Type::F32, Type::U8, Type::I64, Type::Bool,
                                      Type::U16, Type::U32, Type::I32, Type::I16}));
  EXPECT_EQ(p->table_bytes.size(), 6u);
}

TEST(kernel, sizes_of_another_kernel_are_mistakes) {
  Kernel other("other");
  Buf theirs = other.in<float>("theirs");
  const Size far = other.len(theirs);
  Kernel k("k");
  Buf x = k.in<float>("x");
  const Size mixed = ceil_div(far + 1, k.len(x));
  const uint32_t first = __LINE__;
  k.out<float>("y", far);
  k.out<float>("z", mixed + k.len(x));
  k.workgroup(4).grid(k.len(x), 4 * far);
  const Result<Program> p = k.finish();
  ASSERT_FALSE(p);
  ASSERT_EQ(p.errors().size(), 3u) << render(p.errors(), {});
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(p.errors()[i].code, Code::ValueNotVisible);
    EXPECT_EQ(p.errors()[i].place.line, first + 1 + i);
  }
}

TEST(kernel, values_of_no_kernel_or_another_one_are_mistakes) {
  Kernel other("other");
  Buf theirs = other.in(Type::U32, "theirs");
  const Val far = other.global_id(), unset;
  Kernel k("k");
  Buf y = k.inout(Type::U32, "y");
  k.workgroup(4).grid(k.len(theirs));
  const Val i = k.global_id();
  y[far] = 1;
  y[i] = far;
  y[i] = unset;
  y[i] = i + far;
  y[i] = i + unset;
  y[i] = unset + unset;
  k.if_(far, [] {});
  k.for_(far, i, [](Val) {});
  (void)k.atomic_add(theirs[far], 1);
  (void)k.cast(Type::F32, far);
  Var v = k.var(far);
  v = far;
  const Result<Program> p = k.finish();
  ASSERT_FALSE(p);
  EXPECT_EQ(p.errors().size(), 13u) << render(p.errors(), {});
  for (const Diagnostic& d : p.errors()) EXPECT_EQ(d.code, Code::ValueNotVisible) << d.message;
}

}  // namespace
}  // namespace vyre
