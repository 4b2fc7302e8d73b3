#pragma once

// What the programs of this folder share and what is not the point of any of them: printing, and
// files.

#include <vyre/vyre.h>

#include <fstream>
#include <iostream>
#include <string_view>
#include <vector>

namespace example {

/// One line, as `vyre run --print name` has it.
template <class T>
void print(std::string_view name, const std::vector<T>& values) {
  std::cout << name << ":";
  for (const T& v : values) std::cout << " " << v;
  std::cout << "\n";
}

/// Shows errors as the command line does; the exit code for main.
inline int fail(const vyre::Diagnostics& errors) {
  std::cerr << vyre::render(errors, {});
  return 1;
}

/// Writes the program in wire form to the file that the command line names, if it names one:
/// `vyre run FILE` runs it. The exit code for main.
inline int save(const vyre::Program& program, int argc, char** argv) {
  if (argc < 2) return 0;
  const std::vector<std::byte> wire = vyre::encode(program);
  std::ofstream file(argv[1], std::ios::binary);
  file.write(reinterpret_cast<const char*>(wire.data()), std::streamsize(wire.size()));
  file.close();
  if (file) return 0;
  std::cerr << "cannot write " << argv[1] << "\n";
  return 3;
}

}  // namespace example
