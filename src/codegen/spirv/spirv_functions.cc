// Functions of the module: the kernel, and the functions that it calls.
//
// An op that the device computes wrong, and that takes long to compute from others, is a call. The
// function is written by a separate emitter when it is first needed: its values that are computed
// once are computed at its own start.

#include <fmt/format.h>

#include "codegen/spirv/spirv_emitter.h"
#include "legalize/expand.h"

namespace vyre::emit_spirv {

/// Returns its id. `body` receives the parameters, and returns the result or 0.
Id Emitter::function(const Signature& s, const std::function<Id(std::span<const Id>)>& body) {
  const Id first = label(), start = start_here_ = label();
  std::vector<Id> parameters;
  for (size_t k = 0; k < s.parameters.size(); ++k) parameters.push_back(m_.new_id());
  begin(first);
  if (const Id result = body(parameters))
    eff(spv::OpReturnValue, {result});
  else if (flow_ != Flow::Gone)
    eff(spv::OpReturn, {});
  eff(spv::OpFunctionEnd, {});
  at_start([&] { jump(first); });

  const Id id = m_.new_id(), type = s.result ? s.result : m_.type_void();
  Words head;
  head.put(spv::OpFunction,
           {type, id, spv::FunctionControlMaskNone, m_.type_function(type, s.parameters)});
  for (size_t k = 0; k < s.parameters.size(); ++k)
    head.put(spv::OpFunctionParameter, {s.parameters[k], parameters[k]});
  head.put(spv::OpLabel, {start});
  for (const Value& v : p_.values) {
    unit_.uses_f32 |= v.type == Type::F32;
    unit_.uses_f64 |= v.type == Type::F64;
  }
  for (Words* piece : {&head, &variables_, &start_, &body_})
    unit_.functions.push_back(std::move(*piece));
  if (options_.debug) m_.name(id, s.name);
  return id;
}

/// An op that is marked ByFunction (legalize/expand.h).
Id Emitter::call(Opcode code, Type t, std::span<const Id> in) {
  Id& function = unit_.forms[{code, t}];
  if (!function) function = form_function(code, t);
  std::vector<uint32_t> operands = {function};
  operands.insert(operands.end(), in.begin(), in.end());
  const Id result = m_.new_id();
  put(spv::OpFunctionCall, type_of(t), result, operands);
  return result;
}

Id Emitter::form_function(Opcode code, Type t) {
  const LoweredProgram lowered = {emit_exact::form(code, t, options_.profile), {}, {}};
  const Program& p = lowered.program;
  SpirvAnalysis analysis;
  analysis.uses = count_uses(p);
  analysis.saturates = find_saturating(p, options_.profile);
  Emitter inner(lowered, analysis, given_, options_, unit_);
  const auto arguments = p.args(body_block);
  const Signature signature = {.name = fmt::format("{}_{}", mnemonic(code), name(t)),
                               .result = type_of(t),
                               .parameters = std::vector<Id>(arguments.size(), type_of(t))};
  return inner.function(signature, [&](std::span<const Id> operands) {
    for (size_t k = 0; k < operands.size(); ++k) inner.set(arguments[k], operands[k]);
    inner.block(body_block);
    return inner.yielded_[0];
  });
}

}  // namespace vyre::emit_spirv
