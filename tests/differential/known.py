"""Reads docs/differences.md. A section with an `allow` block is a known difference; the block lists the steps and paths where it must occur.
A `sometimes` block lists those where it may occur, because the response of the reference is random."""
import fnmatch
import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/differences.md"


class Known:
    def __init__(self, name, step, where, sometimes):
        self.name, self.step, self.where, self.sometimes, self.seen = name, step, where, sometimes, False

    def covers(self, step, where):
        return fnmatch.fnmatchcase(step, self.step) and fnmatch.fnmatchcase(where, self.where)

    def __str__(self):
        return f"{self.name}: {self.step} {self.where}"


def load():
    found = []
    for section in re.split(r"^### ", PAGE.read_text(), flags=re.M)[1:]:
        name, text = section.split("\n", 1)
        explanation = re.sub(r"```(allow|sometimes)\n.*?```", "", text, flags=re.S).strip()
        for how, block in re.findall(r"```(allow|sometimes)\n(.*?)```", text, flags=re.S):
            assert explanation, f"{PAGE.name}: the section {name} has no explanation"
            for line in block.split("\n"):
                if line.strip():
                    step, where = line.split()
                    found.append(Known(name.strip(), step, where, how == "sometimes"))
    return found
