#include "legalize/expand.h"

#include <fmt/format.h>

#include "legalize/stages.h"

namespace vyre::emit_exact {
namespace {

/// The first feature that the device lacks and that cannot be expanded.
std::string missing(const Program& p, OpId id, const Profile& profile) {
  const Op& o = p.op(id);
  const auto is_f64 = [&](ValueId v) { return p.type(v) == Type::F64; };
  if (!profile.float64)
    for (const auto& list : {p.operands(id), p.results(id)})
      for (const ValueId v : list)
        if (is_f64(v)) return "f64, which the device does not have";
  if (is_atomic(o.code) && size_of(o.type) == 8) {
    const bool shared = p.buffers[p.memory(id).buffer].role == Role::Shared;
    if (!profile.int64 || !(shared ? profile.shared_atomics64 : profile.atomics64))
      return fmt::format("64-bit atomics{}, which the device does not have",
                         shared ? " in shared memory" : "");
  }
  return "";
}

/// An f64 without a u64 that has its bits is of no use.
Profile usable(Profile profile) {
  if (!profile.int64) profile.float64 = false;
  return profile;
}

/// The stages after the expansion of floats.
Program expand_words(Program program, const Profile& profile) {
  program = expand_integers(
      std::move(program),
      {.pairs = !profile.int64, .saturates_u64 = profile.int64 && !profile.saturate64});
  if (!profile.int64 && needs_wide_stage(program)) program = expand_wide(program, profile);
  if (!profile.bits && needs_bit_stage(program)) program = expand_bits(program);
  return program;
}

}  // namespace

Result<Program> expand(const Program& program, const Profile& given, uint32_t subgroup_size,
                       bool functions) {
  Profile profile = usable(given);
  if (subgroup_size) profile.subgroup_size = subgroup_size;

  Diagnostics errors;
  walk(program, [&](OpId id) {
    if (errors.size() >= 8) return;
    const std::string what = missing(program, id, profile);
    if (what.empty()) return;
    const Op& o = program.op(id);
    Diagnostic d = diagnose(
        Code::MissingFeature, program.place(o.loc),
        fmt::format("`{}` of the kernel `{}` needs {}", mnemonic(o.code), program.name, what));
    d.op = mnemonic(o.code);
    program.add_call_notes(o.loc, d);
    d.with_fix("use another device: `vyre devices -v` shows what each one has");
    errors.push_back(std::move(d));
  });
  if (!errors.empty()) return errors;

  return expand_words(
      needs_float_stage(program, profile) ? expand_floats(program, profile, functions) : program,
      profile);
}

Program form(Opcode code, Type type, const Profile& given) {
  const Profile profile = usable(given);
  return expand_words(float_form(code, type, profile), profile);
}

}  // namespace vyre::emit_exact
