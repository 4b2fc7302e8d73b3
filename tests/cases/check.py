#!/usr/bin/env python3
"""Checks cases.py on the cases of sample.cc: check.py PATH-OF-THE-BINARY."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases.py")
BINARY = os.path.abspath(sys.argv.pop())


class CasesTest(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.binaries = os.path.join(self.scratch.name, "binaries.txt")
        self.write(self.binaries, f"sample {BINARY}\n")

    def write(self, path, text):
        with open(path, "w") as f:
            f.write(text)

    def read(self, path):
        with open(path) as f:
            return f.read()

    def call(self, *arguments, **environment):
        return subprocess.run([sys.executable, CASES, arguments[0], "--binaries", self.binaries, *arguments[1:]],
                              capture_output=True, text=True, env=dict(os.environ, **environment))

    def results(self, group):
        with open(os.path.join(self.scratch.name, "test_results", group + ".json")) as f:
            return {case["name"]: case["status"] for case in json.load(f)}

    def test_every_case_of_a_group_ends_by_name(self):
        done = self.call("run", "sample.cases")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(self.results("sample.cases"), {
            "Sample.passes": "passed", "Sample.fails": "failed", "Sample.crashes": "failed",
            "Sample.passes_after_the_crash": "passed", "Sample.exits": "failed",
            "Sample.prints_what_looks_like_an_event": "passed", "Sample.is_skipped": "skipped",
            "Few/Numbers.are_even/0": "passed", "Few/Numbers.are_even/1": "failed"})
        self.assertTrue(done.stdout.endswith("\n4 passed, 4 failed, 1 skipped\n"), done.stdout)
        for text in ("FAILED Sample.crashes", "before the crash", "crashed: SIGABRT", "a reason",
                     "ended early: exit status 0", "--gtest_filter='Sample.crashes'", "something is not installed"):
            self.assertIn(text, done.stdout)
        self.assertNotIn("output of a case that passes", done.stdout)

    def test_a_time_out_ends_one_case(self):
        done = self.call("run", "--only", "hangs", "passes", VYRE_CASE_SECONDS="5")
        self.assertEqual(done.returncode, 1)
        self.assertIn("FAILED Sample.hangs", done.stdout)
        self.assertIn("timed out after 5", done.stdout)
        self.assertTrue(done.stdout.endswith("\n2 passed, 1 failed\n"), done.stdout)

    def test_one_case_runs_alone_by_name(self):
        done = self.call("run", "--only", "Sample.passes_after*")
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (0, "1 passed, 0 failed"))
        self.assertEqual(self.call("run", "--only", "nothing").returncode, 4)

    def test_labels_make_groups(self):
        listed = {case["name"]: case for case in json.loads(self.call("list", "--json").stdout)}
        self.assertEqual(listed["Sample.hangs"]["group"], "sample.cases.slow")
        self.assertEqual(listed["Sample.has_two_labels"]["labels"], ["slow", "threads"])
        self.assertEqual(listed["Sample.passes"]["labels"], [])
        self.assertTrue(listed["Sample.DISABLED_never_runs"]["disabled"])

    def test_ctest_gets_an_entry_per_group(self):
        output = os.path.join(self.scratch.name, "groups.cmake")
        self.assertEqual(self.call("groups", "--output", output).returncode, 0)
        text = self.read(output)
        self.assertEqual(text.count("add_test("), 3)
        self.assertIn("set_tests_properties([==[sample.cases.slow.threads]==] PROPERTIES LABELS [==[sample;slow;threads]==]", text)

    def test_the_summary_counts_cases_and_other_entries(self):
        self.call("run", "sample.cases")
        junit = os.path.join(self.scratch.name, "junit.xml")
        entries = {"sample.cases": "fail", "text.a": "run", "text.b": "fail", "text.c": "notrun", "text.d": "disabled"}
        body = "".join(f'<testcase name="{name}" status="{status}"/>' for name, status in entries.items())
        self.write(junit, f"<testsuite>{body}</testsuite>")
        self.assertEqual(self.call("summary", "--junit", junit).stdout, "5 passed, 5 failed, 2 skipped\n")

    def test_wrong_input_is_a_sentence(self):
        self.assertIn("no group is called `nothing`", self.call("run", "nothing").stderr)
        self.write(self.binaries, "sample /nowhere/binary\n")
        self.assertIn("is not built", self.call("list").stderr)
        output = os.path.join(self.scratch.name, "groups.cmake")
        self.call("groups", "--output", output)
        self.assertIn("cases_NOT_BUILT", self.read(output))


if __name__ == "__main__":
    unittest.main()
