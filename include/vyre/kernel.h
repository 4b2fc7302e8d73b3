#pragma once

// Kernels written in C++, reading like the language.
//
//   Kernel k("name")         collects a kernel; k.finish() gives the Program or all mistakes, each
//                            with the C++ line, and uses the Kernel up.
//   Parameters, in order     k.scalar(type, "a"), k.in, k.inout, k.out (length at launch, or a
//                            Size), k.scratch, k.uniform; or by C++ type: k.in<float>("x")
//   Memory of the body       k.shared, k.array (private), k.table
//   Launch                   k.workgroup(x, y, z), k.grid(sizes), k.subgroup(n); sizes are formulas
//                            over k.len(buffer): `k.grid(ceil_div(k.len(x), 4))`
//   Values (Val)             k.global_id(), k.local_id() …, b[i] reads, operators, min, max, abs,
//                            sqrt, fma, select, k.cast(type, v), k.bitcast, k.apply(Opcode, {…})
//                            for every other operation
//   Writing                  b[i] = v, k.atomic_add(b[i], v), k.atomic(Opcode, b[i], {…})
//   Variables (Var)          Var n = k.var(Type::U32, 0); n += v;
//   Control                  k.if_(c, [&] {…}, [&] {…}), k.for_(lo, hi, [&](Val i) {…}),
//                            k.while_([&] { return c; }, [&] {…}), k.break_(), k.continue_(),
//                            k.return_(), k.barrier(Scope::Workgroup), k.trap(code), k.assert_(c,
//                            code)
//
// Values are not converted between types implicitly; a C++ number takes the type of the other
// operand, also in functions: max(x[i], 0.0f). Val, Var, Buf and Element are handles into their
// Kernel and must not outlive it. A Kernel belongs to one thread at a time; several threads may
// write different kernels at once.
//
// C++ does not specify the evaluation order of the operands of an operator or call. Where the order
// of loads and atomics matters, name the values first: `Val old = k.atomic_add(h[i], 1);`.
//
// finish() finds wrong types and names; check() (vyre/check.h) has the rules for whole programs.
//
//   using namespace vyre;
//   Kernel k("saxpy");
//   Val a = k.scalar(Type::F32, "a");
//   Buf x = k.in(Type::F32, "x"), y = k.inout(Type::F32, "y");
//   k.workgroup(256).grid(k.len(y));
//   Val i = k.global_id();
//   y[i] = fma(a, x[i], y[i]);
//   Result<Program> program = k.finish();

#include "ir/kernel.h"
#include "vyre/diagnostic.h"
#include "vyre/program.h"
