"""Requests that try to avoid the audit log. Every request with a response has an event with the Audit-ID of the response, and
the event contains the body of the request as JSON, whatever its encoding was."""
import json
import os
import signal

import pytest

import mesh

MAPS = "/api/v1/namespaces/default/configmaps"
POLICY = """apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: RequestResponse, resources: [{group: "", resources: [configmaps]}]}
- {level: Metadata}
"""


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audited")
    (folder / "policy.yaml").write_text(POLICY)
    with mesh.running_server(folder, f"--audit-policy-file={folder}/policy.yaml", f"--audit-log-path={folder}/audit.log") as server:
        mesh.wait_until(lambda: server.client.answers("/readyz"), 30, "the server is ready")
        yield server


def events(server, audit_id):
    """Returns the events of a request. They are written after the response."""
    lines = (server.folder / "audit.log").read_text(errors="replace").split("\n")[:-1]
    return [event for event in map(json.loads, lines) if event["auditID"] == audit_id]


def event_of(server, answer):
    """Returns the event of a request. There must be exactly one."""
    audit_id = answer.headers["Audit-Id"]
    assert audit_id, answer.headers
    found = mesh.wait_until(lambda: events(server, audit_id), 5, "the request is in the audit log")
    assert len(found) == 1, found
    assert found[0]["responseStatus"]["code"] == answer.code
    return found[0]


def test_failed_authentication_is_recorded(audited):
    """Attack: guess tokens. Expected: one event per attempt, as in kube-apiserver: ResponseStarted, without a user."""
    answer = mesh.Client(audited.url, "guess")("GET", MAPS)
    assert answer.code == 401
    event = event_of(audited, answer)
    assert (event["stage"], event["verb"], event["user"]) == ("ResponseStarted", "list", {})
    assert event["responseStatus"]["reason"] == "Unauthorized"
    assert event["objectRef"]["resource"] == "configmaps"
    assert "guess" not in json.dumps(event)


@pytest.mark.parametrize("path", ["/api/v1/../v1/secrets", "/api/%zz", "/a%00b"])
def test_malformed_paths_are_recorded(audited, path):
    """Attack: search for paths that two programs interpret differently. Expected: each attempt is in the log, with the path as it was sent."""
    answer = audited.client("GET", path)
    assert answer.code == 400
    event = event_of(audited, answer)
    assert event["requestURI"] == path and event["verb"] == "get"


def test_bad_timeouts_are_recorded(audited):
    """The same for a request that is rejected because of its timeout parameter, before authentication."""
    answer = audited.client("GET", f"{MAPS}?timeout=soon")
    assert answer.code == 400
    assert event_of(audited, answer)["stage"] == "ResponseStarted"


def test_denied_requests_are_recorded(audited):
    answer = audited.anonymous("GET", "/api/v1/secrets")
    assert answer.code == 403
    event = event_of(audited, answer)
    assert event["stage"] == "ResponseComplete" and event["user"]["username"] == "system:anonymous"
    assert event["annotations"]["authorization.k8s.io/decision"] == "forbid"


def test_requests_without_an_answer_from_authn_authz_are_recorded(audited):
    """Attack: send requests while authn-authz does not respond. Expected: each 503 is in the log."""
    pid = audited.children()["authn-authz"]
    mesh.suspend(pid)
    try:
        answer = mesh.Client(audited.url, "never-seen")("GET", f"{MAPS}?timeout=1s")
    finally:
        os.kill(pid, signal.SIGCONT)
    assert answer.code in (503, 504)
    assert event_of(audited, answer)["stage"] == "ResponseStarted"
    mesh.wait_until(lambda: audited.client.answers("/readyz"), 10, "the aggregator is connected to authn-authz again")


def configmap(name):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"key": "value-to-find"}}


YAML = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\ndata:\n  key: value-to-find\n"


@pytest.mark.parametrize("content_type", ["application/json", "application/yaml"])
def test_objects_are_recorded_as_json(audited, content_type):
    """Attack: send an object in an encoding that the log cannot contain. Expected: it is recorded as a JSON object."""
    name = content_type.rpartition("/")[2]
    body = YAML.format(name) if name == "yaml" else json.dumps(configmap(name))
    answer = audited.client("POST", MAPS, body, {"Content-Type": content_type})
    assert answer.code == 201
    event = event_of(audited, answer)
    assert event["requestObject"]["data"] == {"key": "value-to-find"}
    assert event["objectRef"]["name"] == name
    assert event["responseObject"]["metadata"]["uid"]


def test_protobuf_is_recorded_as_json(audited):
    """The same for protobuf, which kubectl and controllers send."""
    as_protobuf = {"Accept": "application/vnd.kubernetes.protobuf"}
    assert audited.client("POST", MAPS, configmap("proto")).code == 201
    body = audited.client.raw("GET", f"{MAPS}/proto", headers=as_protobuf).body
    assert body.startswith(b"k8s\0")
    answer = audited.client.raw("PUT", f"{MAPS}/proto", body, {"Content-Type": "application/vnd.kubernetes.protobuf", **as_protobuf})
    assert answer.code == 200
    event = event_of(audited, answer)
    assert event["requestObject"]["data"] == {"key": "value-to-find"}
    assert event["responseObject"]["metadata"]["name"] == "proto"


PATCHES = {
    "application/json-patch+json": '[{"op":"add","path":"/data/new","value":"value-to-find"}]',
    "application/merge-patch+json": '{"data":{"new":"value-to-find"}}',
    "application/strategic-merge-patch+json": '{"data":{"new":"value-to-find"}}',
    "application/apply-patch+yaml": YAML.format("patched"),
}


@pytest.mark.parametrize("content_type", PATCHES)
def test_patches_are_recorded_as_json(audited, content_type):
    """Attack: a patch that is not a JSON object. Expected: the patch is recorded, an array as an array and YAML as JSON.
    kube-apiserver v1.36 loses the complete event of an apply request in YAML."""
    audited.client("POST", MAPS, configmap("patched"))
    answer = audited.client("PATCH", f"{MAPS}/patched?fieldManager=test&force=true" if "apply" in content_type else f"{MAPS}/patched",
                            PATCHES[content_type], {"Content-Type": content_type})
    assert answer.code == 200, answer.body
    recorded = event_of(audited, answer)["requestObject"]
    assert isinstance(recorded, list if "json-patch" in content_type else dict)
    assert "value-to-find" in json.dumps(recorded)


def test_deeply_nested_bodies_are_recorded(audited):
    """Attack: a body that is nested more deeply than the parser of the log accepts. Expected: it is recorded, because the server accepts it."""
    nested = '{"a":' * 200 + "1" + "}" * 200
    body = json.dumps(configmap("nested"))[:-1] + f', "unknown": {nested}}}'
    answer = audited.client("POST", MAPS, body, {"Content-Type": "application/json"})
    assert answer.code == 201, answer.body
    event = event_of(audited, answer)
    assert event["requestObject"]["data"] == {"key": "value-to-find"}


def test_bodies_that_are_too_large_are_recorded(audited):
    """Attack: a body that exceeds the limit. Expected: 413, and an event with the user who sent it."""
    body = json.dumps({**configmap("large"), "data": {"key": "x" * (4 << 20)}})
    answer = audited.client("POST", MAPS, body, {"Content-Type": "application/json"})
    assert answer.code == 413
    event = event_of(audited, answer)
    assert event["user"]["username"] == "admin"


def test_long_user_agents_are_cut(audited):
    """Attack: fill the disk with a long user agent. Expected: its first 1,024 characters are recorded, as in kube-apiserver."""
    answer = audited.client("GET", MAPS, headers={"User-Agent": "x" * 100_000})
    assert event_of(audited, answer)["userAgent"] == "x" * 1024 + "...TRUNCATED"
