"""Attacks of test_bodies.py on a mesh behind Envoy, which sends requests to the aggregator over HTTP/1.1, and watches over HTTP/2."""
import socket
import ssl

import pytest

import mesh
from raw_requests import MAPS, head, push, read_answer
from test_up import Up, find_envoy

CONTEXT = ssl._create_unverified_context()


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    assert find_envoy(), "Envoy is not installed; run ./apimesh deps"
    up = Up(tmp_path_factory.mktemp("envoy") / "mesh", "envoy")
    mesh.wait_until(lambda: up.client().answers(MAPS), 20, "config maps are served")
    yield up
    assert up.run("down").returncode == 0


def connect(up):
    raw = socket.create_connection(("127.0.0.1", up.port))
    raw.settimeout(20 * mesh.SLOWDOWN)
    return CONTEXT.wrap_socket(raw)


@pytest.mark.parametrize("path", [MAPS, MAPS + "?watch=1"], ids=["by HTTP/1.1", "by HTTP/2"])
@pytest.mark.parametrize("framing", ["Content-Length: 3000000", "Transfer-Encoding: chunked"])
def test_refusal_needs_no_body(up, path, framing):
    """Attack: an unauthorized request announces a body and sends only a part of it. Expected: 403 at once. Why: otherwise both Envoy
    and the aggregator would buffer the body."""
    with connect(up) as connection:
        connection.sendall(head("POST", path, framing) + (b"a\r\n0123456789\r\n" if "chunked" in framing else b"0123456789"))
        assert read_answer(connection)[0] == b"403"


@pytest.mark.parametrize("path", [MAPS + "/{}", MAPS + "/{}?watch=1"], ids=["by HTTP/1.1", "by HTTP/2"])
def test_path_that_is_no_text(up, path):
    """Attack: a path with bytes that are not UTF-8. Expected: 400 over both protocols."""
    for name in ("%ff", "a%C0%AFb"):
        assert up.client().get(path.format(name)).code == 400


def test_watch_with_a_body_is_served(up):
    """Attack: a watch with a body that the server does not read. Expected: the watch works. Why: a watch that waits for the body, or that does not
    detect that its client disconnected, would never end."""
    client = up.client()
    with client.context.wrap_socket(socket.create_connection(("127.0.0.1", up.port))) as connection:
        connection.settimeout(20 * mesh.SLOWDOWN)
        connection.sendall(head("GET", MAPS + "?watch=1&timeoutSeconds=1", "Content-Length: 100000"))
        push(connection, [b"x" * 1000], 1)
        assert read_answer(connection)[0] == b"200"
