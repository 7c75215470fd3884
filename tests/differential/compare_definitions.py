#!/usr/bin/env python3
"""Compares what our server and the real kube-apiserver say about CustomResourceDefinitions of other projects, and about variants of them with broken rules.

    compare_definitions.py FOLDER... --ours URL --reference URL [--token TOKEN] [--limit N]

A folder is searched for YAML files with CustomResourceDefinitions, such as the source of a project. Definitions are sent with dryRun, so that nothing is stored.
For each definition with rules, variants are sent too: one with a rule that does not compile, one without limits of sizes, one whose rules use oldSelf everywhere.
"""
import argparse
import collections
import copy
import json
import pathlib
import re
import ssl
import sys
import urllib.error
import urllib.request

import yaml

PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All"
UNVERIFIED = ssl._create_unverified_context()


def definitions(folders):
    """Yields each different definition once."""
    seen = set()
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.y*ml")):
            try:
                text = path.read_text() if path.is_file() else ""
                if "kind: CustomResourceDefinition" not in text:
                    continue
                for document in yaml.load_all(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
                    if isinstance(document, dict) and document.get("apiVersion") == "apiextensions.k8s.io/v1" and document.get("kind") == "CustomResourceDefinition" and document.get("spec", {}).get("versions"):
                        document = {"metadata": {"name": document["metadata"]["name"], "annotations": document["metadata"].get("annotations")}, "spec": document["spec"]}
                        key = json.dumps(document, sort_keys=True, default=str)
                        if key not in seen:
                            seen.add(key)
                            yield path, json.loads(key)
            except (yaml.YAMLError, UnicodeDecodeError, KeyError, TypeError):
                continue  # a template or a test file


def schemas(value):
    """Yields every schema below a value, the outermost first."""
    if isinstance(value, dict):
        if "type" in value and not isinstance(value["type"], dict):
            yield value
        for key, inner in value.items():
            if key != "default":
                yield from schemas(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from schemas(inner)


def rules(definition):
    return [rule for schema in schemas(definition["spec"]["versions"]) for rule in schema.get("x-kubernetes-validations", [])]


def variants(definition):
    yield "original", definition
    count = len(rules(definition))
    for name, index, rule in (("broken first", 0, "self.nope == 1"), ("broken middle", count // 2, "self =="), ("broken last", -1, "1")):
        if count:
            changed = copy.deepcopy(definition)
            rules(changed)[index]["rule"] = rule
            yield name, changed
    if count:
        unlimited = copy.deepcopy(definition)
        for schema in schemas(unlimited["spec"]["versions"]):
            for word in ("maxItems", "maxLength", "maxProperties"):
                schema.pop(word, None)
        yield "no limits", unlimited
        transitions = copy.deepcopy(definition)
        for rule in rules(transitions):
            rule["rule"] = f"({rule['rule']}) || self == oldSelf"
        yield "oldSelf", transitions


def send(url, token, body):
    request = urllib.request.Request(url + PATH, json.dumps(body).encode(), {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}, method="POST")
    try:
        with urllib.request.urlopen(request, context=UNVERIFIED, timeout=120) as reply:
            return reply.status, None, sorted(reply.headers.get_all("Warning") or [])
    except urllib.error.HTTPError as error:
        try:
            answer = json.loads(error.read())
        except ValueError:
            answer = {}
        causes = answer.get("details", {}).get("causes", [])
        for cause in causes:
            if "contributed to estimated rule cost total" in cause["message"]:
                cause["field"] = ""  # if more than four rules cost the same, the reference names any of them
        # The order of causes is random in the reference.
        causes = sorted(json.dumps(cause) for cause in causes) or [answer.get("message")]
        return error.code, [re.sub(r"selfType\d+", "selfType", cause or "") for cause in causes], []


def only_in(left, right):
    """What one answer has and the other does not."""
    if left == right:
        return []
    if isinstance(left, list) and isinstance(right, list):
        return [one for one in left if one not in right]
    return [left]


def report(what, ours, theirs):
    """The lines that describe two different answers of (status, causes or object, warnings)."""
    yield f"{what}: ours {ours[0]}, reference {theirs[0]}"
    for mark, left, right in (("ours     ", ours, theirs), ("reference", theirs, ours)):
        for part in (1, 2):
            for one in only_in(left[part], right[part])[:4]:
                yield f"  {mark} {'warning ' if part == 2 else ''}{one}"[:1500]


def compare(folders, servers, token, limit=10**9, originals=False):
    """Sends the definitions of folders to both servers. Returns (numbers of definitions, of those with rules, of rules), {(status, "same" or "different"): count} and the lines of a report."""
    counts, found, with_rules, expressions, lines = collections.Counter(), 0, 0, 0, []
    for path, definition in definitions(folders):
        if found == limit:
            break
        found += 1
        with_rules += bool(rules(definition))
        expressions += len(rules(definition))
        for name, variant in variants(definition):
            if originals and name != "original":
                continue
            ours, theirs = (send(url, token, variant) for url in servers)
            counts["accepted" if theirs[0] == 201 else "refused", "same" if ours == theirs else "different"] += 1
            if ours != theirs:
                lines += report(f"{path} {definition['metadata']['name']}: {name}", ours, theirs)
    return (found, with_rules, expressions), counts, lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--ours", required=True)
    parser.add_argument("--reference", required=True)
    parser.add_argument("--token", default="admin")
    parser.add_argument("--limit", type=int, default=10**9)
    parser.add_argument("--originals", action="store_true", help="send no variants")
    options = parser.parse_args()
    found, counts, lines = compare(options.folders, (options.ours, options.reference), options.token, options.limit, options.originals)
    print("\n".join([*lines, "%d definitions, %d with %d rules" % found]))
    for (status, same), count in sorted(counts.items()):
        print(f"{count} {status} by the reference, {same}")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
