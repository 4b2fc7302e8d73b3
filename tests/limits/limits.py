#!/usr/bin/env python3
"""Programs that once passed their limits, run by the tool: each must end, with the status and code listed.

  limits.py VYRE             runs every case; exit status 1 if one ends in another way
  limits.py VYRE NAME…       only cases whose names contain NAME
  limits.py VYRE --measure   also prints the wall time and the peak memory of the process and its children

Times and memory are printed and not judged: they depend on the machine. The goals are 1.2 s under a time limit of one
second and 1.2 times the memory limit plus 200 MB.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

MAX_SECONDS = 240  # a case that takes longer is stuck
DONE = (0, "")
TIME, MEMORY = (1, "V0502"), (1, "V0503")

LIMIT_1S = ["--time-limit", "1"]
LIMIT_64M = ["--memory-limit", "64M"]
BOTH = LIMIT_1S + LIMIT_64M


def lines(n, form):
    return "".join(form.format(k, k + 1, k + 3) + "\n" for k in range(n))


def kernel(body, name="k"):
    return f"kernel {name}(y: out u32[4]) workgroup(1) grid(1) {{\n{body}\n}}\n"


def over_x(body):
    return ("kernel k(x: in u32[], y: inout u32[len(x)]) workgroup(64) grid(len(x)) {\n"
            f"  let i = global_id.x\n{body}}}\n")


def doubling(levels):
    return "fn a0(x: u32) -> u32 { return x + 1 }\n" + lines(
        levels, "fn a{1}(x: u32) -> u32 {{ return a{0}(x) + a{0}(x) }}")


def chain(levels):
    return "fn a0(x: u32) -> u32 { return x + 1 }\n" + lines(
        levels, "fn a{1}(x: u32) -> u32 {{ return a{0}(x) + 1 }}")


STEP = "kernel k(x: in u32[], y: inout u32[1]) workgroup(4) grid(len(x)) { y[0] += 1 }\n"
GRAPHS = {
    "repeat": "repeat 1000000000000 { call k(x, y) }",
    "repeat_of_repeat_0": "repeat 1000000000000 { repeat 0 { call k(x, y) } }",
    "repeat_of_while_0": "repeat 1000000000000 { while y[0] == 7 limit 0 { call k(x, y) } }",
}
ENDLESS = "kernel e(y: inout u32[]) workgroup(1) grid(1) {\n  while y[0] == 0 { }\n}\n"
PRIVATE = ("kernel k(y: out u32[16]) workgroup(16) grid(16) {\n  var t: u32[70000000]\n"
           "  t[global_id.x] = 1\n  y[global_id.x] = t[global_id.x + 1]\n}\n")


def guarded(n):
    return over_x(lines(n, "  if x[i+{0}] == {0} {{ y[i] += x[i*{0}] }}"))


def nested_whiles(n):
    return over_x(lines(n, "  var v{0} = x[i+{0}]") + lines(n, "  while v{0} < {2} {{ v{0} += 1") + "}" * n + "\n" +
                  lines(n, "  y[i] += v{0}"))


def live_across(n):
    return over_x(lines(n, "  let v{0} = x[i+{0}] * {2}") + "  barrier workgroup\n" + lines(n, "  y[i] += v{0}"))


def grid_barriers(n):
    return over_x(lines(n, "  y[i] += {0}\n  barrier grid"))


def cases():
    """Yields (name, files, arguments after the program's name, what may happen)."""
    for name, body in GRAPHS.items():
        text = STEP + f"graph g(x: in u32[], y: inout u32[1]) {{\n  {body}\n}}\n"
        inputs = ["--in", "x=", "--in", "y=7"]
        for backend in ("interp", "cpu"):
            for extra in ([], ["--plan", "none"], ["--verify"]):
                yield (f"graph.{name}.{backend}{''.join(extra).replace('--', '.').replace(' ', '')}", text,
                       ["run", ":g", "--backend", backend, *extra, *inputs, *LIMIT_1S], (DONE, TIME))
        yield f"graph.{name}.sanitize", text, ["check", ":g", "--sanitize", *inputs, *LIMIT_1S], (DONE, TIME)
    for backend in ("interp", "cpu"):
        for command in (["run", "--verify"], ["run"], ["bisect"]):
            name = f"endless.{backend}.{''.join(command).replace('--', '_')}"
            yield name, ENDLESS, [command[0], "", "--backend", backend, "--in", "y=0", *command[1:], *LIMIT_1S], (TIME,)
        for extra in ([], ["--verify"]):
            yield (f"private.{backend}{''.join(extra).replace('--', '.')}", PRIVATE,
                   ["run", "", "--backend", backend, *extra, *BOTH], (MEMORY,))
        yield f"private.time_only.{backend}", PRIVATE, ["run", "", "--backend", backend, *LIMIT_1S], (DONE, TIME)
        yield f"private.bisect.{backend}", PRIVATE, ["bisect", "", "--backend", backend, *BOTH], (MEMORY,)
    yield "private.sanitize", PRIVATE, ["check", "", "--sanitize", *BOTH], (MEMORY,)

    yield "doubling.unused", doubling(40) + kernel("  y[0] = 1"), ["check", "", *BOTH], (DONE,)
    doubled = doubling(40) + kernel("  y[0] = a40(1)")
    for command in ("check", "run", "bisect", "opt"):
        yield f"doubling.called.{command}", doubled, [command, "", *BOTH], (MEMORY, TIME)
    for target in ("llvm", "asm", "ptx", "spirv"):
        yield f"doubling.called.emit.{target}", doubled, ["emit", "", "--target", target, *BOTH], (MEMORY, TIME)
    large = doubling(20) + kernel("  y[0] = a20(1)")
    yield "million_ops.opt", large, ["opt", "", *LIMIT_1S], (DONE, TIME)
    for target in ("llvm", "ptx", "spirv"):
        yield f"million_ops.emit.{target}", large, ["emit", "", "--target", target, *LIMIT_1S], (DONE, TIME)
    large = doubling(16) + kernel("  y[0] = a16(1)")
    yield "ops_200k.opt", large, ["opt", "", *LIMIT_1S], (DONE, TIME)
    for target in ("llvm", "ptx", "spirv"):
        yield f"ops_200k.emit.{target}", large, ["emit", "", "--target", target, *LIMIT_1S], (DONE, TIME)
    huge = doubling(22) + kernel("  y[0] = a22(1)")
    yield "four_million_ops.opt", huge, ["opt", "", "--time-limit", "4"], (DONE, TIME)

    inputs = ["--backend", "cpu", "--in", "x=random:64", "--in", "y=random:64"]
    for name, make, sizes in (("guarded", guarded, (100, 200, 6000)), ("nested_whiles", nested_whiles, (400,)),
                              ("live_across", live_across, (800,)), ("grid_barriers", grid_barriers, (800,))):
        for n in sizes:
            yield f"compile.{name}.{n}", make(n), ["run", "", *inputs, *LIMIT_1S], (DONE, TIME)
            if name != "grid_barriers":
                yield f"compile.{name}.{n}.emit", make(n), ["emit", "", "--target", "asm", *LIMIT_1S], (DONE, TIME)
    yield "compile.memory", guarded(6000), ["run", "", *inputs, *LIMIT_64M], (MEMORY,)
    yield "compile.memory.emit", guarded(6000), ["emit", "", "--target", "asm", *LIMIT_64M], (MEMORY,)

    check = ["check", "", *LIMIT_1S, "--memory-limit", "256M"]
    empty = "kernel k{0}(y: out u32[4]) workgroup(1) grid(1) {{ }}"
    yield "source.kernels", lines(80_000, empty), check, (DONE, TIME)
    yield "source.constants", lines(80_000, "const c{0} = {0} + 1") + kernel("  y[0] = c0"), check, (DONE, TIME)
    yield ("source.unknown_names", lines(20_000, empty.replace("{{ }}", "{{ y[0] = unknown{0} }}")), check,
           ((2, "V0119"), TIME))
    yield ("source.graph_buffers", STEP + "graph g(x: in u32[]) {\n" + lines(10_000, "  buffer b{0}: u32[1]\n"
           "  call k(x, b{0})") + "}\n", check, (DONE, (2, ""), TIME))
    yield "source.functions", chain(8_000) + kernel("  y[0] = 1"), check, (DONE, TIME)
    yield ("source.forward_constants", lines(20_000, "const c{0} = c{1} + 1") + "const c20000 = 1\n", check,
           ((2, "V0112"), TIME))

    use = kernel("  y[0] = 1")
    for device in ("/dev/zero", "FIFO"):
        yield f"files.import.{device}", f'import "{device}"\n' + use, ["check", "", *BOTH], ((2, "V0169"),)
        yield (f"files.table.{device}", f'const t: u8[] = @"{device}"\n' + kernel("  y[0] = u32(t[0])"),
               ["check", "", *BOTH], ((2, "V0161"),))
    yield "files.imports", "IMPORTS" + use, ["check", "", *BOTH], ((2, "V0169"),)


def proportional_bytes(pid):
    """Memory of a process; a page that n processes share counts as 1/n of a page of each."""
    try:
        text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:")), 0)


class Peak(threading.Thread):
    """The most memory that a process and its descendants have together, by samples."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.bytes, self.done = pid, 0, False

    def run(self):
        while not self.done:
            parents = {}
            for entry in os.listdir("/proc"):
                if not entry.isdigit():
                    continue
                try:
                    fields = pathlib.Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()
                except OSError:
                    continue
                parents[int(entry)] = int(fields[1])
            family, more = {self.pid}, {self.pid}
            while more:
                more = {pid for pid, parent in parents.items() if parent in more} - family
                family |= more
            self.bytes = max(self.bytes, sum(map(proportional_bytes, family)))
            time.sleep(0.01)


def run_case(vyre, folder, text, arguments, is_measured):
    os.mkfifo(folder / "fifo")
    if text.startswith("IMPORTS"):
        for k in range(1001):
            (folder / f"i{k}.vyre").write_text(f"const c{k} = {k}\n")
        text = lines(1001, 'import "i{0}.vyre"') + text[len("IMPORTS"):]
    program = folder / "p.vyre"
    program.write_text(text.replace("FIFO", str(folder / "fifo")))
    words = [vyre, arguments[0], str(program) + arguments[1], *arguments[2:]]
    environment = {**os.environ, "VYRE_CACHE": "off"}
    begin = time.monotonic()
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True, errors="replace", env=environment)
    peak = Peak(process.pid)
    if is_measured:
        peak.start()
    try:
        _, errors = process.communicate(timeout=MAX_SECONDS)
        status = process.returncode
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        status, errors = "stuck", ""
    seconds = time.monotonic() - begin
    peak.done = True
    return status, errors, seconds, peak.bytes


def main():
    words = sys.argv[1:]
    is_measured = "--measure" in words
    words = [w for w in words if w != "--measure"]
    vyre, names = os.path.abspath(words[0]), words[1:]
    passed = failed = 0
    for name, text, arguments, expected in cases():
        if names and not any(part in name for part in names):
            continue
        with tempfile.TemporaryDirectory() as folder:
            status, errors, seconds, peak = run_case(vyre, pathlib.Path(folder), text, arguments, is_measured)
        ends = any(status == code and (not text or f"[{text}]" in errors) for code, text in expected)
        first = next((line for line in errors.splitlines() if "[V" in line), "")[:90]
        if is_measured:
            print(f"{'ok  ' if ends else 'FAIL'} {name:<40} status {status} {seconds:6.2f} s {peak / 1e6:7.0f} MB  {first}",
                  flush=True)
        elif not ends:
            print(f"FAIL {name}: status {status}, expected {expected}\n{errors[:500]}", flush=True)
        passed += ends
        failed += not ends
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
