#!/usr/bin/env python3
"""Finds options that are bound to a flag but never read. The field of a line `flags.Bind("name", field)` must be read as a member
(`options.field`) in the same service, or in any folder if lib/ binds it, or by its name in another line of the file that binds it.
Also compares the flags without an effect (kNobody) with the table of docs/differences.md, which must have a reason for each."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIND = re.compile(r'\.Bind\("([\w-]+)",\s*([\w.]+)\)')
NOBODY = re.compile(r'^\{"[^"]*",\s*"([\w-]+)",[^{}]*?\bkNobody\b', re.MULTILINE)
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


def unexplained():
    nobody = {flag for path in [*ROOT.glob("lib/**/*.inc"), *ROOT.glob("services/**/*.inc")] for flag in NOBODY.findall(path.read_text())}
    text = (ROOT / "docs" / "differences.md").read_text()
    section = text.partition("### Flags without an effect\n")[2].partition("\n### ")[0]
    named = {flag for row in section.splitlines() if row.startswith("|") for flag in re.findall(r"`--([\w-]+)`", row.split("|")[1])}
    for flag in sorted(nobody - named):
        yield f"docs/differences.md: --{flag} has no effect (kNobody), but \"Flags without an effect\" has no reason for it"
    for flag in sorted(named - nobody):
        yield f"docs/differences.md: \"Flags without an effect\" names --{flag}, which has an effect or does not exist"


found = [*complaints(), *unexplained()]
print("\n".join(found) or "flags: every bound option is read, and every flag without an effect has its reason")
sys.exit(1 if found else 0)
