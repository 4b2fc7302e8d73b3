#!/usr/bin/env python3
"""Checks scripts/setup with an apt-get and a dpkg-query that are scripts: setup_checks.py."""

import os
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Answers as dpkg-query does; `missing` in the folder has the packages that are not installed.
DPKG_QUERY = """#!/bin/sh
for package; do :; done
grep -qx "$package" "$FAKE/missing" || printf 'install ok installed'
"""

# Writes down its arguments. Fails as often as there are files fail.1, fail.2 and so on, with their text.
APT_GET = """#!/bin/sh
echo "$*" >>"$FAKE/calls"
for fail in "$FAKE"/fail.*; do
  [ -e "$fail" ] || break
  cat "$fail" >&2
  [ -e "$FAKE/forever" ] || rm "$fail"
  exit 100
done
"""

LOCKED = "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 42 (unattended-upgr)\n"


class SetupTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for name, text in (("dpkg-query", DPKG_QUERY), ("apt-get", APT_GET)):
            self.write(name, text)
            os.chmod(os.path.join(self.folder, name), 0o755)
        self.write("missing", "")

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as f:
            f.write(text)

    def calls(self):
        try:
            with open(os.path.join(self.folder, "calls")) as f:
                return f.read().splitlines()
        except FileNotFoundError:
            return []

    def setup(self, *arguments, wait="300"):
        environment = dict(os.environ, FAKE=self.folder, VYRE_APT_WAIT=wait,
                           PATH=self.folder + os.pathsep + os.environ["PATH"])
        return subprocess.run([os.path.join(ROOT, "scripts/setup"), *arguments], capture_output=True, text=True,
                              env=environment)

    def test_does_nothing_when_all_are_installed(self):
        done = self.setup()
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(self.calls(), [])

    @unittest.skipUnless(os.geteuid() == 0, "packages are installed by root")
    def test_installs_what_is_missing_and_says_why(self):
        self.write("missing", "mold\nlibtbb-dev\ngcovr\n")
        done = self.setup("gcovr")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.calls(), ["-qq update", "-qq install -y --no-install-recommends mold libtbb-dev gcovr"])
        self.assertIn("installing 3 packages", done.stderr)
        for package, why in (("mold", "fast linker"), ("libtbb-dev", "threads of the CPU backend"),
                             ("gcovr", "requested by the caller")):
            self.assertRegex(done.stderr, f"\n  {package} +{why}\n")
        self.assertNotIn("cmake", done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "packages are installed by root")
    def test_waits_for_other_programs_that_use_apt(self):
        self.write("missing", "mold\n")
        self.write("fail.1", LOCKED)
        self.write("fail.2", LOCKED)
        done = self.setup()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([c.split()[1] for c in self.calls()], ["update", "update", "update", "install"])
        self.assertEqual(done.stderr.count("waiting up to 300 seconds"), 1)
        self.assertIn("held by process 42", done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "packages are installed by root")
    def test_waits_for_a_bounded_time(self):
        self.write("missing", "mold\n")
        self.write("fail.1", LOCKED)
        self.write("forever", "")
        done = self.setup(wait="1")
        self.assertEqual(done.returncode, 3)
        self.assertIn("still uses apt after 1 seconds", done.stderr)
        self.assertTrue(all("update" in c for c in self.calls()))

    @unittest.skipUnless(os.geteuid() == 0, "packages are installed by root")
    def test_tries_a_mirror_twice(self):
        self.write("missing", "mold\n")
        self.write("fail.1", "E: Failed to fetch\n")
        done = self.setup()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([c.split()[1] for c in self.calls()], ["update", "update", "install"])
        self.assertNotIn("waiting", done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "packages are installed by root")
    def test_shows_what_apt_says_when_it_fails(self):
        self.write("missing", "mold\n")
        self.write("fail.1", "E: Failed to fetch http://mirror\n")
        self.write("forever", "")
        done = self.setup()
        self.assertEqual(done.returncode, 3)
        self.assertIn("E: Failed to fetch http://mirror", done.stderr)
        self.assertIn("this failed: apt-get update", done.stderr)

    @unittest.skipIf(os.geteuid() == 0, "root installs them")
    def test_says_what_root_must_install(self):
        self.write("missing", "mold\n")
        done = self.setup()
        self.assertEqual(done.returncode, 3)
        self.assertIn("apt-get install mold\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
