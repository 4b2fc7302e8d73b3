// Buffers, their lengths, tables and the grid.

#include <fmt/format.h>

#include <unordered_map>

#include "check/check_formulas.h"
#include "check/check_limits.h"
#include "check/check_types.h"
#include "ir/launch.h"

namespace vyre {
namespace {

std::vector<SizeName> names_of(const Program& p) {
  std::vector<SizeName> names;
  for (const Buffer& b : p.buffers)
    names.push_back({b.name, b.role, b.element, is_parameter(b.role)});
  return names;
}

class BufferCheck {
 public:
  BufferCheck(const Program& p, Reporter& r) : p_(p), r_(r), formulas_(p.formulas, names_of(p)) {}

  void run() {
    for (const BufferId i : p_.buffers.ids()) {
      if (r_.full()) break;
      check_element(i);
      check_duplicate(i);
      if (p_.buffers[i].role == Role::Scalar)
        check_scalar(i);
      else
        check_count(i);
    }
    check_grid();
  }

 private:
  void report(BufferId i, Fault fault) {
    r_.at_buffer(fault.code, i, std::move(fault.message)).with_fix(std::move(fault.fix));
  }

  void check_element(BufferId i) {
    const Buffer& b = p_.buffers[i];
    const bool legal = b.role == Role::Scalar ? is_value(b.element) : b.element != Type::Void;
    if (legal) return;
    r_.at_buffer(Code::BadElementType, i,
                 fmt::format("{} cannot be of type {}", quoted(b.name), name(b.element)))
        .with_fix(is_storage_only(b.element) ? "use f32: f16 and bf16 are types of elements only"
                                             : "give it a type that holds values");
  }

  // Names have no meaning in the IR, but the host finds parameters by them.
  void check_duplicate(BufferId i) {
    const Buffer& b = p_.buffers[i];
    if (!is_parameter(b.role)) return;
    const auto [first, is_new] = by_name_.emplace(b.name, i);
    if (is_new) return;
    r_.at_buffer(Code::DuplicateParameter, i,
                 fmt::format("two parameters have the name {}", quoted(b.name)))
        .with_fix("rename one of them")
        .note("the other one", r_.place(p_.buffers[first->second].loc));
  }

  void check_scalar(BufferId i) {
    const FormulaId count = p_.buffers[i].count;
    if (count == no_formula || formulas_.constant(count) == 1) return;
    r_.at_buffer(Code::ScalarWithLength, i,
                 fmt::format("the scalar {} has a length", quoted(p_.buffers[i].name)))
        .with_fix("make it a `uniform` buffer, or take the length away");
  }

  void check_count(BufferId i) {
    const Buffer& b = p_.buffers[i];
    const bool fixed = !is_parameter(b.role);
    if (b.count != no_formula) {
      const std::string what = fmt::format("length of {}", quoted(b.name));
      if (auto fault = formulas_.fault(b.count, i.value(), what))
        return report(i, std::move(*fault));
    }
    const std::optional<uint64_t> count = formulas_.constant(b.count);
    if (count) return check_size(i, *count);
    if (!fixed) return;
    r_.at_buffer(Code::LengthNotConstant, i,
                 fmt::format("the length of the {} array {} is not a constant", name(b.role),
                             quoted(b.name)))
        .with_fix("write a constant, or use a `scratch` parameter");
  }

  void check_size(BufferId i, uint64_t count) {
    const Buffer& b = p_.buffers[i];
    const uint32_t size = size_of(b.element);
    if (size == 0) return;
    const uint64_t most = b.role == Role::Uniform ? limits::uniform_bytes : max_buffer_bytes;
    if (count > most / size) {
      r_.at_buffer(Code::SizeTooLarge, i,
                   fmt::format("{} has {} elements of {} bytes; a buffer with the role `{}` has at "
                               "most {} bytes",
                               quoted(b.name), count, size, name(b.role), most))
          .with_fix(b.role == Role::Uniform ? "declare it `in`" : "make it smaller");
      return;
    }
    if (b.role != Role::Table) return;
    if (b.table_offset <= p_.table_bytes.size() &&
        count * size <= p_.table_bytes.size() - b.table_offset)
      return;
    r_.at_buffer(
        Code::TableOutside, i,
        fmt::format("the table {} reaches outside of the program's table bytes", quoted(b.name)));
  }

  void check_grid() {
    if (p_.grid_dims > 3) {
      r_.at_kernel(Code::BadGrid, fmt::format("the grid has {} dimensions", p_.grid_dims))
          .with_fix("use at most three");
      return;
    }
    for (uint32_t d = 0; d < 3; ++d) {
      if ((p_.grid[d] != no_formula) != (d < p_.grid_dims)) {
        r_.at_kernel(Code::BadGrid, "the grid's dimensions and its formulas do not agree");
        return;
      }
      if (d >= p_.grid_dims) continue;
      auto fault = formulas_.fault(p_.grid[d], uint32_t(p_.buffers.size()), "grid");
      if (fault) r_.at_kernel(fault->code, fault->message).with_fix(fault->fix);
    }
  }

  const Program& p_;
  Reporter& r_;
  FormulaFacts formulas_;
  std::unordered_map<std::string_view, uint32_t> by_name_;
};

}  // namespace

void check_buffers(const Program& program, Reporter& report) { BufferCheck(program, report).run(); }

}  // namespace vyre
