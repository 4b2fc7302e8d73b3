#!/usr/bin/env python3
"""Runs GoogleTest cases in groups, one process per group, and reports them case by case.

  cases.py groups --binaries FILE --output FILE    write ctest entries, one per group
  cases.py list --binaries FILE [--json]           print every case: name, group, labels, source
  cases.py run --binaries FILE GROUP               run the cases of a group (what ctest calls)
  cases.py run --binaries FILE --only PATTERN…     run the cases whose names match a pattern
  cases.py summary --junit FILE --binaries FILE    count the cases of a ctest run

A group holds the cases of one binary and one folder of tests/ that have the same labels. Labels stand in the
test's source: a line `// labels: slow threads` in the first lines of the file applies to all of its cases, directly
above a TEST to that case. FILE lists the binaries, one line each: prefix, path.

A case that crashes, or runs longer than its limit, fails by name; the rest of its group runs in a new process."""

import argparse
import fnmatch
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LABELS = {
    "slow": "only in `scripts/test --all`",
    "threads": "run by preset tsan",
}
CASE_SECONDS = 300  # the limit of one case; VYRE_CASE_SECONDS overrides it
GROUP_SECONDS = 1800  # ctest's limit of a group, should this script hang
LABEL_LINE = re.compile(r"^\s*// labels:\s*(.*)$")
HEADER_LINES = 8
EVENT = re.compile(r"^\[ *(RUN|OK|FAILED|SKIPPED) *\] ([^\s,]+)(?:, where .*)?(?: \((\d+) ms\))?$")


class Case:
    def __init__(self, binary, prefix, name, file, line, labels):
        self.binary, self.name, self.file, self.line, self.labels = binary, name, file, line, labels
        self.disabled = any(part.startswith("DISABLED_") for part in re.split(r"[./]", name))
        folder = os.path.dirname(os.path.relpath(file, os.path.join(ROOT, "tests")))
        parts = [prefix] + [p for p in folder.split("/") if p and p != prefix]
        self.group = ".".join(parts + sorted(labels))


class Failure(Exception):
    """A sentence for the user."""


# ---- Finding the cases.


def labels_of(text, where):
    words = text.split()
    for word in words:
        if word not in LABELS:
            known = ", ".join(sorted(LABELS))
            raise Failure(f"{where}: unknown label `{word}`; use one of: {known}")
    return set(words)


def read_labels(file):
    """Returns the labels of the whole file, and by line number those of the TEST below that line."""
    whole, by_line = set(), {}
    try:
        with open(file, encoding="utf-8") as source:
            for number, line in enumerate(source, 1):
                match = LABEL_LINE.match(line)
                if not match:
                    continue
                labels = labels_of(match[1], f"{os.path.relpath(file, ROOT)}:{number}")
                if number <= HEADER_LINES:
                    whole |= labels
                else:
                    by_line[number] = labels
    except OSError:
        pass
    return whole, by_line


def read_binaries(path):
    """Returns pairs of prefix and path; none if the preset has no binaries of cases."""
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return [line.split(None, 1) for line in f.read().splitlines() if line]


def list_binary(prefix, binary, sources):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        done = subprocess.run([binary, "--gtest_list_tests", f"--gtest_output=json:{out.name}"], cwd=ROOT,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=120)
        if done.returncode != 0:
            raise Failure(f"{binary} cannot list its tests (exit status {done.returncode}): {done.stderr.strip()}")
        suites = json.load(open(out.name))["testsuites"]
    cases = []
    for suite in suites:
        for test in suite["testsuite"]:
            file = os.path.join(ROOT, test["file"])
            if file not in sources:
                sources[file] = read_labels(file)
            whole, by_line = sources[file]
            labels = whole | by_line.get(test["line"] - 1, set())
            cases.append(Case(binary, prefix, f"{suite['name']}.{test['name']}", file, test["line"], labels))
    return cases


def list_cases(binaries):
    sources, cases = {}, []
    for prefix, binary in binaries:
        if not os.path.exists(binary):
            raise Failure(f"{os.path.relpath(binary)} is not built; run scripts/test, or cmake --build with that target")
        cases += list_binary(prefix, binary, sources)
    return cases


# ---- Running them.


class Result:
    def __init__(self, case):
        self.case, self.status, self.seconds, self.output = case, "not run", 0.0, []


def describe_exit(code):
    if code >= 0:
        return f"exit status {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def kill_group(process):
    """Ends a process and the ones it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Runner:
    """Runs cases of one binary, in as few processes as crashes and time-outs allow."""

    def __init__(self, results, seconds, verbose):
        self.pending = {r.case.name: r for r in results}
        self.binary = results[0].case.binary
        self.seconds, self.verbose = seconds, verbose
        self.strays = []  # output outside of any case, kept in case the process fails there
        self.exit_failure = None

    def run(self):
        while self.pending:
            before = len(self.pending)
            self.run_process()
            if self.exit_failure or len(self.pending) == before:
                break

    def run_process(self):
        with tempfile.NamedTemporaryFile("w", suffix=".flags") as flags:
            flags.write("--gtest_color=no\n--gtest_filter=" + ":".join(self.pending) + "\n")
            flags.flush()
            process = subprocess.Popen([self.binary, f"--gtest_flagfile={flags.name}"], cwd=ROOT, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
            try:
                self.current, self.strays = None, []
                timed_out = self.follow(process)
                if timed_out:
                    kill_group(process)
                code = process.wait()
            finally:
                kill_group(process)
        if self.current:
            what = (f"timed out after {self.seconds:g} s" if timed_out else
                    f"crashed: {describe_exit(code)}" if code < 0 else f"the process ended early: {describe_exit(code)}")
            self.finish("failed", what)
        elif timed_out:
            self.exit_failure = f"the process hung between cases for {self.seconds} s"
        elif code not in (0, 1):
            self.exit_failure = f"the process failed outside of any case: {describe_exit(code)}"
        elif self.pending:
            self.exit_failure = f"the process did not run all cases: {describe_exit(code)}"

    def follow(self, process):
        """Reads the output of a process up to its end; returns True when the current case takes too long."""
        selector = selectors.DefaultSelector()
        selector.register(process.stdout, selectors.EVENT_READ)
        os.set_blocking(process.stdout.fileno(), False)
        self.began = time.monotonic()
        rest = b""
        while True:
            left = self.began + self.seconds - time.monotonic()
            if left <= 0:
                return True
            if not selector.select(min(left, 5)):
                if process.poll() is not None:
                    return False  # a child that outlives the process holds the pipe open
                continue
            data = process.stdout.read(1 << 16)
            if data is None:
                continue
            if not data:
                self.line(rest)
                return False
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self.line(line)

    def line(self, raw):
        text = raw.decode("utf-8", "replace")
        match = EVENT.match(text)
        name = match and match[2]
        if match and match[1] == "RUN" and not self.current and name in self.pending:
            self.current = self.pending[name]
            self.began = time.monotonic()
            return
        if match and self.current and name == self.current.case.name and match[1] != "RUN":
            self.current.seconds = int(match[3] or 0) / 1000
            self.finish({"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}[match[1]])
            return
        if self.current:
            self.current.output.append(text)
        elif text:
            self.strays.append(text)

    def finish(self, status, why=None):
        result = self.current
        result.status = status
        if why:
            result.seconds = time.monotonic() - self.began
            result.output.append(why)
        del self.pending[result.case.name]
        self.current = None
        self.began = time.monotonic()
        report(result, self.verbose)


def report(result, verbose):
    case = result.case
    if result.status == "failed":
        print(f"FAILED {case.name} ({os.path.relpath(case.file, ROOT)}:{case.line}, {result.seconds:.1f} s)")
        print("\n".join("  " + line for line in result.output))
        print(f"  run it alone: {os.path.relpath(case.binary, ROOT)} --gtest_filter='{case.name}'", flush=True)
    elif result.status == "skipped":
        reason = " ".join(line.strip() for line in result.output if not re.match(r".*:\d+: Skipped$", line))
        print(f"skipped {case.name}: {reason or 'no reason given'}", flush=True)
    elif verbose:
        print(f"passed {case.name} ({result.seconds:.2f} s)", flush=True)


def run_cases(cases, verbose):
    """Runs cases of any binaries; returns the results and whether everything passed."""
    seconds = float(os.environ.get("VYRE_CASE_SECONDS", CASE_SECONDS))
    results, good = [], True
    for binary in dict.fromkeys(c.binary for c in cases):
        mine = [Result(c) for c in cases if c.binary == binary]
        runner = Runner(mine, seconds, verbose)
        runner.run()
        if runner.exit_failure:
            good = False
            print(f"FAILED {os.path.basename(binary)}: {runner.exit_failure}")
            print("\n".join("  " + line for line in runner.strays[-200:]))
        for r in mine:
            if r.status == "not run":
                print(f"FAILED {r.case.name}: it did not run")
        results += mine
    good = good and all(r.status in ("passed", "skipped") for r in results)
    return results, good


def counts_of(statuses):
    statuses = list(statuses)
    passed, skipped = statuses.count("passed"), statuses.count("skipped")
    return passed, len(statuses) - passed - skipped, skipped


def counts_text(passed, failed, skipped):
    return f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")


# ---- Commands.


def quoted(text):
    return "[==[" + text + "]==]"


def results_file(binaries, group):
    return os.path.join(os.path.dirname(os.path.abspath(binaries)), "test_results", group + ".json")


def command_groups(options):
    """Writes what ctest includes: an entry per group. A binary that is missing is an entry that fails."""
    lines = []
    try:
        groups = {}
        for case in list_cases(read_binaries(options.binaries)):
            if not case.disabled:
                groups.setdefault(case.group, case)
        for group, case in sorted(groups.items()):
            command = [sys.executable, os.path.abspath(__file__), "run", "--binaries", os.path.abspath(options.binaries), group]
            lines.append(f"add_test({quoted(group)} {' '.join(map(quoted, command))})")
            labels = ";".join([case.group.split(".")[0], *sorted(case.labels)])
            lines.append(f"set_tests_properties({quoted(group)} PROPERTIES LABELS {quoted(labels)} TIMEOUT {GROUP_SECONDS})")
    except Failure as failure:
        print(failure, file=sys.stderr)
        lines = [f"add_test(cases_NOT_BUILT {quoted(sys.executable)} -c {quoted(f'import sys; sys.exit({str(failure)!r})')})"]
    with open(options.output, "w") as out:
        out.write("\n".join(lines) + "\n")


def command_list(options):
    cases = list_cases(read_binaries(options.binaries))
    if options.json:
        json.dump([{"name": c.name, "group": c.group, "labels": sorted(c.labels), "disabled": c.disabled,
                    "file": os.path.relpath(c.file, ROOT), "line": c.line} for c in cases], sys.stdout, indent=1)
        print()
        return
    for c in cases:
        tier = "disabled" if c.disabled else "slow" if "slow" in c.labels else "core"
        print(f"{tier:<8} {c.group:<28} {c.name}")


def command_run(options):
    cases = [c for c in list_cases(read_binaries(options.binaries)) if not c.disabled]
    if options.only:
        chosen = [c for c in cases if any(matches(c.name, p) for p in options.only)]
        if not chosen:
            return None
    else:
        chosen = [c for c in cases if c.group == options.group]
        if not chosen:
            raise Failure(f"no group is called `{options.group}`; cases.py list shows them")
    results, good = run_cases(chosen, verbose=options.verbose or bool(options.only))
    if not options.only:
        file = results_file(options.binaries, options.group)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "w") as out:
            json.dump([{"name": r.case.name, "status": r.status, "seconds": r.seconds} for r in results], out, indent=1)
    print(counts_text(*counts_of(r.status for r in results)))
    return good


def matches(name, pattern):
    return fnmatch.fnmatchcase(name, pattern) if re.search(r"[*?\[]", pattern) else pattern in name


def command_summary(options):
    """Counts cases: a group's by its results, any other entry of ctest as one. A group whose results are older than
    the run, or missing, failed as a whole."""
    statuses = []
    for entry in xml.etree.ElementTree.parse(options.junit).getroot().iter("testcase"):
        status = {"run": "passed", "fail": "failed"}.get(entry.get("status"), "skipped")
        file = results_file(options.binaries, entry.get("name"))
        if os.path.exists(file) and os.path.getmtime(file) >= options.since:
            inside = [case["status"] for case in json.load(open(file))]
            statuses += inside
            if status == "failed" and counts_of(inside)[1] == 0:
                statuses.append("failed")  # the process failed outside of its cases
        elif entry.get("status") != "disabled":
            statuses.append(status)
    print(counts_text(*counts_of(statuses)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("groups", "list", "run", "summary"):
        command = commands.add_parser(name)
        command.add_argument("--binaries", required=True)
        if name == "groups":
            command.add_argument("--output", required=True)
        elif name == "list":
            command.add_argument("--json", action="store_true")
        elif name == "run":
            command.add_argument("group", nargs="?")
            command.add_argument("--only", nargs="+")
            command.add_argument("--verbose", action="store_true")
        else:
            command.add_argument("--junit", required=True)
            command.add_argument("--since", type=float, default=0)
    options = parser.parse_args()
    try:
        if options.command == "run":
            good = command_run(options)
            sys.exit(4 if good is None else 0 if good else 1)
        {"groups": command_groups, "list": command_list, "summary": command_summary}[options.command](options)
    except Failure as failure:
        sys.exit(f"cases.py: {failure}")


if __name__ == "__main__":
    main()
