"""Reads the requests. A file of requests/ is {vars: {NAME: text}, cases: {name: [step, …]}}; README.md says what a step may hold."""
import pathlib
import re
import secrets

import yaml

FOLDER = pathlib.Path(__file__).parent / "requests"
CONTENT_TYPES = {
    "json": "application/json", "yaml": "application/yaml", "protobuf": "application/vnd.kubernetes.protobuf",
    "cbor": "application/cbor", "merge": "application/merge-patch+json", "strategic": "application/strategic-merge-patch+json",
    "jsonpatch": "application/json-patch+json", "apply": "application/apply-patch+yaml",
}
ACCEPTS = {
    "json": "application/json", "yaml": "application/yaml", "protobuf": "application/vnd.kubernetes.protobuf",
    "table": "application/json;as=Table;v=v1;g=meta.k8s.io",
    "table-or-json": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
    "partial": "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "partial-list": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "discovery": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    "discovery-beta": "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
}
RUN = secrets.token_hex(2)  # a run doesn't meet what another one left in the same server
STEP_KEYS = {"do", "body", "type", "accept", "headers", "save", "setup", "until", "fill", "without", "user"}


class Case:
    """Steps that follow each other, in a namespace of their own."""

    def __init__(self, topic, name, variables, steps):
        self.id, self.steps = f"{topic}/{name}", steps
        self.variables = {**variables, "NS": f"{topic}-{name}-{RUN}".replace("_", "-")}
        for step in steps:
            assert set(step) <= STEP_KEYS, f"{self.id}: unknown {set(step) - STEP_KEYS}"
        self.needs_namespace = any("$NS" in expand(step["do"], self.variables, keep=("NS",)) for step in steps)


def expand(value, variables, keep=()):
    """$NAME in every string of a structure; a variable may use others."""
    if isinstance(value, dict):
        return {expand(k, variables, keep): expand(v, variables, keep) for k, v in value.items()}
    if isinstance(value, list):
        return [expand(v, variables, keep) for v in value]
    if not isinstance(value, str):
        return value

    def one(match):
        name = match[1]
        if name in keep or name not in variables:
            return match[0]
        return expand(str(variables[name]), variables, keep)
    return re.sub(r"\$([A-Za-z_]+)", one, value)


def load():
    found = []
    # Discovery first: what other cases define is seen there.
    for path in sorted(FOLDER.glob("*.yaml"), key=lambda path: (path.stem != "discovery", path.stem)):
        content = yaml.safe_load(path.read_text())
        for name, steps in content["cases"].items():
            found.append(Case(path.stem, name, content.get("vars", {}), steps))
    return found
