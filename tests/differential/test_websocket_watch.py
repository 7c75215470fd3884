"""Compares watches over WebSocket with those of the real kube-apiserver: messages, handshakes, and how they end."""
import base64
import json
import struct
import time

import mesh
import pytest
import websocket_client

NS = "/api/v1/namespaces/websocket"
MAPS = f"{NS}/configmaps"
EVENTS = "fieldSelector=metadata.name%3Dx&timeoutSeconds=3"


def send(side, method, target, body=None):
    headers = [("Authorization", f"Bearer {side.token}")] + ([("Content-Type", "application/json")] if body is not None else [])
    return side.request(method, target, headers, json.dumps(body).encode() if body is not None else None)


def connect(side, path, **headers):
    return websocket_client.WatchSocket(side.address, path, side.token, **headers)


@pytest.fixture(scope="module", autouse=True)
def namespace(sides):
    for side in sides:
        assert send(side, "POST", "/api/v1/namespaces", {"metadata": {"name": "websocket"}}).status == 201
        assert send(side, "POST", MAPS, {"metadata": {"name": "x"}, "data": {"a": "b"}}).status == 201


def shape(messages):
    """The messages without what differs between servers."""
    out = []
    for opcode, payload in messages:
        if opcode == websocket_client.TEXT:
            event = json.loads(payload)
            found = event["object"]
            out.append((opcode, payload.endswith(b"\n"), event["type"], found.get("kind"), found.get("data"), [column["name"] for column in
                                                                                                            found.get("columnDefinitions") or []]))
        elif opcode == websocket_client.CLOSE:
            out.append((opcode, payload))
        else:
            out.append((opcode, payload[:4] == b"k8s\0"))
    return out


def watched(side, query="", change=True, **headers):
    connection = connect(side, f"{MAPS}?watch=1&{EVENTS}{query}", **headers)
    if connection.status != 101:
        return connection.status
    if change:
        time.sleep(0.5)
        assert send(side, "PUT", f"{MAPS}/x", {"metadata": {"name": "x"}, "data": {"a": "c"}}).status == 200
        assert send(side, "PUT", f"{MAPS}/x", {"metadata": {"name": "x"}, "data": {"a": "b"}}).status == 200
    return shape(connection.rest())


def without_final_bookmarks(messages):
    """The messages without the bookmarks before the close frame, which the reference sends in the last two seconds (docs/differences.md)."""
    end = len(messages) - 1
    while messages[end - 1][2:3] == ("BOOKMARK",) and messages[end - 2][2:3] != ("ADDED",):
        end -= 1
    return messages[:end] + messages[-1:]


@pytest.mark.parametrize("query,headers", [
    ("", {}), ("&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", {}), ("", {"Accept": "application/json"}),
    ("", {"Accept": "application/vnd.kubernetes.protobuf"}), ("", {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}),
    ("", {"Accept": "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"})])
def test_events_are_the_same_messages(sides, both, query, headers):
    ours, reference = both(sides, lambda side: watched(side, query, **headers))
    assert len([message for message in reference if message[0] != websocket_client.CLOSE]) >= 3
    assert ours == without_final_bookmarks(reference)


def test_a_watch_without_events_ends_the_same_way(sides, both):
    def run(side):
        revision = json.loads(send(side, "GET", MAPS).body)["metadata"]["resourceVersion"]
        began = time.monotonic()
        return shape(connect(side, f"{MAPS}?watch=1&timeoutSeconds=1&resourceVersion={revision}").rest()), time.monotonic() - began
    (ours, took), (reference, _) = both(sides, run)
    assert ours == reference
    assert 0.9 < took < 10


@pytest.mark.parametrize("headers", [
    {}, {"Origin": None}, {"Origin": "null"}, {"Origin": "localhost"}, {"Origin": "/"}, {"Sec_WebSocket_Key": None}, {"Sec_WebSocket_Version": "8"},
    {"Sec_WebSocket_Version": None}, {"Sec_WebSocket_Protocol": "a"}, {"Sec_WebSocket_Protocol": "a, b"}, {"Sec_WebSocket_Protocol": "base64.binary.k8s.io"},
    {"Upgrade": "WebSocket"}, {"Connection": "keep-alive, upgrade"}, {"Upgrade": "other"}])
def test_handshakes_have_the_same_result(sides, headers):
    ours, reference = (connect(side, f"{MAPS}?watch=1&timeoutSeconds=1", **headers) for side in sides)
    assert ours.status == reference.status
    for name in ("upgrade", "connection", "sec-websocket-protocol", "sec-websocket-version"):
        if ours.status == 101 or name.startswith("sec-"):
            assert ours.headers.get(name, "").lower() == reference.headers.get(name, "").lower(), name
    for connection in (ours, reference):
        connection.close()


def test_the_token_can_be_a_subprotocol(sides):
    """As browsers send it, which cannot set other headers. The token is not sent back."""
    statuses = []
    for side in sides:
        token = base64.urlsafe_b64encode(side.token.encode()).decode().rstrip("=")
        connection = connect(side, f"{MAPS}?watch=1&timeoutSeconds=1", Authorization=None,
                             Sec_WebSocket_Protocol=f"base64url.bearer.authorization.k8s.io.{token}, base64.binary.k8s.io")
        statuses.append((connection.status, connection.headers.get("sec-websocket-protocol"), connection.receive()[0]))
        connection.close()
    assert statuses == [(101, "base64.binary.k8s.io", websocket_client.TEXT)] * 2


@pytest.mark.parametrize("path", [f"{NS}/nothing?watch=1", f"{MAPS}?watch=1&resourceVersion=x", f"{MAPS}?watch=1&fieldSelector=a%3Db",
                                  f"{MAPS}?watch=1&labelSelector=%21%21"])
def test_errors_are_responses(sides, path):
    ours, reference = (connect(side, path) for side in sides)
    assert ours.status == reference.status != 101


def test_the_client_can_ping_and_close(sides, both):
    def run(side):
        connection = connect(side, f"{MAPS}?watch=1&timeoutSeconds=30&{EVENTS.split('&')[0]}")
        first = connection.receive()[0]
        connection.send(b"hello", websocket_client.PING)
        pong = connection.receive()
        connection.send(b"ignored", websocket_client.TEXT)
        connection.send(b"x" * 100_000)
        began = time.monotonic()
        connection.send(struct.pack(">H", 1000), websocket_client.CLOSE)
        rest = connection.rest()
        assert time.monotonic() - began < 10
        return first, pong, [opcode for opcode, _ in rest]
    ours, reference = both(sides, run)
    assert ours == reference
    assert ours[1] == (websocket_client.PONG, b"hello")


def test_a_client_that_leaves_ends_its_watch(sides):
    side = sides[0]
    connections = [connect(side, f"{MAPS}?watch=1") for _ in range(5)]

    def open_watches():
        lines = [line for line in send(side, "GET", "/metrics").body.decode().splitlines()
                 if line.startswith("apiserver_longrunning_requests{") and 'resource="configmaps"' in line and 'scope="namespace"' in line and 'verb="WATCH"' in line]
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines)
    before = open_watches()
    assert before >= 5
    for connection in connections:
        connection.close()
    mesh.wait_until(lambda: open_watches() <= before - 5, 20, "the watches have ended")
