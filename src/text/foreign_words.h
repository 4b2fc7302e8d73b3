#pragma once

// Words of CUDA, HIP, OpenCL, GLSL, HLSL, Metal, WGSL, C, Rust, Python and Triton, and their vyre
// equivalents. Messages about a name that does not exist take their fix from here.

#include <cstdint>
#include <span>
#include <string_view>

namespace vyre::text {

enum class ForeignUse : uint8_t {
  Type,         // `vyre` is the type
  Id,           // a value with components x, y, z: `vyre` is the value
  Value,        // `vyre` is the expression
  Rename,       // a function with the same arguments: `vyre` is its name
  Dimension,    // a function whose argument is a dimension: `vyre` is the value with components
  Instead,      // a function: `vyre` is the replacement of the call
  Statement,    // begins a statement: `vyre` is the statement, with $ for the text after the word
  Declaration,  // begins a declaration: `vyre` is the declaration
  Role,         // of a parameter: `vyre` is the role
  Attribute,    // of a kernel: `vyre` is the attribute
  Qualifier,    // of a declaration: `vyre` is the word that begins the declaration, "" for any
  Operator,     // between or before operands: `vyre` is the operator
  Opening,      // between a condition and its block
};

struct ForeignWord {
  std::string_view word;
  ForeignUse use;
  std::string_view vyre;
  std::string_view note = "";  // printed after the replacement: when, or where
};

/// The whole table, for the test that parses each replacement.
std::span<const ForeignWord> foreign_words();

/// Null if the word is not in the table with that use.
const ForeignWord* find_foreign(std::string_view word, ForeignUse use);

/// Returns whether it is a vector type of another language: vec4, float2, f32x4.
bool is_vector_type(std::string_view word);

}  // namespace vyre::text
