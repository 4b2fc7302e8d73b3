#!/usr/bin/env python3
"""Checks scripts/demo: demo_checks.py PATH-OF-VYRE."""

import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VYRE = os.path.abspath(sys.argv.pop())

# A command line whose Vulkan driver crashes in every process that loads it.
CRASHES = """#!/bin/bash
case "$*" in
  *"--backend interp"* | *"--backend cpu"* | plan*) exec "$REAL" "$@" ;;
  *) kill -SEGV $$ ;;
esac
"""

# A command line of which one backend writes another byte.
DIFFERS = """#!/bin/bash
"$REAL" "$@" || exit
case "$*" in *"--backend cpu"*) printf x >>build/demo/cpu ;; esac
"""

# Prints what ninja prints; the folder has `fail` if the build fails.
CMAKE = """#!/bin/bash
[[ "$1" == --build ]] || { mkdir -p build/release; exit 0; }
for percent in 0 4 9 10 55 58 100; do printf '[%3d%%, %s] Building CXX object a.o\\n' $percent $((percent / 2)); done
[[ ! -e "$FAKE/fail" ]] || { echo "a.cc:1:1: error: a mistake"; exit 1; }
"""


class DemoTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def script(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, 0o755)
        return path

    def demo(self, vyre=VYRE, **environment):
        return subprocess.run([os.path.join(ROOT, "scripts/demo")], capture_output=True, text=True, cwd="/",
                              stdin=subprocess.DEVNULL,
                              env=dict(os.environ, VYRE=vyre, REAL=VYRE, FAKE=self.folder, **environment))

    def sums(self, done):
        return dict(re.findall(r"^(\w+) +[\d.]+ (?:us|ms|s) +([0-9a-f]{16})$", done.stdout, re.M))

    def test_shows_devices_a_kernel_backends_a_plan_and_a_report(self):
        report = os.path.join(ROOT, "build/demo/report.html")
        if os.path.exists(report):
            os.remove(report)
        done = self.demo()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for text in ("$ vyre devices\n", "interp:0 ", "kernel mandelbrot_text(", "=@@=", "$ vyre plan ",
                     "joined with stage 2", f"Open {report} in a browser."):
            self.assertIn(text, done.stdout)
        sums = self.sums(done)
        self.assertIn("interp", sums)
        self.assertEqual(len(set(sums.values())), 1)
        with open(report) as f:
            self.assertIn("<!doctype html>", f.read(100))
        self.assertNotIn("\x1b", done.stdout + done.stderr)

    def test_survives_a_driver_that_crashes(self):
        done = self.demo(self.script("vyre", CRASHES))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("a driver of this machine is broken", done.stdout)
        self.assertIn("=@@=", done.stdout)
        self.assertIn("interp", self.sums(done))
        self.assertNotIn("vulkan", self.sums(done))
        self.assertIn("in a browser.", done.stdout)

    def test_survives_a_driver_that_cannot_be_loaded(self):
        done = self.demo(VK_ICD_FILENAMES="/nothing.json", VK_DRIVER_FILES="/nothing.json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, "\nvulkan +not available\n")

    def test_fails_if_backends_disagree(self):
        if "cpu" not in self.sums(self.demo()):
            self.skipTest("backend cpu is not available")
        done = self.demo(self.script("vyre", DIFFERS))
        self.assertEqual(done.returncode, 1)
        self.assertIn("the backends do not agree", done.stderr)

    def built(self):
        self.script("cmake", CMAKE)
        self.script("dpkg-query", "#!/bin/sh\nprintf 'install ok installed'\n")
        return self.demo("", PATH=self.folder + os.pathsep + os.environ["PATH"])

    def test_shows_the_progress_of_the_build_by_tenths(self):
        self.assertEqual(re.findall(r"built (\d+) % of the command line after (\d+) s", self.built().stderr),
                         [("0", "0"), ("10", "5"), ("55", "27"), ("100", "50")])

    def test_shows_why_a_build_failed(self):
        self.script("fail", "")
        done = self.built()
        self.assertEqual(done.returncode, 1)
        self.assertIn("a.cc:1:1: error: a mistake", done.stderr)
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
