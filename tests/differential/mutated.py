"""Makes bad objects from the valid ones in bases.yaml: one field at a time is removed or gets a value that is wrong for most fields. Also makes updates that change one field.

The objects are sent as dry runs, so that an object that both servers accept does not get in the way of the next one."""
import copy
import pathlib

import yaml

BASES = pathlib.Path(__file__).parent / "bases.yaml"
# A text that is no name, no label, no path and no quantity, and numbers out of most ranges.
BAD_TEXT, LONG_TEXT, BAD_NUMBER, HUGE_NUMBER = "A b/../Z", "x" * 300, -1, 2**31 - 1


def leaves(value, path=()):
    """Yields the paths of all values below a structure, containers included."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key), item
        yield from leaves(item, (*path, key))


def replaced(body, path, value):
    made = copy.deepcopy(body)
    holder = made
    for key in path[:-1]:
        holder = holder[key]
    if value is REMOVED:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return made


REMOVED = object()


def variants(value):
    """Yields the wrong values for a place that has this value."""
    yield REMOVED
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        yield from (BAD_NUMBER, HUGE_NUMBER)
    elif isinstance(value, str):
        yield from (BAD_TEXT, LONG_TEXT, "")
    elif isinstance(value, list):
        yield [value[0], value[0]] if value else []
        yield []
    elif isinstance(value, dict):
        yield {}


def steps(base):
    body = base["body"]
    made = [{"do": f"POST {base['to']}?dryRun=All", "body": body}]
    kept = [tuple(str(part) for part in path.split(".")) for path in base.get("keep", [])]
    for path, value in leaves(body):
        texts = tuple(str(part) for part in path)
        if texts[:2] == ("metadata", "name") or any(texts[:len(keep)] == keep for keep in kept):
            continue
        for variant in variants(value):
            made.append({"do": f"POST {base['to']}?dryRun=All", "body": replaced(body, path, variant)})
    return made


def round_trip(base):
    """Creates the object from YAML and reads it back in every encoding, alone and in a list."""
    one = f"{base['to']}/{base['body'].get('metadata', {}).get('name')}"
    create = {"do": f"POST {base['to']}", "type": "yaml", "body": base["body"], "save": base.get("save", {})}
    if "metadata" not in base["body"]:  # reviews are not stored
        return [{**create, "accept": accept} for accept in ("json", "yaml", "protobuf")]
    reads = [{"do": f"GET {one}", "accept": accept} for accept in ("json", "yaml", "protobuf", "table", "partial")]
    lists = [{"do": f"GET {base['to']}?fieldSelector=metadata.name%3D{base['body']['metadata']['name']}", "accept": accept}
             for accept in ("json", "protobuf", "table")]
    # A controller writes this path after the creation.
    wait = [{"do": f"PATCH {one}?dryRun=All", "type": "jsonpatch", "body": [{"op": "test", "path": path, "value": value}], "setup": True, "until": 200}
            for path, value in base.get("wait", {}).items()]
    return [create, *wait, *reads, *lists, {"do": f"PATCH {one}", "type": "merge", "body": {"metadata": {"labels": {"changed": "yes"}}}}, {"do": f"DELETE {one}"}]


def changed(value):
    """Returns another value of the same type, which most fields accept."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return value + "1"
    return value[1:] if isinstance(value, list) else {**value, "added": "1"}


# What is compared of an error. Its texts show Go's types if a field cannot change.
BRIEF = ["status", "body.reason", "body.kind", *(f"body.details.causes.{i}.{part}" for i in range(20) for part in ("field", "reason"))]


def updates(base):
    """Creates the object and changes one field at a time, as dry runs: first with PUT, and the status and the metadata through /status."""
    one = f"{base['to']}/{base['body']['metadata']['name']}"
    made = [{"do": f"POST {base['to']}", "body": base["body"], "setup": True}]
    for path, value in leaves(base["body"]):
        if path[:2] == ("metadata", "name") or path == ("metadata",):
            continue
        made += [{"do": f"PUT {one}?dryRun=All", "body": replaced(base["body"], path, new), "only": BRIEF} for new in (changed(value), REMOVED)]
    labelled = replaced(base["body"], ("metadata", "labels"), {"changed": "yes"})
    made += [{"do": f"GET {one}/status", "only": BRIEF}, {"do": f"PUT {one}/status?dryRun=All", "body": labelled, "only": [*BRIEF, "body.metadata.labels", "body.status"]}]
    return [*made, {"do": f"DELETE {one}", "setup": True}]


def load():
    """Returns {topic: {name of a case: its steps}}."""
    bases = yaml.safe_load(BASES.read_text())
    stored = {name: base for name, base in bases.items() if "metadata" in base["body"]}
    return {"changed_objects": {name: updates(base) for name, base in stored.items()},
            "bad_objects": {name: steps(base) for name, base in bases.items()},
            "round_trips": {name: round_trip(base) for name, base in bases.items()}}
