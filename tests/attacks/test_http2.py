"""Floods of HTTP/2 frames: on the public port, and on the listener of the aggregator for a front proxy. Clients cannot connect to the latter directly, but
the proxy forwards their requests, and the listeners between the processes of the mesh use the same code (lib/http2)."""
import pathlib
import socket
import ssl
import threading
import time

import pytest

import cost
import mesh
from http2_client import (CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PREFACE, PRIORITY, RST_STREAM, SETTINGS, WINDOW_UPDATE, Http2,
                          fields, frame, head)
from test_envoy_watches import EnvoyMesh
from test_up import find_envoy

MEGABYTE = 1 << 20
GET = b"\x82\x86\x84"  # :method GET, :scheme http, :path /


@pytest.fixture(scope="module")
def envoy_mesh(tmp_path_factory):
    assert find_envoy(), "Envoy is not installed; run ./apimesh deps"
    server = EnvoyMesh(tmp_path_factory.mktemp("http2") / "mesh")
    server.aggregator = server.children()["aggregator"]
    flags = pathlib.Path(f"/proc/{server.aggregator}/cmdline").read_text().split("\0")
    server.socket = next(flag.partition("unix:")[2] for flag in flags if flag.startswith("--front-proxy-h2-socket="))
    yield server
    assert server.up.run("down").returncode == 0


OPEN_REQUEST = frame(HEADERS, END_HEADERS, 1, GET)
BIG_HEADER = GET + b"\x40\x01x\x7f\xa1\x1e" + b"y" * 4000  # is added to the dynamic table of the peer, with index 62


def rapid_reset(i):
    return frame(HEADERS, END_HEADERS | END_STREAM, 2 * i + 1, GET) + frame(RST_STREAM, 0, 2 * i + 1, b"\0\0\0\x08")


def header_bomb(i):
    return frame(HEADERS, END_HEADERS | END_STREAM, 2 * i + 1, BIG_HEADER if i == 0 else GET + b"\xbe" * 10_000)


FLOODS = {
    "ping": lambda i: frame(PING, 0, 0, b"12345678"),
    "settings": lambda i: frame(SETTINGS, 0, 0, b"\0\4\0\0\xff\xff"),
    "priority": lambda i: frame(PRIORITY, 0, 2 * i + 1, b"\0\0\0\0\x10"),
    "window-update": lambda i: frame(WINDOW_UPDATE, 0, 0, b"\0\0\0\1"),
    "rapid-reset": rapid_reset,
    "empty-data": lambda i: (OPEN_REQUEST if i == 0 else b"") + frame(DATA, 0, 1),
    "continuation": lambda i: frame(HEADERS, 0, 1, GET) if i == 0 else frame(CONTINUATION, 0, 1, b"\x84"),
    "header-bomb": header_bomb,
    # A request with a body that is longer than it says, which the server resets (CVE-2025-8671).
    "faulty-requests": lambda i: frame(HEADERS, END_HEADERS, 2 * i + 1, GET + b"\x0f\x0d\x011") + frame(DATA, END_STREAM, 2 * i + 1, b"xx"),
}


@pytest.mark.parametrize("reads", [True, False], ids=["reads", "does-not-read"])
@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_floods(envoy_mesh, flood, reads):
    """Attack: a connection sends frames that are cheap to send and contain no request, or that make the server decompress gigabytes of headers. It reads
    the responses or does not. Expected: the connection is closed, little memory and CPU time are used, and other clients are served. Why: CVE-2019-9512
    and following, CVE-2023-44487, CVE-2023-45288, CVE-2025-8671."""
    batches = [PREFACE] + [b"".join(flood(i) for i in range(begin, begin + 2000)) for begin in range(0, 150_000 if flood is not header_bomb else 4000, 2000)]
    attacker = socket.socket(socket.AF_UNIX)
    attacker.settimeout(10)
    attacker.connect(envoy_mesh.socket)

    def drain():
        try:
            while attacker.recv(1 << 16):
                pass
        except OSError:
            pass

    reader = threading.Thread(target=drain, daemon=True)
    if reads:
        reader.start()
    cpu, memory = cost.cpu_seconds(envoy_mesh.aggregator), cost.resident_bytes(envoy_mesh.aggregator)
    closed = False
    try:
        for batch in batches:
            attacker.sendall(batch)
    except TimeoutError:
        pass
    except OSError:
        closed = True
    began = time.monotonic()
    assert envoy_mesh.client.get("/livez").code == 200
    assert time.monotonic() - began < 2
    assert closed, "the connection is still open"
    assert cost.cpu_seconds(envoy_mesh.aggregator) - cpu < 3
    assert cost.resident_bytes(envoy_mesh.aggregator) - memory < 50 * MEGABYTE
    attacker.close()


@pytest.fixture(scope="module")
def large_list(server):
    """A list of 4 MB."""
    path = "/api/v1/namespaces/default/configmaps"
    for i in range(16):
        assert server.client("POST", path, {"metadata": {"name": f"large-{i}", "labels": {"large": "yes"}}, "data": {"k": "v" * 250_000}}).code == 201
    yield path + "?labelSelector=large"
    for i in range(16):
        server.client("DELETE", f"{path}/large-{i}")


def public_flood(name, i, request):
    """The same floods with authorized requests, because other requests end their connection."""
    reset = frame(RST_STREAM, 0, 2 * i + 1, b"\0\0\0\x08")
    if name == "rapid-reset":
        return frame(HEADERS, END_HEADERS | END_STREAM, 2 * i + 1, request) + reset
    if name == "continuation":
        return frame(HEADERS, 0, 1, request) if i == 0 else frame(CONTINUATION, 0, 1, b"\x84")
    if name == "header-bomb":
        return frame(HEADERS, END_HEADERS | END_STREAM, 2 * i + 1, BIG_HEADER if i == 0 else GET + b"\xbe" * 10_000)
    if name == "faulty-requests":
        return frame(HEADERS, END_HEADERS, 2 * i + 1, request + fields(("content-length", "1"))) + frame(DATA, END_STREAM, 2 * i + 1, b"xx")
    if name == "empty-data":
        return (frame(HEADERS, END_HEADERS, 1, request) if i == 0 else b"") + frame(DATA, 0, 1)
    return FLOODS[name](i)


@pytest.mark.parametrize("reads", [True, False], ids=["reads", "does-not-read"])
@pytest.mark.parametrize("name", FLOODS)
def test_floods_on_the_public_port(server, name, reads):
    """Attack, expectation and reason as above, by a client that is authorized."""
    aggregator = server.children()["aggregator"]
    attacker = Http2(server.port, timeout=10)
    request = head("POST" if name in ("empty-data", "faulty-requests") else "GET", "/api/v1/namespaces/default/configmaps", mesh.ADMIN_TOKEN)
    cpu, memory = cost.cpu_seconds(aggregator), cost.resident_bytes(aggregator)
    if reads:
        attacker.socket.settimeout(0)
    closed, began = False, time.monotonic()
    sent, batch = 0, b""
    while not closed and time.monotonic() - began < 30:
        if not batch:
            size = 2 if name == "header-bomb" else 1000
            batch = b"".join(public_flood(name, i, request) for i in range(sent, sent + size))
            sent += size
        try:
            batch = batch[attacker.socket.send(batch):]
        except (ssl.SSLWantWriteError, ssl.SSLWantReadError, TimeoutError):
            time.sleep(0.001)
        except OSError:
            closed = True
        try:
            closed = closed or (reads and not attacker.socket.recv(1 << 16))
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError, TimeoutError):
            pass
        except OSError:
            closed = True
    assert closed, f"the connection is still open after {sent} frames"
    assert name != "faulty-requests" or sent <= 20_000, f"the connection was closed after {sent} requests"
    began = time.monotonic()
    assert server.client.get("/livez").code == 200
    assert time.monotonic() - began < 5
    assert cost.cpu_seconds(aggregator) - cpu < 3
    assert cost.resident_bytes(aggregator) - memory < 50 * MEGABYTE
    attacker.close()


def test_unread_responses(server, large_list):
    """Attack: a client opens as many lists as a connection allows and reads none of them, or reads only the connection but leaves no window. Expected: little
    memory is used for the responses, and other clients are served. Why: each response could be held in full, 100 times per connection."""
    aggregator = server.children()["aggregator"]
    for window in [0, 65535]:
        client = Http2(server.port, window=window)
        memory = cost.resident_bytes(aggregator)
        for _ in range(100):
            client.request("GET", large_list, mesh.ADMIN_TOKEN)
        mesh.wait_until(lambda: server.client.get("/livez").code == 200, 10, "another request")
        time.sleep(0.5)  # time in which a server without limits collects all responses
        assert cost.resident_bytes(aggregator) - memory < 150 * MEGABYTE
        client.close()


def test_bodies_that_do_not_end(server):
    """Attack: a client opens as many writes as a connection allows, and sends a part of each body. Expected: the server holds at most the first 16 KiB of each
    until it has a share of --max-body-bytes-inflight, and other clients can write. Why: bodies of 3 MB, 100 times per connection."""
    aggregator = server.children()["aggregator"]
    memory = cost.resident_bytes(aggregator)
    path = "/api/v1/namespaces/default/configmaps"
    clients = [Http2(server.port) for _ in range(5)]
    for client in clients:
        for _ in range(100):
            client.request("POST", path, mesh.ADMIN_TOKEN, ("content-type", "application/json"), ("content-length", "3000000"), body=b" " * 600, end=False)
    assert server.client("POST", path, {"metadata": {"name": "another"}}).code == 201
    assert server.client("DELETE", path + "/another").code == 200
    assert cost.resident_bytes(aggregator) - memory < 50 * MEGABYTE
    for client in clients:
        client.close()
