#!/usr/bin/env python3
"""Checks the rules that a compiler does not check:

- A folder of lib/ includes only folders that lib/CMakeLists.txt lists before it and that its own CMakeLists.txt declares.
- lib/README.md lists the folders of lib/ in the same order.
- lib/ never includes services/; a service never includes another service.
- lib/ does not compare the names of kinds, except in admission plugins: behaviour of a kind belongs to its Resource or Strategy.
- Coroutines do not use expressions that GCC 12 compiles incorrectly (docs/decisions/0002).
- Only lib/base and the main.cc of a program read the time of the system. All other code gets a Clock from its creator.
- A file has at most 400 lines and a folder at most 25 source files. Tests are not counted.

The programs in tests/, bench/ and examples/ have to meet the rules for coroutines and sizes. They may read the time.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = re.search(r"foreach\(folder ([^)]*)\)", (ROOT / "lib/CMakeLists.txt").read_text())[1].split()
ORDER = {name: place for place, name in enumerate(FOLDERS)}
INCLUDE = re.compile(r'^#include "((?:lib|services)/([^/"]+)/[^"]*)"', re.M)
KIND_TEST = re.compile(r'(?:[Kk]ind\(?\)?|plural|resource)\s*==\s*"(?:[A-Z][a-z]+\w*|[a-z]+s)"|==\s*(?:meta::)?Gvk\{[^}]*"[A-Z]')
TEXT = re.compile(r'//[^\n]*|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.S)
CAPTURING_LAMBDA = re.compile(r"\[[&=\w][^\]\n]*\]\s*(?:\([^)]*\))?\s*(?:mutable\s*)?(?:->[^{]*)?\{")
BRACED_TEMPORARY = re.compile(r"[(,]\s*(?:[A-Z]\w*(?:::\w+)*)?\{")
CONDITION = re.compile(r"\b(if|while)\s*\(")
BRACED_RETURN = re.compile(r"\s*\{?\s*co_return\s+(?:[A-Za-z_][\w:]*(?:<[^;{}]*>)?)?\{")
CLOCK_READ = re.compile(r"\b\w+::now\(|\bClock::System\(|\b(?:std::|::)?time\((?:nullptr|NULL|0)\)|\b(?:clock_gettime|gettimeofday)\(")
CLOCK_READERS = {  # files outside lib/base that may read the time, with the reason
    "lib/testing/system_clock.h": "the one place from which tests get the real time",
    "lib/patch/apply/managed_fields_bench.cc": "measures the CPU time of a thread, which a Clock does not provide",
}
MAX_LINES = 400
MAX_FILES = 25


def declared_dependencies():
    """Returns {folder of lib/: folders that it may include}: the DEPS of its CMakeLists.txt, and recursively their DEPS."""
    direct = {}
    for folder in FOLDERS:
        match = re.search(r"apimesh_library\((\S+)([^)]*)\)", (ROOT / "lib" / folder / "CMakeLists.txt").read_text())
        direct[folder] = {word for word in match[2].split("TEST_DEPS")[0].split() if word in ORDER} if match else set()

    def closure(folder):
        return {folder}.union(*(closure(other) for other in direct[folder]))
    return {folder: closure(folder) for folder in FOLDERS}


def readme_complaints():
    """Compares the table of lib/README.md with the list of folders."""
    listed = re.findall(r"^\| \[(\w+)\]", (ROOT / "lib/README.md").read_text(), re.M)
    if listed != FOLDERS:
        yield f"lib/README.md: the table must have one row per folder, in the order of lib/CMakeLists.txt: {' '.join(FOLDERS)}"


def is_test(path):
    return path.name.endswith(("_test.cc", "_fuzz.cc", "_bench.cc")) or path.name.startswith("test") or "testing" in path.parts or "contract_tests" in path.parts


def layer_complaints(path, name, text, allowed):
    layer, folder = name.split("/")[:2]
    for included, other in INCLUDE.findall(text):
        if layer == "lib" and included.startswith("services/"):
            yield f"{name}: lib/ must not include services/: {included}"
        elif layer == "services" and included.startswith("services/") and other != folder:
            yield f"{name}: a service must not include another service: {included}"
        elif layer == "lib" and included.startswith("lib/") and not is_test(path):
            if ORDER.get(other, -1) > ORDER[folder]:
                yield f"{name}: lib/{folder} comes before lib/{other} in lib/CMakeLists.txt, so it must not include {included}"
            elif other not in allowed[folder]:
                yield f"{name}: includes {included}, but lib/{folder}/CMakeLists.txt does not declare {other}"


def kind_complaints(path, name, text):
    if not name.startswith("lib/") or is_test(path) or "/plugins/" in name:
        return
    for number, line in enumerate(text.splitlines(), 1):
        if KIND_TEST.search(line) and '"Status"' not in line:  # Status is not a resource but a response
            yield f"{name}:{number}: lib/ must not depend on the name of a kind; move this to its Resource or Strategy: {line.strip()}"


def awaited_expressions(text):
    """Yields (position, text) of the operand of every co_await, up to the end of its statement or of the enclosing parenthesis."""
    for match in re.finditer(r"\bco_await\b", text):
        depth = braces = 0
        for end in range(match.end(), len(text)):
            character = text[end]
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
            braces += {"{": 1, "}": -1}.get(character, 0)
            if depth < 0 or braces < 0 or (character == ";" and depth == 0 and braces == 0):
                break
        yield match.start(), text[match.end():end]


def expression_start(text, position):
    """Returns the start of the expression that contains a position: after its statement's beginning or its enclosing parenthesis."""
    depth = 0
    while position > 0:
        character = text[position - 1]
        depth += {")": 1, "]": 1, "(": -1, "[": -1}.get(character, 0)
        if depth < 0 or (depth == 0 and character in ";{},"):
            break
        position -= 1
    return position


def closing_parenthesis(text, position):
    """Returns the position of the parenthesis that closes the one at `position`, or the end of the text."""
    depth = 0
    for end in range(position, len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth == 0:
            return end
    return len(text)


def awaiting_conditions(code):
    """Yields (keyword, position, text after it) of every `if` and `while` whose condition contains co_await."""
    for match in CONDITION.finditer(code):
        end = closing_parenthesis(code, match.end() - 1)
        if re.search(r"\bco_await\b", code[match.end():end]):
            yield match[1], match.start(), code[end + 1:]


def coroutine_complaints(name, text):
    if "co_await" not in text:
        return
    code = TEXT.sub(lambda match: '""' if match[0][0] != "/" else "", text)
    for position, expression in awaited_expressions(code):
        number = code.count("\n", 0, position) + 1
        if CAPTURING_LAMBDA.search(expression):
            yield f"{name}: about line {number}: GCC 12 compiles a capturing lambda inside a co_await expression incorrectly; assign it to a variable first"
        elif BRACED_TEMPORARY.search(expression):
            yield f"{name}: about line {number}: GCC 12 compiles a braced temporary inside a co_await expression incorrectly; assign it to a variable first"
        elif "?" in code[expression_start(code, position):position]:
            yield f"{name}: about line {number}: GCC 12 runs a co_await in both branches of a conditional expression; use if"
    for keyword, position, after in awaiting_conditions(code):
        number = code.count("\n", 0, position) + 1
        if keyword == "while" and not after.lstrip().startswith("{"):
            yield f"{name}: about line {number}: GCC 12 compiles `while (co_await ...)` without a block incorrectly; give it a block"
        elif keyword == "if" and BRACED_RETURN.match(after):
            yield f"{name}: about line {number}: GCC 12 compiles `if (co_await ...) co_return Braced{{...}};` incorrectly; assign the co_await to a variable first"


def clock_complaints(path, name, text):
    if name.startswith("lib/base/") or path.name == "main.cc" or name in CLOCK_READERS:
        return
    code = TEXT.sub(lambda match: '""' if match[0][0] != "/" else "", text)
    for number, line in enumerate(code.splitlines(), 1):
        if CLOCK_READ.search(line):
            yield f"{name}: about line {number}: reads the time of the system; take a Clock from the creator: {line.strip()}"


def size_complaints(sources):
    counts = {}
    for path in sources:
        if is_test(path):
            continue
        counts[path.parent] = counts.get(path.parent, 0) + 1
        if (lines := path.read_text().count("\n")) > MAX_LINES:
            yield f"{path.relative_to(ROOT)}: {lines} lines; split it by concept (at most {MAX_LINES})"
    for folder, count in counts.items():
        if count > MAX_FILES:
            yield f"{folder.relative_to(ROOT)}: {count} source files; split it by concept (at most {MAX_FILES})"


def complaints():
    sources = sorted(path for layer in ("lib", "services") for ending in ("cc", "h") for path in (ROOT / layer).glob(f"**/*.{ending}"))
    allowed = declared_dependencies()
    yield from readme_complaints()
    for path in sources:
        name, text = path.relative_to(ROOT).as_posix(), path.read_text()
        yield from layer_complaints(path, name, text, allowed)
        yield from kind_complaints(path, name, text)
        yield from coroutine_complaints(name, text)
        yield from clock_complaints(path, name, text)
    programs = sorted(path for layer in ("tests", "bench", "examples") for ending in ("cc", "h") for path in (ROOT / layer).glob(f"**/*.{ending}"))
    for path in programs:
        yield from coroutine_complaints(path.relative_to(ROOT).as_posix(), path.read_text())
    yield from size_complaints(sources + programs)


found = list(complaints())
print("\n".join(found) or "layers: all rules are met")
sys.exit(1 if found else 0)
