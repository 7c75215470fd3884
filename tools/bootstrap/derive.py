#!/usr/bin/env python3
"""Writes services/core-api/data/bootstrap/*.json, the objects that kube-apiserver creates when it starts, and services/core-api/data/priorities.tsv.

usage: derive.py KUBECONFIG   (of a real kube-apiserver that has just started with an empty etcd)
The files have one object per line, without the fields that a server sets (uid, times, versions, managedFields, status)."""
import json
import pathlib
import subprocess
import sys

OUT = pathlib.Path(__file__).resolve().parents[2] / "services/core-api/data/bootstrap"
FILES = {
    "cluster_roles": "clusterroles", "cluster_role_bindings": "clusterrolebindings", "roles": "roles", "role_bindings": "rolebindings",
    "priority_classes": "priorityclasses", "flow_schemas": "flowschemas", "priority_levels": "prioritylevelconfigurations",
}
KEPT_METADATA = ("name", "namespace", "labels", "annotations")


def facts(item):
    item.pop("status", None)
    metadata = {key: item["metadata"][key] for key in KEPT_METADATA if key in item["metadata"]}
    rest = {key: value for key, value in item.items() if key not in ("apiVersion", "kind", "metadata")}
    return {"apiVersion": item["apiVersion"], "kind": item["kind"], "metadata": metadata, **rest}


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    for file, resource in FILES.items():
        text = subprocess.run(["kubectl", "--kubeconfig", sys.argv[1], "get", resource, "-A", "-o", "json"], check=True, capture_output=True, text=True).stdout
        items = sorted((facts(item) for item in json.loads(text)["items"]), key=lambda item: (item["metadata"].get("namespace", ""), item["metadata"]["name"]))
        (OUT / f"{file}.json").write_text("[\n" + ",\n".join(json.dumps(item, separators=(",", ":")) for item in items) + "\n]\n")
        print(f"{file}: {len(items)}")
    text = subprocess.run(["kubectl", "--kubeconfig", sys.argv[1], "get", "apiservices", "-o", "json"], check=True, capture_output=True, text=True).stdout
    specs = sorted((item["spec"] for item in json.loads(text)["items"]), key=lambda spec: (-spec["groupPriorityMinimum"], -spec["versionPriority"]))
    lines = ["# Made by tools/bootstrap: in which order discovery lists groups and versions. A dash is the core group.", "group\tversion\tgroupPriorityMinimum\tversionPriority"]
    lines += ["\t".join([spec.get("group") or "-", spec["version"], str(spec["groupPriorityMinimum"]), str(spec["versionPriority"])]) for spec in specs]
    (OUT.parent / "priorities.tsv").write_text("\n".join(lines) + "\n")


main()
