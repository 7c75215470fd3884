#!/usr/bin/env python3
"""Compares what our server and the real kube-apiserver say about custom resources of other projects, and about damaged variants of them.

    compare_objects.py FOLDER... --ours URL --reference URL --token TOKEN [--variants N]

CustomResourceDefinitions that the folders contain are created on both servers, without conversion webhooks. Then every object of their kinds that a YAML file of the folders contains is sent with
dryRun, followed by variants in which one value is removed or replaced. Status, causes and warnings must be the same.
"""
import argparse
import collections
import copy
import json
import pathlib
import random
import sys
import time
import urllib.error
import urllib.request

import yaml

import compare_definitions

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def call(url, token, method, path, body=None):
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    request = urllib.request.Request(url + path, None if body is None else json.dumps(body).encode(), headers, method=method)
    try:
        with urllib.request.urlopen(request, context=compare_definitions.UNVERIFIED, timeout=300) as reply:
            return reply.status, json.loads(reply.read()), sorted(reply.headers.get_all("Warning") or [])
    except urllib.error.HTTPError as error:
        try:
            return error.code, json.loads(error.read()), sorted(error.headers.get_all("Warning") or [])
        except ValueError:
            return error.code, {}, []


def install(servers, token, folders):
    """Creates the definitions; returns {(apiVersion, kind): path}."""
    paths, names = {}, {}
    for _, definition in compare_definitions.definitions(folders):
        name, spec = definition["metadata"]["name"], definition["spec"]
        if name in names:
            continue
        spec.pop("conversion", None)
        if {call(url, token, "POST", DEFINITIONS, definition)[0] for url in servers} <= {201, 409}:  # 409: from an earlier run
            names[name] = spec
    for name, spec in names.items():
        version = next((v["name"] for v in spec["versions"] if v["served"]), None)
        if not version:
            continue
        for url in servers:
            end = time.monotonic() + 30
            while call(url, token, "GET", f"/apis/{spec['group']}/{version}/{spec['names']['plural']}?limit=1")[0] != 200 and time.monotonic() < end:
                time.sleep(0.2)
        for served in (v["name"] for v in spec["versions"] if v["served"]):
            namespace = "/namespaces/default" if spec["scope"] == "Namespaced" else ""
            paths[f"{spec['group']}/{served}", spec["names"]["kind"]] = f"/apis/{spec['group']}/{served}{namespace}/{spec['names']['plural']}"
    return paths


def samples(folders, paths):
    seen = set()
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.y*ml")):
            try:
                for document in yaml.load_all(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) if path.is_file() else []:
                    if isinstance(document, dict) and (document.get("apiVersion"), document.get("kind")) in paths:
                        found = {key: value for key, value in document.items() if key != "metadata"}
                        text = json.dumps(found, sort_keys=True, default=str)
                        if text not in seen:
                            seen.add(text)
                            metadata = document.get("metadata") or {}
                            yield path, {**json.loads(text), "metadata": {"name": str(metadata.get("name", "sample")).lower()[:60], "labels": metadata.get("labels")}}
            except (yaml.YAMLError, UnicodeDecodeError, TypeError, AttributeError):
                continue


def places(value, path=()):
    """Yields the paths of all values below spec and the other fields of a resource."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if not path and key in ("apiVersion", "kind", "metadata"):
            continue
        yield (*path, key)
        yield from places(inner, (*path, key))


def replacements(old):
    if isinstance(old, str):
        return "", "x", "-", "A_b", 5, old * 30
    if isinstance(old, bool):
        return not old, "x"
    if isinstance(old, (int, float)):
        return -1, 0, 99999, 1.5, "x"
    return ([], old + old, None) if isinstance(old, list) else ({}, None, "x")


def damaged(sample, count, chance):
    everywhere = list(places(sample))
    for path in chance.sample(everywhere, min(count, len(everywhere))):
        variant = copy.deepcopy(sample)
        parent = variant
        for key in path[:-1]:
            parent = parent[key]
        old = parent[path[-1]]
        new = chance.choice([*replacements(old), "(removed)"])
        if new == "(removed)":
            del parent[path[-1]]
        else:
            parent[path[-1]] = new
        yield f"{'.'.join(map(str, path))}: {json.dumps(new)[:60]}", variant


def answer(url, token, path, body):
    status, document, warnings = call(url, token, "POST", path + "?dryRun=All", body)
    if status == 201:
        metadata = document.get("metadata", {})
        return status, json.dumps({**document, "metadata": {key: metadata.get(key) for key in ("name", "generation", "labels")}}, sort_keys=True), warnings
    causes = (document.get("details") or {}).get("causes")
    return status, sorted(json.dumps(cause) for cause in causes) if causes else document.get("message"), warnings


def compare(folders, servers, token, count, seed=1):
    """Sends the objects of folders, and `count` variants of each, to both servers. Returns (numbers of versions and of objects), {(status, "same" or "different"): count} and the lines of a report."""
    chance, counts, found, lines = random.Random(seed), collections.Counter(), 0, []
    paths = install(servers, token, folders)
    for path, sample in samples(folders, paths):
        found += 1
        target = paths[sample["apiVersion"], sample["kind"]]
        for what, body in (("original", sample), *damaged(sample, count, chance)):
            ours, theirs = (answer(url, token, target, body) for url in servers)
            counts[theirs[0], "same" if ours == theirs else "different"] += 1
            if ours != theirs:
                lines += compare_definitions.report(f"{path} {sample['kind']}: {what}", ours, theirs)
    return (len(paths), found), counts, lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--ours", required=True)
    parser.add_argument("--reference", required=True)
    parser.add_argument("--token", default="admin")
    parser.add_argument("--variants", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found, counts, lines = compare(options.folders, (options.ours, options.reference), options.token, options.variants, options.seed)
    print("\n".join([*lines, "%d served versions, %d objects" % found]))
    for (status, same), count in sorted(counts.items()):
        print(f"{count} answers {status} of the reference, {same}")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
