"""Reads docs/differences.md: every section with an `allow` block is a named difference and says where it is seen; a `sometimes` block, where
it may be seen, because the reference's answer is chance."""
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
            assert explanation, f"{PAGE.name}: {name} is not explained"
            for line in block.split("\n"):
                if line.strip():
                    step, where = line.split()
                    found.append(Known(name.strip(), step, where, how == "sometimes"))
    return found
