#!/usr/bin/env python3
"""Reads the feature gates of kube-apiserver from the sources of Kubernetes and prints the rows of the two tables in
lib/features/feature_gate_table.cc: the gates, and which gate needs which others.

usage: tools/feature_gates.py KUBERNETES-FOLDER 1.36
The folder is a source tree of Kubernetes, or k8s.io/kubernetes@VERSION in a Go module cache, beside which the staged modules are."""
import pathlib
import re
import sys

FILES = ("pkg/features/kube_features.go", *(f"staging/src/k8s.io/{path}.go" for path in (
    "apiextensions-apiserver/pkg/features/kube_features", "apiserver/pkg/features/kube_features", "client-go/features/known_features",
    "component-base/logs/api/v1/kube_features", "component-base/metrics/features/kube_features", "component-base/zpages/features/kube_features",
    "controller-manager/pkg/features/kube_features")))


def block(text, start):
    """Returns the text from the brace at `start` to the matching closing brace."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return text[start:i + 1]


def source(folder, name):
    """Returns the text of a file of the tree. In a module cache, staged modules are folders with the same minor and patch version."""
    path = pathlib.Path(folder) / name
    if not path.exists() and name.startswith("staging/src/k8s.io/"):
        module, rest = name.removeprefix("staging/src/k8s.io/").split("/", 1)
        version = pathlib.Path(folder).name.split("@v1.")[1]
        path = pathlib.Path(folder).parent / f"{module}@v0.{version}" / rest
    return path.read_text()


def read_gates(texts, names, version):
    """Returns {name: (default, locked, stage)}."""
    gates = {"AllAlpha": (False, False, "Alpha"), "AllBeta": (False, False, "Beta")}
    for text in texts:
        for found in re.finditer(r"^\t+(?:\w+\.)?(\w+):\s*\{\n?(?:\s*//[^\n]*\n)*\s*\{", text, re.M):
            if found[1] not in names:
                continue
            for spec in re.findall(r"\{([^{}]*)\}", block(text, text.index("{", found.start()))):
                since = re.search(r'Version:\s*version\.MustParse\("(\d+)\.(\d+)"\)', spec)
                if since and (int(since[1]), int(since[2])) <= version:
                    stage = re.search(r"PreRelease:\s*(?:featuregate\.)?(\w+)", spec)
                    gates[names[found[1]]] = (*(bool(re.search(rf"\b{field}:\s*true", spec)) for field in ("Default", "LockToDefault")),
                                              stage[1] if stage else "GA")
    return gates


def main(folder, version):
    texts = [source(folder, name) for name in FILES]
    names = {}
    for text in texts:
        names.update(re.findall(r'^\s*(\w+)(?:\s+(?:featuregate\.)?Feature)?\s*=\s*(?:featuregate\.Feature\()?"(\w+)"', text, re.M))
    for name, (default, locked, stage) in sorted(read_gates(texts, names, tuple(map(int, version.split(".")))).items()):
        print(f'    {{"{name}", {str(default).lower()}, {str(locked).lower()}, Stage::k{stage.capitalize() if stage == "GA" else stage}}},')
    print()
    start = re.search(r"^var defaultKubernetesFeatureGateDependencies = .*\{$", texts[0], re.M)
    edges = set()
    for name, needed in re.findall(r"^\t(?:\w+\.)?(\w+):\s*\{([^}]+)\}", block(texts[0], start.end() - 1), re.M):
        for one in needed.split(","):
            edges.add((names[name], names[re.search(r"(\w+)\)?$", one.strip())[1]]))
    for name, one in sorted(edges):
        print(f'    {{"{name}", "{one}"}},')


main(*sys.argv[1:])
