// Memory ops against the buffers they name.

#include <fmt/format.h>

#include "check/check_limits.h"
#include "check/check_types.h"

namespace vyre {
namespace {

bool takes_atomics(Role r) {
  return r == Role::Out || r == Role::InOut || r == Role::Scratch || r == Role::Shared;
}

class AccessCheck {
 public:
  AccessCheck(const Program& p, OpId id, Reporter& r)
      : p_(p), r_(r), id_(id), op_(p.ops[id]), buffer_(p.buffer_of(id)) {}

  void run() {
    if (!check_scalar()) return;
    switch (info(op_.code).effect) {
      case Effect::Write: check_store(); break;
      case Effect::Atomic: check_atomic(); break;
      case Effect::Sync: check_uniform_load(); break;
      default: break;
    }
    if (op_.code == Opcode::LoadAs)
      check_load_as();
    else if (info(op_.code).attribute == AttrKind::Memory)
      check_element();
    if (op_.code == Opcode::LoadN) check_vector(op_.results.count);
    if (op_.code == Opcode::StoreN) check_vector(op_.operands.count - 1);
  }

 private:
  Diagnostic& report(Code code, std::string message) {
    return r_.at_op(code, id_, std::move(message))
        .note(fmt::format("{} is declared here: {} {}", quoted(buffer_.name), name(buffer_.role),
                          name(buffer_.element)),
              r_.place(buffer_.loc));
  }

  // A scalar is a value, not memory: `scalar` reads it and nothing else does.
  bool check_scalar() {
    const bool is_scalar = buffer_.role == Role::Scalar;
    if (is_scalar != (op_.code == Opcode::Scalar)) {
      report(Code::ScalarIsNoBuffer,
             is_scalar ? fmt::format("`{}` of {}, which is a scalar, not a buffer",
                                     mnemonic(op_.code), quoted(buffer_.name))
                       : fmt::format("`scalar` of {}, which is a buffer", quoted(buffer_.name)))
          .with_fix(is_scalar ? "use its name as a value" : "load an element of it");
      return false;
    }
    if (is_scalar && op_.type != buffer_.element)
      report(Code::ElementType, fmt::format("{} is {}, not {}", quoted(buffer_.name),
                                            name(buffer_.element), name(op_.type)));
    return true;
  }

  void check_store() {
    if (is_writable(buffer_.role)) return;
    report(Code::StoreToReadOnly, fmt::format("{} cannot be written: its role is `{}`",
                                              quoted(buffer_.name), name(buffer_.role)))
        .with_fix(is_parameter(buffer_.role) ? "declare it `inout` or `out`"
                                             : "copy the table into an array first");
  }

  void check_atomic() {
    if (!takes_atomics(buffer_.role))
      report(Code::AtomicRole, fmt::format("no atomics on {}: its role is `{}`",
                                           quoted(buffer_.name), name(buffer_.role)))
          .with_fix("use an `out`, `inout`, `scratch` or `shared` buffer");
    const Scope scope = p_.memory(id_).scope;
    if (scope == Scope::Subgroup)
      report(Code::AtomicScope, "atomics have no scope `subgroup`")
          .with_fix("use `workgroup` or `device`");
    if (scope == Scope::Grid && buffer_.role == Role::Shared)
      report(Code::AtomicScope,
             fmt::format("{} is shared by one workgroup, so its atomics have the scope `workgroup`",
                         quoted(buffer_.name)))
          .with_fix("use the scope `workgroup`");
  }

  void check_uniform_load() {
    const Scope scope = p_.memory(id_).scope;
    if (buffer_.role == Role::Private || buffer_.role == Role::Table)
      report(Code::UniformLoadBuffer,
             fmt::format(
                 "`uniform_load` of {}, which is {}", quoted(buffer_.name),
                 buffer_.role == Role::Private ? "private to each invocation" : "a constant table"))
          .with_fix(buffer_.role == Role::Private
                        ? "use a `shared` array or a buffer"
                        : "load it plainly: with a uniform index the value is uniform");
    if (scope == Scope::Subgroup)
      report(Code::UniformLoadScope, "`uniform_load` has no scope `subgroup`")
          .with_fix("use the scope `workgroup` or `grid`");
    if (scope == Scope::Grid && buffer_.role == Role::Shared)
      report(Code::UniformLoadScope,
             fmt::format("{} is another array in each workgroup, so a load from it cannot be "
                         "uniform over the grid",
                         quoted(buffer_.name)))
          .with_fix("use the scope `workgroup`, or a buffer");
  }

  void check_load_as() {
    if (is_integer(buffer_.element)) return;
    report(Code::LoadAsElement,
           fmt::format("`load_as` reads bytes of integers, but the elements of "
                       "{} are {}",
                       quoted(buffer_.name), name(buffer_.element)))
        .with_fix("declare the elements as integers, for example u8");
  }

  void check_element() {
    const Type t = value_type(buffer_.element);
    if (op_.type == t) return;
    report(Code::ElementType,
           fmt::format("`{}` of {} here, but an element of {} is {}", mnemonic(op_.code),
                       name(op_.type), quoted(buffer_.name), name(t)))
        .with_fix("convert the value with a cast");
  }

  void check_vector(uint64_t count) {
    const uint64_t bytes = count * size_of(buffer_.element);
    if (bytes <= limits::vector_bytes) return;
    report(Code::VectorTooWide,
           fmt::format("`{}` moves {} elements of {} bytes; {} bytes are the limit",
                       mnemonic(op_.code), count, size_of(buffer_.element), limits::vector_bytes))
        .with_fix("use several accesses");
  }

  const Program& p_;
  Reporter& r_;
  const OpId id_;
  const Op& op_;
  const Buffer& buffer_;
};

}  // namespace

void check_access(const Program& program, OpId op, Reporter& report) {
  AccessCheck(program, op, report).run();
}

}  // namespace vyre
