"""Copies a merged corpus into the tree: keep_corpus.py MERGED KEPT

libFuzzer's set cover keeps an input only if it adds coverage. The largest files, which reach the most code, are taken
first until the limits are reached, under names that depend on their contents only.
"""

import hashlib
import pathlib
import sys

MAX_FILES = 300
MAX_BYTES = 1_000_000


def main(merged, kept):
    files = sorted(merged.iterdir(), key=lambda file: (-file.stat().st_size, file.name))
    chosen, total = {}, 0
    for file in files:
        contents = file.read_bytes()
        if len(chosen) == MAX_FILES or total + len(contents) > MAX_BYTES:
            continue
        chosen[hashlib.sha1(contents).hexdigest()[:16]] = contents
        total += len(contents)
    for old in kept.iterdir():
        old.unlink()
    for name, contents in chosen.items():
        (kept / name).write_bytes(contents)
    print(f"{kept}: {len(chosen)} of {len(files)} inputs, {total} bytes")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
