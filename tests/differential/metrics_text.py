"""Reads metrics in the Prometheus text format."""
import re

SAMPLE = re.compile(r'^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)",?')


class Family:
    def __init__(self, kind="untyped", help_text=""):
        self.kind, self.help, self.samples = kind, help_text, []  # samples: (name, labels, value)

    def label_names(self):
        """The names of the labels of all series, without those of buckets and quantiles."""
        return {name for _, labels, _ in self.samples for name in labels} - {"le", "quantile"}

    def buckets(self):
        return {float(labels["le"]) for name, labels, _ in self.samples if name.endswith("_bucket")}

    def series(self, *, without=()):
        """The labels of all series."""
        return {tuple(sorted((key, value) for key, value in labels.items() if key not in without)) for _, labels, _ in self.samples}


def read(text):
    """{name: Family}"""
    families = {}
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name, _, help_text = line[7:].partition(" ")
            families.setdefault(name, Family()).help = help_text
        elif line.startswith("# TYPE "):
            name, kind = line[7:].split(" ")
            families.setdefault(name, Family()).kind = kind
        elif match := SAMPLE.match(line):
            sample, labels, value = match.groups()
            name = sample if sample in families else re.sub(r"_(bucket|sum|count)$", "", sample)
            families[name].samples.append((sample, dict(LABEL.findall(labels or "")), float(value)))
        else:
            assert not line.strip(), f"not a metric: {line}"
    return families
