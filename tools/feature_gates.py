#!/usr/bin/env python3
"""Reads the feature gates of kube-apiserver from a checkout of Kubernetes and prints the rows of
services/launcher/options/feature_gate_table.cc.

usage: tools/feature_gates.py KUBERNETES-FOLDER 1.36"""
import pathlib
import re
import sys

FILES = ("pkg/features/kube_features.go", *(f"staging/src/k8s.io/{path}.go" for path in (
    "apiextensions-apiserver/pkg/features/kube_features", "apiserver/pkg/features/kube_features", "client-go/features/known_features",
    "component-base/logs/api/v1/kube_features", "component-base/metrics/features/kube_features", "component-base/zpages/features/kube_features",
    "controller-manager/pkg/features/kube_features")))


def block(text, start):
    """The text from the brace at `start` to the one that closes it."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return text[start:i + 1]


def main(folder, version):
    version = tuple(map(int, version.split(".")))
    texts = [(pathlib.Path(folder) / name).read_text() for name in FILES]
    names = {}
    for text in texts:
        names.update(re.findall(r'^\s*(\w+)\s+(?:featuregate\.)?Feature\s*=\s*"(\w+)"', text, re.M))
    gates = {"AllAlpha": (False, False), "AllBeta": (False, False)}
    for text in texts:
        for found in re.finditer(r"^\t+(?:\w+\.)?(\w+):\s*\{\n?\s*\{", text, re.M):
            if found[1] not in names:
                continue
            for spec in re.findall(r"\{([^{}]*)\}", block(text, text.index("{", found.start()))):
                since = re.search(r'Version:\s*version\.MustParse\("(\d+)\.(\d+)"\)', spec)
                if since and (int(since[1]), int(since[2])) <= version:
                    gates[names[found[1]]] = tuple(bool(re.search(rf"{field}:\s*true", spec)) for field in ("Default", "LockToDefault"))
    for name, (default, locked) in sorted(gates.items()):
        print(f'    {{"{name}", {str(default).lower()}, {str(locked).lower()}}},')


main(*sys.argv[1:])
