"""Floods of HTTP/2 frames at the aggregator's socket for a front proxy. Clients do not reach it directly, but what they send through the proxy ends up
there, and the listeners between the processes of the mesh are served by the same code (lib/h2)."""
import pathlib
import socket
import threading
import time

import pytest

import cost
from test_envoy_watches import EnvoyMesh
from test_up import find_envoy

MEGABYTE = 1 << 20
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 8, 9
END_STREAM, END_HEADERS = 1, 4
GET = b"\x82\x86\x84"  # :method GET, :scheme http, :path /


@pytest.fixture(scope="module")
def envoy_mesh(tmp_path_factory):
    assert find_envoy(), "no Envoy: ./apimesh deps installs it"
    server = EnvoyMesh(tmp_path_factory.mktemp("http2") / "mesh")
    server.aggregator = server.children()["aggregator"]
    flags = pathlib.Path(f"/proc/{server.aggregator}/cmdline").read_text().split("\0")
    server.socket = next(flag.partition("unix:")[2] for flag in flags if flag.startswith("--front-proxy-h2-socket="))
    yield server
    assert server.up.run("down").returncode == 0


def frame(kind, flags=0, stream=0, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS)
OPEN_REQUEST = frame(HEADERS, END_HEADERS, 1, GET)
BIG_HEADER = GET + b"\x40\x01x\x7f\xa1\x1e" + b"y" * 4000  # stays in the table of the peer, as number 62


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
}


@pytest.mark.parametrize("reads", [True, False], ids=["reads", "does-not-read"])
@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_floods(envoy_mesh, flood, reads):
    """Attack: one connection sends frames that are cheap to send and carry no request, or make the server decompress gigabytes of headers; it reads the
    answers or does not. Expected: the connection is closed; little memory and CPU time are spent; other clients are served. Why: CVE-2019-9512 and
    following, CVE-2023-44487, CVE-2023-45288."""
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
