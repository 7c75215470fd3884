#!/usr/bin/env python3
"""Holds the code to its layers: in lib/, a lower folder never includes a higher one; lib never includes services; services
talk over gRPC and never include each other; lib/ names no kinds; files stay small."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = re.search(r"foreach\(folder ([^)]*)\)", (ROOT / "lib/CMakeLists.txt").read_text())[1].split()
ORDER = {name: place for place, name in enumerate(FOLDERS)}
INCLUDE = re.compile(r'^#include "((?:lib|services)/([^/"]+)/[^"]*)"', re.M)
KIND_TEST = re.compile(r'(?:[Kk]ind\(?\)?|plural|resource)\s*==\s*"(?:[A-Z][a-z]+\w*|[a-z]+s)"')
MAX_LINES = 600


def complaints():
    for path in sorted([*ROOT.glob("lib/**/*.cc"), *ROOT.glob("lib/**/*.h"), *ROOT.glob("services/**/*.cc"), *ROOT.glob("services/**/*.h")]):
        name = path.relative_to(ROOT).as_posix()
        layer, folder = name.split("/")[:2]
        text = path.read_text()
        testing = name.endswith(("_test.cc", "_fuzz.cc", "_bench.cc")) or folder == "testing" or path.name.startswith("test")
        for included, other in INCLUDE.findall(text):
            if layer == "lib" and included.startswith("services/"):
                yield f"{name}: lib includes {included}"
            elif layer == "lib" and included.startswith("lib/") and not testing and ORDER.get(other, -1) > ORDER[folder]:
                yield f"{name}: {folder} is below {other}, but includes {included}"
            elif layer == "services" and included.startswith("services/") and other != folder:
                yield f"{name}: includes another service: {included}"
        if layer == "lib" and not testing and "/plugins/" not in name:
            for number, line in enumerate(text.splitlines(), 1):
                if KIND_TEST.search(line) and '"Status"' not in line:  # a Status is an answer, not a resource
                    yield f"{name}:{number}: lib names a kind; that belongs to its Resource or Strategy: {line.strip()}"
        if (lines := text.count("\n")) > MAX_LINES:
            yield f"{name}: {lines} lines; split it by concept (at most {MAX_LINES})"


found = list(complaints())
print("\n".join(found) or "layers: clean")
sys.exit(1 if found else 0)
