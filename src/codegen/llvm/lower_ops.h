#pragma once

// Pure ops, subgroup ops and the elements of memory in LLVM IR, exactly as specified, and in the
// cheapest known form for the target. (LLVM's own vector forms of division and saturating
// conversion are scalarized, so most corner cases use compare-and-select here.)
//
// A value of type T is a scalar (i1, i8 … i64, float, double) or a vector of lanes of it. All
// operands of a call have the same shape; the caller splats. A bool is an i1 or <S x i1>. NaN bits
// are guaranteed only where the specification makes them visible.

#include <llvm/IR/IRBuilder.h>

#include "codegen/llvm/llvm_emit.h"
#include "ir/ops.h"
#include "ir/types.h"

namespace vyre::emit_llvm {

class OpLowering {
 public:
  OpLowering(llvm::IRBuilder<>& builder, Isa isa) : b_(builder), isa_(isa) {}

  /// The LLVM type of a value: scalar, or a vector if lanes > 0.
  llvm::Type* value_type(Type type, unsigned lanes = 0) const;
  llvm::Value* constant(Type type, uint64_t bits) const;

  /// Any op whose effect is Pure and that has operands. `type`: Op::type. `source`: the type of
  /// operand 0 (casts, bitcasts). Not for exp … atan2: expand_functions() replaces them before.
  llvm::Value* pure(Opcode code, Type type, Type source, llvm::ArrayRef<llvm::Value*> operands);

  /// Subgroup ops over vectors with one element a lane. `active`, <S x i1>: the lanes that take
  /// part; null: all. The result is a vector; a result that the specification calls uniform is the
  /// same in all elements.
  llvm::Value* subgroup(Opcode code, Type type, llvm::ArrayRef<llvm::Value*> operands,
                        llvm::Value* active);

  /// Elements of buffers: bool is i8, f16 and bf16 are i16, everything else as it is.
  llvm::Type* element_type(Type element, unsigned lanes = 0) const;
  llvm::Value* from_element(Type element, llvm::Value* raw);
  /// `visible`: a NaN gets its canonical bits (stores to `out` and `inout`).
  llvm::Value* to_element(Type element, llvm::Value* value, bool visible);

 private:
  // lower_ops_int.cc, lower_ops_divide.cc
  llvm::Value* integer(Opcode code, Type type, llvm::ArrayRef<llvm::Value*> operands);
  llvm::Value* mulhi(bool is_signed, llvm::Value* a, llvm::Value* b);
  llvm::Value* count_zeros(Opcode code, llvm::Value* a);
  llvm::Value* bit_field(Opcode code, Type type, llvm::ArrayRef<llvm::Value*> operands);
  llvm::Value* divide(Opcode code, Type type, llvm::Value* a, llvm::Value* b);
  llvm::Value* divide_by_constant(Opcode code, Type type, llvm::Value* a,
                                  const llvm::APInt& divisor);
  llvm::Value* divide_natively(Opcode code, Type type, llvm::Value* a, llvm::Value* b);
  llvm::Value* quotient_by_floats(Type type, llvm::Value* a, llvm::Value* b, bool for_rest);

  // lower_ops_float.cc
  llvm::Value* floating(Opcode code, Type type, llvm::ArrayRef<llvm::Value*> operands);
  llvm::Value* float_min_max(bool min, llvm::Value* a, llvm::Value* b);

  // lower_ops_cast.cc
  llvm::Value* cast(Type to, Type from, llvm::Value* x);
  llvm::Value* saturate(Type to, Type from, llvm::Value* x);
  llvm::Value* saturate_vector(Type to, Type from, llvm::Value* x);
  llvm::Value* canonical_nan(llvm::Value* x);

  // lower_ops_element.cc
  llvm::Value* from_f16(llvm::Value* raw);
  llvm::Value* to_f16(llvm::Value* value, bool visible);
  llvm::Value* to_bf16(llvm::Value* value);

  // lower_ops_subgroup.cc
  llvm::Value* reduce(Opcode code, Type type, llvm::Value* v);
  llvm::Value* scan_add(Type type, llvm::Value* v);
  llvm::Value* move_lanes(Opcode code, llvm::Value* v, llvm::Value* operand);
  llvm::Value* pick_lanes(llvm::Value* v, llvm::Value* index);
  llvm::Value* pick_in_registers(llvm::Value* v, llvm::Value* index);
  llvm::Value* pick_in_memory(llvm::Value* v, llvm::Value* index);
  llvm::Value* permute(llvm::Value* v, llvm::Value* index);

  // lower_ops.cc
  bool x86() const { return isa_ != Isa::AArch64; }
  /// `type` with the lanes of `like`.
  llvm::Type* shaped(llvm::Type* type, const llvm::Value* like) const;
  llvm::Constant* splat(const llvm::Value* like, uint64_t bits) const;  // integers like `like`
  llvm::Constant* splat_float(const llvm::Value* like, double number) const;  // floats like `like`
  llvm::Value* bits_of(llvm::Value* x);  // of a float, as an integer
  llvm::Value* call(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> operands);
  /// (a < b ? a : b), which returns b if one is NaN or both are zeros: one instruction on x86.
  llvm::Value* min_or_second(llvm::Value* a, llvm::Value* b);
  llvm::Value* max_or_second(llvm::Value* a, llvm::Value* b);
  /// Truncating conversion of a vector by the x86 instruction: a number that does not fit gives the
  /// top bit (signed) or all ones (unsigned, which needs AVX-512).
  llvm::Value* convert_x86(llvm::Value* x, unsigned bits, bool is_signed);
  /// Lanes first … first+count-1 of a vector; those past its end are unspecified.
  llvm::Value* slice(llvm::Value* vector, unsigned first, unsigned count);
  llvm::Value* concat(llvm::ArrayRef<llvm::Value*> parts);
  /// Applies fn to each lane, for ops without a vector form.
  llvm::Value* each_lane(llvm::ArrayRef<llvm::Value*> operands,
                         llvm::function_ref<llvm::Value*(llvm::ArrayRef<llvm::Value*>)> fn);

  llvm::IRBuilder<>& b_;
  Isa isa_;
};

}  // namespace vyre::emit_llvm
