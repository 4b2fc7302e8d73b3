"""Compares exported.txt, the list of what the package exports, with an installation.

  exported.py HEADERS OUT [--bless]

HEADERS is the folder `vyre` of the installed headers. The list names, for each public header, what
programs may use of it, and then every internal header that is installed. Checked are:

- every public header has a section, and every listed name stands in the documentation of a header;
- what a header's documentation qualifies (`opt::optimize`) is in the list;
- the internal headers are those of the list; --bless or VYRE_BLESS=1 rewrites them.

Writes OUT/HEADER.cc for each public header, a source that compiles if the header declares what is
listed for it.
"""

import os
import pathlib
import re
import sys

LIST = pathlib.Path(__file__).with_name("exported.txt")
QUALIFIED = re.compile(r"\b(?:opt|plan|driver|interp|object)(?:::\w+)+")


def read_list():
    sections = {}
    for line in LIST.read_text().splitlines():
        if line.startswith("  "):
            names.append(line.strip())
        elif line and not line.startswith("#"):
            names = sections[line] = []
    return sections


def write_internal(internal):
    text = LIST.read_text()
    LIST.write_text(text[: text.index("internal\n")] + "internal\n" + "".join(f"  {h}\n" for h in internal))


def documentation(header):
    lines = [line[2:] for line in header.read_text().splitlines() if line.lstrip().startswith("//")]
    return " ".join(lines)


def declaration(number, name):
    """Returns a declaration that compiles if `name` of namespace vyre is declared."""
    if name.startswith("VYRE_"):
        return f"#ifndef {name}\n#error {name} is not defined\n#endif\n"
    parent = name.rpartition("::")[0]
    if parent.rpartition("::")[2][:1].isupper():  # a member
        return f"struct User{number} : vyre::{parent} {{ using vyre::{name}; }};\n"
    return f"namespace user{number} {{ using vyre::{name}; }}\n"


def faults(folder, sections):
    public = {path.name: documentation(path) for path in folder.glob("*.h") if path.name != "vyre.h"}
    listed = {name for header in public for name in sections.get(header, [])}
    documented = " ".join(public.values()) + (folder / "version.h").read_text()
    words = set(re.findall(r"\w+", documented))
    for header in sorted(public.keys() - sections.keys()):
        yield f"{header} has no section"
    for name in sorted(listed):
        if name.rpartition("::")[2] not in words:
            yield f"`{name}` is listed, but no public header documents it"
    for name in sorted(set(QUALIFIED.findall(documented)) - listed):
        if name.rpartition("::")[0] not in listed:
            yield f"`{name}` is documented, but not listed"


def main():
    folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    internal = sorted(str(p.relative_to(folder / "internal")) for p in (folder / "internal").rglob("*.*"))
    if "--bless" in sys.argv or os.environ.get("VYRE_BLESS"):
        write_internal(internal)
    sections = read_list()
    found = list(faults(folder, sections))
    found += [f"{h} is installed, but not listed" for h in internal if h not in sections["internal"]]
    found += [f"{h} is listed, but not installed" for h in sections["internal"] if h not in internal]
    for fault in found:
        print(f"{LIST.name}: {fault}")
    out.mkdir(parents=True, exist_ok=True)
    for header, names in sections.items():
        if header != "internal":
            uses = "".join(declaration(i, name) for i, name in enumerate(names))
            (out / f"{header}.cc").write_text(f"#include <vyre/{header}>\n{uses}")
    return 1 if found else 0


sys.exit(main())
