#include "check/check_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "check/check_formulas.h"

namespace vyre {
namespace {

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool goes_on_name(char c) { return starts_name(c) || (c >= '0' && c <= '9'); }

void check_name(Reporter& r, std::string_view what, std::string_view name, BufferId buffer) {
  const std::string fault = fault_of_name(name);
  if (fault.empty()) return;
  const Code code = name.size() > limits::name_bytes ? Code::NameOverLimit : Code::BadName;
  std::string text = fmt::format("the {} {} {}", what, quoted(name), fault);
  Diagnostic& d = buffer == none ? r.at_kernel(code, std::move(text))
                                 : r.at_buffer(code, buffer, std::move(text));
  d.with_fix("choose a name of letters, digits and `_` that is short enough");
}

void check_names(const Program& p, Reporter& r) {
  check_name(r, "kernel's name", p.name, none);
  for (const BufferId i : p.buffers.ids())
    if (!r.full()) check_name(r, "name", p.buffers[i].name, i);
  if (p.op_id.size() > limits::name_bytes)
    r.at_kernel(Code::NameOverLimit, fmt::format("the op_id {} has more than {} bytes",
                                                 quoted(p.op_id), limits::name_bytes));
  walk(p, [&](OpId op) {
    if (info(p.ops[op].code).attribute != AttrKind::Name) return;
    const std::string_view name = p.strings[p.ops[op].attr];
    if (name.size() > limits::name_bytes && !r.full())
      r.at_op(Code::NameOverLimit, op,
              fmt::format("the name {} has more than {} bytes", quoted(name), limits::name_bytes));
  });
}

void check_workgroup(const Program& p, Reporter& r) {
  uint64_t size = 1;
  bool zero = false;
  for (const uint32_t n : p.workgroup) {
    zero = zero || n == 0;
    // Capped at each step, so that three large factors cannot wrap around to a small product.
    size = std::min<uint64_t>(size * std::min(n, limits::workgroup + 1), limits::workgroup + 1);
  }
  const std::string text =
      fmt::format("workgroup({}, {}, {})", p.workgroup[0], p.workgroup[1], p.workgroup[2]);
  if (zero || size > limits::workgroup)
    r.at_kernel(Code::BadWorkgroup,
                zero ? fmt::format("{} has a dimension of 0", text)
                     : fmt::format("{} is more than {} invocations", text, limits::workgroup))
        .with_fix(
            fmt::format("use at least 1 in each dimension, at most {} in all", limits::workgroup));
  else if (size > limits::common_workgroup)
    r.at_kernel(Code::LargeWorkgroup,
                fmt::format("a workgroup of {} invocations does not run on every device; all of "
                            "them run {}",
                            size, limits::common_workgroup));
}

void check_subgroup(const Program& p, Reporter& r) {
  if (p.subgroup == 0 || (std::has_single_bit(p.subgroup) && p.subgroup <= limits::subgroup))
    return;
  r.at_kernel(Code::SubgroupSizeNotAllowed,
              fmt::format("a subgroup cannot have {} lanes", p.subgroup))
      .with_fix("use 1, 2, 4, 8, 16, 32 or 64");
}

void check_bytes(const Program& p, Reporter& r) {
  if (p.table_bytes.size() > limits::table_bytes)
    r.at_kernel(Code::TablesTooLarge, fmt::format("the kernel's constant tables have {} bytes; the "
                                                  "limit is {}",
                                                  p.table_bytes.size(), limits::table_bytes))
        .with_fix("pass the larger tables as `in` buffers");
  uint64_t shared = 0;
  for (const Buffer& b : p.buffers) {
    uint64_t count = 0;
    if (b.role != Role::Shared || !p.formulas.is_constant(b.count, &count)) continue;
    // Saturates: one array alone may be declared with 2^64-1 elements.
    shared += std::min<uint64_t>(count, 1ull << 32) * size_of(b.element);
  }
  if (shared > limits::common_shared_bytes)
    r.at_kernel(Code::LargeSharedMemory,
                fmt::format("the kernel has {} bytes of shared memory; only {} are there on every "
                            "device",
                            shared, limits::common_shared_bytes));
}

}  // namespace

std::string fault_of_name(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > limits::name_bytes)
    return fmt::format("has {} bytes; the limit is {}", name.size(), limits::name_bytes);
  if (!starts_name(name[0]) || !std::all_of(name.begin(), name.end(), goes_on_name))
    return "is not a word of letters, digits and `_`";
  return "";
}

std::string quoted(std::string_view name) {
  constexpr size_t shown = 40;
  std::string text = "`";
  for (const char c : name.substr(0, shown)) text += c >= ' ' && c != '\x7f' ? c : '?';
  return text + (name.size() > shown ? "…`" : "`");
}

void check_limits(const Program& program, Reporter& report) {
  if (program.buffers.size() > limits::buffers)
    report
        .at_kernel(Code::TooManyBuffers,
                   fmt::format("the kernel has {} parameters, arrays and tables; the limit is {}",
                               program.buffers.size(), limits::buffers))
        .with_fix("put several of them into one buffer");
  check_names(program, report);
  check_workgroup(program, report);
  check_subgroup(program, report);
  check_bytes(program, report);
}

}  // namespace vyre
