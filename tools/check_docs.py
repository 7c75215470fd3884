#!/usr/bin/env python3
"""Finds names of files and folders in documentation and comments that do not exist. A name in backticks or in a link counts if it ends like
a source file or begins with a top-level folder. `name.*` and a name without its ending stand for any file of that name."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("bench", "cmake", "deploy", "docs", "examples", "lib", "proto", "services", "tests", "tools")
NAME = re.compile(r"(?:\.\./)*[\w.-]+(?:/[\w.*-]+)*/?")
FILE = re.compile(r"\.(?:h|cc|inc|md|proto|py|tsv)$")
IN_COMMENT = re.compile(rf"\b(?:{'|'.join(FOLDERS)})/[\w./-]+")
OTHERS = {  # texts that look like names of files and are none
    "services/proxy", "services/specs",  # names of API resources
    "something_flags.inc", "proto/mesh/v1/delegate.pb.h",  # an example; a generated file
    "docs/concepts/workloads/controllers/cron-jobs",  # part of an error message of kube-apiserver
}


def known_names():
    """Returns all files and folders, also without their endings: {"lib/base/file.h", "lib/base/file", "lib/base", …}."""
    listed = [path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in (ROOT / folder).rglob("*") if "__pycache__" not in path.parts]
    names = set(FOLDERS) | set(listed) | {os.path.splitext(name)[0] for name in listed}
    return names | {path.name for path in ROOT.iterdir()}


def mentioned(path, text):
    if path.suffix == ".md":
        for name in re.findall(r"`([^`\n]+)`", text) + re.findall(r"\]\(([^)#\s]+)\)", text):
            if NAME.fullmatch(name) and (FILE.search(name) or (name.startswith(FOLDERS) and "/" in name)):
                yield name
    else:
        for line in text.splitlines():
            comment = re.search(r"(?:^|\s)//(.*)", line)
            yield from IN_COMMENT.findall(comment[1]) if comment else ()


def complaints():
    names = known_names()
    endings = {"/".join(parts[i:]) for parts in (name.split("/") for name in names) for i in range(len(parts))}
    files = subprocess.run(["git", "ls-files", "*.md", "*.h", "*.cc"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    if not files:  # not in a git repository, as in the pre-commit hook
        files = [path.relative_to(ROOT).as_posix() for suffix in ("md", "h", "cc") for path in ROOT.rglob(f"*.{suffix}") if ".venv" not in path.parts]
    for file in files:
        for name in mentioned(pathlib.Path(file), (ROOT / file).read_text()):
            plain = name.rstrip("/.,;:").removesuffix(".*")
            beside = os.path.normpath(os.path.join(os.path.dirname(file), plain))
            decision = re.fullmatch(r"docs/decisions/\d+", plain)
            if "*" not in plain and plain not in OTHERS and not decision and plain not in endings and beside not in names:
                yield f"{file}: names {name}, which does not exist"


found = list(complaints())
print("\n".join(found) or "docs: all files that are named exist")
sys.exit(1 if found else 0)
