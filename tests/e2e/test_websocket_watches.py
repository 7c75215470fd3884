"""Watches over WebSocket that have to end: because the server stops, the permission is revoked, or the client does not read."""
import json
import signal
import struct
import time

import pytest

import mesh
from watching import Watch
from websocket_client import CLOSE, PING, TEXT, WatchSocket

MAPS = "/api/v1/namespaces/default/configmaps"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
NORMAL = (CLOSE, struct.pack(">H", 1000))
LARGE = {"metadata": {"name": "large"}, "data": {"x": "x" * 900_000}}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("websocket")
    with mesh.running_server(folder, users=("joe",)) as server:
        mesh.wait_until(lambda: server.client.answers("/readyz"), 30, "the server is ready")
        yield server


@pytest.fixture
def joe(server):
    """Joe may watch ConfigMaps until `joe.revoke()`."""
    admin = server.client
    rule = {"verbs": ["watch", "list"], "apiGroups": [""], "resources": ["configmaps"]}
    assert admin("POST", f"{RBAC}/clusterroles", {"metadata": {"name": "maps"}, "rules": [rule]}).code in (201, 409)
    binding = {"metadata": {"name": "joe"}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "maps"},
               "subjects": [{"kind": "User", "name": "joe", "apiGroup": "rbac.authorization.k8s.io"}]}
    assert admin("POST", f"{RBAC}/clusterrolebindings", binding).code == 201
    joe = mesh.Client(server.url, "joe-token")
    joe.revoke = lambda: admin("DELETE", f"{RBAC}/clusterrolebindings/joe")
    mesh.wait_until(lambda: joe.answers(MAPS), 5, "joe may list")
    yield joe
    joe.revoke()


def connect(server, path=f"{MAPS}?watch=1", token=mesh.ADMIN_TOKEN, **options):
    connection = WatchSocket(f"127.0.0.1:{server.port}", path, token, **options)
    assert connection.status == 101, connection.head
    return connection


def events(messages):
    return [(event["type"], event["object"]["metadata"]["name"]) for event in (json.loads(payload) for opcode, payload in messages if opcode == TEXT)]


def open_watches(server):
    lines = [line for line in server.client.get("/metrics").body.splitlines() if line.startswith("apiserver_longrunning_requests{") and 'resource="configmaps"' in line]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines)


def change(server, name):
    assert server.client("POST", MAPS, {"metadata": {"name": name}}).code == 201
    assert server.client("DELETE", f"{MAPS}/{name}").code == 200


def fill(server, times):
    """Makes large events until the watches that nobody reads are blocked."""
    server.client("POST", MAPS, LARGE)
    for number in range(times):
        assert server.client("PUT", f"{MAPS}/large", {**LARGE, "metadata": {"name": "large", "labels": {"n": str(number)}}}).code == 200


def aggregator_kilobytes(server):
    with open(f"/proc/{server.children()['aggregator']}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def read_until(connection, kind, name):
    """Returns all messages up to that event."""
    messages = []
    while events(messages[-1:]) != [(kind, name)]:
        messages.append(connection.receive())
    return messages


def test_events_are_those_of_an_ordinary_watch(server):
    socket, ordinary = connect(server), Watch(server.client, MAPS)
    for number in range(50):
        change(server, f"m{number}")
    seen = events(read_until(socket, "DELETED", "m49"))
    ordinary.wait_for("m49", "ADDED", "DELETED")
    assert seen == [(kind, thing["metadata"]["name"]) for kind, thing in ordinary.events]
    assert len([name for _, name in seen if name.startswith("m")]) == 100
    ordinary.close()
    socket.send(struct.pack(">H", 1000), CLOSE)
    assert socket.rest() == [NORMAL]


def test_ends_when_the_permission_is_revoked(server, joe):
    connection, other = connect(server, token="joe-token"), connect(server)
    change(server, "before")
    read_until(connection, "DELETED", "before")
    began = time.monotonic()
    joe.revoke()
    assert connection.rest() == [NORMAL]
    assert time.monotonic() - began < 10
    change(server, "after")
    read_until(other, "DELETED", "after")  # watches of others continue
    other.close()


def test_a_client_that_does_not_read_is_bounded_and_ends(server, joe):
    """Its events wait in core-api's history of the resource, and not per client. A revoked watch does not wait for its client."""
    before, memory = open_watches(server), aggregator_kilobytes(server)
    sockets = [connect(server, token="joe-token", receive_buffer=4096) for _ in range(10)]
    fill(server, 40)
    grown = aggregator_kilobytes(server) - memory
    print(f"the aggregator has grown by {grown} kB for {10 * 40 * 900} kB of events")
    assert grown < 120_000 * mesh.SLOWDOWN
    assert open_watches(server) >= before + 10
    joe.revoke()
    mesh.wait_until(lambda: open_watches(server) <= before, 10, "the watches have ended")
    for socket in sockets:
        socket.close()


def test_pings_of_a_client_that_does_not_read(server):
    """Answers to pings wait for the blocked events, in a bounded buffer."""
    before = open_watches(server)
    socket = connect(server, receive_buffer=4096)
    fill(server, 20)
    for _ in range(100):
        socket.send(b"x" * 125, PING)
    mesh.wait_until(lambda: open_watches(server) <= before, 10, "the connection is closed")
    socket.close()


def test_frames_that_are_not_valid_end_the_watch(server):
    connection = connect(server)
    connection.socket.sendall(b"\x81\x05hello")  # not masked
    assert connection.rest()[-1] == (CLOSE, struct.pack(">H", 1002))


def test_the_server_can_stop(server):
    """The last test of the module. Open watches end with a close frame, also one whose client does not read."""
    sockets = [connect(server, f"{MAPS}?watch=1&fieldSelector=metadata.name%3Dnothing") for _ in range(3)]
    blocked = connect(server, receive_buffer=4096)
    fill(server, 20)
    began = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    for socket in sockets:
        assert socket.rest()[-1] == NORMAL
    assert server.process.wait(20 * mesh.SLOWDOWN) == 0
    print(f"the server stopped after {time.monotonic() - began:.1f} s")
    blocked.close()
