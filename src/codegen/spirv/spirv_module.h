#pragma once

// Words of a SPIR-V module in the making. Sections are collected apart and put in order at the end;
// types and constants exist once.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <spirv/unified1/spirv.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace vyre::emit_spirv {

using Id = uint32_t;

/// A list of instructions.
class Words {
 public:
  explicit Words(std::vector<uint32_t> words = {}) : words_(std::move(words)) {}

  /// Operands in two parts: those that every instruction of a kind has, and the others.
  void put(spv::Op op, std::initializer_list<uint32_t> first, std::span<const uint32_t> rest) {
    words_.push_back(static_cast<uint32_t>(first.size() + rest.size() + 1) << 16 | op);
    for (const uint32_t word : first) words_.push_back(word);
    for (const uint32_t word : rest) words_.push_back(word);
  }
  void put(spv::Op op, std::span<const uint32_t> operands) { put(op, {}, operands); }
  void put(spv::Op op, std::initializer_list<uint32_t> operands) { put(op, operands, {}); }
  void append(const Words& other) {
    words_.insert(words_.end(), other.words_.begin(), other.words_.end());
  }
  void reserve(size_t words) { words_.reserve(words); }
  bool empty() const { return words_.empty(); }
  std::vector<uint32_t> take() { return std::move(words_); }

 private:
  std::vector<uint32_t> words_;
};

/// Appends a string as SPIR-V has it: bytes, a zero, and zeros up to a whole word.
void add_string(std::vector<uint32_t>& words, std::string_view text);

class Module {
 public:
  Module();

  Id new_id() { return next_++; }

  void capability(spv::Capability c) { capabilities_.insert(c); }
  void extension(std::string_view name) { extensions_.insert(std::string(name)); }
  Id glsl();  // the set of extended instructions

  Id type_void() { return intern(spv::OpTypeVoid, {}); }
  Id type_bool() { return intern(spv::OpTypeBool, {}); }
  /// Integer types are unsigned: instructions determine the signedness. A type of 64 bits requests
  /// the capability; the capabilities of narrow types depend on their use.
  Id type_int(uint32_t width);
  Id type_float(uint32_t width);
  Id type_vector(Id element, uint32_t n) { return intern(spv::OpTypeVector, {element, n}); }
  /// Every call makes another one if it has a stride, as types that differ in decorations must.
  Id type_array(Id element, uint32_t count, uint32_t stride = 0);
  Id type_pair(Id member) { return intern(spv::OpTypeStruct, {member, member}); }
  struct Member {
    Id type;
    uint32_t offset;
  };
  Id type_block(std::span<const Member> members);
  Id type_pointer(spv::StorageClass c, Id to) {
    return intern(spv::OpTypePointer, {static_cast<uint32_t>(c), to});
  }
  Id type_function(Id result, std::span<const Id> parameters);

  Id constant(uint32_t value) { return intern_result(spv::OpConstant, type_int(32), {value}); }
  Id constant64(uint64_t value) {
    return intern_result(spv::OpConstant, type_int(64),
                         {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)});
  }
  Id constant_f32(uint32_t bits) { return intern_result(spv::OpConstant, type_float(32), {bits}); }
  Id constant_f64(uint64_t bits) {
    return intern_result(spv::OpConstant, type_float(64),
                         {static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32)});
  }
  Id constant_bool(bool value) {
    return intern_result(value ? spv::OpConstantTrue : spv::OpConstantFalse, type_bool(), {});
  }
  Id constant_null(Id type) { return intern_result(spv::OpConstantNull, type, {}); }
  Id constant_composite(Id type, std::span<const Id> parts);

  /// A variable of the module. It becomes part of the entry's interface.
  Id variable(spv::StorageClass c, Id type, Id initial = 0);
  /// An input of the pipeline, once.
  Id builtin(spv::BuiltIn what, Id type);

  void decorate(Id id, spv::Decoration d, std::initializer_list<uint32_t> operands = {});
  void name(Id id, std::string_view text);
  Id file(std::string_view path);
  void mode(spv::ExecutionMode m, std::initializer_list<uint32_t> operands);

  /// The whole module around the functions, with the entry point `entry`; the words of the
  /// functions are in pieces.
  std::vector<uint32_t> finish(Id entry, std::string_view entry_name,
                               std::span<const Words> functions);

 private:
  /// An instruction without its result: op, type (0: none), operands.
  using Key = std::array<uint32_t, 5>;
  struct Hash {
    size_t operator()(const Key& key) const {
      uint64_t h = 0;
      for (const uint32_t word : key) h = (h ^ word) * 0x9e3779b97f4a7c15;
      return h ^ h >> 32;
    }
  };
  Id intern(spv::Op op, std::initializer_list<uint32_t> operands) {
    return intern_result(op, 0, operands);
  }
  Id intern_result(spv::Op op, Id type, std::initializer_list<uint32_t> operands);

  Id next_ = 1;
  Id glsl_ = 0;
  Id ints_[5] = {}, floats_[5] = {};  // types, by width / 16
  std::set<spv::Capability> capabilities_;
  std::set<std::string> extensions_;
  std::unordered_map<Key, Id, Hash> made_;
  std::map<std::vector<Id>, Id> function_types_;  // by result and parameters
  std::map<std::string, Id, std::less<>> files_;
  std::map<spv::BuiltIn, Id> builtins_;
  std::vector<Id> interface_;
  struct Mode {
    spv::ExecutionMode mode;
    std::vector<uint32_t> operands;
  };
  std::vector<Mode> modes_;
  Words strings_, names_, decorations_, globals_;
};

}  // namespace vyre::emit_spirv
