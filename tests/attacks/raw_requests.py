"""Helpers for attacks with hand-written requests: a mesh with small limits, connections, and requests that do not end."""
import contextlib
import itertools
import select
import socket
import ssl
import threading
import time

import mesh

MAPS = "/api/v1/namespaces/default/configmaps"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"  # every user may create these
MEGABYTE = 1 << 20
CONNECTIONS, BODY_BYTES, REQUEST_SECONDS = 400, 16 * MEGABYTE, 3
USERS = {f"user{i}": f"token-of-user{i}" for i in range(4)}
CONTEXT = ssl._create_unverified_context()


@contextlib.contextmanager
def limited_mesh(folder):
    """A mesh with small limits, so that an attack reaches them quickly."""
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
