#pragma once

// Makes small kernels for the tests of the interpreter and runs them on typed vectors.

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "diagnostics/failure.h"
#include "interp/interp.h"
#include "ir/ssa_builder.h"

namespace vyre::interp {

template <class T>
std::vector<std::byte> to_bytes(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
template <class T>
std::vector<T> from_bytes(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// A SsaBuilder with the words that tests need most. Buffers are named by index.
class Kernel : public SsaBuilder {
 public:
  explicit Kernel(uint32_t x, uint32_t y = 1, uint32_t z = 1) : SsaBuilder("k") {
    program.workgroup = {x, y, z};
  }

  uint32_t buffer(Role role, Type element, std::optional<uint64_t> count = std::nullopt) {
    Buffer b;
    b.name = std::string(1, static_cast<char>('a' + program.buffers.size()));
    b.role = role;
    b.element = element;
    if (count) b.count = program.formulas.constant(*count);
    program.buffers.push_back(b);
    return static_cast<uint32_t>(program.buffers.size() - 1);
  }
  Kernel& grid(uint64_t x, uint64_t y = 1, uint64_t z = 1) {
    program.grid_dims = 3;
    program.grid = {program.formulas.constant(x), program.formulas.constant(y),
                    program.formulas.constant(z)};
    return *this;
  }
  ValueId id(Opcode code, uint32_t dim = 0) { return op(code, Type::Void, {}, dim); }
  ValueId gid(uint32_t dim = 0) { return id(Opcode::GlobalId, dim); }
  ValueId lid(uint32_t dim = 0) { return id(Opcode::LocalId, dim); }
  ValueId u32(uint32_t v) { return constant_u32(v); }
  ValueId load(uint32_t b, ValueId index) {
    return op(Opcode::Load, value_type(program.buffers[b].element), {index},
              MemoryRef{.buffer = BufferId(b)}.pack());
  }
  void store(uint32_t b, ValueId index, ValueId value) {
    effect(Opcode::Store, value_type(program.buffers[b].element), {index, value},
           MemoryRef{.buffer = BufferId(b)}.pack());
  }
  ValueId atomic(Opcode code, uint32_t b, std::initializer_list<ValueId> operands) {
    return op(code, program.buffers[b].element, operands, MemoryRef{.buffer = BufferId(b)}.pack());
  }
  ValueId uniform_load(uint32_t b, ValueId index, Scope scope) {
    return op(Opcode::UniformLoad, program.buffers[b].element, {index},
              MemoryRef{.buffer = BufferId(b), .scope = scope}.pack());
  }
  void barrier(Scope scope) {
    effect(Opcode::Barrier, Type::Void, {}, static_cast<uint64_t>(scope));
  }
  // u32 words.
  ValueId add(ValueId a, ValueId b) { return op(Opcode::Add, Type::U32, {a, b}); }
  ValueId sub(ValueId a, ValueId b) { return op(Opcode::Sub, Type::U32, {a, b}); }
  ValueId mul(ValueId a, ValueId b) { return op(Opcode::Mul, Type::U32, {a, b}); }
  ValueId rem(ValueId a, ValueId b) { return op(Opcode::Rem, Type::U32, {a, b}); }
  ValueId lt(ValueId a, ValueId b) { return op(Opcode::Lt, Type::U32, {a, b}); }
  ValueId eq(ValueId a, ValueId b) { return op(Opcode::Eq, Type::U32, {a, b}); }
  ValueId yes() { return constant(Type::Bool, 1); }
};

/// Inputs by buffer index.
struct Given {
  LaunchInputs inputs;
  template <class T>
  Given& data(uint32_t buffer, const std::vector<T>& values) {
    if (inputs.data.size() <= buffer) inputs.data.resize(buffer + 1);
    inputs.data[buffer] = to_bytes(values);
    return *this;
  }
  Given& length(uint32_t buffer, uint64_t n) {
    if (inputs.lengths.size() <= buffer) inputs.lengths.resize(buffer + 1);
    inputs.lengths[buffer] = n;
    return *this;
  }
};

inline Outcome must_run(const Program& p, const LaunchInputs& in = {},
                        const Options& options = {}) {
  Result<Outcome> r = run(p, in, options);
  if (!r) {
    ADD_FAILURE() << render(r.errors(), {});
    Outcome nothing;
    nothing.buffers.resize(p.buffers.size());
    return nothing;
  }
  return std::move(*r);
}

inline Diagnostics must_fail(const Program& p, const LaunchInputs& in = {},
                             const Options& options = {}) {
  Result<Outcome> r = run(p, in, options);
  if (r) {
    ADD_FAILURE() << "runs, but should fail";
    return {};
  }
  return r.errors();
}

inline std::vector<Options> all_schedules() {
  std::vector<Options> list(4);
  list[1].schedule = Schedule::Reverse;
  list[2].schedule = Schedule::Random;
  list[2].seed = 1;
  list[3].schedule = Schedule::Random;
  list[3].seed = 2;
  return list;
}

}  // namespace vyre::interp
