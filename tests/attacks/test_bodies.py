"""Requests that try to exhaust memory, connections or time with large, slow or endless heads and bodies."""
import itertools
import json
import select
import socket
import ssl
import threading
import time

import pytest

import mesh
from cost import Cost

MAPS = "/api/v1/namespaces/default/configmaps"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"  # every user may create these
MEGABYTE = 1 << 20
CONNECTIONS, BODY_BYTES, REQUEST_SECONDS = 400, 16 * MEGABYTE, 3
USERS = {f"user{i}": f"token-of-user{i}" for i in range(4)}
CONTEXT = ssl._create_unverified_context()
WITHOUT_RIGHTS = {"no credentials": ("", b"403"), "a wrong token": ("Authorization: Bearer wrong\r\n", b"401"),
                  "a user without the right": (f"Authorization: Bearer {USERS['user0']}\r\n", b"403")}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A mesh with small limits, so that an attack reaches them quickly."""
    folder = tmp_path_factory.mktemp("bodies")
    store = mesh.Store(folder / "store")
    server = mesh.KubeApiserver(folder, store.url, f"--max-connections={CONNECTIONS}", f"--max-body-bytes-inflight={BODY_BYTES}",
                                f"--request-timeout={REQUEST_SECONDS}s", "--max-mutating-requests-inflight=20")
    with open(folder / "tokens.csv", "a") as tokens:
        tokens.writelines(f"{token},{name},{name}-uid\n" for name, token in USERS.items())
    server.start()
    mesh.wait_until(lambda: server.client.answers(MAPS), 10, "config maps are served")
    yield server
    server.stop()
    store.stop()


def connect(server, tls=True, receive_buffer=None):
    raw = socket.socket()
    if receive_buffer:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    raw.settimeout(20 * mesh.SLOWDOWN)
    raw.connect(("127.0.0.1", server.port))
    return CONTEXT.wrap_socket(raw) if tls else raw


def head(method, path, *lines, token=None):
    credentials = [f"Authorization: Bearer {token}"] if token else []
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: a", *credentials, *lines, "", ""]).encode()


def read_answer(connection):
    """Reads a response with a Content-Length. Returns (status, headers as bytes, body), or (None, received bytes, b"") if the connection ends before."""
    data = b""
    while b"\r\n\r\n" not in data:
        try:
            piece = connection.recv(65536)
        except ConnectionError:
            piece = b""
        if not piece:
            return None, data, b""
        data += piece
    headers, _, body = data.partition(b"\r\n\r\n")
    length = [int(line.split(b":")[1]) for line in headers.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    while length and len(body) < length[0]:
        body += connection.recv(65536)
    return headers.split()[1], headers, body


def push(connection, pieces, seconds):
    """Sends until the server stops reading, responds or closes the connection. Returns the number of bytes that were sent."""
    end, sent = time.monotonic() + seconds, 0
    for piece in pieces:
        view = memoryview(piece)
        while view:
            if time.monotonic() > end:
                return sent
            try:
                done = connection.send(view)
            except (ssl.SSLWantWriteError, ssl.SSLWantReadError, BlockingIOError, TimeoutError):
                select.select([], [connection], [], 0.05)
                continue
            except OSError:
                return sent
            sent, view = sent + done, view[done:]
    return sent


class Bystander(threading.Thread):
    """Another client, which reads and writes during an attack. `slowest` is the time of its slowest request in seconds."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.slowest, self.codes, self._done = server, 0, set(), threading.Event()

    def run(self):
        for number in itertools.count():
            for method, path, body in (("GET", MAPS, None), ("POST", REVIEWS, {"spec": {"nonResourceAttributes": {"path": f"/{number}", "verb": "get"}}})):
                began = time.monotonic()
                self.codes.add(self.server.client(method, path, body).code)
                self.slowest = max(self.slowest, time.monotonic() - began)
            if self._done.wait(0.05):
                return

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self._done.set()
        self.join()
        assert self.codes <= {200, 201}, self.codes


@pytest.mark.parametrize("who", WITHOUT_RIGHTS)
@pytest.mark.parametrize("framing", ["Content-Length: 3000000", "Content-Length: 9999999999", "Transfer-Encoding: chunked"])
def test_refusal_needs_no_body(server, who, framing):
    """Attack: an unauthorized request announces a body and does not send it. Expected: 401 or 403 at once, and the connection is
    closed. Why: an unauthorized client must not make the server wait for a body or read it."""
    credentials, code = WITHOUT_RIGHTS[who]
    with connect(server) as connection:
        began = time.monotonic()
        connection.sendall(f"POST {MAPS} HTTP/1.1\r\nHost: a\r\n{credentials}{framing}\r\n\r\n".encode())
        status, headers, _ = read_answer(connection)
        assert status == code
        assert b"\r\nconnection: close" in headers.lower(), "the rest of the body could be parsed as a request"
        assert time.monotonic() - began < 1
        assert connection.recv(1) == b""


@pytest.mark.parametrize("who", WITHOUT_RIGHTS)
@pytest.mark.parametrize("chunked", [False, True], ids=["length", "endless chunks"])
def test_bodies_without_rights_take_no_memory(server, who, chunked):
    """Attack: 150 unauthorized clients send bodies of 3 MB, or endless chunks, at the same time. Expected: all are rejected,
    memory grows by less than 50 MB, and other clients are served. Why: 150 bodies would need 450 MB."""
    credentials, code = WITHOUT_RIGHTS[who]
    framing = "Transfer-Encoding: chunked" if chunked else "Content-Length: 3000000"
    request = f"POST {MAPS} HTTP/1.1\r\nHost: a\r\n{credentials}{framing}\r\n\r\n".encode()
    piece = (b"8000\r\n" + b"x" * 0x8000 + b"\r\n") if chunked else b"x" * 65536
    connections = [connect(server) for _ in range(150)]
    try:
        with Cost(server) as cost, Bystander(server) as bystander:
            for connection in connections:
                connection.sendall(request)
                connection.setblocking(False)
            # All clients send as fast as the server reads.
            attackers = [threading.Thread(target=lambda part=part: [push(c, [piece] * 10, 0.2) for _ in range(5) for c in part])
                         for part in (connections[i::4] for i in range(4))]
            for attacker in attackers:
                attacker.start()
            for attacker in attackers:
                attacker.join()
        codes = set()
        for connection in connections:
            connection.settimeout(10)
            codes.add(read_answer(connection)[0])
    finally:
        for connection in connections:
            connection.close()
    assert codes - {None} == {code}, "None means that the response was lost because the client continued to send"
    assert cost.memory < 50 * MEGABYTE, cost.by_process
    assert bystander.slowest < 1, bystander.slowest


def test_refused_request_gets_no_continue(server):
    """Attack: an unauthorized request with `Expect: 100-continue`. Expected: only the error. Why: "100 Continue" would request the body.
    Without it, the server cannot know whether the body or the next request follows, so it must close the connection."""
    with connect(server) as connection:
        connection.sendall(head("POST", MAPS, "Expect: 100-continue", "Content-Length: 10"))
        status, headers, _ = read_answer(connection)
        assert status == b"403" and b"connection: close" in headers.lower()
    with connect(server) as connection:
        connection.sendall(head("POST", REVIEWS, "Expect: 100-continue", "Content-Length: 2", token=USERS["user0"]))
        assert connection.recv(4096).startswith(b"HTTP/1.1 100")
        connection.sendall(b"{}")
        assert read_answer(connection)[0] != b"100"


def test_refused_body_is_not_the_next_request(server):
    """Attack: the body of an unauthorized request looks like a request. Expected: it is skipped as a body, and the connection can be used
    afterwards. Why: if it were parsed as a request, its response would go to the next user of the connection (request smuggling)."""
    smuggled = head("GET", "/healthz")
    with connect(server) as connection:
        for _ in range(3):
            connection.sendall(head("POST", MAPS, f"Content-Length: {len(smuggled)}") + smuggled[:20])
            assert read_answer(connection)[0] == b"403"
            connection.sendall(smuggled[20:] + head("GET", "/version"))
            status, _, body = read_answer(connection)
            assert status == b"200" and b"gitVersion" in body


def test_order_of_refusals(server):
    """Expected: 401, then 403, then 413, as in kube-apiserver: only authorized clients see the size limit. Why: reading or
    checking a body before the authorization would be work for unauthorized clients."""
    huge = "Content-Length: 100000000"
    for credentials, code in ((("Authorization: Bearer wrong",), b"401"), ((), b"403"), ((f"Authorization: Bearer {mesh.ADMIN_TOKEN}",), b"413")):
        with connect(server) as connection:
            connection.sendall(head("POST", MAPS, huge, *credentials))
            status, headers, body = read_answer(connection)
            assert status == code
    assert json.loads(body)["message"] == "Request entity too large: limit is 3145728"
    assert b"connection: close" in headers.lower()


def test_slow_bodies_end_in_time_and_hold_up_nobody(server):
    """Attack: a user who may write sends 100 requests very slowly; the limit of concurrent writes is 20. Expected: other users
    can write meanwhile, and each slow request ends with 504 after --request-timeout. Why: a request that waits for its client must not
    count towards the limit."""
    connections = [connect(server) for _ in range(100)]
    with Bystander(server) as bystander:
        for connection in connections:
            connection.sendall(head("POST", REVIEWS, "Content-Length: 1000", token=USERS["user0"]) + b"{")
        began = time.monotonic()
        while time.monotonic() - began < REQUEST_SECONDS - 0.5:
            for connection in connections:
                connection.sendall(b" ")
            time.sleep(0.1)
        statuses = {read_answer(connection)[0] for connection in connections}
        took = time.monotonic() - began
    for connection in connections:
        connection.close()
    assert statuses == {b"504"}
    assert took < REQUEST_SECONDS + 3 * mesh.SLOWDOWN
    assert bystander.slowest < 1, bystander.slowest


def test_large_bodies_share_a_budget(server):
    """Attack: a user who may write opens 60 requests with bodies of 3 MB and sends all but the last byte. Expected: the user gets at most a
    quarter of --max-body-bytes-inflight, the other requests get 429 with Retry-After, and other users can still write large
    objects. Why: 60 such bodies need 180 MB, and a single user must not be able to exhaust the budget."""
    body = b" " * 2_999_999
    connections = [connect(server) for _ in range(60)]
    answers = []
    try:
        with Cost(server) as cost:
            for connection in connections:
                connection.sendall(head("POST", REVIEWS, "Content-Length: 3000000", token=USERS["user0"]))
                connection.setblocking(False)
            senders = [threading.Thread(target=lambda part=part: [push(c, [body], 0.3) for c in part]) for part in (connections[i::4] for i in range(4))]
            for sender in senders:
                sender.start()
            large = {"metadata": {"name": "large"}, "data": {"a": "x" * 900_000}}
            made = server.client("POST", MAPS, large)
            for sender in senders:
                sender.join()
        assert made.code == 201, made.body
        for connection in connections:
            connection.settimeout(20)
            answers.append(read_answer(connection))
    finally:
        for connection in connections:
            connection.close()
        server.client("DELETE", MAPS + "/large")
    statuses = [status for status, _, _ in answers]
    assert statuses.count(b"504") <= BODY_BYTES // 4 // 3_000_000, statuses
    assert statuses.count(b"429") > 0 and set(statuses) <= {b"504", b"429", None}
    assert all(b"retry-after: 1" in headers.lower() for status, headers, _ in answers if status == b"429")
    assert cost.memory < 50 * MEGABYTE, cost.by_process


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
