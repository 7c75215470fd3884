"""Attacks of anonymous clients on the TLS layer: floods of records that contain no request, and handshakes that never end."""
import socket
import ssl
import statistics
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import cost
import mesh
from tls_records import ALERT, APPLICATION_DATA, HANDSHAKE, RecordClient

MEGABYTE = 1 << 20


@pytest.fixture(scope="module", params=["own", "openssl"])
def tls_server(request, tmp_path_factory):
    """A mesh that encrypts TLS records with its own code, and one in which OpenSSL encrypts all of them."""
    folder = tmp_path_factory.mktemp(f"tls-{request.param}")
    with mesh.running_server(folder, f"--tls-records={request.param}") as server:
        yield server


class Bystander:
    """Another client, which sends requests during the attack, each on a new connection."""

    def __init__(self, server):
        self.server, self.times, self._stop = server, [], threading.Event()

    def ask(self):
        began = time.monotonic()
        assert self.server.anonymous.get("/livez").code == 200
        return time.monotonic() - began

    def __enter__(self):
        self.normal = statistics.median(sorted(self.ask() for _ in range(30)))
        self._thread = ThreadPoolExecutor(1)
        self._future = self._thread.submit(self._run)
        return self

    def _run(self):
        while not self._stop.is_set():
            self.times.append(self.ask())

    def __exit__(self, *_):
        self._stop.set()
        self._future.result()
        self._thread.shutdown()

    def check(self):
        """Checks that requests take at most 50 ms longer than normal. One in ten may take longer, because the machine or this process may be busy."""
        assert len(self.times) >= 20, f"only {len(self.times)} requests got a response"
        slow = sorted(self.times)[int(len(self.times) * 0.9) - 1]
        assert slow < self.normal + 0.05 * mesh.SLOWDOWN, f"{slow * 1000:.0f} ms instead of {self.normal * 1000:.0f} ms, of {len(self.times)}"


def key_updates(client, count, requested):
    return [b"".join(client.key_update(requested) for _ in range(500)) for _ in range(count // 500)]


@pytest.mark.parametrize("requested", [True, False], ids=["answered", "unanswered"])
def test_key_update_flood(tls_server, requested):
    """Attack: clients without credentials finish a handshake, send KeyUpdates as fast as possible, and do not read. Each KeyUpdate costs the server
    two key derivations and a response. Expected: each connection is closed after 32 KeyUpdates, other clients are not delayed, and memory does not grow.
    Why: without a limit, one connection keeps a thread of the aggregator busy for minutes, and the responses accumulate in memory."""
    clients = [RecordClient(tls_server.port) for _ in range(4)]
    floods = [key_updates(client, 4_000, requested) for client in clients]
    aggregator = tls_server.children()["aggregator"]
    with Bystander(tls_server) as bystander, cost.Cost(tls_server) as spent:
        before = cost.cpu_seconds(aggregator)
        for client, flood in zip(clients, floods):
            assert client.flood(None, 10, prepared=flood), "the server still accepts KeyUpdates"
        flood_cpu = cost.cpu_seconds(aggregator) - before
        mesh.wait_until(lambda: len(bystander.times) >= 100, 20, "the other client gets a response")
    bystander.check()
    assert spent.by_process["aggregator"][1] < 50 * MEGABYTE
    assert flood_cpu < 2 * mesh.SLOWDOWN, f"{flood_cpu:.2f} s of CPU time"


@pytest.mark.parametrize("requested", [True, False], ids=["answered", "unanswered"])
def test_key_updates_between_data(tls_server, requested):
    """Attack: the same flood with a byte of a request between any two KeyUpdates. Expected: the connection is closed, too. Why: a limit
    that application data resets would only make the flood slightly slower."""
    client = RecordClient(tls_server.port)
    assert client.flood(lambda: client.key_update(requested) + client.record(APPLICATION_DATA, b"G"), 10)


JUNK = {
    "empty application data": (APPLICATION_DATA, b""),
    "user_canceled alerts": (ALERT, b"\x01\x5a"),
    "first bytes of handshake messages": (HANDSHAKE, b"\x18"),
    "client hellos after the handshake": (HANDSHAKE, b"\x01\0\0\1\0"),
    "session tickets": (HANDSHAKE, b"\x04\0\0\1\0"),
    "change cipher spec": (20, b"\x01"),
}


@pytest.mark.parametrize("kind, content", JUNK.values(), ids=[name.replace(" ", "-") for name in JUNK])
def test_records_without_content(tls_server, kind, content):
    """Attack: TLS 1.3 records without application data. Expected: the connection is closed after a few of them. Why: OpenSSL continues to read until
    it finds application data, without returning to the event loop."""
    client = RecordClient(tls_server.port)
    assert client.flood(lambda: client.record(kind, content), 10)


CLIENT_HELLO = b"\x01\0\0\x2b\3\3" + bytes(32) + b"\0\0\2\xc0\x2f\1\0\0\0"


@pytest.mark.parametrize("kind, content", [(HANDSHAKE, CLIENT_HELLO), (ALERT, b"\x01\x5a"), (APPLICATION_DATA, b"")],
                         ids=["renegotiation", "warning-alerts", "empty-application-data"])
def test_tls12_records_without_content(tls_server, kind, content):
    """Attack: the same with TLS 1.2, where a client can also request a renegotiation: the response to each ClientHello is a no_renegotiation alert.
    Expected: no renegotiation, and the connection is closed after a few of them."""
    client = RecordClient(tls_server.port, ssl.TLSVersion.TLSv1_2)
    with cost.Cost(tls_server) as spent:
        assert client.flood(lambda: client.record(kind, content), 10)
    assert spent.by_process["aggregator"][1] < 50 * MEGABYTE


def test_renegotiation_is_refused(tls_server):
    """Attack: a TLS 1.2 client requests a new handshake on its connection. Expected: it is rejected. Why: a handshake costs the server many times as much
    as the client."""
    run = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{tls_server.port}", "-tls1_2"], input="R\n", capture_output=True, text=True, timeout=20)
    assert "RENEGOTIATING" in run.stdout + run.stderr
    assert "no renegotiation" in run.stderr


def test_unfinished_handshakes(tls_server):
    """Attack: 3,000 connections that send half of a ClientHello and then nothing. Expected: the oldest are closed as soon as there are more than 1,024
    per thread, all of them after 10 s, and other clients are served meanwhile. Why: each uses a file descriptor and about 20 KB."""
    normal = statistics.median(Bystander(tls_server).ask() for _ in range(30))
    with cost.Cost(tls_server) as spent:
        sockets = []
        for _ in range(3000):
            sockets.append(socket.create_connection(("127.0.0.1", tls_server.port), 20))
            sockets[-1].sendall(b"\x16\3\1\2\0\1\0\1\xfc")
        sockets[0].settimeout(8)  # less than the time limit of a handshake
        assert sockets[0].recv(1) == b""
        meanwhile = statistics.median(Bystander(tls_server).ask() for _ in range(30))
    assert meanwhile < normal + 0.05 * mesh.SLOWDOWN
    assert spent.by_process["aggregator"][1] < 150 * MEGABYTE
    for one in sockets:
        one.close()


def test_both_record_layers_serve(tls_server):
    """Not an attack: both values of --tls-records serve large responses, watches and kubectl."""
    assert tls_server.client.get("/openapi/v2").code == 200
    version = tls_server.kubectl("get", "--raw", "/version")
    assert "gitVersion" in version.stdout
    maps = "/api/v1/namespaces/default/configmaps"
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "tls-records"}, "data": {"x": "y" * 900_000}}
    assert tls_server.client("POST", maps, body).code == 201
    assert tls_server.client.get(f"{maps}/tls-records").json()["data"] == body["data"]
    watched = tls_server.client.get(f"{maps}?watch=true&timeoutSeconds=1")
    assert "tls-records" in watched.body
