#!/usr/bin/env python3
"""unity_groups.py SIZE FILE...: which files can be compiled as one, as lines "GROUP FILE" for CMake's unity builds.

Two files with the same name in their anonymous namespaces (or as statics) get different groups, so nobody
has to think of unity builds when naming things. It reads names generously: a name too many only makes a group smaller.
"""
import re
import sys

TEXT_AND_COMMENTS = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
DECLARED = re.compile(r"\b(?:class|struct|enum(?:\s+class)?|union|using|concept)\s+(\w+)|\b(\w+)\s*(?:\(|=[^=]|;|\{|\[)")
NOT_NAMES = {"if", "for", "while", "switch", "return", "const", "noexcept", "override", "final", "sizeof", "requires", "alignas", "decltype", "operator", "default",
             "TEST", "TEST_F", "TEST_P", "INSTANTIATE_TEST_SUITE_P"}


def top_level(text):
    """`text` without what stands inside braces or parentheses, so that only declarations are left."""
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
    """The insides of all anonymous namespaces."""
    for begin in re.finditer(r"\bnamespace\s*\{", text):
        depth, end = 1, begin.end()
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield text[begin.end():end - 1]


def own_names(source):
    """What `source` declares for itself alone."""
    text = TEXT_AND_COMMENTS.sub('""', re.sub(r"^\s*#.*(?:\\\n.*)*$", "", source, flags=re.M))
    found = {"main()"} if re.search(r"\bint main\(", text) else set()
    text = re.sub(r"\bnamespace \w+ = [^;]+;|\busing (?:namespace )?[\w:]+;", "", text)  # the same twice does no harm
    text = re.sub(r"\b(class|struct)\s+(\w+)[^{};()]*\{", r"\1 \2 {", text)  # without what it derives from
    parts = [top_level(inside) for inside in anonymous(text)]
    parts += re.findall(r"^(?:static|using)\b[^{;(]*[{;(=]", text, flags=re.M)
    for part in parts:
        found |= {one or other for one, other in DECLARED.findall(part)} - NOT_NAMES
    # Macros reach the files that follow.
    return found | set(re.findall(r"^\s*#\s*define\s+(\w+)", source, flags=re.M))


def main():
    size, groups = int(sys.argv[1]), []  # [names, files]
    for path in sorted(sys.argv[2:]):
        with open(path, encoding="utf-8") as file:
            names = own_names(file.read())
        for group in groups:
            if len(group[1]) < size and not names & group[0]:
                break
        else:
            group = [set(), []]
            groups.append(group)
        group[0] |= names
        group[1].append(path)
    for number, (_, files) in enumerate(groups):
        for path in files:
            print(f"{number} {path}")


if __name__ == "__main__":
    main()
