#include "ir/kernel_handles.h"

#include <fmt/format.h>

#include "ir/kernel.h"

namespace vyre {

// ---- Handles.

Type Val::type() const {
  return id_ == none || !kernel_ ? Type::Void : kernel_->builder_.type(id_);
}

Operand::Operand(const Var& v, Here here) : value_(v), here_(here) {}
Operand::Operand(const Element& e, Here here) : here_(here) {
  e.kernel_->at(here);
  value_ = e;
}

Var::operator Val() const { return {kernel_, kernel_->builder_.get(id_)}; }
const Var& Var::operator=(const Operand& operand) const {
  const Val v = kernel_->value_of(operand, type_);
  if (!kernel_->is_usable(v)) return *this;
  if (v.type() != type_)
    kernel_->report(Code::TypeMismatch,
                    fmt::format("a variable of {} is assigned a {}", name(type_), name(v.type())),
                    "convert it with cast()");
  else
    kernel_->builder_.set(id_, v.id_);
  return *this;
}

Element::operator Val() const {
  if (index_ == none) return {kernel_, none};
  MemoryRef ref;
  ref.buffer = buffer_;
  SsaBuilder& b = kernel_->builder_;
  return {kernel_,
          b.op(Opcode::Load, value_type(b.program.buffers[buffer_].element), {index_}, ref.pack())};
}
const Element& Element::operator=(const Operand& v) const {
  kernel_->store(
      buffer_, index_,
      kernel_->value_of(v, value_type(kernel_->builder_.program.buffers[buffer_].element)));
  return *this;
}
const Element& Element::operator=(const Element& e) const {
  kernel_->store(buffer_, index_, Val(e));
  return *this;
}

Element Buf::operator[](const Operand& operand) const {
  const Val i = kernel_->value_of(operand, Type::U32);
  if (!kernel_->is_usable(i)) return {kernel_, id_, none};
  if (!is_integer(i.type()))
    kernel_->report(Code::IndexNotInteger,
                    fmt::format("an index is an integer, this is {}", name(i.type())),
                    "convert it with cast()");
  return {kernel_, id_, is_integer(i.type()) ? i.id() : none};
}
Val Buf::len(Here here) const {
  kernel_->at(here);
  return {kernel_, kernel_->builder_.op(Opcode::Len, Type::Void, {}, id_.value())};
}
Val Buf::len64(Here here) const {
  kernel_->at(here);
  return {kernel_, kernel_->builder_.op(Opcode::Len64, Type::Void, {}, id_.value())};
}

// ---- Sizes.

FormulaId Size::in(FormulaPool& pool) const {
  return id_ == no_formula ? pool.constant(value_) : id_;
}

Size Size::combine(FormulaOp op, Size a, Size b) {
  if (a.is_mixed_ || b.is_mixed_ || (a.pool_ && b.pool_ && a.pool_ != b.pool_)) {
    a.is_mixed_ = true;
    return a;
  }
  FormulaPool local;
  FormulaPool* pool = a.pool_ ? a.pool_ : b.pool_ ? b.pool_ : &local;
  // Named in order: the evaluation order of arguments is unspecified.
  const FormulaId second = b.in(*pool), first = a.in(*pool);
  const FormulaId f = pool->binary(op, first, second);
  Size r(0);
  if (pool == &local) {
    if (!local.is_constant(f, &r.value_)) r.value_ = 0;
    return r;
  }
  r.pool_ = pool;
  r.id_ = f;
  return r;
}

}  // namespace vyre
