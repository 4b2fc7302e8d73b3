#pragma once

// Sources of any size, for tests of the growth of the front end's time and memory.

#include <fmt/format.h>

#include <functional>
#include <string>

#include "text/parse.h"

namespace vyre {

/// The lines of line(0) to line(n - 1).
inline std::string lines(int n, const std::function<std::string(int)>& line) {
  std::string text;
  for (int i = 0; i < n; ++i) text += line(i) + "\n";
  return text;
}

/// A kernel with an output `y`.
inline std::string kernel(const std::string& name, const std::string& body) {
  return fmt::format("kernel {}(y: out u32[4]) workgroup(1) grid(1) {{\n{}\n}}\n", name, body);
}

/// Functions a0 to a<levels>, each of which calls the one before twice.
inline std::string doubling_functions(int levels) {
  return "fn a0(x: u32) -> u32 { return x + 1 }\n" + lines(levels, [](int i) {
           return fmt::format("fn a{0}(x: u32) -> u32 {{ return a{1}(x) + a{1}(x) }}", i + 1, i);
         });
}

/// Functions a0 to a<levels>, each of which calls the one before.
inline std::string function_chain(int levels) {
  return "fn a0(x: u32) -> u32 { return x + 1 }\n" + lines(levels, [](int i) {
           return fmt::format("fn a{}(x: u32) -> u32 {{ return a{}(x) + 1 }}", i + 1, i);
         });
}

/// Constants c0 to c<n>, each of which depends on the next one.
inline std::string forward_constants(int n) {
  return lines(n, [](int i) { return fmt::format("const c{} = c{} + 1", i, i + 1); }) +
         fmt::format("const c{} = 1\n", n);
}

/// The codes of the errors of a source, one after the other.
inline std::string error_codes(const Diagnostics& list) {
  std::string codes;
  for (const Diagnostic& d : list)
    if (d.severity == Severity::Error) codes += (codes.empty() ? "" : " ") + to_string(d.code);
  return codes;
}

}  // namespace vyre
