#pragma once

// Kernels written in C++, reading like code:
//
//   Kernel k("saxpy");
//   Val a = k.scalar(Type::F32, "a");
//   Buf x = k.in(Type::F32, "x"), y = k.inout(Type::F32, "y");
//   k.workgroup(256).grid(k.len(y));
//   Val i = k.global_id();
//   y[i] = fma(a, x[i], y[i]);
//   Result<Program> program = k.finish();
//
// The same rules as in the language: no implicit conversion between types, C++ literals take the
// type of the other operand. finish() returns all mistakes, each with the C++ line of the operator
// or call. The operations of the program have these lines, too.
//
// C++ does not say in which order the operands of a call or operator are evaluated. Where the order
// of loads and atomics matters, or the op numbering should not depend on the C++ compiler, name the
// values first: `Val old = k.atomic_add(h[i], 1);`.
//
// Val, Var, Buf and Element are handles into their Kernel, which must outlive them.

#include "ir/kernel_handles.h"

namespace vyre {

class Kernel {
 public:
  using Here = vyre::Here;
  explicit Kernel(std::string name, Here here = Here::current());

  // Parameters, in order. Without a size the length is given at launch.
  Val scalar(Type t, std::string name, Here here = Here::current());
  Buf in(Type t, std::string name, Here here = Here::current());
  Buf in(Type t, std::string name, Size count, Here here = Here::current());
  Buf inout(Type t, std::string name, Here here = Here::current());
  Buf inout(Type t, std::string name, Size count, Here here = Here::current());
  Buf out(Type t, std::string name, Here here = Here::current());
  Buf out(Type t, std::string name, Size count, Here here = Here::current());
  Buf scratch(Type t, std::string name, Size count, Here here = Here::current());
  Buf uniform(Type t, std::string name, Size count, Here here = Here::current());
  // The same for a C++ type: k.in<float>("x").
  template <HostNumber T>
  Val scalar(std::string name, Here here = Here::current()) {
    return scalar(type_of<T>(), std::move(name), here);
  }
  template <HostNumber T>
  Buf in(std::string name, Here here = Here::current()) {
    return in(type_of<T>(), std::move(name), here);
  }
  template <HostNumber T>
  Buf in(std::string name, Size count, Here here = Here::current()) {
    return in(type_of<T>(), std::move(name), count, here);
  }
  template <HostNumber T>
  Buf inout(std::string name, Here here = Here::current()) {
    return inout(type_of<T>(), std::move(name), here);
  }
  template <HostNumber T>
  Buf inout(std::string name, Size count, Here here = Here::current()) {
    return inout(type_of<T>(), std::move(name), count, here);
  }
  template <HostNumber T>
  Buf out(std::string name, Here here = Here::current()) {
    return out(type_of<T>(), std::move(name), here);
  }
  template <HostNumber T>
  Buf out(std::string name, Size count, Here here = Here::current()) {
    return out(type_of<T>(), std::move(name), count, here);
  }
  template <HostNumber T>
  Buf scratch(std::string name, Size count, Here here = Here::current()) {
    return scratch(type_of<T>(), std::move(name), count, here);
  }
  template <HostNumber T>
  Buf uniform(std::string name, Size count, Here here = Here::current()) {
    return uniform(type_of<T>(), std::move(name), count, here);
  }
  // Memory of the body.
  Buf shared(Type t, uint64_t count, std::string name = "tile", Here here = Here::current());
  Buf array(Type t, uint64_t count, std::string name = "w", Here here = Here::current());
  Buf table(Type t, std::span<const std::byte> bytes, std::string name = "table",
            Here here = Here::current());
  template <HostNumber T>
  Buf shared(uint64_t count, std::string name = "tile", Here here = Here::current()) {
    return shared(type_of<T>(), count, std::move(name), here);
  }
  template <HostNumber T>
  Buf array(uint64_t count, std::string name = "w", Here here = Here::current()) {
    return array(type_of<T>(), count, std::move(name), here);
  }
  /// The elements of a vector, array or span.
  template <HostNumber T>
  Buf table(std::span<const T> elements, std::string name = "table", Here here = Here::current()) {
    return table(type_of<T>(), std::as_bytes(elements), std::move(name), here);
  }

  Kernel& workgroup(uint32_t x, uint32_t y = 1, uint32_t z = 1);
  Kernel& subgroup(uint32_t size);
  Kernel& grid(Size x, Here here = Here::current());
  Kernel& grid(Size x, Size y, Here here = Here::current());
  Kernel& grid(Size x, Size y, Size z, Here here = Here::current());
  Kernel& op_id(std::string id);
  Size len(const Buf& b, Here here = Here::current());
  Size size_of_scalar(const Val& scalar, Here here = Here::current());

  // Values.
  Val constant(Type t, Lit v, Here here = Here::current());
  Val global_id(uint32_t dim = 0, Here here = Here::current()) {
    return id(Opcode::GlobalId, dim, here);
  }
  Val local_id(uint32_t dim = 0, Here here = Here::current()) {
    return id(Opcode::LocalId, dim, here);
  }
  Val workgroup_id(uint32_t dim = 0, Here here = Here::current()) {
    return id(Opcode::WorkgroupId, dim, here);
  }
  Val num_workgroups(uint32_t dim = 0, Here here = Here::current()) {
    return id(Opcode::NumWorkgroups, dim, here);
  }
  Val workgroup_size(uint32_t dim = 0, Here here = Here::current()) {
    return id(Opcode::WorkgroupSize, dim, here);
  }
  Val lane_id(Here here = Here::current()) { return id(Opcode::LaneId, 0, here); }
  Val subgroup_size(Here here = Here::current()) { return id(Opcode::SubgroupSize, 0, here); }
  /// Any pure or subgroup op of the table, by its row. Numbers take the type of the other operands.
  Val apply(Opcode op, std::initializer_list<Operand> operands, Here here = Here::current());
  Val cast(Type t, const Val& v, Here here = Here::current());
  Val bitcast(Type t, const Val& v, Here here = Here::current());
  Val load_as(Type t, const Buf& b, const Val& byte, Here here = Here::current());
  Val uniform_load(const Element& e, Scope scope = Scope::Workgroup, Here here = Here::current());
  /// Any atomic of the table. shared memory: workgroup scope.
  Val atomic(Opcode op, const Element& e, std::initializer_list<Operand> values,
             bool acq_rel = false, Here here = Here::current());
  Val atomic_add(const Element& e, const Operand& v, Here here = Here::current()) {
    return atomic(Opcode::AtomicAdd, e, {v}, false, here);
  }

  // Variables and control. Bodies are callables; conditions of while_ are, too.
  Var var(const Val& initial, Here here = Here::current());
  Var var(Type t, Lit initial, Here here = Here::current());
  template <HostNumber T>
  Var var(T initial, Here here = Here::current()) {
    return var(type_of<T>(), initial, here);
  }
  template <class Then>
  void if_(const Val& c, Then&& then, Here here = Here::current()) {
    begin_if(c, here);
    then();
    builder_.end_if();
  }
  template <class Then, class Else>
  void if_(const Val& c, Then&& then, Else&& other, Here here = Here::current()) {
    begin_if(c, here);
    then();
    builder_.begin_else();
    other();
    builder_.end_if();
  }
  template <class Body>
  void for_(const Operand& lo, const Operand& hi, Body&& body, Here here = Here::current()) {
    const Val i = begin_for(lo, hi, here);
    body(i);
    builder_.end_for();
  }
  template <class Test, class Body>
  void while_(Test&& test, Body&& body, Here here = Here::current()) {
    at(here);
    builder_.begin_while();
    begin_body(test());
    body();
    builder_.end_while();
  }
  template <class Body>
  void region(std::string_view name, Body&& body, Here here = Here::current()) {
    at(here);
    builder_.begin_region(name);
    body();
    builder_.end_region();
  }
  void break_(Here here = Here::current());
  void continue_(Here here = Here::current());
  void return_(Here here = Here::current());
  void barrier(Scope scope, Here here = Here::current());
  void trap(const Val& code, Here here = Here::current());
  void trap(uint32_t code, Here here = Here::current());
  void assert_(const Val& condition, uint32_t code, Here here = Here::current());

  /// Returns the program, or all mistakes. The kernel cannot be used afterwards.
  Result<Program> finish();

  /// For the operators below: apply() in the kernel of the first operand that has one.
  static Val apply_operator(Opcode op, std::initializer_list<Operand> operands, const Here& here);
  static Val apply_operator(Opcode op, const Operand& a) {
    return apply_operator(op, {a}, a.here());
  }
  static Val apply_operator(Opcode op, const Operand& a, const Operand& b) {
    return apply_operator(op, {a, b}, b.here());
  }

 private:
  friend class Val;
  friend class Var;
  friend class Element;
  friend class Operand;
  friend class Buf;
  void at(const Here& here);
  Val report(Code code, std::string message, std::string fix);
  Val literal(Lit v, Type t);
  /// The operand as a value, a number as a `t`; on its line.
  Val value_of(const Operand& v, Type t);
  /// False for a value that an error was reported for. A value of no kernel or of another one is an
  /// error.
  bool is_usable(const Val& v);
  bool is_own(const Kernel* k, std::string_view what);
  static Type type_of_numbers(std::string_view signature, std::initializer_list<Operand> operands);
  /// The size as a formula of this kernel.
  FormulaId formula(const Size& size, const Here& here);
  Buf add(Role role, Type t, std::string name, FormulaId count, const Here& here);
  Val id(Opcode op, uint32_t dim, const Here& here);
  void begin_if(const Val& c, const Here& here);
  Val begin_for(const Operand& lo, const Operand& hi, const Here& here);
  void begin_body(const Val& c);
  bool is_bool(const Val& c);
  void store(BufferId buffer, ValueId index, const Val& v);

  SsaBuilder builder_;
  Diagnostics errors_;
  Place place_;
};

// Operators on values; a C++ number on either side takes the other's type.
#define VYRE_BINARY(symbol, op)                                    \
  inline Val operator symbol(const Operand& a, const Operand& b) { \
    return Kernel::apply_operator(Opcode::op, a, b);               \
  }
VYRE_BINARY(+, Add)
VYRE_BINARY(-, Sub)
VYRE_BINARY(*, Mul)
VYRE_BINARY(/, Div)
VYRE_BINARY(%, Rem)
VYRE_BINARY(&, And)
VYRE_BINARY(|, Or)
VYRE_BINARY(^, Xor)
VYRE_BINARY(<<, Shl)
VYRE_BINARY(>>, Shr)
VYRE_BINARY(==, Eq)
VYRE_BINARY(!=, Ne)
VYRE_BINARY(<, Lt)
VYRE_BINARY(<=, Le)
VYRE_BINARY(>, Gt)
VYRE_BINARY(>=, Ge)
#undef VYRE_BINARY

inline Val operator-(const Operand& a) { return Kernel::apply_operator(Opcode::Neg, a); }
inline Val operator~(const Operand& a) { return Kernel::apply_operator(Opcode::Not, a); }
inline Val operator!(const Operand& a) { return Kernel::apply_operator(Opcode::Not, a); }

/// x += e and the like, for variables and elements (the index is evaluated once).
template <class T>
concept Assignable = std::same_as<T, Var> || std::same_as<T, Element>;

#define VYRE_ASSIGN(symbol, op)                                                  \
  template <Assignable Target>                                                   \
  const Target& operator symbol(const Target & t, const Operand & v) {           \
    return t = Operand(Kernel::apply_operator(Opcode::op, Val(t), v), v.here()); \
  }
VYRE_ASSIGN(+=, Add)
VYRE_ASSIGN(-=, Sub)
VYRE_ASSIGN(*=, Mul)
VYRE_ASSIGN(/=, Div)
VYRE_ASSIGN(%=, Rem)
VYRE_ASSIGN(&=, And)
VYRE_ASSIGN(|=, Or)
VYRE_ASSIGN(^=, Xor)
VYRE_ASSIGN(<<=, Shl)
VYRE_ASSIGN(>>=, Shr)
#undef VYRE_ASSIGN

// Functions, of which at least one argument is of the kernel.
template <class T>
concept KernelValue = std::same_as<T, Val> || Assignable<T>;
template <class... T>
concept Operands = ((KernelValue<T> || HostNumber<T>) && ...) && (KernelValue<T> || ...);

template <class A>
  requires Operands<A>
Val abs(const A& a, Here here = Here::current()) {
  return Kernel::apply_operator(Opcode::Abs, {{a, here}}, here);
}
template <class A>
  requires Operands<A>
Val sqrt(const A& a, Here here = Here::current()) {
  return Kernel::apply_operator(Opcode::Sqrt, {{a, here}}, here);
}
template <class A, class B>
  requires Operands<A, B>
Val min(const A& a, const B& b, Here here = Here::current()) {
  return Kernel::apply_operator(Opcode::Min, {{a, here}, {b, here}}, here);
}
template <class A, class B>
  requires Operands<A, B>
Val max(const A& a, const B& b, Here here = Here::current()) {
  return Kernel::apply_operator(Opcode::Max, {{a, here}, {b, here}}, here);
}
template <class A, class B, class C>
  requires Operands<A, B, C>
Val fma(const A& a, const B& b, const C& c, Here here = Here::current()) {
  return Kernel::apply_operator(Opcode::Fma, {{a, here}, {b, here}, {c, here}}, here);
}
template <class C, class A, class B>
  requires Operands<C, A, B>
Val select(const C& c, const A& a, const B& b, Here here = Here::current()) {
  return Kernel::apply_operator(Opcode::Select, {{c, here}, {a, here}, {b, here}}, here);
}

}  // namespace vyre
