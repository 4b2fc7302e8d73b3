#!/usr/bin/env python3
"""Builds the package of the command line, unpacks it and runs it in an empty environment: binary_package.py."""

import os
import re
import subprocess
import sys
import tarfile
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILES = ("bin/vyre", "share/man/man1/vyre.1", "share/bash-completion/completions/vyre",
         "share/zsh/site-functions/_vyre", "share/fish/vendor_completions.d/vyre.fish",
         "share/vyre/examples/saxpy.vyre", "share/doc/vyre/LICENSE", "share/doc/vyre/README.md")
# The parts of the C library.
LIBRARIES = re.compile(r"linux-vdso|linux-gate|ld-linux|lib(c|m|dl|pthread|rt)\.so")


def run(*command):
    """The output of a command that has no environment and the folder / as its own."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={}, cwd="/").stdout


def main():
    made = subprocess.run([os.path.join(ROOT, "scripts/package")], check=True, stdout=subprocess.PIPE, text=True).stdout
    archive = os.path.join(ROOT, made.splitlines()[-1])
    name = os.path.basename(archive).removesuffix(".tar.gz")
    assert re.fullmatch(r"vyre-[\d.]+-linux-\w+", name), name
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as tar:
            members = tar.getnames()
            assert all(m == name or m.startswith(name + "/") for m in members), members
            assert not any(m.endswith((".a", ".h", ".cmake")) and "/examples/" not in m for m in members), members
            tar.extractall(folder)
        root = os.path.join(folder, name)
        for file in FILES:
            assert os.path.isfile(os.path.join(root, file)), file
        vyre = os.path.join(root, "bin/vyre")
        libraries = run("/usr/bin/ldd", vyre).splitlines()
        assert libraries and all(LIBRARIES.search(line) for line in libraries), libraries
        printed = run(vyre, "run", os.path.join(root, "share/vyre/examples/saxpy.vyre"), "--set", "a=2", "--in", "x=1,2",
                      "--in", "y=10,20", "--print", "y", "--backend", "interp")
        assert printed == "y: 12 24\n", printed
        assert "interp:0" in run(vyre, "devices")
    print(f"{name}.tar.gz: {os.path.getsize(archive) / 1e6:.1f} MB, {len(members)} entries")
    return 0


if __name__ == "__main__":
    sys.exit(main())
