"""HTTP/2 on the public port."""
import json
import subprocess
import time

import pytest

import mesh
from http2_client import DATA, END_STREAM, GOAWAY, HEADERS, RST_STREAM, Http2

TOKEN = mesh.ADMIN_TOKEN


def curl(server, path, *options, body=None):
    sends = [] if body is None else ["-X", "POST", "-H", "Content-Type: application/json", "--data-binary", "@-"]
    return subprocess.run(["curl", "-sk", *sends, "-H", f"Authorization: Bearer {TOKEN}", "-w", "\n%{http_version} %{http_code}", *options, server.url + path],
                          input=None if body is None else json.dumps(body), capture_output=True, text=True, timeout=30, check=True).stdout.rpartition("\n")[::2]


@pytest.mark.parametrize("option,version", [("--http2", "2"), ("--http1.1", "1.1")])
def test_curl(server, option, version):
    """All kinds of requests, over both protocols on the same port."""
    name = f"http{version.replace('.', '-')}"
    path = "/api/v1/namespaces/default/configmaps"
    body, end = curl(server, path, option, body={"metadata": {"name": name}, "data": {"k": "v" * 300_000}})
    assert end == f"{version} 201", body
    body, end = curl(server, f"{path}/{name}", option, "--compressed")
    assert end == f"{version} 200" and json.loads(body)["data"]["k"] == "v" * 300_000
    body, end = curl(server, path, option)
    assert end == f"{version} 200" and name in {item["metadata"]["name"] for item in json.loads(body)["items"]}
    body, end = curl(server, f"{path}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name={name}", option)
    assert end == f"{version} 200" and json.loads(body.splitlines()[0])["type"] == "ADDED"
    body, end = curl(server, path, option, body={"data": {"k": "v" * (3 << 20)}})
    assert end == f"{version} 413", body[:300]
    body, end = curl(server, f"{path}/{name}", option, "-X", "DELETE")
    assert end == f"{version} 200"


def test_many_watches_share_one_connection(server):
    """What client-go's informers do: many watches and other requests on one connection, each of which gets its events."""
    client = Http2(server.port)
    watches = [client.request("GET", f"/api/v1/namespaces/default/{plural}?watch=1", TOKEN) for plural in ["configmaps", "secrets", "pods", "services"] * 10]
    started = set()
    while len(started) < len(watches):
        kind, _, stream, _ = client.receive()
        if kind == HEADERS:
            started.add(stream)
    body = json.dumps({"metadata": {"generateName": "shared-"}}).encode()
    created = client.request("POST", "/api/v1/namespaces/default/configmaps", TOKEN, ("content-type", "application/json"), body=body)
    events, name = {}, None
    while name is None or not all(name in events.get(stream, b"") for stream in watches[0::4]):
        kind, flags, stream, payload = client.receive()
        if kind == DATA:
            events[stream] = events.get(stream, b"") + payload
        assert not (stream in watches and flags & END_STREAM and kind == DATA), "a watch has ended"
        if stream == created and kind == DATA and flags & END_STREAM:
            name = json.loads(events[created])["metadata"]["name"].encode()
    assert not any(name in events.get(stream, b"") for stream in watches[1::4] + watches[2::4])
    client.close()
    server.client("DELETE", f"/api/v1/namespaces/default/configmaps/{name.decode()}")


def test_upgrades_are_refused(server):
    """kubectl exec and port-forward use HTTP/1.1 for upgrades. Over HTTP/2, the headers of an upgrade are an error, as in the reference."""
    client = Http2(server.port)
    assert b'"Connection" is not valid in HTTP/2' in client.finish(
        client.request("POST", "/api/v1/namespaces/default/pods/a/exec?command=a", TOKEN, ("connection", "upgrade"), ("upgrade", "websocket")))
    assert json.loads(client.finish(client.request("GET", "/version", TOKEN)))["major"] == "1"
    client.close()


def test_clients_without_credentials_get_one_request(server):
    """As in the reference: the answer to a request without valid credentials ends the connection."""
    for token in [None, "wrong"]:
        client = Http2(server.port)
        client.request("GET", "/api/v1/pods", token)
        assert {GOAWAY, HEADERS} <= set(client.rest())
        client.close()


def test_flags_and_shutdown(tmp_path):
    """--http2-max-streams-per-connection, --goaway-chance, and what a stopping server does to the requests of a connection."""
    store = mesh.Store(tmp_path / "store")
    server = mesh.KubeApiserver(tmp_path, store.url, "--http2-max-streams-per-connection=3", "--goaway-chance=0.02").start()
    client = Http2(server.port)
    settings = client.receive()[3]
    assert b"\0\3\0\0\0\3" in [settings[i:i + 6] for i in range(0, len(settings), 6)], settings
    client.close()

    client = Http2(server.port)
    for _ in range(2000):  # the probability that none of them is chosen is 10^-18
        stream = client.request("GET", "/version", TOKEN)
        seen = client.until((DATA, stream), (RST_STREAM, stream), (GOAWAY, 0))
        if seen[-1][0] == GOAWAY:
            break
    assert seen[-1][0] == GOAWAY
    client.close()

    client = Http2(server.port)
    watch = client.request("GET", "/api/v1/pods?watch=1", TOKEN)
    client.until((HEADERS, watch))
    began = time.monotonic()
    server.stop()
    assert time.monotonic() - began < 15
    frames = []
    try:
        while True:
            frames.append(client.receive())
    except EOFError:
        pass
    assert any(kind == GOAWAY for kind, *_ in frames)
    assert any(kind == DATA and flags & END_STREAM and stream == watch for kind, flags, stream, _ in frames), "the watch has no regular end"
    store.stop()


def test_http2_can_be_disabled(tmp_path):
    store = mesh.Store(tmp_path / "store")
    server = mesh.KubeApiserver(tmp_path, store.url, "--disable-http2-serving").start()
    assert curl(server, "/version", "--http2")[1] == "1.1 200"
    server.stop()
    store.stop()
