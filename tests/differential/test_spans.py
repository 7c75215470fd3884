"""Both servers send the spans of the same requests to one collector: names, parents, kinds, scopes and attribute keys must be equal, except for the steps in which the
servers work differently (docs/differences.md, Traces)."""
import json
import uuid

import pytest

import conftest
import mesh
import otlp_collector

MAPS = "/api/v1/namespaces/default/configmaps"
MERGE = {"Content-Type": "application/merge-patch+json"}
TRACE = "0af7651916cd43dd8448eb211c80319c"

RANGE = "etcdserverpb.KV/Range"


def config_map(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


# Each case is a request after others that prepare it, and the differences: spans of the reference that we do not have, and the other way round, as "parent/name".
CASES = {
    "create": ([], ("POST", MAPS, config_map("a")), set(), set()),
    "create-existing": ([("POST", MAPS, config_map("a"))], ("POST", MAPS, config_map("a")), {f"cacher.Get/{RANGE}"}, set()),
    "create-invalid": ([], ("POST", MAPS, config_map("A_")), set(), set()),
    "get": ([("POST", MAPS, config_map("a"))], ("GET", f"{MAPS}/a", None), {f"cacher.Get/{RANGE}"}, set()),
    "get-cached": ([("POST", MAPS, config_map("a"))], ("GET", f"{MAPS}/a?resourceVersion=0", None), set(), set()),
    "get-missing": ([], ("GET", f"{MAPS}/a", None), {f"cacher.Get/{RANGE}"}, set()),
    "list": ([], ("GET", MAPS, None), {"cacher.GetList/List(recursive=false) etcd3", f"List(recursive=false) etcd3/{RANGE}"}, set()),
    "list-cached": ([], ("GET", f"{MAPS}?resourceVersion=0", None), set(), set()),
    "update": ([("POST", MAPS, config_map("a"))], ("PUT", f"{MAPS}/a", config_map("a", b="c")), set(), set()),
    "patch": ([("POST", MAPS, config_map("a"))], ("PATCH", f"{MAPS}/a", {"data": {"b": "c"}}), set(), set()),
    "delete": ([("POST", MAPS, config_map("a"))], ("DELETE", f"{MAPS}/a", None), {f"cacher.Get/{RANGE}"}, set()),
    "version": ([], ("GET", "/version", None), set(), set()),
    "discovery": ([], ("GET", "/apis", None), {"authorization/SerializeObject"}, set()),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tracing")
    collector = otlp_collector.Collector()
    with conftest.server_pair(folder, f"--tracing-config-file={collector.configuration(folder)}") as sides:
        yield collector, [mesh.Client(f"https://{side.address}") for side in sides]
    collector.stop()


def send(client, method, path, body, headers=None):
    headers = {"User-Agent": "tracing-test", **(headers or {})}
    if method == "PATCH":
        headers.update(MERGE)
    return client(method, path, json.dumps(body) if method == "PATCH" else body, headers=headers)


def shape(spans):
    """Returns the spans as {parent/name: (kind, scope, attribute keys)}. Questions to authn-authz are spans of ours only."""
    spans = [span for span in spans if not span.name.startswith("apimesh.mesh.v1.")]
    names = {span.span_id: span.name for span in spans}
    return {f"{names.get(span.parent_id, '')}/{span.name}": (span.kind, span.scope, sorted(span.attributes)) for span in spans}


def record(collector, client, method, path, body):
    """Sends a request as part of a new trace. Returns the status and the spans, as soon as the last span of each process is there."""
    verbs = {"GET": "List" if path.partition("?")[0] == MAPS else "Get", "POST": "Create", "PUT": "Update", "PATCH": "Patch", "DELETE": "Delete"}
    trace = uuid.uuid4().hex
    answer = send(client, method, path, body, {"traceparent": f"00-{trace}-b7ad6b7169203331-01"})

    def complete():
        spans = collector.trace(trace)
        return any("http.target" in span.attributes for span in spans) and (not path.startswith("/api/") or any(span.name == verbs[method] for span in spans))
    mesh.wait_until(complete, 30, f"the spans of {method} {path} are exported")
    return answer.code, collector.trace(trace)


@pytest.mark.parametrize("case", CASES)
def test_spans_are_those_of_the_reference(world, case):
    collector, clients = world
    before, (method, path, body), only_theirs, only_ours = CASES[case]
    results = []
    for client in clients:
        for one in before:
            send(client, *one)
        results.append(record(collector, client, method, path, body))
        client("DELETE", f"{MAPS}/a")
    (our_code, our_spans), (their_code, their_spans) = results
    assert our_code == their_code
    ours, theirs = shape(our_spans), shape(their_spans)
    assert set(theirs) - set(ours) == only_theirs
    assert set(ours) - set(theirs) == only_ours
    assert {name: ours[name] for name in ours if name in theirs} == {name: theirs[name] for name in theirs if name in ours}


def test_a_trace_that_is_not_sampled_is_not_recorded(world):
    """Without a rate, only clients choose. The header of a user without privileges, and one without the flag, have no effect."""
    collector, clients = world
    for client in clients:
        for headers in ({}, {"traceparent": f"00-{TRACE}-b7ad6b7169203331-00"}, {"traceparent": "nonsense"}):
            assert send(client, "GET", MAPS, None, headers).code == 200
        record(collector, client, "GET", MAPS, None)
    assert collector.trace(TRACE) == []
