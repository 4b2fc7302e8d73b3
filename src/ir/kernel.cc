#include "ir/kernel.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace vyre {

// ---- The kernel.

Kernel::Kernel(std::string name, Here here) : builder_(std::move(name)) {
  at(here);
  builder_.program.loc = builder_.loc;
}

void Kernel::at(const Here& here) {
  place_ = {here.file_name(), here.line(), here.column() ? here.column() : 1, 1};
  Program& p = builder_.program;
  builder_.loc =
      p.add_location({p.add_string(here.file_name()), place_.line, place_.column, 1, none});
}

Val Kernel::report(Code code, std::string message, std::string fix) {
  errors_.push_back(diagnose(code, place_, std::move(message)).with_fix(std::move(fix)));
  return {this, none};
}

Buf Kernel::add(Role role, Type t, std::string name, FormulaId count, const Here& here) {
  at(here);
  Buffer b;
  b.name = std::move(name);
  for (int k = 1; !is_parameter(role); ++k) {  // readable names of a body's arrays must be distinct
    bool taken = false;
    for (const Buffer& other : builder_.program.buffers) taken |= other.name == b.name;
    if (!taken) break;
    b.name = fmt::format("{}_{}", b.name.substr(0, b.name.find('_')), k);
  }
  b.role = role;
  b.element = t;
  b.count = count;
  b.loc = builder_.loc;
  builder_.program.buffers.push_back(std::move(b));
  return {this, BufferId(builder_.program.buffers.size() - 1)};
}

Val Kernel::scalar(Type t, std::string name, Here here) {
  const Buf b = add(Role::Scalar, t, std::move(name), builder_.program.formulas.constant(1), here);
  return {this, builder_.op(Opcode::Scalar, t, {}, b.id_.value())};
}
Buf Kernel::in(Type t, std::string n, Here h) {
  return add(Role::In, t, std::move(n), no_formula, h);
}
Buf Kernel::in(Type t, std::string n, Size c, Here h) {
  return add(Role::In, t, std::move(n), formula(c, h), h);
}
Buf Kernel::inout(Type t, std::string n, Here h) {
  return add(Role::InOut, t, std::move(n), no_formula, h);
}
Buf Kernel::inout(Type t, std::string n, Size c, Here h) {
  return add(Role::InOut, t, std::move(n), formula(c, h), h);
}
Buf Kernel::out(Type t, std::string n, Here h) {
  return add(Role::Out, t, std::move(n), no_formula, h);
}
Buf Kernel::out(Type t, std::string n, Size c, Here h) {
  return add(Role::Out, t, std::move(n), formula(c, h), h);
}
Buf Kernel::scratch(Type t, std::string n, Size c, Here h) {
  return add(Role::Scratch, t, std::move(n), formula(c, h), h);
}
Buf Kernel::uniform(Type t, std::string n, Size c, Here h) {
  return add(Role::Uniform, t, std::move(n), formula(c, h), h);
}
Buf Kernel::shared(Type t, uint64_t c, std::string n, Here h) {
  return add(Role::Shared, t, std::move(n), builder_.program.formulas.constant(c), h);
}
Buf Kernel::array(Type t, uint64_t c, std::string n, Here h) {
  return add(Role::Private, t, std::move(n), builder_.program.formulas.constant(c), h);
}
Buf Kernel::table(Type t, std::span<const std::byte> bytes, std::string n, Here h) {
  Program& p = builder_.program;
  const Buf b = add(Role::Table, t, std::move(n),
                    p.formulas.constant(size_of(t) ? bytes.size() / size_of(t) : 0), h);
  p.buffers.back().table_offset = p.table_bytes.size();
  p.table_bytes.insert(p.table_bytes.end(), bytes.begin(), bytes.end());
  return b;
}

Kernel& Kernel::workgroup(uint32_t x, uint32_t y, uint32_t z) {
  builder_.program.workgroup = {x, y, z};
  return *this;
}
Kernel& Kernel::subgroup(uint32_t size) {
  builder_.program.subgroup = size;
  return *this;
}
FormulaId Kernel::formula(const Size& size, const Here& here) {
  at(here);
  FormulaPool& pool = builder_.program.formulas;
  if (!size.is_mixed_ && (!size.pool_ || size.pool_ == &pool)) return size.in(pool);
  is_own(nullptr, "size");
  return pool.constant(0);
}

Kernel& Kernel::grid(Size x, Here here) {
  builder_.program.grid[0] = formula(x, here);
  builder_.program.grid_dims = 1;
  return *this;
}
Kernel& Kernel::grid(Size x, Size y, Here here) {
  grid(x, here);
  builder_.program.grid[1] = formula(y, here);
  builder_.program.grid_dims = 2;
  return *this;
}
Kernel& Kernel::grid(Size x, Size y, Size z, Here here) {
  grid(x, y, here);
  builder_.program.grid[2] = formula(z, here);
  builder_.program.grid_dims = 3;
  return *this;
}
Kernel& Kernel::op_id(std::string id) {
  builder_.program.op_id = std::move(id);
  return *this;
}

Size Kernel::len(const Buf& b, Here here) {
  at(here);
  Size s(0);
  if (!is_own(b.kernel_, "buffer")) return s;
  s.pool_ = &builder_.program.formulas;
  s.id_ = s.pool_->len(b.id_.value());
  return s;
}
Size Kernel::size_of_scalar(const Val& scalar, Here here) {
  at(here);
  Size s(0);
  if (!is_usable(scalar)) return s;
  const OpId def = builder_.program.values[scalar.id_].def;
  if (def == none || builder_.program.op(def).code != Opcode::Scalar) {
    report(Code::NotAFormula, "a size uses a scalar parameter, not another value",
           "pass what scalar() gave");
    return s;
  }
  s.pool_ = &builder_.program.formulas;
  s.id_ = s.pool_->scalar(uint32_t(builder_.program.op(def).attr));
  return s;
}

// ---- Values.

Val Kernel::literal(Lit v, Type t) {
  if (t == Type::Void) return {this, none};
  const auto misfit = [&](std::string what) {
    return report(Code::LiteralDoesNotFit, fmt::format("{} where {} is needed", what, name(t)),
                  "write a number of that type");
  };
  switch (v.kind_) {
    case Lit::Kind::Bool:
      if (t != Type::Bool) return misfit("a bool");
      return {this, builder_.constant(t, v.bits_)};
    case Lit::Kind::Float: {
      if (!is_float(t)) return misfit("a float literal");
      const uint64_t bits = t == Type::F64 ? std::bit_cast<uint64_t>(v.real_)
                                           : std::bit_cast<uint32_t>(float(v.real_));
      return {this, builder_.constant(t, bits)};
    }
    case Lit::Kind::Integer: break;
  }
  if (!is_integer(t)) return misfit("an integer literal");
  const uint32_t w = width_of(t);
  const uint64_t most = low_mask(is_signed(t) ? w - 1 : w);
  if (v.negative_ ? !is_signed(t) || v.bits_ > most + 1 : v.bits_ > most)
    return misfit("a literal that does not fit");
  return {this, builder_.constant(t, v.negative_ ? ~v.bits_ + 1 : v.bits_)};
}

Val Kernel::constant(Type t, Lit v, Here here) {
  at(here);
  return literal(v, t);
}

Val Kernel::value_of(const Operand& v, Type t) {
  at(v.here_);
  return v.is_number_ ? literal(v.number_, t) : v.value_;
}

bool Kernel::is_own(const Kernel* k, std::string_view what) {
  if (k == this) return true;
  report(Code::ValueNotVisible,
         fmt::format("the {} is not of kernel `{}`", what, builder_.program.name),
         fmt::format("use a {} that this kernel made", what));
  return false;
}
bool Kernel::is_usable(const Val& v) { return is_own(v.kernel_, "value") && v.id_ != none; }

Val Kernel::id(Opcode op, uint32_t dim, const Here& here) {
  at(here);
  if (dim > 2)
    return report(Code::UnknownComponent, fmt::format("there is no dimension {}", dim),
                  "use 0, 1 or 2");
  return {this, builder_.op(op, Type::Void, {}, dim)};
}

Val Kernel::apply_operator(Opcode op, std::initializer_list<Operand> operands, const Here& here) {
  for (const Operand& v : operands)
    if (v.value_.kernel_) return v.value_.kernel_->apply(op, operands, here);
  return {};  // values that were never set: reported where the result is used
}

/// T of an operation: the type of the first value, or, without values, of the first number.
Type Kernel::type_of_numbers(std::string_view signature, std::initializer_list<Operand> operands) {
  const Operand* first = nullptr;
  for (size_t i = 0; i < signature.size(); ++i) {
    const Operand& v = operands.begin()[i];
    if (signature[i] != 'T') continue;
    if (!v.is_number_) return v.value_.type();
    if (!first) first = &v;
  }
  return first ? first->number_.default_type() : Type::Void;
}

Val Kernel::apply(Opcode op, std::initializer_list<Operand> operands, Here here) {
  at(here);
  const OpInfo& row = info(op);
  if (operands.size() != row.operands.size())
    return report(Code::WrongArgumentCount,
                  fmt::format("`{}` takes {} operands, not {}", row.mnemonic, row.operands.size(),
                              operands.size()),
                  "give one value for each operand");
  for (const Operand& v : operands)
    if (!v.is_number_ && !is_usable(v.value_)) return {this, none};
  const Type t = type_of_numbers(row.operands, operands);
  std::vector<ValueId> ids;
  for (const Operand& operand : operands) {
    const char letter = row.operands[ids.size()];
    const Type need = letter == 'U'   ? Type::U32
                      : letter == 'B' ? Type::Bool
                      : letter == 'T' ? t
                                      : Type::Void;
    const Type number = need == Type::Void ? operand.number_.default_type() : need;
    const Val v = operand.is_number_ ? literal(operand.number_, number) : operand.value_;
    if (v.id_ == none) return v;
    if (need != Type::Void && v.type() != need)
      return report(Code::TypeMismatch,
                    fmt::format("`{}` of {} and {}", row.mnemonic, name(need), name(v.type())),
                    "convert one side with cast()");
    ids.push_back(v.id_);
  }
  if (row.types != TypeSet::None && !contains(row.types, t))
    return report(Code::WrongOperandType,
                  fmt::format("`{}` is for {}, not {}", row.mnemonic, describe(row.types), name(t)),
                  "convert the operands with cast()");
  return {this, builder_.op(op, t, std::span<const ValueId>(ids))};
}

Val Kernel::cast(Type t, const Val& v, Here here) {
  at(here);
  if (!is_usable(v)) return {this, none};
  if (v.type() == t) return v;
  if (!is_value(t))
    return report(Code::StorageTypeAsValue, fmt::format("no value has the type {}", name(t)),
                  "use F32");
  return {this, builder_.op(Opcode::Cast, t, {v.id_})};
}
Val Kernel::bitcast(Type t, const Val& v, Here here) {
  at(here);
  if (!is_usable(v)) return {this, none};
  if (!is_value(t) || width_of(t) != width_of(v.type()))
    return report(Code::BitcastWidth,
                  fmt::format("a bitcast from {} to {}", name(v.type()), name(t)),
                  "use types of one width");
  return {this, builder_.op(Opcode::Bitcast, t, {v.id_})};
}
Val Kernel::load_as(Type t, const Buf& b, const Val& byte, Here here) {
  at(here);
  if (!is_own(b.kernel_, "buffer") || !is_usable(byte)) return {this, none};
  MemoryRef ref;
  ref.buffer = b.id_;
  return {this, builder_.op(Opcode::LoadAs, t, {byte.id_}, ref.pack())};
}
Val Kernel::uniform_load(const Element& e, Scope scope, Here here) {
  at(here);
  if (!is_own(e.kernel_, "element") || e.index_ == none) return {this, none};
  MemoryRef ref;
  ref.buffer = e.buffer_;
  ref.scope = scope;
  return {this,
          builder_.op(Opcode::UniformLoad, value_type(builder_.program.buffers[e.buffer_].element),
                      {e.index_}, ref.pack())};
}

Val Kernel::atomic(Opcode op, const Element& e, std::initializer_list<Operand> values, bool acq_rel,
                   Here here) {
  at(here);
  if (!is_own(e.kernel_, "element")) return {this, none};
  const Buffer& b = builder_.program.buffers[e.buffer_];
  const OpInfo& row = info(op);
  if (values.size() + 1 != row.operands.size())
    return report(Code::WrongArgumentCount,
                  fmt::format("`{}` takes {} values, not {}", row.mnemonic, row.operands.size() - 1,
                              values.size()),
                  "give one value for each operand");
  if (!contains(row.types, b.element))
    return report(Code::WrongOperandType,
                  fmt::format("`{}` is for elements of {}, not {}", row.mnemonic,
                              describe(row.types), name(b.element)),
                  "use a buffer of 32 or 64 bit integers");
  std::vector<ValueId> ids = {e.index_};
  for (const Operand& operand : values) {
    const Val v = value_of(operand, b.element);
    if (!is_usable(v) || e.index_ == none) return {this, none};
    if (v.type() != b.element)
      return report(Code::TypeMismatch,
                    fmt::format("the element is {}, the value {}", name(b.element), name(v.type())),
                    "convert it with cast()");
    ids.push_back(v.id_);
  }
  MemoryRef ref;
  ref.buffer = e.buffer_;
  ref.acq_rel = acq_rel;
  ref.scope = b.role == Role::Shared ? Scope::Workgroup : Scope::Grid;
  return {this, builder_.op(op, b.element, std::span<const ValueId>(ids), ref.pack())};
}

void Kernel::store(BufferId buffer, ValueId index, const Val& v) {
  const Buffer& b = builder_.program.buffers[buffer];
  if (index == none || !is_usable(v)) return;
  if (!is_writable(b.role)) {
    report(Code::WriteToReadOnly,
           fmt::format("`{}` has the role `{}` and is only read", b.name, name(b.role)),
           "declare it inout or out");
    return;
  }
  if (v.type() != value_type(b.element)) {
    report(Code::TypeMismatch,
           fmt::format("the element of `{}` is {}, this is {}", b.name, name(value_type(b.element)),
                       name(v.type())),
           "convert it with cast()");
    return;
  }
  MemoryRef ref;
  ref.buffer = buffer;
  builder_.effect(Opcode::Store, v.type(), {index, v.id_}, ref.pack());
}

// ---- Control.

Var Kernel::var(const Val& initial, Here here) {
  at(here);
  ValueId v = is_usable(initial) ? initial.id_ : none;
  if (v == none) v = builder_.constant(Type::U32, 0);  // continue; the mistake is reported already
  return {this, builder_.declare(v), builder_.type(v)};
}
Var Kernel::var(Type t, Lit initial, Here here) {
  at(here);
  return var(literal(initial, t), here);
}

bool Kernel::is_bool(const Val& c) {
  if (!is_usable(c)) return false;
  if (c.type() == Type::Bool) return true;
  report(Code::ConditionNotBool, fmt::format("a condition is a bool, this is {}", name(c.type())),
         "compare it with zero");
  return false;
}
void Kernel::begin_if(const Val& c, const Here& here) {
  at(here);
  builder_.begin_if(is_bool(c) ? c.id_ : builder_.constant(Type::Bool, 0));
}
Val Kernel::begin_for(const Operand& from, const Operand& to, const Here& here) {
  const Val lo = value_of(from, to.is_number_ ? Type::U32 : to.value_.type());
  const Val hi = value_of(to, lo.type());
  at(here);
  const Type t = lo.type();
  const bool usable = is_usable(lo) && is_usable(hi), fits = is_integer(t) && hi.type() == t;
  if (usable && fits) return {this, builder_.begin_for(lo.id_, hi.id_, builder_.constant(t, 1))};
  if (usable)
    report(
        Code::TypeMismatch,
        fmt::format("a loop counts in one integer type, here {} and {}", name(t), name(hi.type())),
        "convert the bounds with cast()");
  const ValueId none_at_all = builder_.constant(Type::U32, 0);
  return {this, builder_.begin_for(none_at_all, none_at_all, builder_.constant(Type::U32, 1))};
}
void Kernel::begin_body(const Val& c) {
  builder_.begin_body(is_bool(c) ? c.id_ : builder_.constant(Type::Bool, 0));
}

void Kernel::break_(Here here) {
  at(here);
  if (builder_.in_loop())
    builder_.break_loop();
  else
    report(Code::BreakOutsideLoop, "break_ outside a loop", "call it in the body of a loop");
}
void Kernel::continue_(Here here) {
  at(here);
  if (builder_.in_loop())
    builder_.continue_loop();
  else
    report(Code::BreakOutsideLoop, "continue_ outside a loop", "call it in the body of a loop");
}
void Kernel::return_(Here here) {
  at(here);
  builder_.return_();
}
void Kernel::barrier(Scope scope, Here here) {
  at(here);
  builder_.effect(Opcode::Barrier, Type::Void, {}, uint64_t(scope));
}
void Kernel::trap(const Val& code, Here here) {
  at(here);
  if (!is_usable(code)) return;
  if (code.type() == Type::U32)
    builder_.trap(code.id_);
  else
    report(Code::TypeMismatch, "a trap's code is u32", "convert it with cast()");
}
void Kernel::trap(uint32_t code, Here here) {
  at(here);
  builder_.trap(builder_.constant(Type::U32, code));
}
void Kernel::assert_(const Val& condition, uint32_t code, Here here) {
  at(here);
  if (is_bool(condition))
    builder_.effect(Opcode::Assert, Type::Void,
                    {condition.id_, builder_.constant(Type::U32, code)});
}

Result<Program> Kernel::finish() {
  if (!errors_.empty()) return std::move(errors_);
  return builder_.finish();
}

}  // namespace vyre
