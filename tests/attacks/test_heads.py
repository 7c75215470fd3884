"""Connections and heads of requests that try to exhaust memory, connections or time, and paths that programs interpret differently."""
import time

import pytest

import mesh
from cost import Cost
from raw_requests import Bystander, CONNECTIONS, MAPS, MEGABYTE, REVIEWS, connect, head, limited_mesh, push, read_answer


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with limited_mesh(tmp_path_factory.mktemp("heads")) as server:
        yield server


def test_unfinished_handshakes_lock_nobody_out(server):
    """Attack: three times the maximum number of connections, none of which finishes its TLS handshake. Expected: other clients can connect,
    and memory stays bounded. Why: an open socket costs the attacker nothing."""
    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"  # the beginning of a ClientHello
    sockets = []
    try:
        with Cost(server) as cost:
            for number in range(3 * CONNECTIONS):
                sockets.append(connect(server, tls=False))
                if number % 2:
                    sockets[-1].sendall(hello)
                if number % 100 == 99:
                    began = time.monotonic()
                    assert server.client.get(MAPS).code == 200
                    assert time.monotonic() - began < 1
    finally:
        for one in sockets:
            one.close()
    assert cost.memory < 50 * MEGABYTE, cost.by_process


def test_idle_connections_lock_nobody_out(server):
    """Attack: more idle connections than may be open. Expected: the oldest idle connections are closed to make room for others.
    Why: the limit must not allow one client to lock out all others."""
    connections = []
    try:
        for number in range(CONNECTIONS + 50):
            connections.append(connect(server))
            if number % 50 == 49:
                assert server.client.get(MAPS).code == 200
        assert server.client("POST", REVIEWS, {"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}}).code == 201
    finally:
        for connection in connections:
            connection.close()


def test_unfinished_heads_take_bounded_memory(server):
    """Attack: 200 clients send 400 kB of a head each, and never its end. Expected: memory grows by less than 50 MB, and other clients are
    served. Why: a head can have 1 MiB, and a client is authenticated only after the head is complete."""
    lines = "".join(f"X-{number}: {'v' * 990}\r\n" for number in range(400)).encode()
    connections = [connect(server) for _ in range(200)]
    try:
        with Cost(server) as cost, Bystander(server) as bystander:
            for connection in connections:
                connection.setblocking(False)
                push(connection, [b"GET / HTTP/1.1\r\nHost: a\r\n" + lines], 0.2)
    finally:
        for connection in connections:
            connection.close()
    assert cost.memory < 50 * MEGABYTE, cost.by_process
    assert bystander.slowest < 1, bystander.slowest


@pytest.mark.parametrize("reads", [True, False])
def test_connections_after_long_paths_take_bounded_memory(server, reads):
    """Attack: 100 anonymous clients each request a path of 900 kB, read the response, which contains the path, or do not, and stay connected.
    Expected: memory grows by less than 75 MB, and other clients are served. Why: a request and its response stay in memory until the client has
    read the response or 90 s have passed; a connection that waits for its next request must not keep the buffers of the last one."""
    connections = [connect(server, receive_buffer=4096) for _ in range(100)]
    try:
        with Cost(server) as cost, Bystander(server) as bystander:
            for number, connection in enumerate(connections):
                connection.setblocking(False)
                push(connection, [head("GET", f"/{number:06}" + "x" * 900_000)], 5)
                if reads:
                    connection.setblocking(True)
                    read_answer(connection)
            time.sleep(0.5)
    finally:
        for connection in connections:
            connection.close()
    assert cost.memory < 75 * MEGABYTE, cost.by_process
    assert bystander.slowest < 1, bystander.slowest


MANY = {
    "header lines": (head("GET", "/version", *(f"a{i}: b" for i in range(90_000))), b"431"),
    "lines of one header": (head("GET", "/version", *(["Cookie: a=b"] * 60_000)), b"431"),
    "one long header": (head("GET", "/version", "X-Long: " + "v" * 1_000_000), b"200"),
    "accepted types": (head("GET", MAPS, "Accept: " + ",".join(f"a/b{i};q=0.5" for i in range(60_000)) + ",application/json", token=mesh.ADMIN_TOKEN), b"200"),
    "accepted types for discovery": (head("GET", "/api", "Accept: " + ",".join(f"a/b{i};q=0.5" for i in range(60_000)) + ",application/json", token=mesh.ADMIN_TOKEN), b"200"),
    "parameters of a type": (head("GET", MAPS, "Accept: application/json" + ";a=b" * 200_000, token=mesh.ADMIN_TOKEN), b"200"),
    "accepted encodings": (head("GET", MAPS, "Accept-Encoding: " + ",".join(["br"] * 300_000), token=mesh.ADMIN_TOKEN), b"200"),
    "query parameters": (head("GET", MAPS + "?" + "&".join(["a=b"] * 250_000), token=mesh.ADMIN_TOKEN), b"400"),
    "empty query parameters": (head("GET", MAPS + "?" + "&" * 1_000_000, token=mesh.ADMIN_TOKEN), b"400"),
    "path segments": (head("GET", "/api/v1" + "/a" * 500_000, token=mesh.ADMIN_TOKEN), b"404"),
    "slashes": (head("GET", "/" * 1_000_000, token=mesh.ADMIN_TOKEN), b"404"),
    "encoded characters": (head("GET", "/" + "%61" * 300_000, token=mesh.ADMIN_TOKEN), b"404"),
    "impersonated extra": (head("GET", MAPS, "Impersonate-User: joe", *(f"Impersonate-Extra-k{i}: v" for i in range(4_000)), token=mesh.ADMIN_TOKEN), b"400"),
    "impersonated groups": (head("GET", MAPS, "Impersonate-User: joe", *(f"Impersonate-Group: g{i}" for i in range(4_000)), token=mesh.ADMIN_TOKEN), b"400"),
}


@pytest.mark.parametrize("what", MANY)
def test_many_small_things_in_a_head(server, what):
    """Attack: a head of about 1 MiB with very many small parts. Expected: a response, at most 0.1 s of CPU time over all
    processes, and less than 50 MB. Why: if the work grew faster than the size of the request, one client could block all others."""
    request, code = MANY[what]
    with connect(server) as connection:
        connection.sendall(head("GET", "/version"))
        read_answer(connection)
        with Cost(server) as cost:
            push(connection, [request], 10)
            status, headers, body = read_answer(connection)
    assert status == code, (status, body[:300])
    assert cost.cpu < 0.1, cost.by_process
    assert cost.memory < 50 * MEGABYTE, cost.by_process


def test_pipelined_requests_take_turns(server):
    """Attack: 20 connections, each with 10,000 pipelined requests. Expected: requests of another client take less than 50 ms
    longer than usual. Why: a connection must yield to others between requests that are already received."""
    connections = [connect(server) for _ in range(20)]
    quiet = fastest_of(server)
    for connection in connections:
        connection.setblocking(False)
        push(connection, [head("GET", "/version") * 10_000], 0.1)
    busy = fastest_of(server)
    for connection in connections:
        connection.close()
    assert busy - quiet < 0.05, (quiet, busy)


def fastest_of(server, count=10):
    """Returns the shortest time of several requests in seconds, because other load of the machine only makes them longer."""
    with connect(server) as connection:
        waits = []
        for _ in range(count):
            began = time.monotonic()
            connection.sendall(head("GET", "/version"))
            assert read_answer(connection)[0] == b"200"
            waits.append(time.monotonic() - began)
    return min(waits)


@pytest.mark.parametrize("name", [b"%ff", b"\xff", b"%C3", b"a%C0%AFb", b"%ED%A0%80", b"%F4%90%80%80"])
def test_path_that_is_no_text(server, name):
    """Attack: a path with bytes that are not UTF-8, raw or percent-encoded. Expected: 400. Why: names are UTF-8 text in the messages between the
    processes and in the audit log; programs interpret other bytes differently or fail."""
    for path in (MAPS.encode() + b"/" + name, b"/" + name, MAPS.replace("default", "X").encode().replace(b"X", name)):
        with connect(server) as connection:
            connection.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer " + mesh.ADMIN_TOKEN.encode() + b"\r\n\r\n")
            assert read_answer(connection)[0] == b"400", path
