#!/usr/bin/env python3
"""unity_groups.py RECORD SIZE FILE...: prints lines "GROUP FILE" for CMake's unity builds: files of one group can be compiled together. A group
has at most SIZE files. The lines are also written to the file RECORD.
unity_groups.py --changed BUILD_FOLDER: exits with 1 if the files would now be grouped differently, so that CMake must run again.

Two files that declare the same name in their anonymous namespaces (or as statics) get different groups, so private names need not be unique.
The parser may find names that are not declarations; these only make groups smaller.
"""
import pathlib
import re
import sys

TEXT_AND_COMMENTS = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
DECLARED = re.compile(r"\b(?:class|struct|enum(?:\s+class)?|union|using|concept)\s+(\w+)|\b(\w+)\s*(?:\(|=[^=]|;|\{|\[)")
NOT_NAMES = {"if", "for", "while", "switch", "return", "const", "noexcept", "override", "final", "sizeof", "requires", "alignas", "decltype", "operator", "default",
             "TEST", "TEST_F", "TEST_P", "INSTANTIATE_TEST_SUITE_P"}


def top_level(text):
    """Returns `text` without the contents of braces and parentheses, so that only declarations are left."""
    kept, depth = [], 0
    for character in text:
        if character in "})":
            depth -= 1
        if depth == 0:
            kept.append(character)
        if character in "{(":
            depth += 1
    return "".join(kept)


def anonymous(text):
    """Yields the contents of all anonymous namespaces."""
    for begin in re.finditer(r"\bnamespace\s*\{", text):
        depth, end = 1, begin.end()
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield text[begin.end():end - 1]


def imported_names(source):
    """Returns the names that `source` imports with using-declarations: {"Type": "schema::Type"} for `using schema::Type;`."""
    return {name.rpartition("::")[2]: name for name in re.findall(r"^using ([\w:]+::\w+);", source, flags=re.M)}


def own_names(source):
    """Returns the names that `source` declares for itself: in anonymous namespaces, as statics and as macros."""
    text = TEXT_AND_COMMENTS.sub('""', re.sub(r"^\s*#.*(?:\\\n.*)*$", "", source, flags=re.M))
    found = {"main()"} if re.search(r"\bint main\(", text) else set()
    text = re.sub(r"\bnamespace \w+ = [^;]+;|\busing (?:namespace )?[\w:]+;", "", text)  # duplicates are allowed
    text = re.sub(r"\b(class|struct)\s+(\w+)[^{};()]*\{", r"\1 \2 {", text)  # removes base classes
    parts = [top_level(inside) for inside in anonymous(text)]
    parts += re.findall(r"^(?:static|using)\b[^{;(]*[{;(=]", text, flags=re.M)
    for part in parts:
        found |= {one or other for one, other in DECLARED.findall(part)} - NOT_NAMES
    # Macros are visible in the files that follow in the group.
    return found | set(re.findall(r"^\s*#\s*define\s+(\w+)", source, flags=re.M))


def grouped(size, paths):
    """Returns lines "GROUP FILE" for CMake."""
    groups = []  # [{name: origin}, files]; in a group, a name is declared by one file or imported from one namespace
    for path in sorted(paths):
        with open(path, encoding="utf-8") as file:
            source = file.read()
        names = imported_names(source) | {name: path for name in own_names(source)}
        for group in groups:
            if len(group[1]) < size and all(group[0].get(name, origin) == origin for name, origin in names.items()):
                break
        else:
            group = [{}, []]
            groups.append(group)
        group[0] |= names
        group[1].append(path)
    return [f"{number} {path}" for number, (_, files) in enumerate(groups) for path in files]


def is_current(record):
    """Returns whether the groups in `record` are those that its files would get now. Files that are older than the record are not read."""
    size, *lines = record.read_text().splitlines()
    paths = [pathlib.Path(line.split(" ", 1)[1]) for line in lines]
    if not all(path.exists() for path in paths):
        return False
    if all(path.stat().st_mtime <= record.stat().st_mtime for path in paths):
        return True
    if grouped(int(size), map(str, paths)) != lines:
        return False
    record.touch()
    return True


def main():
    if sys.argv[1] == "--changed":
        return 0 if all(map(is_current, pathlib.Path(sys.argv[2]).glob("unity/*.txt"))) else 1
    record, size = pathlib.Path(sys.argv[1]), sys.argv[2]
    lines = grouped(int(size), sys.argv[3:])
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text("\n".join([size, *lines]) + "\n")
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
