#include "differential/repeat_command.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "text/lower/literal.h"
#include "text/print.h"

namespace vyre::lab {
namespace {

struct Parameter {
  std::string name;
  Role role;
  Type element;
};

std::vector<Parameter> parameters(const Generated& g) {
  std::vector<Parameter> list;
  if (g.is_graph())
    for (const GraphBuffer& b : g.module.graphs[0].buffers)
      list.push_back({b.name, b.role, b.element});
  else
    for (const Buffer& b : g.module.kernels[0].buffers) list.push_back({b.name, b.role, b.element});
  return list;
}

uint64_t bits_of(Type element, const std::byte* at) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, size_of(element));
  return bits;
}

/// The elements separated by commas, in the format of `--in`.
std::string values(Type element, const std::vector<std::byte>& bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += size_of(element))
    text += (i ? "," : "") + text::print_value(element, bits_of(element, bytes.data() + i));
  return text;
}

/// `stem`: path prefix of the input files; "": inputs are values in the line.
std::string run_line(const Generated& g, const std::string& stem, uint32_t subgroup_size = 32) {
  std::string line = "// run:";
  const auto list = parameters(g);
  for (size_t i = 0; i < list.size(); ++i) {
    const Parameter& p = list[i];
    if (g.inputs.data[i] && p.role == Role::Scalar)
      line +=
          fmt::format(" --set {}={}", p.name,
                      text::print_value(p.element, bits_of(p.element, g.inputs.data[i]->data())));
    else if (g.inputs.data[i] && stem.empty())
      line += fmt::format(" --in {}={}", p.name, values(p.element, *g.inputs.data[i]));
    else if (g.inputs.data[i])
      line += fmt::format(" --in '{}=@{}.{}.bin'", p.name, stem, p.name);
    if (g.inputs.lengths[i]) line += fmt::format(" --len {}={}", p.name, *g.inputs.lengths[i]);
  }
  if (g.inputs.grid)
    line += fmt::format(" --grid {},{},{}", (*g.inputs.grid)[0], (*g.inputs.grid)[1],
                        (*g.inputs.grid)[2]);
  if (subgroup_size != 32) line += fmt::format(" --subgroup-size {}", subgroup_size);
  return line + "\n";
}

/// The expectations that the runner compares with: all elements, or the trap.
std::string expectations(const Generated& g, const Outputs& o) {
  if (!o.trap.empty()) {
    unsigned code = 0;
    unsigned long x = 0, y = 0, z = 0;
    const size_t at = o.trap.find("code ");
    if (at == o.trap.npos ||
        std::sscanf(o.trap.c_str() + at, "code %u in invocation (%lu, %lu, %lu)", &code, &x, &y,
                    &z) != 4)
      return "// out:\n";
    return fmt::format("// traps: {} at {},{},{}\n", code, x, y, z);
  }
  std::string text;
  const auto list = parameters(g);
  for (size_t i = 0; i < list.size(); ++i) {
    if (!is_host_output(list[i].role) || i >= o.buffers.size()) continue;
    text += fmt::format("// out: {} =", list[i].name);
    const uint32_t size = size_of(list[i].element);
    for (size_t k = 0; k < o.buffers[i].size(); k += size) {
      if (k != 0 && k % (size * 16) == 0) text += "\n//     ";
      text += ' ' +
              text::print_value(list[i].element, bits_of(list[i].element, o.buffers[i].data() + k));
    }
    text += '\n';
  }
  return text.empty() ? "// out:\n" : text;
}

}  // namespace

namespace {

std::optional<FileError> make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return std::nullopt;
  return FileError{error.value(), fmt::format("make '{}': {}", folder, error.message())};
}

}  // namespace

std::optional<FileError> write_text(const std::string& folder, const std::string& name,
                                    const std::string& text, std::string* path) {
  if (auto error = make_folder(folder)) return error;
  *path = (std::filesystem::absolute(folder) / name).lexically_normal().string();
  return write_file(*path, text);
}

std::optional<FileError> write_replay(const std::string& folder, const Generated& g,
                                      const Verdict& verdict, std::string* path) {
  if (auto error = make_folder(folder)) return error;
  // Absolute, so that the file can be run from any directory.
  const std::string stem =
      (std::filesystem::absolute(folder) / fmt::format("seed-{}", g.seed)).string();
  const auto list = parameters(g);
  for (size_t i = 0; i < list.size(); ++i)
    if (g.inputs.data[i] && list[i].role != Role::Scalar)
      if (auto e = write_file(fmt::format("{}.{}.bin", stem, list[i].name), *g.inputs.data[i]))
        return e;

  std::string text =
      fmt::format("// test: run\n// Made by `vyre fuzz --seed {} --count 1`.\n", g.seed);
  for (const Mismatch& m : verdict.mismatches)
    text += fmt::format("// {} {}\n", to_string(m.what.code), m.what.message);
  text += run_line(g, stem);
  text += verdict.expected ? expectations(g, *verdict.expected) : "// out:\n";
  text += "\n" + print(g.module);
  *path = stem + ".vyre";
  return write_file(*path, text);
}

std::string text_test(const Generated& g, const Outputs& expected, uint32_t subgroup_size,
                      const std::vector<std::string>& comments) {
  std::string text = "// test: run\n";
  for (const std::string& comment : comments)
    text += "// " + comment.substr(0, comment.find('\n')) + "\n";
  return text + run_line(g, "", subgroup_size) + expectations(g, expected) + "\n" + print(g.module);
}

}  // namespace vyre::lab
