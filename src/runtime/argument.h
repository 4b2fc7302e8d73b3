#pragma once

// Arguments of launches: handles to device memory, with or without an element type, and scalars.
//
//   Result<TypedBuffer<float>> x = device.allocate<float>(n);
//   device.submit({upload(*x, xs), Launch{*saxpy, {2.0f, *x, *y}}, read_back(*y, ys)});
//
// An argument is checked against its parameter. A number is converted where the parameter's type
// has exactly that number: 2.0 is accepted for an f32, 0.1 is not, since it would be rounded.

#include <cstdint>
#include <variant>

#include "ir/scalar.h"

namespace vyre::driver {

using vyre::Scalar;
using vyre::scalar;

/// A handle to device memory: the device, the slot, and the generation of the slot, so that a stale
/// handle is detected. A command whose handle differs in `bytes` from the allocation is an error.
struct Buffer {
  uint32_t device = 0;
  uint32_t slot = 0;
  uint32_t generation = 0;
  uint64_t bytes = 0;
  Type element = Type::Void;  // compared with that of parameters; Void: every type is accepted
};

/// A Buffer of elements of one type.
template <HostNumber T>
struct TypedBuffer : Buffer {
  TypedBuffer() { element = type_of<T>(); }
  /// The same memory, whatever the element type of `buffer` is.
  explicit TypedBuffer(const Buffer& buffer) : Buffer(buffer) { element = type_of<T>(); }
  uint64_t size() const { return bytes / sizeof(T); }
};

/// An argument of a launch: a buffer, or a number with its type.
struct Argument : std::variant<Buffer, Scalar> {
  Argument() = default;
  Argument(const Buffer& buffer) : variant(buffer) {}  // NOLINT: implicit by design
  Argument(Scalar value) : variant(value) {}           // NOLINT
  template <HostNumber T>
  Argument(T value) : variant(vyre::scalar(value)) {}  // NOLINT
};

/// The number of elements of a `scratch` parameter without a formula.
struct ScratchLength {
  std::string parameter;
  uint64_t elements = 0;
};

}  // namespace vyre::driver
