// The only file that includes CLI11: it costs six seconds to compile.

#include "tools/vyre/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "support/version.h"
#include "tools/vyre/command_description.h"

namespace vyre::cli {
namespace {

using Words = std::vector<std::string>;

// ---- the options of each command
// -----------------------------------------------------------------

/// An option that may be repeated and takes one word each time.
CLI::Option* add_list(CLI::App& app, const std::string& flag, Words& into,
                      const std::string& what) {
  return app.add_option(flag, into, what)->allow_extra_args(false);
}

void add_input_flags(CLI::App& app, LaunchFlags& f) {
  const std::string inputs = "Inputs";
  add_list(app, "--in", f.in,
           "Contents of a buffer, one of:\n"
           "  NAME=1,2,3           values; nothing after '=' is an empty buffer\n"
           "  NAME=@FILE           raw little-endian bytes; @- is standard input\n"
           "  NAME=raw:@FILE       the same for a file that ends in .csv, .npy, .png ...\n"
           "  NAME=random:N[:SEED] N elements: integers of any bits, floats in\n"
           "                       [-1,1); the same SEED (0) gives the same values")
      ->option_text("NAME=DATA")
      ->group(inputs);
  add_list(app, "--set", f.set, "Value of a scalar parameter")
      ->option_text("NAME=VALUE")
      ->group(inputs);
  add_list(app, "--len", f.len, "Elements of an out or scratch buffer without a formula")
      ->option_text("NAME=N")
      ->group(inputs);
  add_list(app, "--const", f.constants, "Another value for a constant of the file")
      ->option_text("NAME=VALUE")
      ->group(inputs);
  app.add_flag("--no-imports", f.no_imports,
               "Refuse programs that import files or read tables from them")
      ->group(inputs);
  app.add_option("--import-root", f.import_root,
                 "Refuse imports and table files outside of this folder")
      ->option_text("DIR")
      ->group(inputs);
  app.add_option("--grid", f.grid, "Invocations wanted, instead of the kernel's own grid")
      ->option_text("N[,M[,K]]")
      ->group(inputs);
}

/// The limits of a command that runs nothing. `memory` says what --memory-limit counts.
void add_limit_flags(CLI::App& app, LaunchFlags& f, const std::string& memory) {
  const std::string limits = "Limits";
  app.add_option("--time-limit", f.time_limit,
                 "Seconds after which reading, checking or compiling ends with an error")
      ->option_text("S")
      ->group(limits);
  app.add_option("--memory-limit", f.memory_limit, memory)->option_text("B")->group(limits);
}

void add_launch_flags(CLI::App& app, LaunchFlags& f) {
  add_input_flags(app, f);
  const std::string execution = "Execution";
  app.add_option("--subgroup-size", f.subgroup_size,
                 "Lanes of a subgroup where the kernel fixes none; else what suits the\n"
                 "device (32 on interp)")
      ->option_text("N")
      ->group(execution);
  app.add_option("--schedule", f.schedule,
                 "Order of what the specification leaves open: order, reverse or random:SEED; on\n"
                 "interp only")
      ->option_text("S")
      ->group(execution);
  app.add_option("--time-limit", f.time_limit,
                 "Seconds after which reading, checking or the launch ends with an error")
      ->option_text("S")
      ->group(execution);
  app.add_option("--memory-limit", f.memory_limit,
                 "Bytes that buffers may take (suffixes K, M, G); reading and checking\n"
                 "the program may take 64M more")
      ->option_text("B")
      ->group(execution);
  app.add_option("--output-limit", f.output_limit, "Bytes that outputs may have (suffixes K, M, G)")
      ->option_text("B")
      ->group(execution);
  app.add_flag(
         "--exact", f.exact,
         "Refuse programs whose result is proved to depend on the order of atomics, or that add\n"
         "floats by them")
      ->group(execution);
}

void add_optimizer_flags(CLI::App& app, OptimizerFlags& f) {
  const std::string optimizer = "Optimizer";
  app.add_option("--opt", f.profile,
                 "Which passes may run: none; debug, those that keep every line; release;\n"
                 "size, without what grows code. What is selected depends on the program")
      ->option_text("none|debug|release|size")
      ->group(optimizer);
  app.add_option("--passes", f.passes,
                 "These passes in this order (see `vyre opt --list`), or none")
      ->option_text("A,B|none")
      ->group(optimizer);
  app.add_option("--profile-in", f.profile_in, "Select passes by what earlier runs measured")
      ->option_text("F.json")
      ->group(optimizer);
}

void add_run(CLI::App& app, RunCommand& c) {
  app.add_option("FILE", c.file,
                 "Program in text or wire form; - is standard input. Without a name:\n"
                 "the only graph of the file if there is one, else its only kernel")
      ->required()
      ->option_text("or FILE:name");
  app.add_option("--backend", c.backend,
                 "Where it runs: one that `vyre devices` lists, or its second\n"
                 "device as in cuda:1; auto picks (default), and -v says what.\n"
                 "Options follow in brackets, as in cpu[threads=1]; `vyre devices -v`\n"
                 "lists them")
      ->option_text("auto|interp|cpu|cuda|vulkan");
  add_launch_flags(app, c.launch);
  add_optimizer_flags(app, c.optimizer);
  app.add_option("--profile-out", c.profile_out,
                 "Write what was measured, and what each pass did, for --profile-in")
      ->option_text("F.json")
      ->group("Optimizer");
  app.add_option("--plan", c.plan,
                 "Run a graph by this plan (`vyre plan --json`), or by none: a launch a\n"
                 "call, and no shared memory between intermediates")
      ->option_text("F.json|none")
      ->group("Execution");
  const std::string results = "Results";
  add_list(app, "--print", c.print, "Print a buffer on one line, or only its first n elements")
      ->option_text("NAME[:n]")
      ->group(results);
  add_list(app, "--out", c.out, "Write a buffer's raw bytes to a file, after success only")
      ->option_text("NAME=@FILE")
      ->group(results);
  app.add_flag("--verify", c.verify,
               "Compare with a second run on the interpreter (interp: in the other order)")
      ->group(results);
  app.add_flag("--json", c.json_values,
               "Results and errors as JSON on standard output: of each output the first 8\n"
               "values, with --json=N the first N; with --print what that says")
      ->group(results);
  const std::string measuring = "Measuring";
  app.add_option("--repeat", c.repeat,
                 "Run N times, each from the given inputs, and print the least and\n"
                 "the median device time; restoring the inputs is not timed")
      ->option_text("N")
      ->group(measuring);
  app.add_option("--report", c.report,
                 "Write what the run was: times by stage, passes and why they ran, bytes,\n"
                 "launches, cache, device; as a page for people (F.html) also programs\n"
                 "before and after each pass, and the code with its source lines")
      ->option_text("F.html|F.json")
      ->group(measuring);
  app.add_option("--trace", c.trace,
                 "Write a time line of host and device, for https://ui.perfetto.dev or\n"
                 "chrome://tracing")
      ->option_text("F.json")
      ->group(measuring);
  app.add_flag("-v,--verbose", c.verbose,
               "Say on standard error which device was chosen, why, and the times by stage")
      ->group(measuring);
  app.footer(
      "EXAMPLE\n"
      "  vyre run examples/saxpy.vyre --set a=2 --in x=1,2,3 --in y=10,20,30 --print y\n"
      "  y: 12 24 36\n"
      "  vyre run examples/saxpy.vyre --set a=2 --in x=random:100000 --in y=random:100000 \\\n"
      "      --repeat 100 --report saxpy.json --trace saxpy.trace.json\n\n"
      "Programs are optimized as --opt release says, but on interp, where they run as they are\n"
      "unless --opt or --passes ask. VYRE_PASSES is --passes for all commands without one.\n"
      "Files of --report and --trace are written whole or not at all, also by a run that fails.\n"
      "Exit codes: 0 done, 1 the program failed, 2 the input was bad, 3 the device or system "
      "failed.");
}

void add_check(CLI::App& app, CheckCommand& c) {
  app.add_option("FILE", c.file,
                 "Program; - is standard input; text or wire form. A name is for --sanitize")
      ->required()
      ->option_text("or FILE:name");
  app.add_flag("--strict", c.strict, "Exit with 1 if there are warnings");
  app.add_flag("--sanitize", c.sanitize,
               "Run it on the interpreter and look for data races, accesses out of\n"
               "bounds and reads of memory that nothing wrote");
  add_launch_flags(app, c.launch);
  const std::string results = "Results";
  app.add_flag("--print-ir", c.print_ir, "Print the program in IR form")->group(results);
  app.add_option("--emit-wire", c.emit_wire, "Write the program in wire form to a file")
      ->option_text("F")
      ->group(results);
  app.add_flag("--json", c.json, "Result and diagnostics as JSON on standard output")
      ->group(results);
  app.footer(
      "EXAMPLE\n"
      "  vyre check examples/saxpy.vyre\n"
      "  ok: 1 kernel\n"
      "  vyre check examples/saxpy.vyre --sanitize --set a=2 --in x=random:256 --in y=random:256\n"
      "  ok: 1 kernel; saxpy has no races in this run\n\n"
      "Inputs and Execution are for --sanitize, but for --const, --no-imports, --import-root,\n"
      "--time-limit, --memory-limit and --exact. Exit codes: 0 done, 1 a race was found or the\n"
      "run failed, 2 the input was bad, 3 the system failed.");
}

void add_emit(CLI::App& app, EmitCommand& c) {
  app.add_option("FILE", c.file,
                 "Program in text or wire form; a kernel of it by name if it has several")
      ->required()
      ->option_text("or FILE:name");
  app.add_option("--target", c.target,
                 "llvm: LLVM IR; asm: assembly; obj: an object file; ptx: text for NVIDIA\n"
                 "GPUs; spirv: Vulkan's form, as text, or with -o as a module")
      ->required()
      ->option_text("llvm|asm|obj|ptx|spirv");
  app.add_option("--arch", c.arch,
                 "Instruction set; if not given the best of this machine, sm_75 for ptx")
      ->option_text("x86-64-v2|x86-64-v3|x86-64-v4|aarch64|sm_75|sm_80|sm_90|sm_100");
  app.add_option("--symbol", c.symbol,
                 "obj: symbol of the function; vyre_kernel_NAME if not given. SYMBOL_info is the\n"
                 "constant that describes it")
      ->option_text("SYMBOL");
  app.add_option("--profile", c.profile,
                 "spirv: what the device has and computes exactly: full, nvidia, lavapipe,\n"
                 "swiftshader, weak, or words that differ, as in \"nvidia -fma32 +sqrt32\"\n"
                 "(`vyre devices -v` prints those of a device); full if not given")
      ->option_text("TEXT");
  app.add_option("--subgroup-size", c.subgroup_size,
                 "Lanes of a subgroup where the kernel fixes none; else chosen for it")
      ->option_text("N");
  app.add_option("--backend", c.backend,
                 "Device that the code is optimized for; if not given cpu, for ptx cuda, for\n"
                 "spirv vulkan, where `vyre devices` lists one")
      ->option_text("interp|cpu|cuda|vulkan");
  add_input_flags(app, c.launch);
  add_limit_flags(
      app, c.launch,
      "Bytes that inputs and, each, a compilation by LLVM may take (suffixes K, M, G);\n"
      "reading and checking the program may take 64M more");
  app.add_flag("--unoptimized", c.unoptimized, "LLVM IR as we write it, before the passes of LLVM");
  app.add_flag("--lines", c.lines,
               "Assembly to read: with the source line of each instruction; ptx: .loc; spirv:\n"
               "names and OpLine");
  app.add_option("-o,--output", c.out, "Write to a file; standard output if not given")
      ->option_text("F");
  add_optimizer_flags(app, c.optimizer);
  app.footer(
      "The function is `vyre_kernel` of src/codegen/llvm/llvm_abi.h, in PTX and SPIR-V those of\n"
      "src/codegen/ptx/ptx_abi.h and src/codegen/spirv/spirv_abi.h. An object file has the symbols "
      "of\n"
      "include/vyre/object.h. A kernel with grid barriers gives one function "
      "a\n"
      "segment. Inputs describe the launch that the kernel is optimized for; any buffer takes a\n"
      "length by --len.\n\n"
      "EXAMPLE\n"
      "  vyre emit examples/saxpy.vyre --target asm --arch x86-64-v3\n"
      "  vyre emit examples/saxpy.vyre --target llvm -o saxpy.ll\n"
      "  vyre emit examples/saxpy.vyre --target obj --arch aarch64 -o saxpy.o\n"
      "  vyre emit examples/saxpy.vyre --target ptx --arch sm_80\n"
      "  vyre emit examples/saxpy.vyre --target spirv -o saxpy.spv\n"
      "  vyre emit examples/saxpy.vyre --target spirv --profile \"-fma32 subgroup_size=8\"");
}

void add_opt(CLI::App& app, OptCommand& c) {
  app.add_option("FILE", c.file,
                 "Program in text or wire form; - is standard input. Without a name: all its\n"
                 "kernels")
      ->option_text("or FILE:name");
  app.add_option("--backend", c.backend, "Device that it is optimized for, as for `vyre run`")
      ->option_text("auto|interp|cpu|cuda|vulkan");
  add_input_flags(app, c.launch);
  add_limit_flags(
      app, c.launch,
      "Bytes that inputs may take (suffixes K, M, G); reading and checking the program\n"
      "may take 64M more");
  add_optimizer_flags(app, c.optimizer);
  app.add_option("--stop-after", c.stop_after, "Stop after so many runs of passes on a kernel")
      ->option_text("N");
  const std::string results = "Results";
  app.add_flag("--print-after-all", c.print_after_all,
               "Show the program on standard error after every run of a pass")
      ->group(results);
  app.add_flag("--print-changed", c.print_changed, "Only after those that changed it")
      ->group(results);
  app.add_flag("--time-passes", c.time_passes,
               "Show on standard error each run with its time and what it changed, and why\n"
               "each pass was selected or not")
      ->group(results);
  app.add_flag("--list", c.list, "List the passes instead: name, phase, family, what it does")
      ->group(results);
  app.add_flag("--markdown", c.markdown, "With --list: as docs/passes.md")->group(results);
  app.add_flag("--json", c.json, "Reports and programs, or the list, as JSON")->group(results);
  app.footer(
      "The optimized program goes to standard output and can be run. After every pass it is "
      "checked.\nThe passes are those of `vyre run` for the same device and inputs. Any buffer "
      "takes a "
      "length by\n--len; without inputs the launch is unknown. On interp, programs are optimized "
      "here "
      "as --opt\nrelease says.\n\n"
      "EXAMPLE\n"
      "  vyre opt examples/saxpy.vyre --print-changed\n"
      "  vyre opt examples/saxpy.vyre --passes fold_constants,remove_dead_code --time-passes");
}

void add_plan(CLI::App& app, PlanCommand& c) {
  app.add_option("FILE", c.file,
                 "Program in text or wire form; - is standard input. Without a name: its\n"
                 "only graph")
      ->required()
      ->option_text("or FILE:graph");
  app.add_option("--backend", c.backend, "The device it is planned for, as for `vyre run`")
      ->option_text("auto|interp|cpu|cuda|vulkan");
  add_launch_flags(app, c.launch);
  const std::string planning = "Planning";
  app.add_flag("--no-fusion", c.no_fusion, "One launch a call")->group(planning);
  app.add_flag("--no-reuse", c.no_reuse, "Every intermediate in memory of its own")
      ->group(planning);
  const std::string results = "Results";
  app.add_flag("--print-ir", c.print_ir, "Show the graph and its kernels after fusion, too")
      ->group(results);
  app.add_flag("--json", c.json, "The plan as data: a file for `vyre run --plan`")->group(results);
  app.footer(
      "Lengths that are not given are assumed (2^20 elements), scalars are 1; any buffer takes a\n"
      "length by --len here. With --memory-limit it compiles the kernels, says what memory a run\n"
      "needs, and refuses a limit that `vyre run` refuses. Nothing runs.\n\n"
      "EXAMPLE\n"
      "  vyre plan examples/hex_newlines.vyre\n"
      "  vyre plan examples/hex_newlines.vyre --len text=4096 --json > p.json\n"
      "  vyre run examples/hex_newlines.vyre --in text=@dump.txt --plan p.json");
}

void add_bisect(CLI::App& app, BisectCommand& c) {
  app.add_option("FILE", c.file, "Program in text or wire form; - is standard input")
      ->required()
      ->option_text("or FILE:name");
  app.add_option("--backend", c.backend, "Where it runs, as for `vyre run`")
      ->option_text("auto|interp|cpu|cuda|vulkan");
  add_launch_flags(app, c.launch);
  add_optimizer_flags(app, c.optimizer);
  const std::string results = "Results";
  app.add_option("-o,--output", c.out, "Write the program before that pass to a file")
      ->option_text("F")
      ->group(results);
  app.add_flag("--json", c.json, "The finding as JSON on standard output")->group(results);
  app.footer(
      "Finds the first run of a pass after which the result is not the interpreter's, by binary\n"
      "search, and gives the program before it. Where the result differs with no pass, it is the\n"
      "backend.\n\n"
      "EXAMPLE\n"
      "  vyre bisect examples/saxpy.vyre --backend cpu --set a=2 --in x=random:99 --in "
      "y=random:99\n\n"
      "Exit codes: 0 no difference, 1 a difference, 2 the input was bad, 3 the device or system\n"
      "failed, or a pass made a program that is not legal.");
}

void add_reduce(CLI::App& app, ReduceCommand& c) {
  app.add_option("FILE", c.file, "Program in text or wire form; - is standard input")
      ->required()
      ->option_text("or FILE:name");
  app.add_option("--mismatch", c.mismatch,
                 "Keep that these two give different results, or that one of them fails in the\n"
                 "same way. Names are those of `vyre fuzz --backends`, and interp is the\n"
                 "interpreter; B alone is compared with it")
      ->option_text("[A,]B");
  app.add_option("--test", c.test,
                 "Keep that this command of the shell exits with 0. It runs in an empty folder;\n"
                 "{} stands for the candidate's file, which else is the last argument")
      ->option_text("CMD");
  add_input_flags(app, c.launch);
  app.add_option("--time-limit", c.time_limit,
                 "Seconds after which the smallest program so far is the result (default none)")
      ->option_text("S");
  const std::string results = "Results";
  app.add_option("-o,--output", c.out, "Write the reduced program to a file")
      ->option_text("F")
      ->group(results);
  app.add_flag("--json", c.json, "The result as JSON on standard output")->group(results);
  app.footer(
      "Removes ops, loops, buffers, calls of graphs and data, and simplifies constants, sizes and\n"
      "grids, while the mismatch or the test holds. With --mismatch each smaller program passes\n"
      "the checker and the sanitizer, and the result is a text test with its inputs and the\n"
      "outputs that the interpreter gives. Ctrl-C or SIGTERM ends with the best so far.\n\n"
      "EXAMPLE\n"
      "  vyre reduce k.vyre --mismatch interp,cpu --in x=random:99 -o small.vyre\n"
      "  vyre reduce k.vyre --test 'vyre emit {} --target ptx | grep -q div.rn'\n\n"
      "Exit codes: 0 done, 2 the input was bad or nothing differs, 3 the device or system failed.");
}

void add_format(CLI::App& app, FormatCommand& c) {
  app.add_option("FILE", c.files,
                 "Files to rewrite; - reads standard input and writes standard output")
      ->required();
  app.add_flag("--check", c.check,
               "Write nothing; name the files that would change and exit with 1");
  app.footer("EXAMPLE\n  vyre fmt examples/saxpy.vyre\n  vyre fmt --check examples/*.vyre");
}

void add_explain(CLI::App& app, ExplainCommand& c) {
  app.add_option("CODE", c.code, "A code such as V0140, or an operation such as atomic_add");
  app.add_flag("--markdown", c.markdown, "Print all pages as docs/errors.md");
  app.add_flag("--ops-markdown", c.ops_markdown, "Print all operations as docs/ops.md");
  app.add_flag("--json", c.json, "As JSON");
  app.footer("EXAMPLE\n  vyre explain V0140\n  vyre explain atomic_add");
}

void add_devices(CLI::App& app, DevicesCommand& c) {
  app.add_flag("-v,--verbose", c.verbose,
               "Also their limits and properties: what is native and what is expanded");
  app.add_flag("--json", c.json,
               "As JSON, with all limits and properties; with -v also what self-tests found");
  app.footer(
      "Each line begins with what `vyre run --backend` takes. Backends that are not here say "
      "why.\n\n"
      "EXAMPLE\n  vyre devices -v");
}

void add_fuzz(CLI::App& app, FuzzCommand& c) {
  app.add_option("--seed", c.seed, "The first program; the same seed gives the same program")
      ->option_text("N");
  app.add_option("--count", c.count, "Programs (default 1000, without end if --minutes is given)")
      ->option_text("N");
  app.add_option("--inputs", c.inputs, "Runs of each kernel with other inputs (default 1)")
      ->option_text("N");
  app.add_option("--minutes", c.minutes, "Stop after this time")->option_text("M");
  app.add_option(
         "--backends", c.backends,
         "What is compared with the reference: interp, text, wire, sanitizer, opt,\n"
         "plan, one of a group such as interp:reverse:8, or devices such as cpu, cuda:1 and\n"
         "cpu[isa=x86-64-v2,threads=1] (default all that are here)")
      ->option_text("A,B");
  app.add_flag("--graphs", c.graphs, "Every program is a graph (else one in seven)");
  app.add_option("--out", c.out, "Folder for the programs that fail, ready to run")
      ->option_text("DIR");
  app.add_option("--reduced", c.reduced,
                 "Folder for the reduced programs, as text tests (default the current one)")
      ->option_text("DIR");
  app.add_flag("--no-reduce", c.no_reduce, "Leave programs that fail as they are");
  app.add_flag("--json", c.json, "Summary and findings as JSON on standard output");
  app.footer(
      "Each mismatch is reduced for at most a minute (see `vyre reduce`).\n"
      "Ctrl-C or SIGTERM stops after the current program, with the summary of what was done. With\n"
      "--count 1 and --out the program is kept whether it fails or not.\n\n"
      "EXAMPLE\n"
      "  vyre fuzz --minutes 10 --out found\n"
      "  vyre fuzz --seed 4711 --count 1\n\n"
      "Exit codes: 0 no mismatch, 1 a mismatch, 2 the flags were bad.");
}

void add_certify(CLI::App& app, CertifyCommand& c) {
  app.add_option("--backend", c.backend,
                 "The device (see `vyre devices`), with options in brackets if it has any:\n"
                 "cpu[isa=x86-64-v2,threads=1], interp[split]")
      ->option_text("D");
  app.add_option("--only", c.only, "Only cases with this in `group/name`")->option_text("TEXT");
  app.add_option("--except", c.except, "Without cases with this in `group/name`")
      ->option_text("TEXT");
  app.add_option("--part", c.part, "Only every Nth case, from the Kth on: for N processes at once")
      ->option_text("K/N");
  app.add_flag("--quick", c.quick, "Without what takes long");
  app.add_flag("--large", c.large, "With buffers above 4 GiB, if the device has the memory");
  app.add_option("--fuzz", c.fuzz, "Generated programs (default 200, with --quick 40)")
      ->option_text("N");
  app.add_option("--seed", c.seed, "The first of them (default 1)")->option_text("N");
  app.add_option("--tests", c.tests,
                 "Root of a source tree, instead of the programs in this binary")
      ->option_text("DIR");
  app.add_flag("-v,--verbose", c.verbose, "Also what was refused or skipped, and why");
  app.add_flag("--json", c.json, "The report as JSON on standard output");
  app.footer(
      "Every program runs on the device and on the interpreter, and must give the same bytes. "
      "What\n"
      "the device refuses with a limit of its own is counted and is no failure. Ctrl-C or SIGTERM\n"
      "stops after the current case, with the report of what was done.\n\n"
      "EXAMPLE\n"
      "  vyre certify --backend cpu\n"
      "  vyre certify --backend interp --quick --only features/\n\n"
      "Exit codes: 0 it conforms, 1 it does not, 2 the flags were bad, 3 there is no such device.");
}

void add_cache(CLI::App& app, CacheCommand& c) {
  app.add_option("ACTION", c.action,
                 "ls      lists what is kept, used last first\n"
                 "verify  reads and checks every entry; exits with 1 if one is damaged\n"
                 "clear   removes all entries")
      ->required()
      ->option_text("ls|verify|clear")
      ->check(CLI::IsMember({"ls", "verify", "clear"}));
  app.add_flag("--json", c.json, "As JSON");
  app.footer(
      "The cache is in VYRE_CACHE_DIR, else XDG_CACHE_HOME/vyre, else ~/.cache/vyre; it keeps\n"
      "VYRE_CACHE_SIZE bytes (512M); VYRE_CACHE=off turns it off.\n\n"
      "EXAMPLE\n"
      "  vyre cache ls\n"
      "  vyre cache verify --json\n"
      "  vyre cache clear");
}

/// `vyre help`: implemented here, with the parser itself.
struct HelpCommand {
  Words command;
  bool man = false;
  std::string completion;
};

void add_help(CLI::App& app, HelpCommand& c) {
  app.add_option("COMMAND", c.command, "Whose help; nothing is the help of vyre itself");
  app.add_flag("--man", c.man, "Print the man page, for groff");
  app.add_option("--completion", c.completion, "Print the completion script of a shell")
      ->option_text("bash|zsh|fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  app.footer(
      "EXAMPLE\n"
      "  vyre help run\n"
      "  vyre help --completion bash > ~/.local/share/bash-completion/completions/vyre");
}

struct Parser {
  CLI::App app{
      "Compiler and runtime for compute kernels: one program, any device, the same bytes."};
  RunCommand run;
  CheckCommand check;
  EmitCommand emit;
  OptCommand opt;
  BisectCommand bisect;
  ReduceCommand reduce;
  PlanCommand plan;
  FormatCommand format;
  ExplainCommand explain;
  DevicesCommand devices;
  CacheCommand cache;
  FuzzCommand fuzz;
  CertifyCommand certify;
  HelpCommand help;

  Parser() {
    app.name("vyre");
    // Set before the subcommands, which inherit it.
    app.get_formatter()->column_width(28);
    app.get_formatter()->label("TEXT", "");
    app.get_formatter()->label("REQUIRED", "");
    app.set_version_flag("--version",
                         fmt::format("vyre {} ({})", library_version(), library_revision()),
                         "Print the version and exit");
    app.footer(
        "EXAMPLE\n"
        "  vyre run examples/saxpy.vyre --set a=2 --in x=1,2,3 --in y=10,20,30 --print y\n\n"
        "`vyre COMMAND --help` says more about a command.");
    add_run(*app.add_subcommand("run", "Run a kernel or a graph and show its outputs"), run);
    add_check(*app.add_subcommand("check", "Check a program against every rule of the language"),
              check);
    add_emit(*app.add_subcommand("emit", "Show the code that a backend runs"), emit);
    add_opt(*app.add_subcommand("opt", "Show what the optimizer makes of a program, and why"), opt);
    add_bisect(*app.add_subcommand("bisect", "Find the pass that makes a result differ"), bisect);
    add_reduce(*app.add_subcommand("reduce", "Shrink a program while it shows a failure"), reduce);
    add_plan(*app.add_subcommand("plan", "Show how a graph runs: launches, memory, and why"), plan);
    add_format(*app.add_subcommand("fmt", "Rewrite programs in the one layout of the language"),
               format);
    add_explain(
        *app.add_subcommand("explain", "Explain an error code or an operation, or list all codes"),
        explain);
    add_devices(*app.add_subcommand("devices", "List the backends, and why some are not here"),
                devices);
    add_cache(*app.add_subcommand("cache", "List, check or clear the compile cache"), cache);
    add_fuzz(*app.add_subcommand("fuzz", "Compare random programs on everything that runs them"),
             fuzz);
    add_certify(*app.add_subcommand("certify", "Test whether a device does what the language says"),
                certify);
    add_help(*app.add_subcommand("help", "Print the help of a command, or help as files"), help);
    app.require_subcommand(1);
  }
};

// ---- what can be wrong with the words
// ------------------------------------------------------------

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* o : app.get_options()) {
    for (const std::string& n : o->get_lnames()) names.push_back("--" + n);
    for (const std::string& n : o->get_snames()) names.push_back("-" + n);
  }
  return names;
}

std::string see_help(const CLI::App& app) {
  return app.get_parent() ? fmt::format("see `vyre {} --help`", app.get_name())
                          : "see `vyre --help`";
}

Diagnostic unknown_option(const std::string& word, const CLI::App& app) {
  const std::string flag = word.substr(0, word.find('='));
  const auto names = option_names(app);
  Diagnostic d = diagnose(Code::UnknownOption, {},
                          fmt::format("`{}` has no option `{}`", app.get_name(), flag));
  const std::string_view near = nearest(flag, names);
  if (!near.empty()) return d.with_fix(fmt::format("write `{}`", near));
  d.note(fmt::format("it has: {}", fmt::join(names, ", ")));
  return d.with_fix(see_help(app));
}

/// Reports all words that the parser did not recognize.
void add_extras(const CLI::App& app, Diagnostics& errors) {
  const Words extras = app.remaining(false);
  for (const std::string& word : extras)
    if (word.size() > 1 && word[0] == '-') errors.push_back(unknown_option(word, app));
  if (!errors.empty()) return;  // a word after an unknown option is most likely its value
  for (const std::string& word : extras)
    errors.push_back(diagnose(Code::ExtraArgument, {},
                              fmt::format("`{}` does not expect `{}`", app.get_name(), word))
                         .with_fix("drop it, or put the option before it whose value it is"));
}

/// Returns the text of an option's value. For options without one, CLI11 knows only the type of the
/// variable.
std::string value_text(const CLI::Option& o) {
  if (o.get_items_expected_max() == 0) return "";
  return o.get_option_text().empty() ? o.get_type_name() : o.get_option_text();
}

/// Returns an option as a fix shows it: "--grid N[,M[,K]]".
std::string written(const CLI::Option& o) {
  const std::string value = value_text(o);
  return o.get_name() + (value.empty() ? "" : " " + value);
}

/// Rewords an error of CLI11 about one option. CLI11's messages begin with the option.
Diagnostic misuse_of(const CLI::ParseError& e, const CLI::App& app) {
  const std::string what = e.what();
  const CLI::Option* o = app.get_option_no_throw(what.substr(0, what.find_first_of(": ")));
  const bool counts = e.get_exit_code() == static_cast<int>(CLI::ExitCodes::ArgumentMismatch);
  if (!o)
    return diagnose(Code::OptionMisuse, {}, fmt::format("`{}`: {}", app.get_name(), what))
        .with_fix(see_help(app));
  if (o->get_items_expected_max() == 0)
    return diagnose(Code::OptionMisuse, {},
                    fmt::format("`{}`: `{}` takes no value", app.get_name(), o->get_name()))
        .with_fix(fmt::format("write `{}`", o->get_name()));
  if (counts && o->count() > 1)
    return diagnose(Code::OptionMisuse, {},
                    fmt::format("`{}`: `{}` is given {} times", app.get_name(), o->get_name(),
                                o->count()))
        .with_fix("keep one of them");
  return diagnose(Code::OptionMisuse, {},
                  fmt::format("`{}`: `{}` lacks its value", app.get_name(), o->get_name()))
      .with_fix(fmt::format("write `{}`", written(*o)));
}

/// Rewords CLI11's "--target is required".
Diagnostic missing_argument(const CLI::ParseError& e, const CLI::App& app) {
  const std::string what = e.what();
  const std::string argument = what.substr(0, what.find(' '));
  const CLI::Option* o = app.get_option_no_throw(argument);
  if (!o)
    return diagnose(Code::MissingArgument, {},
                    fmt::format("`{}` lacks an argument: {}", app.get_name(), what))
        .with_fix(see_help(app));
  const std::string form = o->get_positional() ? argument : written(*o);
  return diagnose(Code::MissingArgument, {},
                  fmt::format("`{}` lacks an argument: `{}`", app.get_name(), argument))
      .with_fix(fmt::format("write `vyre {} {}`, or see `vyre {} --help`", app.get_name(), form,
                            app.get_name()));
}

Diagnostics errors_of(const CLI::ParseError& e, const CLI::App& app) {
  Diagnostics errors;
  add_extras(app, errors);
  // Not by its name: the name of an ExtrasError is the command's.
  const int kind = e.get_exit_code();
  if (kind == static_cast<int>(CLI::ExitCodes::RequiredError))
    errors.push_back(missing_argument(e, app));
  else if (kind != static_cast<int>(CLI::ExitCodes::ExtrasError) || errors.empty())
    errors.push_back(misuse_of(e, app));
  return errors;
}

Words command_names(const CLI::App& app) {
  Words names;
  for (const CLI::App* sub : app.get_subcommands({})) names.push_back(sub->get_name());
  return names;
}

Diagnostic unknown_command(const std::string& word, const Words& names) {
  Diagnostic d = diagnose(Code::UnknownCommand, {}, fmt::format("there is no command `{}`", word));
  d.note(fmt::format("the commands are: {}", fmt::join(names, ", ")));
  const std::string_view near = nearest(word, names);
  return d.with_fix(near.empty() ? "see `vyre --help`" : fmt::format("write `vyre {}`", near));
}

/// CLI11 takes words in reverse order, and treats `-:name` as an option: this character replaces
/// its dash.
constexpr char disguised_dash = '\x01';
Words prepared(const Words& words) {
  Words result(words.rbegin(), words.rend());
  for (std::string& word : result)
    if (word.starts_with("-:")) word[0] = disguised_dash;
  return result;
}

void undisguise(std::string& file) {
  if (file.starts_with(disguised_dash)) file[0] = '-';
}

/// Returns the help text; removes one of the two empty lines that CLI11 puts between groups.
std::string help_of(const CLI::App& app) {
  std::string text = app.help();
  for (size_t at = 0; (at = text.find("\n\n\n", at)) != text.npos;) text.erase(at, 1);
  return text;
}

const CLI::App* used_command(const CLI::App& app) {
  const auto used = app.get_subcommands();
  return used.empty() ? &app : used.front();
}

OptionDescription describe(const CLI::Option& o) {
  OptionDescription d;
  for (const std::string& n : o.get_lnames()) d.names.push_back("--" + n);
  for (const std::string& n : o.get_snames()) d.names.push_back("-" + n);
  d.positional = d.names.empty();
  if (d.positional) d.names.push_back(o.get_name());
  d.value = d.positional ? o.get_option_text() : value_text(o);
  d.what = o.get_description();
  d.group = o.get_group();
  d.required = o.get_required();
  d.repeated = o.get_items_expected_max() > 1;
  return d;
}

/// Recursion is as deep as commands are nested, which is not deep.
CommandDescription describe(const CLI::App& app, const std::string& path) {
  CommandDescription d{path, app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* o : app.get_options())
    if (!o->get_group().empty()) d.options.push_back(describe(*o));
  for (const CLI::App* c : app.get_subcommands({}))
    if (!c->get_group().empty()) d.commands.push_back(describe(*c, path + " " + c->get_name()));
  // `vyre help COMMAND`: any of the commands beside it.
  for (CommandDescription& c : d.commands)
    for (OptionDescription& o : c.options)
      if (o.names[0] == "COMMAND") o.value = fmt::format("{}", fmt::join(command_names(app), "|"));
  return d;
}

Result<Command> help_command(const Parser& p) {
  const CommandDescription app = describe(p.app, "vyre");
  if (p.help.man) return Command(TextCommand{man_page(app, library_version())});
  if (p.help.completion == "bash") return Command(TextCommand{bash_completion(app)});
  if (p.help.completion == "zsh") return Command(TextCommand{zsh_completion(app)});
  if (p.help.completion == "fish") return Command(TextCommand{fish_completion(app)});
  Words words = p.help.command;
  words.push_back("--help");
  return parse_command_line(words);
}

}  // namespace

std::string help_text() { return help_of(Parser().app); }

CommandDescription describe_command_line() { return describe(Parser().app, "vyre"); }

Result<Command> parse_command_line(const Words& words) {
  Parser p;
  // CLI11 would call an unknown command a missing one.
  const auto names = command_names(p.app);
  if (!words.empty() && !words[0].starts_with('-') &&
      std::find(names.begin(), names.end(), words[0]) == names.end())
    return unknown_command(words[0], names);
  if (words.empty())
    return diagnose(Code::NoCommand, {}, "no command was given").with_fix("see `vyre --help`");
  try {
    p.app.parse(prepared(words));
  } catch (const CLI::CallForVersion& e) {
    return Command(TextCommand{std::string(e.what()) + "\n"});
  } catch (const CLI::Success&) {
    return Command(TextCommand{help_of(p.app)});
  } catch (const CLI::ParseError& e) {
    return errors_of(e, *used_command(p.app));
  }
  undisguise(p.run.file);
  undisguise(p.check.file);
  undisguise(p.emit.file);
  undisguise(p.opt.file);
  undisguise(p.bisect.file);
  undisguise(p.reduce.file);
  undisguise(p.plan.file);
  const std::string name = used_command(p.app)->get_name();
  p.run.words = words;
  p.run.json = !p.run.json_values.empty() && p.run.json_values != "false";
  if (p.run.json_values == "true" || p.run.json_values == "false") p.run.json_values.clear();
  if (name == "run") return Command(std::move(p.run));
  if (name == "check") return Command(std::move(p.check));
  if (name == "emit") return Command(std::move(p.emit));
  if (name == "opt") return Command(std::move(p.opt));
  if (name == "plan") return Command(std::move(p.plan));
  if (name == "bisect") return Command(std::move(p.bisect));
  if (name == "reduce") return Command(std::move(p.reduce));
  if (name == "fmt") return Command(std::move(p.format));
  if (name == "explain") return Command(std::move(p.explain));
  if (name == "cache") return Command(std::move(p.cache));
  if (name == "fuzz") return Command(std::move(p.fuzz));
  if (name == "certify") return Command(std::move(p.certify));
  if (name == "help") return help_command(p);
  return Command(std::move(p.devices));
}

Result<NamedLaunch> parse_launch_line(const Words& words) {
  CLI::App app("", "run:");
  NamedLaunch launch;
  app.add_option("NAME", launch.name);
  add_launch_flags(app, launch.flags);
  try {
    app.parse(prepared(words));
  } catch (const CLI::ParseError& e) {
    return errors_of(e, app);
  }
  return launch;
}

}  // namespace vyre::cli
