"""Both servers read the same values from etcd and must return the same bytes, for every kind, every field and every encoding.

The objects are made from the OpenAPI document of the reference, with a value in every field, and written to etcd without validation. The reference
reads them first; its protobuf and JSON responses are then stored and read by both servers."""
import contextlib
import json
import signal

import pytest

import mesh
from conftest import etcd_binary, needed_reference
from filled import Filler
from raw_etcd import RawEtcd

# Resources whose folder below /registry does not have the name of the resource.
FOLDERS = {"nodes": "minions", "services": "services/specs", "endpoints": "services/endpoints", "ingresses": "ingress", "replicationcontrollers": "controllers",
           "customresourcedefinitions": "apiextensions.k8s.io/customresourcedefinitions", "apiservices": "apiregistration.k8s.io/apiservices"}
# The controllers of the servers change these objects, so their responses differ from the stored values.
ACTED_ON = {"customresourcedefinitions", "apiservices", "componentstatuses"}
ENCODINGS = {"json": "application/json", "yaml": "application/yaml", "protobuf": "application/vnd.kubernetes.protobuf"}


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Starts both servers with one etcd. Returns (ours, the reference, etcd)."""
    reference = needed_reference()
    folder = tmp_path_factory.mktemp("codecs")
    with contextlib.ExitStack() as started:
        etcd = mesh.Store(folder / "etcd", binary=etcd_binary())
        started.callback(etcd.stop)
        theirs = mesh.KubeApiserver(folder / "theirs", etcd.url, "--advertise-address=127.0.0.1", binary=reference).start()
        started.callback(theirs.stop, signal.SIGKILL)
        ours = mesh.KubeApiserver(folder / "ours", etcd.url).start()
        started.callback(ours.stop)
        yield ours, theirs, RawEtcd(etcd.url)


def resources(client):
    """Yields (group-version, resource, kind, namespaced) of all stored resources, in the preferred version of each group."""
    versions = ["v1", *(group["preferredVersion"]["groupVersion"] for group in client.get("/apis").json()["groups"])]
    for version in versions:
        base = f"/apis/{version}" if "/" in version else f"/api/{version}"
        for resource in client.get(base).json()["resources"]:
            if "/" not in resource["name"] and {"get", "create", "delete"} <= set(resource["verbs"]):
                yield version, resource["name"], resource["kind"], resource["namespaced"]


def read(server, path, accept):
    answer = server.client.raw("GET", path, headers={"Accept": accept})
    return answer.code, answer.body


def difference(ours, theirs, encoding):
    if ours == theirs:
        return None
    if encoding == "json" and ours[0] == theirs[0] == 200:
        one, other = json.loads(ours[1]), json.loads(theirs[1])
        if one == other:
            return "the same, in another order"
        return "; ".join(compare(one, other, ""))[:600]
    place = next((i for i, (a, b) in enumerate(zip(ours[1], theirs[1])) if a != b), min(len(ours[1]), len(theirs[1])))
    return f"{ours[0]}/{theirs[0]} at byte {place}: {ours[1][max(0, place - 40):place + 40]} instead of {theirs[1][max(0, place - 40):place + 40]}"


def compare(one, other, path):
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() | other.keys():
            if key not in one:
                yield f"{path}.{key} is missing"
            elif key not in other:
                yield f"{path}.{key} is extra: {one[key]!r}"
            else:
                yield from compare(one[key], other[key], f"{path}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, (a, b) in enumerate(zip(one, other)):
            yield from compare(a, b, f"{path}[{i}]")
    elif one != other:
        yield f"{path} is {one!r} instead of {other!r}"


def test_every_field_of_every_kind(pair):
    ours, theirs, etcd = pair
    filler = Filler(theirs.client.get("/openapi/v2").json()["definitions"])
    problems, seen = [], 0
    for version, resource, kind, namespaced in resources(theirs.client):
        group = version.rpartition("/")[0]
        if resource in ACTED_ON or group == "events.k8s.io":  # stored like events of the core group
            continue
        thing = filler.object(version, kind, "default" if namespaced else None)
        key = f"/registry/{FOLDERS.get(resource, resource)}/{'default/' if namespaced else ''}codec"
        path = f"/{'apis' if group else 'api'}/{version}/{'namespaces/default/' if namespaced else ''}{resource}/codec"
        etcd.put(key, json.dumps(thing, separators=(",", ":")))
        canonical = {form: read(theirs, path, accept) for form, accept in ENCODINGS.items()}
        if canonical["json"][0] != 200:
            problems.append(f"{kind}: the reference can't read it: {canonical['json']}")
            continue
        for form in ("protobuf", "json"):
            etcd.put(key, canonical[form][1].rstrip(b"\n") if form == "json" else canonical[form][1])
            for encoding, accept in ENCODINGS.items():
                seen += 1
                if found := difference(read(ours, path, accept), read(theirs, path, accept), encoding):
                    problems.append(f"{kind} stored as {form}, read as {encoding}: {found}")
    assert not problems, f"{len(problems)} of {seen}:\n" + "\n".join(problems)
    assert seen > 300
