"""Reads the requests. A file of requests/ is {vars: {NAME: text}, cases: {name: [step, …]}}; README.md lists the keys of a step."""
import pathlib
import re
import secrets

import yaml

import mutated

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
# In names, so that a run does not find objects of an earlier run with the same server. These letters do not occur in UIDs.
RUN = "".join(secrets.choice("ghjkmnpqrstvwxyz") for _ in range(4))
STEP_KEYS = {"do", "body", "type", "accept", "headers", "save", "setup", "until", "fill", "without", "only", "user", "any_order"}


class Case:
    """A sequence of steps in its own namespace."""

    def __init__(self, topic, name, variables, steps):
        self.id, self.steps = f"{topic}/{name}", steps
        self.variables = {**variables, "NS": f"{topic}-{name}-{RUN}".replace("_", "-")}
        for step in steps:
            assert set(step) <= STEP_KEYS, f"{self.id}: unknown {set(step) - STEP_KEYS}"
        self.needs_namespace = any("$NS" in expand(step["do"], self.variables, keep=("NS",)) for step in steps)


def expand(value, variables, keep=()):
    """Replaces $NAME in every string of a structure. Variables can contain other variables."""
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
    # Discovery runs first, because it shows the CRDs that other cases create.
    for path in sorted(FOLDER.glob("*.yaml"), key=lambda path: (path.stem != "discovery", path.stem)):
        content = yaml.safe_load(path.read_text())
        for name, steps in content["cases"].items():
            found.append(Case(path.stem, name, content.get("vars", {}), steps))
    for topic, generated in mutated.load().items():
        found += [Case(topic, name, {}, steps) for name, steps in generated.items()]
    # Services come before cases that create a ServiceCIDR: in the reference, a dry run may then look at the wrong range.
    return sorted(found, key=lambda case: (not case.id.startswith("discovery/"), case.id != "bad_objects/service"))
