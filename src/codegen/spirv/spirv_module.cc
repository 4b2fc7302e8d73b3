#include "codegen/spirv/spirv_module.h"

#include <algorithm>
#include <cassert>

namespace vyre::emit_spirv {
namespace {

constexpr uint32_t version_1_5 = 0x00010500;
constexpr uint32_t no_generator = 0;

}  // namespace

void add_string(std::vector<uint32_t>& words, std::string_view text) {
  for (size_t at = 0; at <= text.size(); at += 4) {
    uint32_t word = 0;
    for (size_t k = 0; k < 4 && at + k < text.size(); ++k)
      word |= static_cast<uint32_t>(static_cast<unsigned char>(text[at + k])) << (8 * k);
    words.push_back(word);
  }
}

Module::Module() {
  capability(spv::CapabilityShader);
  capability(spv::CapabilityPhysicalStorageBufferAddresses);
  capability(spv::CapabilityVulkanMemoryModel);
}

Id Module::glsl() {
  if (!glsl_) glsl_ = new_id();
  return glsl_;
}

Id Module::intern_result(spv::Op op, Id type, std::initializer_list<uint32_t> operands) {
  Key key = {op, type};
  assert(operands.size() <= key.size() - 2);
  std::copy(operands.begin(), operands.end(), key.begin() + 2);
  const auto [it, is_new] = made_.try_emplace(key, 0);
  if (!is_new) return it->second;
  it->second = new_id();
  const std::span rest(operands.begin(), operands.size());
  if (type)
    globals_.put(op, {type, it->second}, rest);
  else
    globals_.put(op, {it->second}, rest);
  return it->second;
}

Id Module::type_int(uint32_t width) {
  Id& type = ints_[width / 16];
  if (type) return type;
  if (width == 64) capability(spv::CapabilityInt64);
  return type = intern(spv::OpTypeInt, {width, 0});
}

Id Module::type_float(uint32_t width) {
  Id& type = floats_[width / 16];
  if (type) return type;
  if (width == 64) capability(spv::CapabilityFloat64);
  return type = intern(spv::OpTypeFloat, {width});
}

Id Module::type_array(Id element, uint32_t count, uint32_t stride) {
  const Id length = constant(count);
  if (!stride) return intern(spv::OpTypeArray, {element, length});
  const Id type = new_id();
  globals_.put(spv::OpTypeArray, {type, element, length});
  decorate(type, spv::DecorationArrayStride, {stride});
  return type;
}

Id Module::type_block(std::span<const Member> members) {
  std::vector<uint32_t> all = {new_id()};
  decorate(all[0], spv::DecorationBlock);
  for (uint32_t k = 0; k < members.size(); ++k) {
    all.push_back(members[k].type);
    decorations_.put(spv::OpMemberDecorate, {all[0], k, spv::DecorationOffset, members[k].offset});
  }
  globals_.put(spv::OpTypeStruct, all);
  return all[0];
}

Id Module::type_function(Id result, std::span<const Id> parameters) {
  std::vector<Id> all = {result};
  all.insert(all.end(), parameters.begin(), parameters.end());
  Id& type = function_types_[all];
  if (!type) globals_.put(spv::OpTypeFunction, {type = new_id()}, all);
  return type;
}

Id Module::constant_composite(Id type, std::span<const Id> parts) {
  const Id id = new_id();
  std::vector<uint32_t> all = {type, id};
  all.insert(all.end(), parts.begin(), parts.end());
  globals_.put(spv::OpConstantComposite, all);
  return id;
}

Id Module::variable(spv::StorageClass c, Id type, Id initial) {
  const Id pointer = type_pointer(c, type), id = new_id();
  if (initial)
    globals_.put(spv::OpVariable, {pointer, id, static_cast<uint32_t>(c), initial});
  else
    globals_.put(spv::OpVariable, {pointer, id, static_cast<uint32_t>(c)});
  interface_.push_back(id);
  return id;
}

Id Module::builtin(spv::BuiltIn what, Id type) {
  const auto [it, is_new] = builtins_.try_emplace(what, 0);
  if (is_new) {
    it->second = variable(spv::StorageClassInput, type);
    decorate(it->second, spv::DecorationBuiltIn, {static_cast<uint32_t>(what)});
  }
  return it->second;
}

void Module::decorate(Id id, spv::Decoration d, std::initializer_list<uint32_t> operands) {
  decorations_.put(spv::OpDecorate, {id, static_cast<uint32_t>(d)},
                   std::span(operands.begin(), operands.size()));
}

void Module::name(Id id, std::string_view text) {
  std::vector<uint32_t> all = {id};
  add_string(all, text);
  names_.put(spv::OpName, all);
}

Id Module::file(std::string_view path) {
  if (const auto it = files_.find(path); it != files_.end()) return it->second;
  std::vector<uint32_t> all = {new_id()};
  add_string(all, path.substr(0, 60'000));  // an instruction has at most 65,535 words
  strings_.put(spv::OpString, all);
  return files_.emplace(std::string(path), all[0]).first->second;
}

void Module::mode(spv::ExecutionMode m, std::initializer_list<uint32_t> operands) {
  modes_.push_back({m, operands});
}

std::vector<uint32_t> Module::finish(Id entry, std::string_view entry_name,
                                     std::span<const Words> functions) {
  Words all({spv::MagicNumber, version_1_5, no_generator, next_, 0});
  for (const spv::Capability c : capabilities_)
    all.put(spv::OpCapability, {static_cast<uint32_t>(c)});
  std::vector<uint32_t> words;
  for (const std::string& name : extensions_) {
    words.clear();
    add_string(words, name);
    all.put(spv::OpExtension, words);
  }
  if (glsl_) {
    words = {glsl_};
    add_string(words, "GLSL.std.450");
    all.put(spv::OpExtInstImport, words);
  }
  all.put(spv::OpMemoryModel,
          {spv::AddressingModelPhysicalStorageBuffer64, spv::MemoryModelVulkan});
  words = {spv::ExecutionModelGLCompute, entry};
  add_string(words, entry_name);
  words.insert(words.end(), interface_.begin(), interface_.end());
  all.put(spv::OpEntryPoint, words);
  for (const Mode& m : modes_) {
    words = {entry, static_cast<uint32_t>(m.mode)};
    words.insert(words.end(), m.operands.begin(), m.operands.end());
    all.put(spv::OpExecutionMode, words);
  }
  all.append(strings_);
  all.append(names_);
  all.append(decorations_);
  all.append(globals_);
  for (const Words& piece : functions) all.append(piece);
  return all.take();
}

}  // namespace vyre::emit_spirv
