#pragma once

// The handles that a Kernel (ir/kernel.h) returns: values, variables, elements, buffers and sizes.
// They refer to their Kernel, which must outlive them.

#include <concepts>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include "diagnostics/result.h"
#include "ir/scalar.h"
#include "ir/ssa_builder.h"

namespace vyre {

class Kernel;
class Var;
class Element;

/// A call or an operator in C++, as the default of a parameter: `Here here = Here::current()`.
using Here = std::source_location;

/// A value of the kernel.
class Val {
 public:
  Val() = default;
  Type type() const;
  ValueId id() const { return id_; }
  Kernel* kernel() const { return kernel_; }

 private:
  friend class Kernel;
  friend class Var;
  friend class Element;
  friend class Buf;
  Val(Kernel* k, ValueId id) : kernel_(k), id_(id) {}
  Kernel* kernel_ = nullptr;
  ValueId id_ = none;  // none: an error was reported
};

/// A C++ number that takes its type from its context.
class Lit {
 public:
  template <HostNumber T>
  Lit(T v) {  // NOLINT: implicit by design
    if constexpr (std::is_same_v<T, bool>)
      kind_ = Kind::Bool, bits_ = v;
    else if constexpr (std::is_floating_point_v<T>)
      kind_ = Kind::Float, real_ = double(v);
    else
      kind_ = Kind::Integer, negative_ = v < T{0},
      bits_ = negative_ ? ~uint64_t(v) + 1 : uint64_t(v);
  }

 private:
  friend class Kernel;
  /// The language's default type for a number whose context has none.
  Type default_type() const {
    return kind_ == Kind::Bool ? Type::Bool : kind_ == Kind::Float ? Type::F32 : Type::U32;
  }
  enum class Kind : uint8_t { Bool, Integer, Float } kind_ = Kind::Integer;
  bool negative_ = false;
  uint64_t bits_ = 0;
  double real_ = 0;
};

/// An operand: a value, a variable (which is read), an element (which is loaded) or a C++ number,
/// with its source location. Overloaded operators cannot have extra parameters, so their operands
/// carry the line.
class Operand {
 public:
  Operand(const Val& v, Here here = Here::current()) : value_(v), here_(here) {}  // NOLINT
  Operand(const Var& v, Here here = Here::current());                             // NOLINT
  Operand(const Element& e, Here here = Here::current());                         // NOLINT
  template <HostNumber T>
  Operand(T number, Here here = Here::current())  // NOLINT
      : number_(number), is_number_(true), here_(here) {}
  const Here& here() const { return here_; }

 private:
  friend class Kernel;
  friend class Var;
  friend class Element;
  friend class Buf;
  Val value_;
  Lit number_ = 0;
  bool is_number_ = false;
  Here here_;
};

/// A mutable variable.
class Var {
 public:
  operator Val() const;  // NOLINT: reads it
  const Var& operator=(const Operand& v) const;
  Var(const Var&) = default;
  /// Not for variables, so that `a = b` is the assignment above, which knows its line.
  void operator=(const Var&) && = delete;

 private:
  friend class Kernel;
  Var(Kernel* k, VarId id, Type t) : kernel_(k), id_(id), type_(t) {}
  Kernel* kernel_;
  VarId id_;
  Type type_;
};

/// b[i]: read where a value is needed, written by assignment.
class Element {
 public:
  operator Val() const;  // NOLINT: loads it
  const Element& operator=(const Operand& v) const;
  const Element& operator=(const Element& e) const;  // on the line of the last index
  Element(const Element&) = default;

 private:
  friend class Kernel;
  friend class Operand;
  friend class Buf;
  Element(Kernel* k, BufferId buffer, ValueId index) : kernel_(k), buffer_(buffer), index_(index) {}
  Kernel* kernel_;
  BufferId buffer_;
  ValueId index_;
};

/// A buffer, array or table.
class Buf {
 public:
  Element operator[](const Operand& i) const;
  Val len(Here here = Here::current()) const;
  Val len64(Here here = Here::current()) const;

 private:
  friend class Kernel;
  Buf(Kernel* k, BufferId id) : kernel_(k), id_(id) {}
  Kernel* kernel_;
  BufferId id_;
};

/// A size on the host: lengths, constants and + - * / % over them.
class Size {
 public:
  Size(uint64_t v) : value_(v) {}  // NOLINT: implicit by design
  friend Size operator+(Size a, Size b) { return combine(FormulaOp::Add, a, b); }
  friend Size operator-(Size a, Size b) { return combine(FormulaOp::Sub, a, b); }
  friend Size operator*(Size a, Size b) { return combine(FormulaOp::Mul, a, b); }
  friend Size operator/(Size a, Size b) { return combine(FormulaOp::Div, a, b); }
  friend Size operator%(Size a, Size b) { return combine(FormulaOp::Rem, a, b); }
  friend Size ceil_div(Size a, Size b) { return combine(FormulaOp::CeilDiv, a, b); }
  friend Size min(Size a, Size b) { return combine(FormulaOp::Min, a, b); }
  friend Size max(Size a, Size b) { return combine(FormulaOp::Max, a, b); }

 private:
  friend class Kernel;
  static Size combine(FormulaOp op, Size a, Size b);
  FormulaId in(FormulaPool& pool) const;
  uint64_t value_ = 0;
  FormulaPool* pool_ = nullptr;
  FormulaId id_ = no_formula;
  bool is_mixed_ = false;  // of two kernels
};

}  // namespace vyre
