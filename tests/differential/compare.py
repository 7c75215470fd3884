"""Compares two responses. Differences are {where: text}; `where` is `status`, `header.Name` or `body.path`."""
import itertools
import json
import time

import normal
import wire

# Headers that always differ or that the HTTP library sets.
IGNORED_HEADERS = {"date", "content-length", "audit-id", "transfer-encoding", "connection"}
# The values of these headers are hashes, identifiers or times; only their presence is compared.
PRESENCE_ONLY = {"etag", "x-kubernetes-pf-flowschema-uid", "x-kubernetes-pf-prioritylevel-uid", "last-modified", "expires"}


def headers(reply, side):
    found = {}
    for name, value in reply.headers:
        name = name.lower()
        if name not in IGNORED_HEADERS:
            found.setdefault(name, []).append("" if name in PRESENCE_ONLY else normal.text(value, side))
    return found


def content_type(reply):
    return next((value for name, value in reply.headers if name.lower() == "content-type"), "")


def document(reply, side, step):
    """Returns the body as a structure, and as text to compare the order of keys and the white space."""
    if "protobuf" in content_type(reply):
        if "openapi" in content_type(reply) or not reply.body:
            return reply.body.hex(), None
        tree = json.loads(normal.text(json.dumps(wire.tree(reply.body)), side))
        return wire.without_moments(tree, time.time()), None
    text = normal.text(reply.body.decode("utf-8", "backslashreplace"), side)
    if "json" not in content_type(reply):
        return text, text
    try:
        if "without" in step:  # the text differs in the removed keys
            return without(json.loads(text), set(step["without"])), None
        return json.loads(text), text
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in text.splitlines()], text
    except ValueError:
        return text, text


def in_any_order(document):
    """Sorts the causes of an error, and removes the message that joins them. Sorts the conditions of an object."""
    if isinstance(document, dict) and document.get("kind") == "Status" and "causes" in (document.get("details") or {}):
        document = {key: value for key, value in document.items() if key != "message"}
        document["details"] = {**document["details"], "causes": sorted(document["details"]["causes"], key=json.dumps)}
    if isinstance(document, dict) and isinstance(document.get("status"), dict) and "conditions" in document["status"]:
        document = {**document, "status": {**document["status"], "conditions": sorted(document["status"]["conditions"], key=lambda each: each["type"])}}
    return document


def with_sorted_updates(value):
    """Sorts the adjacent entries of managedFields that are updates. Servers order them by time, which has seconds: writes that are in the same second in one
    server may be in different ones in the other."""
    if isinstance(value, list):
        return [with_sorted_updates(item) for item in value]
    if not isinstance(value, dict):
        return value
    made = {key: with_sorted_updates(item) for key, item in value.items()}
    if isinstance(made.get("managedFields"), list):
        groups = itertools.groupby(made["managedFields"], key=lambda entry: isinstance(entry, dict) and entry.get("operation") == "Update")
        made["managedFields"] = [entry for updates, group in groups for entry in (sorted(group, key=lambda e: json.dumps(e, sort_keys=True)) if updates else group)]
    return made


def without(value, keys):
    if isinstance(value, dict):
        return {k: without(v, keys) for k, v in value.items() if k not in keys or isinstance(v, dict)}
    return [without(v, keys) for v in value] if isinstance(value, list) else value


def walk(ours, theirs, where, found):
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in [*theirs, *(k for k in ours if k not in theirs)]:
            if key not in ours:
                found[f"{where}.{key}"] = f"missing; reference has {short(theirs[key])}"
            elif key not in theirs:
                found[f"{where}.{key}"] = f"extra: {short(ours[key])}"
            else:
                walk(ours[key], theirs[key], f"{where}.{key}", found)
    elif isinstance(ours, list) and isinstance(theirs, list):
        our_names, their_names = names(ours), names(theirs)
        if our_names is None or their_names is None:
            our_names, their_names = ([str(i) for i in range(len(l))] for l in (ours, theirs))
        walk(dict(zip(our_names, ours)), dict(zip(their_names, theirs)), where, found)
        common = [n for n in our_names if n in their_names]
        if common != [n for n in their_names if n in our_names]:
            found[f"{where}.order"] = f"ours {short(our_names)}\n      reference {short(their_names)}"
    elif ours != theirs or type(ours) is not type(theirs):
        found[where] = f"ours {short(ours)}\n      reference {short(theirs)}"


def names(values):
    """Returns a name for each element of a list, so that elements can be matched if one is missing; or None: then they are compared by index."""
    if all(isinstance(v, str) for v in values):
        found = values
    elif all(isinstance(v, dict) for v in values):
        found = [v.get("name") or v.get("groupVersion") or v.get("metadata", {}).get("name") or v.get("field")
                 or "/".join(str(v.get(k, "")) for k in ("manager", "operation", "subresource") if k in v) for v in values]
    else:
        return None
    return found if all(found) and len(set(found)) == len(found) else None


def short(value):
    text = json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else repr(value)
    return text if len(text) < 700 else text[:700] + "…"


def first_difference(ours, theirs):
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
    begin = max(0, at - 60)
    return f"ours …{ours[begin:at + 80]!r}\n      reference …{theirs[begin:at + 80]!r}"


def differences(step, ours, our_side, theirs, their_side):
    found = {}
    if ours.status != theirs.status:
        found["status"] = f"ours {ours.status}\n      reference {theirs.status}"
    our_headers, their_headers = headers(ours, our_side), headers(theirs, their_side)
    if step.get("any_order"):
        for found_headers in (our_headers, their_headers):
            found_headers.get("warning", []).sort()
    for name in sorted(set(our_headers) | set(their_headers)):
        if our_headers.get(name) != their_headers.get(name):
            found[f"header.{name}"] = f"ours {our_headers.get(name)}\n      reference {their_headers.get(name)}"
    our_document, our_text = document(ours, our_side, step)
    their_document, their_text = document(theirs, their_side, step)
    if step.get("any_order"):
        (our_document, our_text), (their_document, their_text) = (in_any_order(our_document), None), (in_any_order(their_document), None)
    bodies = {}
    walk(our_document, their_document, "body", bodies)
    if any("managedFields" in where for where in bodies):
        bodies = {}
        walk(with_sorted_updates(our_document), with_sorted_updates(their_document), "body", bodies)
    elif not bodies and our_text != their_text:
        bodies["bytes"] = first_difference(our_text, their_text)
    return {**found, **bodies}
