"""Watches through Envoy, which sends them to the aggregator over HTTP/2, many on one connection (decision 0023)."""
import json
import os
import signal
import socket
import subprocess
import time

import pytest

import mesh
from test_up import Up, find_envoy
from test_watches import MAPS, body, check_every_watcher_sees_every_event_once


class EnvoyMesh:
    """`apimesh up` with Envoy, with the interface of KubeApiserver that the shared tests need."""

    def __init__(self, folder):
        self.up = Up(folder, "envoy")
        self.client = self.up.client()

    def children(self):
        return {process["name"]: process["pid"] for process in json.loads(self.up.run("status", "--json").stdout)["processes"]}


@pytest.fixture(scope="module")
def own_server(tmp_path_factory):
    assert find_envoy(), "Envoy is not installed; run ./apimesh deps"
    server = EnvoyMesh(tmp_path_factory.mktemp("envoy") / "mesh")
    yield server
    assert server.up.run("down").returncode == 0


class RawWatch:
    """A watch whose client reads only on request and has a small receive buffer."""

    def __init__(self, server, query):
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
        raw.connect(("127.0.0.1", server.up.port))
        raw.settimeout(30)
        self.socket = server.client.context.wrap_socket(raw)
        self.socket.sendall(f"GET {MAPS}?watch=true&{query} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        self.file = self.socket.makefile("rb")
        head = [line for line in iter(self.file.readline, b"\r\n")]
        assert head[0].startswith(b"HTTP/1.1 200"), head

    def events(self):
        """Yields the events of the chunked body until it ends."""
        text = b""
        while size := int(self.file.readline(), 16):
            text += self.file.read(size)
            self.file.readline()
            *lines, text = text.split(b"\n")
            for line in lines:
                yield json.loads(line)


def test_every_watcher_sees_every_event_once(own_server):
    check_every_watcher_sees_every_event_once(own_server)


def test_those_who_do_not_read_do_not_hold_up_the_others(own_server):
    name, changes = "large", 60
    assert own_server.client("POST", MAPS, body(name, "x" * 200_000)).code == 201
    begin = own_server.client.get(f"{MAPS}/{name}").json()["metadata"]["resourceVersion"]
    query = f"fieldSelector=metadata.name%3D{name}&resourceVersion={begin}&timeoutSeconds=60"
    asleep = [RawWatch(own_server, query) for _ in range(12)]
    awake = RawWatch(own_server, query)
    following = awake.events()
    seen = []
    for number in range(changes):
        assert own_server.client("PUT", f"{MAPS}/{name}", body(name, f"{number} " + "x" * 200_000)).code == 200
        event = next(following)
        seen.append((event["type"], event["object"]["metadata"]["resourceVersion"]))
        assert event["object"]["data"]["value"].startswith(f"{number} "), "an event is missing or late"
    assert own_server.client("DELETE", f"{MAPS}/{name}").code == 200
    seen.append(("DELETED", next(following)["object"]["metadata"]["resourceVersion"]))
    # The clients that start to read late get the buffered events, in order and without a gap.
    for watch in asleep:
        late = []
        for event in watch.events():
            if event["type"] == "ERROR":
                break
            late.append((event["type"], event["object"]["metadata"]["resourceVersion"]))
            if event["type"] == "DELETED":
                break
        assert late == seen[:len(late)] and late, len(late)


def test_watches_are_refused_and_end_as_without_it(own_server):
    client = own_server.client
    stranger = mesh.Client(client.url, token=None)
    assert stranger.get(f"{MAPS}?watch=true").code == 403
    assert client.get(f"{MAPS}?watch=true&labelSelector=!!").code == 400
    assert client.get(f"{MAPS}?watch=false&limit=1").json()["kind"] == "ConfigMapList"
    assert client("HEAD", f"{MAPS}?watch=false&limit=1").code in (200, 405)
    began = time.monotonic()
    answer = client.get(f"{MAPS}?watch=true&timeoutSeconds=1")
    assert answer.code == 200 and 0.5 < time.monotonic() - began < 5
    assert answer.headers["audit-id"] and answer.headers["content-type"] == "application/json"
    future = client.get(f"{MAPS}?watch=true&resourceVersion=999999999").body
    assert json.loads(future)["object"]["code"] == 410


def test_clients_that_go_are_forgotten_and_the_aggregator_may_come_back(own_server):
    for _ in range(20):
        RawWatch(own_server, "resourceVersion=0").socket.close()
    pids = own_server.children()
    watch = RawWatch(own_server, "resourceVersion=0&timeoutSeconds=60")
    os.kill(pids["aggregator"], signal.SIGKILL)
    with pytest.raises((ValueError, OSError)):  # no last chunk, because the connection was closed
        for _ in watch.events():
            pass
    mesh.wait_until(lambda: own_server.client.answers(f"{MAPS}?watch=true&timeoutSeconds=1"), 10, "watches work again")


def test_http2_clients_watch_too(own_server):
    pki = own_server.up.folder / "pki"
    run = subprocess.run(["curl", "-sk", "--http2", "--cert", pki / "admin.crt", "--key", pki / "admin.key", "-w", "%{http_version} %{http_code}",
                          f"https://127.0.0.1:{own_server.up.port}/api/v1/namespaces?watch=true&timeoutSeconds=1"], capture_output=True, text=True)
    *events, last = run.stdout.splitlines()
    assert last == "2 200"
    assert {json.loads(event)["type"] for event in events} == {"ADDED"}
