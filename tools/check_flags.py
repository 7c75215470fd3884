#!/usr/bin/env python3
"""Finds options that are bound to a flag but never read. The field of a line `flags.Bind("name", field)` must be read as a member
(`options.field`) in the same service, or in any folder if lib/ binds it, or by its name in another line of the file that binds it."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIND = re.compile(r'\.Bind\("([\w-]+)",\s*([\w.]+)\)')
MEMBER = re.compile(r"(?:\.|->)(\w+)")


def sources():
    for suffix in ("cc", "h"):
        for path in [*ROOT.glob(f"lib/**/*.{suffix}"), *ROOT.glob(f"services/**/*.{suffix}")]:
            if not path.name.endswith(("_test.cc", "_fuzz.cc", "_bench.cc")):
                lines = [line.split("//")[0] for line in path.read_text().splitlines()]
                yield path.relative_to(ROOT), lines


def complaints():
    files = sorted(sources())
    members = {path: {word for line in lines if ".Bind(" not in line for word in MEMBER.findall(line)} for path, lines in files}
    for path, lines in files:
        scope = path.parts[:2] if path.parts[0] == "services" else ()
        for flag, target in BIND.findall("\n".join(lines)):
            field = target.split(".")[-1]
            read = any(field in words for other, words in members.items() if other.parts[:len(scope)] == scope)
            # In the file with the Bind() call, only lines with a parenthesis count; the declaration of the field has none.
            named = any(re.search(rf"\b{field}\b", line) and "(" in line for line in lines if ".Bind(" not in line)
            if not read and not named:
                yield f"{path}: --{flag} is bound to {target}, but no code reads that field: read it, or remove the flag"


found = list(complaints())
print("\n".join(found) or "flags: every bound option is read")
sys.exit(1 if found else 0)
