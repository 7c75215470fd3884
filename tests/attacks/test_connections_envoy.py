"""Too many connections to Envoy."""
import http.client
import resource
import socket

import mesh
import pytest
from test_up import Up, find_envoy

FILES = 800  # Envoy inherits this limit of file descriptors, and takes three quarters of it for connections
CONNECTIONS = FILES // 4 * 3
PATH = "/api/v1/namespaces/default"


@pytest.fixture
def up(tmp_path):
    assert find_envoy(), "Envoy is not installed; run ./apimesh deps"
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, hard))
    try:
        up = Up(tmp_path / "mesh", "envoy")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    mesh.wait_until(lambda: up.client().answers(PATH), 20, "namespaces are served")
    yield up
    assert up.run("down").returncode == 0


def closed(connection):
    """Returns whether the peer has closed the connection."""
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def test_connections_beyond_the_limit_are_closed(up):
    """Attack: a client without credentials opens more connections than Envoy may have, and sends nothing.
    Expected: Envoy closes those above the limit at once. An open connection is served, and when the attacker has gone, new connections are served again.
    Why: without a limit Envoy would run out of file descriptors, and could connect neither to the aggregator nor to its clients."""
    kept = http.client.HTTPSConnection("127.0.0.1", up.port, context=up.client().context, timeout=20 * mesh.SLOWDOWN)

    def status():
        kept.request("GET", PATH)
        answer = kept.getresponse()
        answer.read()
        return answer.status

    assert status() == 200
    own = kept.sock
    attackers = []
    try:
        for _ in range(CONNECTIONS + 200):
            attackers.append(socket.create_connection(("127.0.0.1", up.port), timeout=5 * mesh.SLOWDOWN))
        mesh.wait_until(lambda: sum(map(closed, attackers)) >= 200, 5, "Envoy closes the connections above its limit")
        assert status() == 200
        assert kept.sock is own, "the open connection was closed"
    finally:
        for attacker in attackers:
            attacker.close()
        kept.close()
    mesh.wait_until(lambda: up.client().answers(PATH), 20, "new connections are served")
