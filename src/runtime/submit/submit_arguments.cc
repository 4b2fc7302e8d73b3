// Arguments of launches: checks them against their parameters and converts them.

#include <fmt/format.h>

#include <algorithm>

#include "ir/named_sizes.h"
#include "runtime/submit/submit_builder.h"

namespace vyre::driver {

std::optional<Diagnostic> misfit(const Argument& a, const ParameterInfo& p, uint64_t& bits) {
  const Buffer* const buffer = std::get_if<Buffer>(&a);
  if ((p.role == Role::Scalar) == (buffer != nullptr))
    return diagnose(Code::WrongArgument, {},
                    fmt::format("parameter `{}` of {}`{}` takes a {}", p.name, p.kind, p.owner,
                                buffer ? "scalar" : "buffer"))
        .with_fix("give the arguments in the order of the parameters");
  if (buffer) {
    if (buffer->element == Type::Void || buffer->element == p.element) return std::nullopt;
    return diagnose(Code::WrongArgument, {},
                    fmt::format("parameter `{}` of {}`{}` has elements of {}, its buffer of {}",
                                p.name, p.kind, p.owner, name(p.element), name(buffer->element)))
        .with_fix(fmt::format("pass a buffer of {}", name(p.element)));
  }
  const auto& given = std::get<Scalar>(a);
  if (const std::optional<uint64_t> exact = convert_exactly(given, p.element)) {
    bits = *exact;
    return std::nullopt;
  }
  return not_exact(p.name, fmt::format("{}`{}`", p.kind, p.owner), p.element, given);
}

std::optional<uint64_t> scratch_length(const Launch& l, std::string_view parameter) {
  for (const ScratchLength& n : l.lengths)
    if (n.parameter == parameter) return n.elements;
  return std::nullopt;
}

/// Returns true if every name of Launch::lengths has a parameter. It may be one that the optimizer
/// removed.
bool SubmissionBuilder::has_scratch_parameters(const Launch& l) {
  const Program& p = l.executable.program();
  bool ok = true;
  for (const ScratchLength& n : l.lengths) {
    std::vector<std::string> names;
    for (const auto& b : p.buffers)
      if (b.role == Role::Scratch) names.push_back(b.name);
    if (std::find(names.begin(), names.end(), n.parameter) != names.end()) continue;
    const std::string_view near = nearest(n.parameter, names);
    report(diagnose(Code::WrongArgument, {},
                    fmt::format("kernel `{}` has no scratch parameter `{}`", p.name, n.parameter))
               .with_fix(near.empty() ? "name a scratch parameter of the kernel"
                                      : fmt::format("write `{}`", near)));
    ok = false;
  }
  return ok;
}

bool SubmissionBuilder::bind_one(const Launch& l, const Program& p, BufferId index,
                                 const Argument& a, Binding& out) {
  const auto& b = p.buffers[index];
  if (auto d = misfit(a, {b.name, b.role, b.element, "", p.name}, out.bits[index])) {
    report(std::move(*d));
    return false;
  }
  const Buffer* buffer = std::get_if<Buffer>(&a);
  if (!buffer) {
    out.scalars[index] = out.bits[index];
    return true;
  }
  const bool cleared = b.role == Role::Out && l.clear_outputs;
  if (!usable(*buffer, !cleared)) return false;
  if (buffer->bytes % size_of(b.element) != 0) {
    report(diagnose(Code::WrongArgument, {},
                    fmt::format("parameter `{}` of `{}` has elements of {} bytes, its buffer {} "
                                "bytes",
                                b.name, p.name, size_of(b.element), buffer->bytes))
               .with_fix("allocate a multiple of the element"));
    return false;
  }
  bool ok = true;
  for (const auto& [slot, other] : out.bound) {
    if (slot != buffer->slot || !(is_writable(b.role) || is_writable(p.buffers[other].role)))
      continue;
    report(diagnose(Code::OverlappingArguments, {},
                    fmt::format("parameters `{}` and `{}` of `{}` have the same buffer, and one is "
                                "written",
                                p.buffers[other].name, b.name, p.name))
               .with_fix("bind different buffers"));
    ok = false;
  }
  out.bound.emplace_back(buffer->slot, index);
  out.counts[index] = buffer->bytes / size_of(b.element);
  out.memory[index] = d_.slots[buffer->slot].memory;
  t_.launch_bytes[number_] += buffer->bytes;
  return ok;
}

bool SubmissionBuilder::bind(const Launch& l, const Program& p, Binding& out) {
  size_t wanted = 0;
  for (const auto& b : p.buffers) wanted += is_parameter(b.role) && b.role != Role::Scratch;
  if (l.arguments.size() != wanted) {
    report(diagnose(Code::WrongArgument, {},
                    fmt::format("kernel `{}` takes {} arguments, not {}", p.name, wanted,
                                l.arguments.size()))
               .with_fix("give one for each parameter but the scratch ones"));
    return false;
  }
  const size_t n = p.buffers.size();
  out.memory.assign(n, 0);
  out.bits.assign(n, 0);
  out.counts.assign(n, std::nullopt);
  out.scalars.assign(n, std::nullopt);
  out.bound.clear();
  bool ok = has_scratch_parameters(l);
  size_t next = 0;
  for (const BufferId i : p.buffers.ids())
    if (p.buffers[i].role == Role::Scratch)
      out.counts[i] = scratch_length(l, p.buffers[i].name);
    else if (is_parameter(p.buffers[i].role) && p.buffers[i].role != Role::Scratch)
      ok &= bind_one(l, p, i, l.arguments[next++], out);
  return ok;
}

}  // namespace vyre::driver
