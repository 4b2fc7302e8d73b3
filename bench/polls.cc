// The cost of stop polls on NVIDIA GPUs, as counts: registers and instructions of the innermost
// loops of the plain kernels, compiled by ptxas for sm_90 without and with polls. Usage:
// bench_polls [PTXAS].
//
// An instruction of Volta and later has 16 bytes. In a branch, the distance in units of 4 bytes is
// in bits 16 to 23 (low) and 34 to 81 (high), counted from the next instruction.

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "bench/common/programs.h"
#include "codegen/ptx/ptx_emit.h"
#include "opt/pipeline.h"
#include "support/process.h"

namespace {

struct Code {
  std::string registers = "?";
  std::string loops;  // instructions of each innermost loop, in order
};

constexpr size_t instruction_bytes = 16;
constexpr uint64_t opcode_mask = 0xfff, branch = 0x947;

/// The kernel's machine code in a cubin, which is an ELF file.
std::string machine_code(const std::string& cubin) {
  Elf64_Ehdr head;
  if (cubin.size() < sizeof head) return "";
  std::memcpy(&head, cubin.data(), sizeof head);
  const auto section = [&](size_t i) {
    Elf64_Shdr s;
    std::memcpy(&s, cubin.data() + head.e_shoff + i * sizeof s, sizeof s);
    return s;
  };
  const Elf64_Shdr names = section(head.e_shstrndx);
  for (size_t i = 0; i < head.e_shnum; ++i) {
    const Elf64_Shdr s = section(i);
    if (std::string_view(cubin.data() + names.sh_offset + s.sh_name).starts_with(".text."))
      return cubin.substr(s.sh_offset, s.sh_size);
  }
  return "";
}

std::string innermost_loops(const std::string& code) {
  struct Loop {
    int64_t begin, end;
  };
  std::vector<Loop> loops;  // by end
  for (size_t i = 0; i + instruction_bytes <= code.size(); i += instruction_bytes) {
    uint64_t word[2];
    std::memcpy(word, code.data() + i, sizeof word);
    if ((word[0] & opcode_mask) != branch) continue;
    const uint64_t high = word[0] >> 34 | (word[1] & 0x3ffff) << 30;
    const auto units = static_cast<int64_t>((high << 8 | (word[0] >> 16 & 0xff)) << 8) >> 8;
    const auto at = static_cast<int64_t>(i / instruction_bytes);
    const int64_t target = at + 1 + units * 4 / static_cast<int64_t>(instruction_bytes);
    if (target < at) loops.push_back({target, at});
  }
  std::string text;
  for (const Loop& l : loops) {
    bool holds_another = false;
    for (const Loop& other : loops)
      holds_another |= &other != &l && l.begin <= other.begin && other.end <= l.end;
    if (!holds_another) text += fmt::format("{}{}", text.empty() ? "" : ", ", l.end - l.begin + 1);
  }
  return text;
}

Code compile(const std::string& ptxas, const std::string& folder, const vyre::Program& program,
             bool stoppable) {
  vyre::emit_ptx::EmitOptions options;
  options.arch = vyre::emit_ptx::Arch::Sm90;
  options.stoppable = stoppable;
  const auto kernel = vyre::emit_ptx::emit(program, options);
  if (!kernel) return {};
  const std::string in = folder + "/kernel.ptx", out = folder + "/kernel.cubin";
  std::ofstream(in) << kernel->text;
  const auto r = vyre::run_process({ptxas, "-arch=sm_90", "-v", in, "-o", out});
  Code code;
  const size_t used = r.err.find("Used ");
  if (r.exit_code != 0 || used == r.err.npos) return code;
  code.registers = r.err.substr(used + 5, r.err.find(' ', used + 5) - used - 5);
  std::ifstream file(out, std::ios::binary);
  const std::string cubin{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  code.loops = innermost_loops(machine_code(cubin));
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string ptxas = argc > 1 ? argv[1] : "ptxas";
  const auto version = vyre::run_process({ptxas, "--version"});
  if (version.start_error != 0 || version.exit_code != 0) {
    fmt::print(stderr, "bench_polls: cannot run `{}`; pass the path of ptxas\n", ptxas);
    return 3;
  }
  std::string folder = std::filesystem::temp_directory_path() / "vyre_polls_XXXXXX";
  if (!mkdtemp(folder.data())) return 3;
  fmt::print(
      "Registers, and instructions of innermost loops, without and with stop polls (sm_90).\n\n"
      "| kernel | registers | with polls | loops | with polls |\n|---|---|---|---|---|\n");
  for (const bench::ProgramEntry& entry : bench::program_entries(false)) {
    bench::BenchProgram program = bench::load_program(entry, bench::ProgramSize::Tiny);
    vyre::Program kernel = program.kernel();
    if (!vyre::opt::optimize(kernel, {})) continue;
    const Code without = compile(ptxas, folder, kernel, false);
    const Code with = compile(ptxas, folder, kernel, true);
    if (without.loops.empty() && with.loops.empty()) continue;
    fmt::print("| {} | {} | {} | {} | {} |\n", entry.name, without.registers, with.registers,
               without.loops, with.loops);
  }
  std::filesystem::remove_all(folder);
  return 0;
}
